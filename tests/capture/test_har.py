"""HAR: what browsers and proxies export, as sessions; what an archive cannot show is held against nobody."""

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mcpcheck.capture import Capture, open_any, open_capture
from mcpcheck.capture.har import UNSEEN, sessions
from mcpcheck.catalogue.load import load
from mcpcheck.engine import Engine, judgeable
from mcpcheck.errors import UsageError
from mcpcheck.wire import sse
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead
from tests.capture.test_guess import shows_all
from tests.rules.test_cases import CASES
from tests.test_captures import CAPTURES

START = datetime(2026, 12, 1, tzinfo=UTC)
HEADERS = [["Accept", "application/json, text/event-stream"], ["Content-Type", "application/json"]]
JSON = [["Content-Type", "application/json"]]
STREAM = [["content-type", "text/event-stream"]]
PUT_TOGETHER = {  # in these sessions an exchange is continued by hand, which no archive shows
    "http.response.single-json-object",
    "http.sse.event-data",
    "legacy.http.session.client-sends",
    "legacy.sse.client.post-target",
}


def named(pairs: Any) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def entry(at: float, sent: Any = None, told: Any = None, **more: Any) -> dict[str, Any]:
    """An exchange with the endpoint: a message, or the text of one, and what it was answered with."""
    request = {
        "method": more.get("method", "POST"),
        "url": more.get("url", "https://example.test/mcp"),
        "headers": named(more.get("sent_headers", HEADERS)),
        "bodySize": 0 if sent is None else -1,
    }
    if sent is not None:
        request["postData"] = {"mimeType": "application/json", "text": sent if isinstance(sent, str) else text(sent)}
    content: dict[str, Any] = {"size": 0, "mimeType": "application/json"}
    if told is not None:
        body = told if isinstance(told, str) else text(told)
        content |= {"text": body, "size": len(body.encode())}
    response = {
        "status": more.get("status", 202 if told is None else 200),
        "statusText": "OK",
        "headers": named(more.get("headers", JSON)),
        "content": content | more.get("content", {}),
    }
    when = (START + timedelta(seconds=at)).isoformat()
    return {"startedDateTime": when, "time": more.get("took", 0.1) * 1000, "request": request, "response": response}


def text(message: Any) -> str:
    return json.dumps(message, separators=(",", ":"))


def events(*messages: Any) -> str:
    return "".join(f"event: message\ndata: {text(message)}\n\n" for message in messages)


