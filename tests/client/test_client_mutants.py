"""Each mutant of the reference client is caught by exactly what it breaks."""

import importlib
import pkgutil
from dataclasses import dataclass

import anyio
import pytest

import fixtures.client_mutants as package
from mcpcheck.reference.client import Client
from mcpcheck.verdict import Outcome
from mcpcheck.wire.protocol import REVISIONS
from tests.client.memory import conform_in_memory, findings


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mutant, and where it shows what it breaks or makes look odd."""

    name: str
    client: type[Client]
    breaks: frozenset[str]
    suspects: frozenset[str]
    transports: tuple[str, ...]
    revisions: tuple[str, ...]
    doc: str


def mutants() -> list[Mutant]:
    found = [
        importlib.import_module(f"{package.__name__}.{each.name}") for each in pkgutil.iter_modules(package.__path__)
    ]
    return [
        Mutant(
            module.__name__.rpartition(".")[2],
            module.Mutant,
            frozenset(getattr(module, "BREAKS", ())),
            frozenset(getattr(module, "SUSPECTS", ())),
            tuple(getattr(module, "TRANSPORTS", ("stdio", "http"))),
            tuple(getattr(module, "REVISIONS", REVISIONS)),
            module.__doc__ or "",
        )
        for module in found
    ]


CASES = [(mutant, kind) for mutant in mutants() for kind in mutant.transports]


@pytest.mark.parametrize(("mutant", "kind"), CASES, ids=[f"{mutant.name}-{kind}" for mutant, kind in CASES])
def test_a_client_mutant_is_caught_by_exactly_what_it_breaks(mutant: Mutant, kind: str) -> None:
    run = anyio.run(conform_in_memory, lambda kind: mutant.client(mutant.revisions, transport=kind), kind)
    found = findings(run)
    assert run.broken() == mutant.breaks, found
    suspects = {v.requirement for peer in run.peers for v in peer.verdicts if v.outcome is Outcome.SUSPECT}
    assert suspects - run.broken() == mutant.suspects, found
    assert not run.ledger.troubles


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.name)
def test_a_client_mutant_is_named_after_what_it_breaks_and_says_so_in_one_sentence(mutant: Mutant) -> None:
    names = [id.replace(".", "_").replace("-", "_") for id in mutant.breaks | mutant.suspects]
    assert any(mutant.name.startswith(name) for name in names)
    assert mutant.doc.endswith(".")
    assert "\n" not in mutant.doc
