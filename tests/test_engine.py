"""The engine judges every record there can be, in whatever order, and never raises."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mcpcheck.capture.format import from_line, to_line
from mcpcheck.engine import Engine, judge, judgeable, tally
from mcpcheck.verdict import Outcome, Verdict, broken_ids
from mcpcheck.wire.framing import LineSplitter
from mcpcheck.wire.protocol import MODERN, MODERN_METHODS, REVISIONS
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead
from tests.support import sessions

TOKENS = st.sampled_from(
    [
        "notifications/progress",
        "notifications/cancelled",
        "notifications/message",
        "notifications/resources/updated",
        "notifications/subscriptions/acknowledged",
        "notifications/tasks/status",
        "initialize",
        "ping",
        "elicitation/create",
        "sampling/createMessage",
        "roots/list",
        "tasks/get",
        "logging/setLevel",
        *sorted(MODERN_METHODS),
    ]
)
NAMES = st.sampled_from(
    [
        "_meta",
        "arguments",
        "capabilities",
        "clientInfo",
        "code",
        "completion",
        "content",
        "contents",
        "cursor",
        "data",
        "error",
        "extensions",
        "icons",
        "id",
        "inputRequests",
        "inputResponses",
        "inputSchema",
        "io.modelcontextprotocol/clientCapabilities",
        "io.modelcontextprotocol/clientInfo",
        "io.modelcontextprotocol/logLevel",
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/serverInfo",
        "io.modelcontextprotocol/subscriptionId",
        "jsonrpc",
        "messages",
        "method",
        "name",
        "nextCursor",
        "params",
        "progress",
        "progressToken",
        "properties",
        "protocolVersion",
        "requestId",
        "requestState",
        "requestedSchema",
        "requiredCapabilities",
        "resource",
        "result",
        "resultType",
        "roots",
        "structuredContent",
        "supportedVersions",
        "task",
        "tools",
        "traceparent",
        "type",
        "uri",
        "uriTemplate",
        "values",
        "x-mcp-header",
    ]
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-40000, 3),
    st.floats(),
    st.text(max_size=3),
    TOKENS,
    st.sampled_from(["complete", "input_required", "2.0", "2026-07-28", "2025-11-25", "text", "resource", "url"]),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5), max_leaves=25
)
IDS = st.one_of(st.integers(0, 2), st.sampled_from(["0", "1", None, 1.0, True]), VALUES)


@st.composite
def messages(draw: st.DrawFn) -> Any:
    """Something like a message: the envelope is mostly right, what is in it is anything."""
    message: dict[str, Any] = {"jsonrpc": "2.0"} if draw(st.integers(0, 9)) else {}
    kind = draw(st.sampled_from(["request", "notification", "result", "error", "anything"]))
    if kind == "anything":
        return draw(VALUES)
    if kind != "notification":
        message["id"] = draw(IDS)
    if kind in {"request", "notification"}:
        message["method"] = draw(TOKENS)
        if draw(st.booleans()):
            message["params"] = draw(st.dictionaries(NAMES, VALUES, max_size=5) | VALUES)
    elif kind == "result":
        message["result"] = draw(st.dictionaries(NAMES, VALUES, max_size=5) | VALUES)
    else:
        message["error"] = draw(st.dictionaries(NAMES, VALUES, max_size=3) | VALUES)
    return message


DEEP = b"[" * 2000
PAYLOADS = st.one_of(
    messages().map(lambda message: json.dumps(message).encode()),
    st.lists(messages(), max_size=3).map(lambda batch: json.dumps(batch).encode()),
    messages().map(lambda message: json.dumps(message, indent=1).encode()),
    st.binary(max_size=30),
    st.sampled_from(
        [b"", b"{", b"}", b'{"jsonrpc":"2.0"', b"hello", b"\xef\xbb\xbf{}", b"NaN", b'"\\ud800"', b"[" * 2000]
    ),
)
HEADERS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "Accept",
                "Content-Type",
                "MCP-Protocol-Version",
                "Mcp-Method",
                "Mcp-Name",
                "Mcp-Param-A",
                "Mcp-Session-Id",
                "Last-Event-ID",
                "Content-Length",
            ]
        ),
        st.sampled_from(
            ["application/json", "text/event-stream", MODERN, "2025-11-25", "abc", "=?base64?w7w=?=", "", "0"]
        ),
    ),
    max_size=4,
).map(tuple)


@st.composite
def records(draw: st.DrawFn) -> list[Record]:
    """Records of any kind in any order, on either transport."""
    made = []
    first = draw(st.sampled_from([1, 1, 1, 7]))
    for n in range(first, first + draw(st.integers(0, 12))):
        dir, kind = draw(st.sampled_from(Dir)), draw(st.sampled_from(Kind))
        exchange = draw(st.sampled_from([None, 1, 2])) if kind in {Kind.EVENT, Kind.HEAD} else 1
        match kind:
            case Kind.LINE | Kind.STDERR:
                end = draw(st.sampled_from([b"\n", b"\r\n", b""]))
                made.append(Record(n, n, dir, kind, draw(PAYLOADS).replace(b"\n", b" "), end))
            case Kind.HEAD:
                head: RequestHead | ResponseHead
                if dir is Dir.C2S:
                    method = draw(st.sampled_from(["POST", "GET", "DELETE"]))
                    head = RequestHead(method, draw(st.sampled_from(["/mcp", "/x"])), draw(HEADERS))
                else:
                    head = ResponseHead(draw(st.sampled_from([200, 202, 400, 401, 404, 500])), "", draw(HEADERS))
                made.append(Record(n, n, dir, kind, exchange=exchange, http=head))
            case Kind.BODY:
                made.append(Record(n, n, dir, kind, draw(PAYLOADS), exchange=exchange))
            case Kind.SSE:
                data = draw(st.sampled_from([b"data: ", b"id: 1\ndata:", b": ", b""])) + draw(PAYLOADS)
                made.append(Record(n, n, dir, kind, data + b"\n\n", exchange=exchange))
            case Kind.EVENT:
                event = draw(st.sampled_from(["open", "eof", "exit", "abort", "timeout", "gap", "odd"]))
                detail = draw(st.sampled_from([{}, {"code": 1}, {"signal": 9}, {"lost": 2}]))
                made.append(Record(n, n, dir, kind, exchange=exchange, event=event, detail=detail))
    return made


@settings(deadline=None)
@given(records(), st.sampled_from(["stdio", "http"]), st.sampled_from([*REVISIONS, None]), st.booleans())
def test_judging_is_total(made: list[Record], transport: str, default: str | None, endpoint: bool) -> None:
    engine = Engine(transport, endpoint="/mcp" if endpoint else None, default=default)
    for record in made:
        for verdict in engine.feed(record):
            assert verdict.requirement in judgeable()
            assert record.n in verdict.frames or min(verdict.frames) < record.n
    for verdict in engine.finish():
        assert verdict.outcome is Outcome.HOLDS or verdict.actual


@settings(deadline=None)
@given(records(), st.sampled_from(["stdio", "http"]))
def test_a_capture_that_was_written_and_read_is_judged_alike(made: list[Record], transport: str) -> None:
    again = [from_line(to_line(record)) for record in made]
    assert told(judge(again, transport, default=MODERN)) == told(judge(made, transport, default=MODERN))


@settings(deadline=None)
@given(st.binary(max_size=200) | messages().map(lambda m: json.dumps(m, indent=1).encode()), st.data())
def test_the_size_of_chunks_changes_no_verdict(stream: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert told(judge(lines(chunks), "stdio", default=MODERN)) == told(judge(lines([stream]), "stdio", default=MODERN))


@settings(deadline=None)
@given(st.permutations([1, 2, 3]))
def test_the_order_of_answers_changes_no_verdict(order: list[int]) -> None:
    asked = "".join(f'c: {id} tools/call {{"name":"x"}}\n' for id in (1, 2, 3))
    answered = "".join(f's: {id} -> {{"content":[]}}\n' for id in order)
    (case,) = sessions.parse(asked + answered)
    assert not [verdict for verdict in case.judge() if verdict.is_finding]


def lines(chunks: list[bytes]) -> list[Record]:
    """What a server wrote, in chunks, as the records of its lines."""
    splitter = LineSplitter()
    cut = [line for chunk in chunks for line in splitter.feed(chunk)] + list(splitter.finish())
    return [Record(n, 0, Dir.S2C, Kind.LINE, line.data, line.end) for n, line in enumerate(cut, 1)]


def told(verdicts: list[Verdict]) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(verdict.requirement, verdict.outcome, verdict.frames) for verdict in verdicts]


def test_before_the_revision_is_known_what_holds_in_every_revision_is_judged() -> None:
    (case,) = sessions.parse("@revision none\ns> Welcome!\nc> []")
    assert broken_ids(case.judge()) == {"stdio.server.stdout-pure"}


def test_only_limits_the_rules() -> None:
    (case,) = sessions.parse("s> Welcome!\nc> []")
    assert judge(case.records, "stdio", default=MODERN, only=["base.message.single-object"])[0].frames == (2,)


def test_a_verdict_on_an_earlier_line_comes_with_the_line_that_shows_it() -> None:
    (case,) = sessions.parse('c: 1 tools/list\ns> {\ns> "jsonrpc":"2.0"}')
    engine = Engine("stdio", default=MODERN)
    assert not [verdict for record in case.records[:2] for verdict in engine.feed(record) if verdict.is_finding]
    assert broken_ids(engine.feed(case.records[2])) == {"stdio.framing.no-embedded-newline"}


def test_a_caller_still_finds_the_call_of_the_event_after_late_verdicts() -> None:
    (case,) = sessions.parse("s> {\nc: 1 tools/list")
    engine = Engine("stdio", default=MODERN)
    engine.feed(case.records[0])
    ((event, _),) = engine.follow(case.records[1])
    assert engine.session.call is not None
    assert engine.session.call.request is event


def test_a_server_that_leaves_a_request_open_is_blamed_and_not_the_client_that_asked() -> None:
    (case,) = sessions.parse("c: 1 tools/list\n. s eof")
    verdict = next(verdict for verdict in case.judge() if verdict.is_finding)
    assert (verdict.requirement, verdict.blames) == ("base.response.one-per-request", "server")


def test_tally_counts_outcomes_by_requirement() -> None:
    (case,) = sessions.parse("c: 1 tools/list\nc: 2 tools/list")
    assert tally(case.judge())["base.request.id-unique"] == {Outcome.HOLDS: 2}


KNOWN = [case for path in sorted(Path(__file__).parent.glob("rules/*/*.session")) for case in sessions.read(path)]


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(KNOWN), st.data())
def test_judging_survives_any_change_of_a_known_session(case: sessions.Case, data: st.DataObject) -> None:
    made = list(case.records)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(made) - 1))
        try:
            value = json.loads(made[at].data)
        except ValueError:
            continue
        made[at] = replace(made[at], data=json.dumps(changed(value, data.draw)).encode())
    made = data.draw(st.sampled_from([made, made[::-1], made[1:], made * 2]))
    engine = Engine(case.transport, default=case.revision)
    assert all(verdict.frames for record in made for verdict in engine.feed(record))
    engine.finish()


def changed(value: Any, draw: st.DrawFn) -> Any:
    """A JSON value with something else in one place."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(sorted(value)))
        return value | {key: changed(value[key], draw)}
    if isinstance(value, list) and value and draw(st.integers(0, 5)):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], changed(value[at], draw), *value[at + 1 :]]
    return draw(VALUES)
