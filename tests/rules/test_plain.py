"""What a plain message is vouched for is what the rules say of it."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from mcpcheck.capture import open_capture
from mcpcheck.engine import Engine
from mcpcheck.verdict import Outcome
from mcpcheck.wire.record import Record
from tests.rules.test_cases import CASES
from tests.support.processes import ROOT

CAPTURES = sorted((ROOT / "captures").glob("*/*/*.ndjson"))


def counted(engine: Engine, records: Iterable[Record]) -> tuple[list[object], Counter[tuple[str, str]]]:
    """The findings, and how often each side held to what."""
    verdicts = [verdict for record in records for verdict in engine.feed(record)] + engine.finish()
    held: Counter[tuple[str, str]] = Counter()
    for id, by, times in engine.held():
        held[id, by] += times
    held.update((verdict.requirement, verdict.blames) for verdict in verdicts if verdict.outcome is Outcome.HOLDS)
    return [verdict for verdict in verdicts if verdict.is_finding], held


@pytest.mark.timeout(300)
def test_counting_comes_to_what_the_verdicts_are_in_every_case() -> None:
    for path, case in CASES:
        asked, vouched = (
            counted(Engine(case.transport, endpoint="/mcp", default=case.revision, counting=counting), case.records)
            for counting in (False, True)
        )
        assert vouched == asked, f"{path.name}, line {case.line}: {case.title}"


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: str(path.relative_to(ROOT)))
def test_counting_comes_to_what_the_verdicts_are_in_a_recorded_session(capture: Path) -> None:
    with open_capture(capture) as recorded:
        records, transport = list(recorded), recorded.header.transport
    asked, vouched = (counted(Engine(transport, counting=counting), records) for counting in (False, True))
    assert vouched == asked
