"""What the traffic establishes: which answer belongs to what, and which revision governs a message."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from mcpcheck.session import ids
from mcpcheck.session.orphans import Orphan
from mcpcheck.session.session import Session
from mcpcheck.wire.decode import Decoder
from mcpcheck.wire.event import Event
from mcpcheck.wire.protocol import MODERN
from mcpcheck.wire.record import Record
from tests.support import sessions


def steps(text: str) -> Iterator[tuple[Session, Event, list[Event]]]:
    """The session after each event of a shorthand, with what that event settled."""
    (case,) = sessions.parse(text)
    decoder = Decoder("/mcp" if case.transport == "http" else None)
    session = Session(case.transport, case.revision)
    for record in case.records:
        for event in decoder.decode(record):
            session.see(event)
            yield session, event, session.settle()
    last = Record(10_000, 0, case.records[-1].dir, case.records[-1].kind)
    yield session, Event(last), session.finish()


def orphans(text: str) -> list[tuple[str, int]]:
    """The orphans of a session: their kind and frame, in the order in which they are settled."""
    found = (event for _, _, settled in steps(text) for event in settled)
    return [(event.kind, event.record.n) for event in found if isinstance(event, Orphan)]


def revisions(text: str) -> list[str | None]:
    return [session.revision for session, event, _ in steps(text)][:-1]


NULL = 's> {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("c: 1 tools/list\ns: 1 error 1", []),
        ("c: 1 tools/list\ns: 1 error 1\ns: 1 error 1", [("duplicate", 3)]),
        ('c: 1 tools/list\nc: 2 tools/list\ns: "1" error 1', [("misnamed", 3)]),
        ("c: 1 tools/list\ns: 9 -> {}", [("misnamed", 2)]),
        ("c: 1 tools/list\nc: 2 tools/list\ns: 9 -> {}\ns: 1 error 1\ns: 2 error 1", [("unasked", 3)]),
        ("c: 1 tools/list\nc: 2 tools/list\ns: 9 -> {}\ns: 1 error 1", [("misnamed", 3)]),
        ("s: 9 error 1", [("unasked", 1)]),
        ("c: note notifications/x\n" + NULL, [("notification", 2)]),
        ("c: note notifications/x\nc: 1 tools/list\n" + NULL + "s: 1 error 1", [("notification", 3)]),
        ("c: note notifications/x\nc: 1 tools/list\ns: 1 error 1\n" + NULL, [("unasked", 4)]),
        ("c> oops\n" + NULL, [("unreadable", 2)]),
        ("c> oops\ns: 0 error 1", [("invented", 2)]),
        ('c> {"jsonrpc":"2.0","id":7,"method":5}\ns: 7 error 1', [("unreadable", 2)]),
        ("c: null tools/list\n" + NULL, []),
        ('c: null tools/list\ns> {"jsonrpc":"2.0","error":{"code":1,"message":"no"}}', [("unreadable", 2)]),
        ("@partial\nc: 1 tools/list\ns: 9 -> {}", []),
        ("c: 1 subscriptions/listen {}\nc: 2 tools/list\ns: 2 error 1\ns: 9 -> {}", [("unasked", 4)]),
    ],
)
def test_an_answer_without_a_request_is_told_by_what_it_was_meant_for(text: str, expected: list[Any]) -> None:
    assert orphans(text) == expected


def test_of_two_open_requests_with_one_id_the_older_is_answered_first() -> None:
    calls = [session.call for session, _, _ in steps("c: 1 tools/list\nc: 1 prompts/list\ns: 1 error 1\ns: 1 error 1")]
    assert calls[2] is calls[0]
    assert calls[3] is calls[1]


def test_an_exchange_that_ends_without_an_answer_frees_its_id() -> None:
    (*_, (session, _, _)) = steps("@http\nc: 1 tools/list\ns> 401 No\n. s eof")
    assert not session.open_calls()


def test_a_stream_of_the_handshake_era_may_be_resumed() -> None:
    stream = "s> 200 OK | Content-Type: text/event-stream\n. s eof"
    (*_, (session, _, _)) = steps("@http\n@revision 2025-11-25\nc: 1 ping\n" + stream)
    assert len(session.open_calls()) == 1


INITIALIZE = 'c> {"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18"}}\n'
SETTLED = 's> {"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-03-26","capabilities":{}}}\n'
PLAIN = 'c> {"jsonrpc":"2.0","id":"p","method":"ping"}\n'


def test_an_answer_to_initialize_settles_the_revision() -> None:
    assert revisions("@revision none\n" + INITIALIZE + SETTLED + PLAIN) == ["2025-06-18", "2025-03-26", "2025-03-26"]


def test_an_error_to_initialize_belongs_to_no_revision() -> None:
    assert revisions("@revision none\n" + INITIALIZE + 's: "i" error 1') == ["2025-06-18", None]


def test_a_probe_before_the_handshake_leaves_the_session_to_the_handshake() -> None:
    probe = (
        f'c> {{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{{"_meta":{json.dumps(sessions.META)}}}}}\n'
    )
    assert revisions("@revision none\n" + probe + INITIALIZE + SETTLED + PLAIN)[-1] == "2025-03-26"


def test_a_dual_era_server_is_judged_message_by_message() -> None:
    modern = f'c> {{"jsonrpc":"2.0","id":0,"method":"tools/list","params":{{"_meta":{json.dumps(sessions.META)}}}}}\n'
    assert revisions("@revision none\n" + INITIALIZE + SETTLED + modern + PLAIN)[2:] == [MODERN, "2025-03-26"]


def test_headers_tell_the_revision_of_a_post() -> None:
    post = 'c> POST /mcp | MCP-Protocol-Version: 2025-06-18\nc> {"jsonrpc":"2.0","id":1,"method":"ping"}'
    assert revisions("@http\n@revision none\n" + post) == ["2025-06-18", "2025-06-18"]


@pytest.mark.parametrize(
    ("retry", "repeats"),
    [
        ('{"name":"x","inputResponses":{"a":{}},"requestState":"s"}', True),
        ('{"name":"x","inputResponses":{"other":{}}}', True),
        ('{"name":"y","inputResponses":{"a":{}},"requestState":"s"}', False),
        ('{"name":"x"}', False),
    ],
)
def test_a_request_that_brings_input_repeats_the_one_that_was_asked_for_it(retry: str, repeats: bool) -> None:
    asked = 's: 1 -> {"resultType":"input_required","inputRequests":{"a":{}},"requestState":"s"}\n'
    text = 'c: 1 tools/call {"name":"x"}\n' + asked + f"c: 2 tools/call {retry}"
    attempts = [session.attempt for session, _, _ in steps(text)]
    assert (attempts[2] is not None) is repeats


def test_a_retry_is_of_the_attempt_whose_state_it_brings() -> None:
    text = "".join(
        f'c: {id} tools/call {{"name":"x"}}\ns: {id} -> {{"resultType":"input_required","requestState":"{id}"}}\n'
        for id in (1, 2)
    )
    attempts = [session.attempt for session, _, _ in steps(text + 'c: 3 tools/call {"name":"x","requestState":"1"}')]
    assert attempts[4] is not None
    assert attempts[4].request.id == 1


def test_a_recording_is_whole_from_its_first_frame_until_a_gap() -> None:
    assert [session.whole for session, _, _ in steps('c: 1 tools/list\n. s gap {"lost":2}\nc: 2 tools/list')] == [
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(("one", "other"), [(1, "1"), (1, 1.0), (1, True), (None, "null"), (0, False), ("a", "A")])
def test_ids_differ_by_their_type_and_value(one: Any, other: Any) -> None:
    assert ids.key(one) != ids.key(other)
    assert ids.key(one) == ids.key(json.loads(json.dumps(one)))
