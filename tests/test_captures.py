"""The golden captures: what lint says of each stands beside it, and each is a capture as the format has it."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fixtures.record import CAPTURES, ROOT, STORIES, as_text, beside, verdicts
from mcpcheck.capture import Writer, open_capture
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead

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


def unit(direction: Dir, kind: Kind, data: bytes = b"", **rest: Any) -> Record:
    return Record(0, 0.0, direction, kind, data, **rest)


def said(event: str, exchange: int | None = None, direction: Dir = Dir.S2C, **detail: Any) -> Record:
    return unit(direction, Kind.EVENT, event=event, exchange=exchange, detail=detail)


DOUBLED = '{"jsonrpc":"2.0","id":1.0,"method":"tools\\/list","id":1,"params":{"z":[],"a":"\\u00e9é"}}'.encode()
SECRET = ("Authorization", "Bearer redacted-0123456789ab")
POST = RequestHead("POST", "/mcp", (SECRET, ("accept", "application/json, text/event-stream")))
STREAM = ResponseHead(200, "OK", (("Content-Type", "text/event-stream"),))
MESSAGE = b'event: message\r\ndata: {"jsonrpc":"2.0","id":"a","result":{}}\r\n\r\n'
FORMAT_1 = [
    said("open", direction=Dir.C2S),
    unit(Dir.C2S, Kind.LINE, DOUBLED),
    unit(Dir.S2C, Kind.LINE, b' {"jsonrpc":"2.0","id":1,"result":{}} '),
    unit(Dir.S2C, Kind.LINE, b"Listening on port 8000", end=b"\r\n"),
    unit(Dir.S2C, Kind.LINE, b""),
    unit(Dir.S2C, Kind.LINE, b"\xff", end=b""),
    unit(Dir.S2C, Kind.STDERR, b"ready"),
    unit(Dir.S2C, Kind.STDERR, b"gr\xfcn", end=b""),
    unit(Dir.C2S, Kind.HEAD, exchange=1, http=POST, redacted=("http.headers.authorization",)),
    unit(Dir.C2S, Kind.BODY, b'{\n  "jsonrpc":"2.0",\r\n "id":"a", "method":"ping"}\n', exchange=1),
    unit(Dir.S2C, Kind.HEAD, exchange=1, http=STREAM),
    unit(Dir.S2C, Kind.SSE, b"id: 7\nretry: 1000\ndata:\n\n", exchange=1),
    unit(Dir.S2C, Kind.SSE, b": still here\n\n", exchange=1),
    unit(Dir.S2C, Kind.SSE, MESSAGE, exchange=1),
    unit(Dir.S2C, Kind.SSE, b"data: \xff\n\n", exchange=1),
    said("eof", 1),
    unit(Dir.C2S, Kind.HEAD, exchange=2, http=RequestHead("GET", "/")),
    unit(Dir.S2C, Kind.HEAD, exchange=2, http=ResponseHead(500, "", (("content-type", "text/html"),))),
    unit(Dir.S2C, Kind.BODY, b"<h1>Error</h1>", exchange=2),
    said("abort", 2, reason="the server closed the connection"),
    said("timeout"),
    said("gap", lost=3),
    said("exit", code=0),
    said("exit", signal=9),
]
"""What captures/formats/v1.ndjson holds: a line of each kind."""


def test_a_capture_of_format_1_loads_for_ever() -> None:
    """That file is never written anew, whatever a later format looks like."""
    with open_capture(CAPTURES / "formats" / "v1.ndjson") as capture:
        assert capture.header.started == "2026-11-30T21:24:00.123456Z"
        assert capture.header.target["url"] == "http://127.0.0.1:8000/mcp"
        read = list(capture)
    assert read == [replace(record, n=n, t=(n - 1) / 10_000) for n, record in enumerate(FORMAT_1, 1)]
