"""The golden captures: what lint says of each stands beside it, and each is a capture as the format has it."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from fixtures.record import CAPTURES, ROOT, STORIES, as_text, beside, verdicts
from mcpcheck.capture import Writer, open_capture

GOLDENS = sorted(CAPTURES.glob("*/*/*.ndjson"))
ALL = sorted(CAPTURES.rglob("*.ndjson"))
SCHEMA = Draft202012Validator(json.loads((ROOT / "specs" / "capture.schema.json").read_text(encoding="utf-8")))

every_golden = pytest.mark.parametrize("capture", GOLDENS, ids=lambda path: str(path.relative_to(CAPTURES)))
every_capture = pytest.mark.parametrize("capture", ALL, ids=lambda path: str(path.relative_to(CAPTURES)))


def test_each_story_has_its_captures_and_each_capture_its_story() -> None:
    told = {story.place(*session) for story in STORIES for session in story.sessions()}
    assert told == set(GOLDENS)


@every_golden
def test_lint_gives_the_verdicts_that_are_stored(
    capture: Path, golden: Callable[[str, Path], None], request: pytest.FixtureRequest
) -> None:
    """All findings, and all that passed; a rule that is newer than the report may pass without standing in it."""
    found = verdicts(capture)
    if not request.config.getoption("--update-goldens"):
        stored = set(json.loads(beside(capture).read_text(encoding="utf-8"))["passed"])
        found["passed"] = [id for id in found["passed"] if id in stored]
    golden(as_text(found), beside(capture))


@every_golden
def test_a_session_is_in_the_revision_whose_folder_it_is_in(capture: Path) -> None:
    assert verdicts(capture)["revisions"] == [capture.parent.parent.name]
    with open_capture(capture) as opened:
        assert opened.header.transport == capture.parent.name


@every_capture
def test_every_line_is_valid_by_the_schema_of_captures(capture: Path) -> None:
    for line in capture.read_text(encoding="utf-8").splitlines():
        SCHEMA.validate(json.loads(line))


@every_capture
def test_a_capture_that_is_read_and_written_is_the_same_file(capture: Path) -> None:
    written = io.BytesIO()
    with open_capture(capture) as opened:
        writer = Writer(written, opened.header)
        for record in opened:
            writer.write(record)
    assert opened.faults == []
    assert written.getvalue() == capture.read_bytes()


@every_golden
def test_a_golden_tells_nothing_of_the_machine_it_was_recorded_on(capture: Path) -> None:
    text = capture.read_text(encoding="utf-8")
    assert str(ROOT) not in text
    command = json.loads(text.splitlines()[0])["target"].get("command", [])
    assert [word for word in command if Path(word).is_absolute()] == []