def archive(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": list(entries)}}


def call(id: Any, method: str = "tools/list", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def result(id: Any, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": members}


OPENING = entry(0, call(0, "initialize", protocolVersion="2025-11-25"), result(0, protocolVersion="2025-11-25"))


def records(*entries: dict[str, Any]) -> list[Record]:
    """The records of an archive with one endpoint."""
    (found,) = sessions(archive(*entries))
    return list(found.records)


def shown(found: list[Record]) -> list[str]:
    """Records in a few letters: the exchange, the sender, and what it is."""
    told = []
    for record in found:
        data = sse.data_bytes(record.data) if record.kind is Kind.SSE else record.data
        message = json.loads(data) if data and data.startswith(b"{") else None
        word = record.event or (record.kind.value if not isinstance(message, dict) else "")
        told.append(f"{record.exchange} {record.dir.value} {word or message.get('method') or message.get('id')}")
    return told


def test_an_exchange_is_heads_bodies_and_an_end() -> None:
    found = records(entry(0, call(1, "server/discover"), result(1), url="https://user:pw@example.test/mcp?a=b"))
    assert [(record.n, record.dir, record.kind, record.event) for record in found] == [
        (1, Dir.C2S, Kind.HEAD, None),
        (2, Dir.C2S, Kind.BODY, None),
        (3, Dir.S2C, Kind.HEAD, None),
        (4, Dir.S2C, Kind.BODY, None),
        (5, Dir.S2C, Kind.EVENT, "eof"),
    ]
    assert found[0].http == RequestHead("POST", "/mcp?a=b", tuple((name, value) for name, value in HEADERS))
    assert found[2].http == ResponseHead(200, "OK", (("Content-Type", "application/json"),))
    assert [record.t for record in found] == [0.0, 0.0, 0.1, 0.1, 0.1]


def test_pseudo_headers_are_left_out() -> None:
    headers = [[":method", "POST"], [":authority", "example.test"], *HEADERS]
    head = records(entry(0, call(1), result(1), sent_headers=headers))[1].http
    assert head is not None
    assert [name for name, _ in head.headers] == ["Accept", "Content-Type"]


def test_base64_is_undone() -> None:
    body = base64.b64encode(text(result(1)).encode()).decode()
    found = records(OPENING, entry(1, call(1), body, content={"encoding": "base64", "size": 10}))
    assert json.loads(found[-2].data) == result(1)


def test_a_stream_is_cut_into_its_events_and_what_was_cut_off_is_left_out() -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/message"}
    for end in ("", "data: {half", ": no end"):
        found = records(OPENING, entry(1, call(1, "tools/call"), ": hi\n\n" + events(note) + end, headers=STREAM))
        assert [record.kind for record in found[-4:]][:1] in ([Kind.SSE], [Kind.HEAD])
        assert found[-1].event == "abort"
        assert not any(b"half" in record.data for record in found)
    found = records(OPENING, entry(1, call(1, "tools/call"), events(note, result(1)).rstrip("\n"), headers=STREAM))
    assert shown(found)[-3:] == ["2 s2c notifications/message", "2 s2c 1", "2 s2c eof"]


def test_answers_come_when_their_exchanges_end() -> None:
    found = records(
        OPENING,
        entry(1, call(1, "tools/call"), result(1), took=5),
        entry(2, call(2), result(2)),
        entry(9, call(3), result(3)),
    )
    bodies = [record for record in found if record.kind is Kind.BODY]
    assert shown(bodies)[2:] == [
        "2 c2s tools/call", "3 c2s tools/list", "3 s2c 2", "2 s2c 1", "4 c2s tools/list", "4 s2c 3",
    ]  # fmt: skip


def test_a_server_asks_before_it_is_answered() -> None:
    stream = events(call("s", "elicitation/create"), result(1, content=[]))
    found = records(
        OPENING,
        entry(1, call(1, "tools/call"), stream, headers=STREAM, took=5),
        entry(3, result("s", action="cancel")),
    )
    assert found[0].event == "gap"  # when the events of a stream came is not known
    bodies = [record for record in found if record.kind in (Kind.BODY, Kind.SSE)]
    assert shown(bodies)[2:] == ["2 c2s tools/call", "2 s2c elicitation/create", "3 c2s s", "2 s2c 1"]


def test_on_the_stream_of_http_with_sse_answers_follow_their_requests() -> None:
    post = {"sent_headers": JSON, "url": "https://example.test/messages?s=1", "status": 202}
    opening = call(0, "initialize", protocolVersion="2024-11-05")
    stream = "event: endpoint\ndata: /messages?s=1\n\n" + events(result(0), result(1))
    (found,) = sessions(
        archive(
            entry(0, None, stream, method="GET", url="https://example.test/sse", headers=STREAM, took=9),
            entry(1, opening, **post),
            entry(2, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **post),
            entry(3, call(1), **post),
        )
    )
    assert (found.url, found.transport) == ("https://example.test/messages", "sse")
    told = [word for word in shown(list(found.records)) if not word.endswith(("head", "eof"))]
    assert told[1:] == [
        "1 s2c sse", "2 c2s initialize", "1 s2c 0", "3 c2s notifications/initialized", "4 c2s tools/list", "1 s2c 1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "odd",
    [
        {"content": {"text": "", "size": 500}},
        {"content": {"size": 100_000}, "headers": STREAM},
        {"content": {"text": '{"jsonrpc":"2.0","id"', "size": 500}},
        {"content": {"text": "!", "encoding": "base64"}},
    ],
)
def test_a_body_that_was_left_out_or_cut_is_nobodys_fault(odd: dict[str, Any]) -> None:
    (found,) = sessions(archive(OPENING, entry(1, call(1), result(1), **odd)))
    assert "bodies missing from the archive: 1" in found.notes
    told = list(found.records)
    assert (told[0].event, told[-1].event) == ("gap", "abort")
    assert verdicts(told, found.unseen) <= IN_FULL


def verdicts(found: list[Record], unseen: frozenset[str], default: str | None = None) -> set[tuple[str, str]]:
    """What is found in records, and against whom."""
    left_out = load().select(unseen) if unseen else frozenset()
    engine = Engine("http", endpoint="/mcp", default=default, only=judgeable() - left_out)
    told = [verdict for record in found for verdict in engine.feed(record)] + engine.finish()
    return {(verdict.requirement, verdict.blames) for verdict in told if verdict.is_finding}


IN_FULL = verdicts(records(OPENING, entry(1, call(1), result(1))), frozenset())
"""What is wrong with the messages of these tests, which are short."""


def test_headers_that_were_left_out_are_not_missed() -> None:
    (found,) = sessions(archive(entry(0, call(1, "server/discover"), result(1), sent_headers=[], headers=[])))
    assert any("headers are missing" in note for note in found.notes)
    assert not any(id.startswith(("http.", "legacy.http.")) for id, _ in verdicts(list(found.records), found.unseen))


def test_what_an_archive_does_not_show_is_known_to_the_catalogue() -> None:
    assert load().select(UNSEEN) == UNSEEN


def test_each_endpoint_is_a_session_with_what_else_went_to_its_server() -> None:
    one, other = "https://one.test/mcp", "https://other.test/mcp"
    found = sessions(
        archive(
            entry(0, None, "{}", method="GET", url="https://one.test/.well-known/oauth-protected-resource"),
            entry(1, call(1), result(1), url=one),
            entry(2, call(1), result(1), url=other),
            entry(3, {"jsonrpc": "2.0", "id": 1, "method": "eth_call"}, result(1), url="https://chain.test/"),
            entry(4, None, "<html>", method="GET", url="https://page.test/"),
        )
    )
    assert [session.url for session in found] == [one, other]
    assert [{record.exchange for record in session.records} - {None} for session in found] == [{1, 2}, {3}]


def opened(tmp_path: Path, value: Any) -> list[Capture]:
    path = tmp_path / "x.har"
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
    found = []
    for capture in open_any(path):
        list(capture)
        found.append(capture)
    return found


def test_an_archive_is_opened_like_any_recording(tmp_path: Path) -> None:
    for value in (archive(OPENING), json.dumps(archive(OPENING))):
        (capture,) = opened(tmp_path, value)
        assert (capture.header.transport, capture.header.target) == ("http", {"url": "https://example.test/mcp"})
        assert capture.notes == ["endpoint guessed: https://example.test/mcp"]


def test_an_archive_without_mcp_traffic_is_refused(tmp_path: Path) -> None:
    for entries in ([], [entry(0, None, "<html>", method="GET")], [None, 7, {"request": []}]):
        with pytest.raises(UsageError, match="a HAR without MCP traffic"):
            opened(tmp_path, {"log": {"entries": entries}})


@pytest.mark.parametrize(
    "damage",
    [
        {"startedDateTime": None},
        {"time": -1},
        {"time": "x"},
        {"response": {}},
        {"response": {"status": 0}},
        {"response": {"status": 200, "headers": "x", "content": 7}},
        {"request": {"method": "POST", "url": "https://example.test/mcp", "postData": {"text": text(call(1))}}},
        {"request": {"method": "POST", "url": "https://[::1/mcp"}},
    ],
)
def test_an_odd_entry_is_read_as_far_as_it_goes(damage: dict[str, Any]) -> None:
    (found,) = sessions(archive(OPENING, entry(1, call(1), result(1)) | damage))
    assert verdicts(list(found.records), found.unseen) <= IN_FULL


def exported(found: list[Record]) -> dict[str, Any]:
    """A recording of HTTP as a proxy would have exported it."""
    heads: dict[int, dict[Dir, Any]] = {}
    bodies: dict[tuple[int, Dir], bytes] = {}
    times: dict[int, list[float]] = {}
    for record in found:
        if record.exchange is None:
            continue
        times.setdefault(record.exchange, []).append(record.t)
        if record.kind is Kind.HEAD:
            heads.setdefault(record.exchange, {})[record.dir] = record.http
        place = record.exchange, record.dir
        bodies[place] = bodies.get(place, b"") + record.data
    return archive(
        *(
            entry(
                min(times[n]),
                bodies.get((n, Dir.C2S), b"").decode("utf-8", "replace") or None,
                bodies.get((n, Dir.S2C), b"").decode("utf-8", "replace") or None,
                method=head[Dir.C2S].method,
                url="http://example.test" + head[Dir.C2S].path,
                sent_headers=head[Dir.C2S].headers,
                headers=head[Dir.S2C].headers if Dir.S2C in head else (),
                status=head[Dir.S2C].status if Dir.S2C in head else 0,
                took=max(times[n]) - min(times[n]),
            )
            for n, head in heads.items()
            if Dir.C2S in head
        )
    )


def test_nothing_is_found_in_an_archive_that_is_not_found_in_the_session_itself() -> None:
    for path, case in filter(shows_all, CASES):
        if case.transport != "http" or path.stem in PUT_TOGETHER:
            continue
        spaced = [replace(record, t=0.01 * place) for place, record in enumerate(case.records)]
        known = {(verdict.requirement, verdict.blames) for verdict in case.judge() if verdict.is_finding}
        for session in sessions(exported(spaced)):
            more = verdicts(list(session.records), session.unseen, case.revision) - known
            assert not more, f"{path.name}, line {case.line}: {case.title}"


@pytest.mark.parametrize(
    "path", sorted(CAPTURES.glob("*/http/*.ndjson")), ids=lambda path: str(path.parent.parent.name)
)
def test_a_real_session_is_judged_alike_in_either_form(path: Path) -> None:
    with open_capture(path) as capture:
        recorded = list(capture)
    (session,) = sessions(exported(recorded))
    found = list(session.records)
    assert sum(record.kind in (Kind.BODY, Kind.SSE) for record in found) == sum(
        record.kind in (Kind.BODY, Kind.SSE) for record in recorded
    )
    assert verdicts(found, session.unseen) == verdicts(recorded, session.unseen)
