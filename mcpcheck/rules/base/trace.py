"""base.meta.traceparent, tracestate, baggage: the keys of W3C Trace Context and W3C Baggage."""

import re
from collections.abc import Callable
from typing import Any

from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import metas
from mcpcheck.rules.registry import Verdicts, broken, holds, rule
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Message

_PARENT = re.compile(
    r"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<parent>[0-9a-f]{16})-[0-9a-f]{2}(?P<more>-.*)?"
)
_STATE_KEY = re.compile(r"[a-z0-9][a-z0-9_*/-]{0,255}(@[a-z0-9_*/-]+)?")
_STATE_VALUE = re.compile(r"[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]")
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_BAGGAGE_VALUE = r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*"
_BAGGAGE = re.compile(
    rf"[ \t]*{_TOKEN}[ \t]*=[ \t]*{_BAGGAGE_VALUE}[ \t]*"
    rf"(;[ \t]*{_TOKEN}[ \t]*(=[ \t]*{_BAGGAGE_VALUE}[ \t]*)?)*"
)


def _judge(event: Message, session: Session, key: str, expected: str, good: Callable[[Any], bool]) -> Verdicts:
    for at, meta in metas(event, session):
        if not isinstance(meta, dict) or key not in meta:
            continue
        if good(meta[key]):
            yield holds(event)
        else:
            yield broken(event, expected, f"{at} has {key} {shown(meta[key])}")


@rule("base.meta.traceparent", near="traceparent")
def traceparent(event: Message, session: Session) -> Verdicts:
    """Looks at traceparent in every _meta: version, trace id, parent id and flags, in lower case."""
    yield from _judge(event, session, "traceparent", "version-traceid-parentid-flags of W3C Trace Context", _is_parent)


def _is_parent(value: Any) -> bool:
    match = _PARENT.fullmatch(value) if isinstance(value, str) else None
    if match is None or match["version"] == "ff" or (match["more"] and match["version"] == "00"):
        return False
    return bool(match["trace"].strip("0")) and bool(match["parent"].strip("0"))


@rule("base.meta.tracestate", near="tracestate")
def tracestate(event: Message, session: Session) -> Verdicts:
    """Looks at tracestate in every _meta: at most 32 members key=value. Empty members are allowed."""
    yield from _judge(event, session, "tracestate", "the list of W3C Trace Context", _is_state)


def _is_state(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    members = [member.strip(" \t") for member in value.split(",")]
    pairs = [member.partition("=") for member in members if member]
    keys = [key for key, _, _ in pairs]
    return (
        len(pairs) <= 32
        and len(set(keys)) == len(keys)
        and all(
            len(key) <= 256 and _STATE_KEY.fullmatch(key) and sign and _STATE_VALUE.fullmatch(text)
            for key, sign, text in pairs
        )
    )


@rule("base.meta.baggage", near="baggage")
def baggage(event: Message, session: Session) -> Verdicts:
    """Looks at baggage in every _meta: members key=value with properties, percent-encoded."""
    yield from _judge(event, session, "baggage", "the list of W3C Baggage", _is_baggage)


def _is_baggage(value: Any) -> bool:
    return isinstance(value, str) and all(_BAGGAGE.fullmatch(member) for member in value.split(","))
