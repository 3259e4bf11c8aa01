"""A part of a recording shows no fault that the whole does not show: what is missing is held against nobody."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fixtures.record import CAPTURES
from mcpcheck.capture import open_capture
from mcpcheck.engine import judge
from mcpcheck.lint import lint
from mcpcheck.verdict import Outcome
from mcpcheck.wire.protocol import REVISIONS
from mcpcheck.wire.record import Kind, Record
from tests.rules.test_cases import CASES, FILES
from tests.support import sessions

GOLDENS = sorted(CAPTURES.glob("*/*/*.ndjson"))
PLACES = 5
"""At how many places each golden is cut."""

STRIDE = 11
"""The distance of the places at which it is cut where there is time for more of them."""

ABOUT_THE_END = {"base.response.one-per-request"}
"""Rules to which the end of a recording looks like the end of the session: there they are no more than suspicious."""

every_golden = pytest.mark.parametrize("capture", GOLDENS, ids=lambda path: str(path.relative_to(CAPTURES)))
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)

Records = Sequence[Record]
Found = set[tuple[str, Outcome]]


def cut_off_before(records: Records, at: int) -> list[Record]:
    return list(records[at:])


def cut_off_behind(records: Records, at: int) -> list[Record]:
    return list(records[:at])


def middle(records: Records, at: int) -> list[Record]:
    return list(records[at : at + max(2, len(records) // 3)])


def one_lost(records: Records, at: int, lost: int = 1) -> list[Record]:
    place = records[at]
    gap = Record(place.n, place.t, place.dir, Kind.EVENT, event="gap", detail={"lost": lost})
    return [*records[:at], gap, *records[at + lost :]]


def three_lost(records: Records, at: int) -> list[Record]:
    return one_lost(records, at, 3)


def joined_late(records: Records, at: int) -> list[Record]:
    """What a recorder has that was put before an HTTP server in the middle of a session: its first unit is 1, too."""
    return [replace(record, n=n) for n, record in enumerate(records[at:], 1)]


CUTS = (cut_off_before, cut_off_behind, middle, one_lost, three_lost, joined_late)


def findings(records: Records, transport: str, endpoint: str | None, revision: str | None) -> Found:
    verdicts = judge(records, transport, endpoint=endpoint, default=revision)
    return {(verdict.requirement, verdict.outcome) for verdict in verdicts if verdict.is_finding}


def more(part: Found, whole: Found) -> list[str]:
    """What a part shows that the whole does not, as to ids; a suspicion about the end is none."""
    known = {id for id, _ in whole}
    new = [(id, outcome) for id, outcome in part if id not in known]
    return [id for id, outcome in new if outcome is Outcome.BROKEN or id not in ABOUT_THE_END]


def complaints(capture: Path, step: int) -> list[str]:
    """What parts of a golden show that the whole does not, with its revision told at every second place."""
    with open_capture(capture) as opened:
        records, transport, url = list(opened), opened.header.transport, opened.header.target.get("url")
    endpoint = urlsplit(url).path or "/" if isinstance(url, str) else None
    revisions = (None, capture.parent.parent.name)
    whole = [findings(records, transport, endpoint, revision) for revision in revisions]
    wrong: list[str] = []
    for turn, at in enumerate(range(1, len(records), step)):
        for cut in CUTS if transport == "http" else CUTS[:-1]:
            found = findings(cut(records, at), transport, endpoint, revisions[turn % 2])
            wrong += [f"{cut.__name__} at {at}: {id}" for id in more(found, whole[turn % 2])]
    return wrong


@every_golden
def test_a_part_of_a_golden_shows_no_fault_that_the_whole_does_not(capture: Path) -> None:
    lines = capture.read_text(encoding="utf-8").count("\n")
    assert complaints(capture, max(1, lines // PLACES)) == []


@pytest.mark.slow
@every_golden
def test_nor_do_many_other_parts(capture: Path) -> None:
    assert complaints(capture, STRIDE) == []


@every_file
def test_the_half_of_a_legal_neighbour_shows_no_fault_either(path: Path) -> None:
    assert [wrong for case in legal(path) for wrong in of_neighbour(case, {len(case.records) // 2})] == []


@pytest.mark.slow
@every_file
def test_nor_do_other_parts_of_one(path: Path) -> None:
    assert [wrong for case in legal(path) for wrong in of_neighbour(case, set(range(0, len(case.records), 2)))] == []


def legal(path: Path) -> list[sessions.Case]:
    return [case for home, case in CASES if home == path and case.title.startswith("legal: ")]


def of_neighbour(case: sessions.Case, places: set[int]) -> list[str]:
    whole = of_case(case, case.records)
    return [
        f"{case.title}, {cut.__name__} at {at}: {id}"
        for at in places - {0}
        for cut in CUTS[:-1]
        for id in more(of_case(case, cut(case.records, at)), whole)
    ]


def of_case(case: sessions.Case, records: Records) -> Found:
    return findings(records, case.transport, "/mcp" if case.transport == "http" else None, case.revision)


@every_golden
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_revision_that_is_told_changes_nothing_for_a_session_that_tells_its_own(capture: Path, revision: str) -> None:
    untold = {finding.requirement.id for finding in lint([capture]).findings}
    assert {finding.requirement.id for finding in lint([capture], revision=revision).findings} == untold


@every_golden
def test_each_role_has_its_own_findings_and_no_others(capture: Path) -> None:
    both = {(finding.requirement.id, finding.blames, finding.frames) for finding in lint([capture]).findings}
    for role in ("client", "server"):
        own = {(found.requirement.id, found.blames, found.frames) for found in lint([capture], role=role).findings}
        assert own == {found for found in both if found[1] == role}
