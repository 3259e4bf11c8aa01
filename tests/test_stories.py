"""Each story is clean, and each mutant of a story is caught by exactly what it breaks."""

import inspect
from dataclasses import dataclass

import pytest

from fixtures.stories import Story
from mcpcheck.verdict import Outcome
from tests.support import sessions
from tests.support.proof import file_name, modules


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mutant of a story: what it breaks, and what it makes look odd."""

    name: str
    story: type[Story]
    breaks: frozenset[str]
    suspects: frozenset[str]
    doc: str


def stories() -> list[type[Story]]:
    return [
        found
        for module in modules("fixtures.stories")
        for found in vars(module).values()
        if inspect.isclass(found) and issubclass(found, Story) and found.__module__ == module.__name__
    ]


def mutants() -> list[Mutant]:
    return [
        Mutant(
            module.__name__.rpartition(".")[2],
            module.Mutant,
            frozenset(getattr(module, "BREAKS", ())),
            frozenset(getattr(module, "SUSPECTS", ())),
            module.__doc__ or "",
        )
        for module in modules("fixtures.story_mutants")
    ]


def said(story: type[Story], outcome: Outcome) -> set[str]:
    verdicts = [verdict for case in sessions.parse(story().text()) for verdict in case.judge()]
    return {verdict.requirement for verdict in verdicts if verdict.outcome is outcome}


@pytest.mark.parametrize("story", stories(), ids=lambda story: story.__name__)
def test_a_story_is_clean(story: type[Story]) -> None:
    assert said(story, Outcome.HOLDS)
    assert not said(story, Outcome.BROKEN) | said(story, Outcome.SUSPECT)


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.name)
def test_a_mutant_of_a_story_is_caught_by_exactly_what_it_breaks(mutant: Mutant) -> None:
    assert said(mutant.story, Outcome.BROKEN) == mutant.breaks
    assert said(mutant.story, Outcome.SUSPECT) == mutant.suspects


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.name)
def test_a_mutant_of_a_story_is_named_after_what_it_breaks_and_says_so_in_one_sentence(mutant: Mutant) -> None:
    assert any(mutant.name.startswith(file_name(id)) for id in mutant.breaks | mutant.suspects)
    assert mutant.doc.endswith(".")
    assert "\n" not in mutant.doc
