"""Plain messages: one look at the whole in place of some twenty rules.

Nearly every message of a session is unremarkable: JSON without a fault, an id, the usual members. What such a message
holds to follows from a handful of tests, so the engine need not ask each rule where only a count is wanted. The rules
stay the judges: ``look`` vouches for nothing of which its rule would say anything else, and a test compares the two.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Message, Notification, Request
from mcpcheck.wire.protocol import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    INPUT_METHODS,
    LOG_LEVEL,
    PROTOCOL_VERSION,
    SERVER_INFO,
)
from mcpcheck.wire.record import Dir

_TEXT, _REQUEST, _NOTIFICATION, _RESULT, _META, _STATELESS, _NAMED = (1 << bit for bit in range(7))
_CALL, _CALLED, _READ, _CONTENTS, _HINTS, _PROGRESS = (1 << bit for bit in range(7, 13))
_FRESH, _FIRST, _SERVER, _ASKING = (1 << bit for bit in range(13, 17))

_PURE = ("stdio.framing.no-embedded-newline", "stdio.server.stdout-pure", "stdio.client.stdin-pure")
_HELD = {
    _TEXT: (
        "base.message.form",
        "base.message.json",
        "base.message.jsonrpc-version",
        "base.message.single-object",
        *_PURE,
    ),
    _REQUEST: (
        "base.message.params-object",
        "base.message.rpc-prefix",
        "base.pattern.client-no-responses",
        "base.request.id-not-null",
        "base.request.id-type",
    ),
    _NOTIFICATION: (
        "base.message.params-object",
        "base.message.rpc-prefix",
        "base.notification.no-id",
        "base.notification.shape",
        "base.pattern.client-no-responses",
        "base.pattern.server-no-requests",
    ),
    _RESULT: (
        "base.pattern.server-no-requests",
        "base.response.result-xor-error",
        "base.result.id-match",
        "base.result.object",
        "base.result.result-type",
        "base.result.result-type-known",
        "base.result.shape",
    ),
    _META: (
        "base.meta.key-label",
        "base.meta.key-name",
        "base.meta.key-prefix",
        "base.meta.reserved-prefix",
        "base.meta.reverse-dns",
    ),
    _STATELESS: (
        "base.capabilities.client-shape",
        "base.meta.request-required",
        "base.meta.request-shape",
        "base.request.shape",
    ),
    _NAMED: ("base.implementation.shape",),
    _FRESH: ("base.request.id-unique",),
    _FIRST: ("base.response.one-per-request",),
    _SERVER: ("base.meta.server-info",),
    _CALL: ("tools.call.request-shape",),
    _CALLED: ("tools.call.result-shape", "tools.content.block-shape"),
    _READ: ("resources.read.request-shape",),
    _CONTENTS: ("resources.contents.text-or-blob", "resources.read.result-shape"),
    _HINTS: ("caching.hints.resources-read", "caching.scope.valid", "caching.ttl.non-negative"),
    _PROGRESS: ("progress.notification.shape",),
}
_SILENT = {
    _ASKING: ("mrtr.result.supported-methods",),
    _TEXT: ("base.message.utf8",),
    _REQUEST: ("base.notification.no-id", "tasks.reserved.names"),
    _NOTIFICATION: ("base.request.id-type", "tasks.reserved.names"),
    _RESULT: (
        "caching.hints.not-on-input-required",
        "mrtr.result.at-least-one",
        "tasks.create.not-for-undeclared",
        "tasks.create.only-for-tools-call",
        "tasks.create.shape",
        "tasks.result-type.only-on-create",
    ),
}
_PREFIXED = frozenset({PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, SERVER_INFO})
_OTHERS = ("notifications/", "rpc.", "tasks/")
"""What the methods of requests begin with that are not plain."""

_NAME = frozenset({"name", "version"})
_USUAL = _PREFIXED | {"progressToken"}


@cache
def held(look: int) -> frozenset[str]:
    """The requirements that a message with this look holds to, each once."""
    return frozenset(id for bit, ids in _HELD.items() if look & bit for id in ids)


@cache
def settled(look: int) -> frozenset[str]:
    """The requirements whose rules need not be asked: what is held, and what has nothing to say."""
    return held(look) | {id for bit, ids in _SILENT.items() if look & bit for id in ids}


def look(event: Message, session: Session) -> int:
    """What is plain about a message, as the bits of a number; 0 where nothing is."""
    record, obj = event.record, event.obj
    if event.text.faults or event.in_batch or obj.get("jsonrpc") != "2.0" or not record.data.isascii():
        return 0
    if session.revision is None:  # which shape a thing has to have depends on it
        return 0
    seen = _TEXT if record.end else 0
    if isinstance(event, Answer):
        result = obj.get("result")
        whole = event.dir is Dir.S2C and session.call is not None and "error" not in obj
        if whole and isinstance(result, dict) and result.get("resultType") == "complete":
            if not isinstance(result.get("_meta", {}), dict):
                return seen
            if session.whole and session.call is not None and len(session.call.answers) == 1:
                seen |= _FIRST
            if SERVER_INFO in event.meta:
                seen |= _SERVER
            method = session.method_of(event)
            if method in INPUT_METHODS:
                seen |= _ASKING
            return seen | _RESULT | _meta(event, result) | _result(method, result)
    elif isinstance(event, Request):
        if event.dir is Dir.C2S and isinstance(event.params, dict) and type(obj["id"]) in (str, int):
            if event.method.startswith(_OTHERS):
                return seen
            if session.whole and session.clash is None:
                seen |= _FRESH
            seen |= _REQUEST | _meta(event, event.params) | _params(event.method, event.params)
            return seen | _STATELESS if seen & _META and _is_stateless(event) else seen
    elif isinstance(event, Notification) and isinstance(event.params, dict):
        named = event.method.startswith("notifications/") and not event.method.startswith("notifications/tasks/")
        if named and isinstance(event.params.get("_meta", {}), dict):
            progress = _PROGRESS if event.method == "notifications/progress" and _is_progress(event.params) else 0
            return seen | _NOTIFICATION | _meta(event, event.params) | progress
    return seen


def _meta(event: Message, holder: dict[str, object]) -> int:
    """Whether the message has one _meta, with keys that the protocol defines, one of them prefixed."""
    meta = event.meta
    usual = "_meta" in holder and meta.keys() <= _USUAL and not meta.keys().isdisjoint(_PREFIXED)
    if not usual or event.record.data.count(b"_meta") != 1:
        return 0
    client, server = meta.get(CLIENT_INFO), meta.get(SERVER_INFO)
    return _META | _NAMED if (client is None and _is_name(server)) or (server is None and _is_name(client)) else _META


def _is_name(value: object) -> bool:
    """Whether an implementation says its name and its version, and nothing else."""
    return type(value) is dict and value.keys() == _NAME and all(type(text) is str for text in value.values())


def _is_stateless(request: Request) -> bool:
    meta = request.meta
    none = meta.get(CLIENT_CAPABILITIES)
    return type(none) is dict and not none and type(meta.get(PROTOCOL_VERSION)) is str and LOG_LEVEL not in meta


def _params(method: str, params: dict[str, Any]) -> int:
    """Whether the params of the most usual methods have the members that they have to have, and no others."""
    if method == "tools/call" and params.keys() <= {"name", "arguments", "_meta"}:
        return _CALL if type(params.get("name")) is str and type(params.get("arguments", {})) is dict else 0
    if method == "resources/read" and params.keys() <= {"uri", "_meta"}:
        return _READ if type(params.get("uri")) is str else 0
    return 0


def _result(method: str | None, result: dict[str, Any]) -> int:
    """The same for their results, where they hold text and nothing else."""
    if method == "tools/call" and result.keys() <= {"resultType", "content", "_meta"}:
        return _CALLED if _is_all(result.get("content"), _is_text) else 0
    usual = {"resultType", "contents", "ttlMs", "cacheScope", "_meta"}
    if method == "resources/read" and result.keys() <= usual and _is_all(result.get("contents"), _is_contents):
        ttl, scope = result.get("ttlMs"), result.get("cacheScope")
        return _CONTENTS | _HINTS if type(ttl) is int and ttl >= 0 and scope in ("public", "private") else _CONTENTS
    return 0


def _is_all(values: Any, fits: Callable[[Any], bool]) -> bool:
    return type(values) is list and len(values) > 0 and all(map(fits, values))


def _is_text(block: Any) -> bool:
    return (
        type(block) is dict
        and block.keys() == {"type", "text"}
        and block["type"] == "text"
        and type(block["text"]) is str
    )


def _is_contents(item: Any) -> bool:
    whole = type(item) is dict and {"uri", "text"} <= item.keys() <= {"uri", "text", "mimeType"}
    return (
        whole
        and all(type(value) is str for value in item.values())
        and item.get("mimeType", "text/").startswith("text/")
    )


def _is_progress(params: dict[str, Any]) -> bool:
    usual = {"progressToken", "progress"} <= params.keys() <= {"progressToken", "progress", "total", "message"}
    numbers = (params.get("progress"), params.get("total", 0))
    return (
        usual
        and type(params["progressToken"]) in (str, int)
        and all(type(number) in (int, float) for number in numbers)
        and type(params.get("message", "")) is str
    )
