"""The examples of the catalogue are true: the bad one breaks its requirement, and the good one doesn't."""

import json

import pytest

from mcpcheck.catalogue.load import load
from mcpcheck.catalogue.requirement import Requirement
from mcpcheck.rules.registry import rules
from tests.support.sessions import META, SERVER, parse

EXAMPLES = [one for one in load().values() if one.good or one.bad]
JUDGED = [one for one in EXAMPLES if one.id in rules()]


def broken(one: Requirement, text: str) -> list[str]:
    """What of the requirement's own a session in shorthand breaks; ``{...}`` stands for all that _meta has to hold."""
    lines = []
    for line in text.strip().splitlines():
        whole = json.dumps(META if line.startswith("c") else SERVER)
        lines.append(line.replace('"_meta":{...}', f'"_meta":{whole}'))
    head = "# example\n@http\n" if "POST /mcp" in text else "# example\n"
    (case,) = parse(head + "\n".join(lines))
    return [verdict.actual for verdict in case.judge() if verdict.is_finding and verdict.requirement == one.id]


def test_an_example_is_a_pair_of_sessions_in_lines_that_can_be_read() -> None:
    assert EXAMPLES
    for one in EXAMPLES:
        assert one.good
        assert one.bad
        assert one.good != one.bad
        lines = f"{one.good}\n{one.bad}".strip().splitlines()
        assert all(line[:3] in {"c> ", "s> ", "e> ", ""} and len(line) < 240 for line in lines), one.id


@pytest.mark.parametrize("one", JUDGED, ids=lambda one: one.id)
def test_a_rule_takes_the_good_example_and_refuses_the_bad_one(one: Requirement) -> None:
    assert not broken(one, one.good)
    assert broken(one, one.bad)
