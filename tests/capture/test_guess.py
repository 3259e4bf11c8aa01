"""Who sent a message that does not say so: rather nothing than the wrong side."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcpcheck.capture.bare import UNSEEN, Messages
from mcpcheck.capture.guess import Guess
from mcpcheck.engine import Engine, judgeable
from mcpcheck.wire import sse
from mcpcheck.wire.decode import classify
from mcpcheck.wire.protocol import PROTOCOL_VERSION
from mcpcheck.wire.record import Dir, Kind, Record
from tests.rules.test_cases import CASES
from tests.support.sessions import Case

UNDECIDED = {
    "notifications/cancelled",  # the side that asked has cancelled, unless somebody broke a rule
}
BETTER_KNOWN_ON_HTTP = {
    "base.meta.request-required",  # there a header says the revision
    "subscribe.notification.subscription-id",  # there the stream says what is wrong with it
}


def sent(*messages: dict[str, Any]) -> list[str]:
    """The direction of each message, "?" where it is not told."""
    guess, found = Guess(), []
    for message in messages:
        kind = classify(message)
        dir = guess.tell(message, kind)
        guess.note(message, kind, dir)
        found.append("?" if dir is None else dir.value)
    return found


def request(id: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, **({"params": params} if params else {})}


def note(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}


def result(id: Any, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": members}


def error(id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}


@pytest.mark.parametrize(
    ("messages", "directions"),
    [
        ([request(1, "tools/list"), result(1, tools=[])], "c2s s2c"),
        ([request(1, "sampling/createMessage"), result(1, role="assistant", model="m")], "s2c c2s"),
        ([request("a", "roots/list"), error("a")], "s2c c2s"),
        ([request(1, "tools/call"), result("1", content=[])], "c2s s2c"),
        ([result(7)], "?"),
        ([error(None)], "?"),
        ([note("notifications/initialized"), note("notifications/message")], "c2s s2c"),
        ([note("notifications/unheard-of")], "?"),
        # ids of both sides are apart: what the result is tells the two answers
        (
            [request(1, "tools/call"), request(1, "elicitation/create"), result(1, action="cancel")],
            "c2s s2c c2s",
        ),
        ([request(1, "tools/call"), request(1, "elicitation/create"), error(1)], "c2s s2c ?"),
        # ping is anybody's: a side that counts is known by its count
        ([request(4, "tools/list"), result(4, tools=[]), request(5, "ping"), result(5)], "c2s s2c c2s s2c"),
        ([request(4, "tools/list"), result(4, tools=[]), request(0, "ping"), result(0)], "c2s s2c s2c c2s"),
        ([request(0, "initialize"), result(0), request(1, "ping"), result(1)], "c2s s2c ? ?"),
        ([request("a", "tools/list"), result("a"), request(1, "ping"), result(1)], "c2s s2c ? ?"),
        ([request("b", "acme/x", _meta={PROTOCOL_VERSION: "2026-07-28"}), result("b")], "c2s s2c"),
        # notifications that name what they are about
        ([request(1, "tools/call", _meta={"progressToken": "t"}), note("notifications/progress", progressToken="t")],
         "c2s s2c"),
        ([note("notifications/progress", progressToken="t")], "?"),
        ([request(1, "tools/call"), note("notifications/cancelled", requestId=1)], "c2s c2s"),
        ([note("notifications/cancelled", requestId=1)], "?"),
    ],
)  # fmt: skip
def test_a_message_is_told_by_what_it_is_and_by_what_it_answers(
    messages: list[dict[str, Any]], directions: str
) -> None:
    assert sent(*messages) == directions.split()


@pytest.mark.parametrize(
    "message",
    [
        {"id": [1], "method": "x"},
        {"id": {}, "result": 1},
        {"method": 5, "id": 1},
        {"method": "notifications/progress", "params": []},
        {"method": "notifications/progress", "params": {"progressToken": {}}},
        {"id": 1, "method": "tools/call", "params": {"_meta": {"progressToken": []}}},
        {"id": float("nan"), "result": []},
        {},
        7,
        None,
    ],
)
def test_anything_can_be_guessed_at(message: Any) -> None:
    guess = Guess()
    kind = classify(message)
    assert guess.tell(message, kind) in {None, *Dir}
    guess.note(message, kind, None)
    assert guess.is_stray(message, kind) in {True, False}


def shows_all(given: tuple[Path, Case]) -> bool:
    """Whether a recording says nowhere that something is missing, which other forms cannot say."""
    records = given[1].records
    return records[0].n <= 1 and not any(record.event == "gap" for record in records)


def bare(case: Case) -> tuple[dict[int, Dir], list[Record]]:
    """The messages of a session as another tool would have written them: who sent each, and what is read of it."""
    texts, dirs = [], {}
    for record in case.records:
        data = sse.data_bytes(record.data) if record.kind is Kind.SSE else record.data
        if record.kind in (Kind.LINE, Kind.BODY, Kind.SSE) and data and b"\n" not in data:
            texts.append((len(texts) + 1, data))
            dirs[len(texts)] = record.dir
    return dirs, list(Messages(texts))


def test_no_session_that_a_rule_is_tested_with_is_read_the_wrong_way_round() -> None:
    for path, case in CASES:
        dirs, records = bare(case)
        for record in records:
            if record.kind is Kind.LINE and record.dir is not dirs[record.n]:
                message = json.loads(record.data)
                assert message.get("method") in UNDECIDED, f"{path.name}: {case.title}: {record.data!r}"


def test_nothing_is_found_in_bare_messages_that_is_not_found_in_the_session_itself() -> None:
    for path, case in filter(shows_all, CASES):
        _, records = bare(case)
        engine = Engine("unknown", default=case.revision, only=judgeable() - UNSEEN)
        verdicts = [verdict for record in records for verdict in engine.feed(record)] + engine.finish()
        found = {(verdict.requirement, verdict.blames) for verdict in verdicts if verdict.is_finding}
        known = {(verdict.requirement, verdict.blames) for verdict in case.judge() if verdict.is_finding}
        more = {id for id, _ in found - known} - BETTER_KNOWN_ON_HTTP
        assert not more, f"{path.name}, line {case.line}: {case.title}"
