"""What means the same earns the same: a session that is spelled otherwise, or holds more, has no other faults."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from fixtures.record import CAPTURES
from mcpcheck.capture import open_capture
from mcpcheck.engine import judge
from mcpcheck.wire.protocol import SUBSCRIPTION_ID
from mcpcheck.wire.record import Dir, Kind, Record

GOLDENS = sorted(CAPTURES.glob("*/*/*.ndjson"))

Records = Sequence[Record]
Object = dict[str, Any]


def each(change: Callable[[Object], Object], **style: Any) -> Callable[[Records], list[Record]]:
    """Every message, changed and written anew."""

    def changed(records: Records) -> list[Record]:
        return [_written(record, change, style) for record in records]

    return changed


def _written(record: Record, change: Callable[[Object], Object], style: dict[str, Any]) -> Record:
    lead, found, text = record.data.partition(b"data: ") if record.kind is Kind.SSE else (b"", b"", record.data)
    tail = text[len(text.rstrip()) :] if record.kind is Kind.SSE else b""
    if record.kind not in {Kind.LINE, Kind.BODY, Kind.SSE} or not text.lstrip().startswith(b"{"):
        return record
    message = json.loads(text)
    return replace(record, data=lead + found + json.dumps(change(message), **style).encode() + tail, text=None)


def same(message: Object) -> Object:
    return message


def backwards(value: Any) -> Any:
    return {name: backwards(value[name]) for name in reversed(value)} if isinstance(value, dict) else value


def with_member(message: Object) -> Object:
    return {"com.example/extra": [None], **message}


def with_meta(message: Object) -> Object:
    """A key of one's own in every _meta that there is."""
    holders = {name: message[name] for name in ("params", "result") if isinstance(message.get(name), dict)}
    more = {
        name: holder | {"_meta": {"com.example/extra": None, **holder["_meta"]}}
        for name, holder in holders.items()
        if "_meta" in holder
    }
    return message | more


def _renamed(value: Any) -> Any:
    return f"{type(value).__name__} {value}" if type(value) in (int, str) else value


def with_text_ids(message: Object) -> Object:
    """Ids that are texts, wherever they stand."""
    message = _at(message, ("id",))
    return _at(
        _at(message, ("params", "requestId")),
        ("result", "_meta", SUBSCRIPTION_ID),
        ("params", "_meta", SUBSCRIPTION_ID),
    )


def with_text_tokens(message: Object) -> Object:
    return _at(message, ("params", "progressToken"), ("params", "_meta", "progressToken"))


def _at(value: Any, *ways: tuple[str, ...]) -> Any:
    """A value with what stands under these names renamed, where it is there."""
    for name, *rest in ways:
        if isinstance(value, dict) and name in value:
            value = value | {name: _at(value[name], tuple(rest)) if rest else _renamed(value[name])}
    return value


def numbered(records: Records) -> list[Record]:
    return [replace(record, n=n) for n, record in enumerate(records, 1)]


def with_carriage_returns(records: Records) -> list[Record]:
    return [replace(r, end=b"\r\n") if r.kind is Kind.LINE and r.end == b"\n" else r for r in records]


def with_comments(records: Records) -> list[Record]:
    comment = [(r, replace(r, data=b": still here\n\n", text=None)) if r.kind is Kind.SSE else (r,) for r in records]
    return numbered([record for some in comment for record in some])


def with_standard_error(records: Records) -> list[Record]:
    """A line of standard error before each that is a message."""
    line = Record(0, 0.0, Dir.S2C, Kind.STDERR, b'{"jsonrpc":"2.0","id":1,"result":7}')
    pairs = [(replace(line, t=r.t), r) if r.kind is Kind.LINE else (r,) for r in records]
    return numbered([record for some in pairs for record in some])


def with_unknown_notifications(records: Records) -> list[Record]:
    """An unknown notification behind each notification on stdio."""
    note = b'{"jsonrpc":"2.0","method":"com.example/noted"}'
    pairs = [
        (r, replace(r, data=note, text=None)) if r.kind is Kind.LINE and b'"id":' not in r.data else (r,)
        for r in records
    ]
    return numbered([record for some in pairs for record in some])


def from_the_middle(records: Records) -> list[Record]:
    return [replace(record, n=record.n + 1000) for record in records]


WAYS = {
    "white space": each(same, ensure_ascii=False, separators=(" , ", " : ")),
    "escapes": each(same),
    "members backwards": each(backwards, ensure_ascii=False),
    "a member that nobody knows": each(with_member, ensure_ascii=False),
    "metadata that nobody knows": each(with_meta, ensure_ascii=False),
    "ids that are texts": each(with_text_ids, ensure_ascii=False),
    "tokens that are texts": each(with_text_tokens, ensure_ascii=False),
    "carriage returns": with_carriage_returns,
    "comments in streams": with_comments,
    "standard error": with_standard_error,
    "unknown notifications": with_unknown_notifications,
    "a recording that began before": from_the_middle,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("capture", GOLDENS, ids=lambda path: str(path.relative_to(CAPTURES)))
def test_a_golden_that_is_spelled_otherwise_has_no_other_faults(capture: Path, way: str) -> None:
    with open_capture(capture) as opened:
        records, transport, url = list(opened), opened.header.transport, opened.header.target.get("url")
    endpoint = urlsplit(url).path if isinstance(url, str) else None
    before, after = (
        judge(records, transport, endpoint=endpoint),
        judge(WAYS[way](records), transport, endpoint=endpoint),
    )
    faults = {verdict.requirement for verdict in before if verdict.is_finding}
    assert {verdict.requirement for verdict in after if verdict.is_finding} <= faults
    if WAYS[way] is not from_the_middle:
        exercised = {verdict.requirement for verdict in after} | {
            "base.message.utf8"
        }  # plain ASCII shows nothing of it
        assert {verdict.requirement for verdict in before} <= exercised
