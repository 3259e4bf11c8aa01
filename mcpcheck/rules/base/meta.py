"""base.meta: what _meta has to hold, and how its keys are written."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from mcpcheck.rules.payloads import is_call, is_due, shown
from mcpcheck.rules.places import metas
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.shapes import schemas_of
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Message, Request
from mcpcheck.wire.protocol import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    LOG_LEVEL,
    META_PREFIX,
    PROTOCOL_VERSION,
    SERVER_INFO,
    SUBSCRIPTION_ID,
)
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

LABEL = re.compile(r"[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?")
NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_TOP_DOMAINS = frozenset({"com", "org", "net", "io", "dev", "ai", "app", "edu", "gov", "co", "eu", "de", "uk"})
_KNOWN = frozenset(
    {
        PROTOCOL_VERSION,
        CLIENT_INFO,
        CLIENT_CAPABILITIES,
        LOG_LEVEL,
        SUBSCRIPTION_ID,
        SERVER_INFO,
        META_PREFIX + "related-task",
        META_PREFIX + "model-immediate-response",
    }
)


@lru_cache
def prefix_of(key: str) -> str | None:
    """The prefix of a key without its slash; None where it has none."""
    prefix, slash, _ = key.partition("/")
    return prefix if slash else None


def name_of(key: str) -> str:
    """The name part of a key."""
    prefix, slash, name = key.partition("/")
    return name if slash else prefix


@lru_cache
def bad_prefix(key: str) -> str:
    """What is wrong with the prefix of a key as a series of labels; nothing where it has none."""
    prefix = prefix_of(key)
    if prefix is None:
        return ""
    if not prefix:
        return "its prefix is empty"
    if "" in prefix.split("."):
        return "a label of its prefix is empty"
    return "there is a second slash" if "/" in name_of(key) else ""


@lru_cache
def bad_label(key: str) -> str:
    """The first label of a key's prefix that is not written as a label."""
    labels = (prefix_of(key) or "").split(".")
    return next((label for label in labels if label and not LABEL.fullmatch(label)), "")


@lru_cache
def bad_name(key: str) -> bool:
    """Whether the name part of a key is not written as one. It may be empty behind a prefix."""
    name = name_of(key)
    if "/" in name or (not name and prefix_of(key) is not None):
        return False
    return not NAME.fullmatch(name)


def _keys(event: Message, session: Session) -> Iterator[tuple[str, str]]:
    if "keys" not in session.memo:
        found = metas(event, session)
        session.memo["keys"] = [(at, key) for at, meta in found if isinstance(meta, dict) for key in meta]
    yield from session.memo["keys"]


def _each_key(
    event: Message, session: Session, expected: str, fault: Callable[[str], str], *, prefixed: bool
) -> Verdicts:
    """One verdict on all keys of a message, or one for each key that is wrong."""
    seen, clean = False, True
    for at, key in _keys(event, session):
        if prefixed and prefix_of(key) is None:
            continue
        seen = True
        wrong = fault(key)
        if wrong:
            clean = False
            yield broken(event, expected, f"{at} has the key {shown(key)}: {wrong}")
    if seen and clean:
        yield holds(event)


@rule("base.meta.key-prefix", near="_meta")
def key_prefix(event: Message, session: Session) -> Verdicts:
    """Looks at every key with a slash, in every _meta that a message holds."""
    yield from _each_key(event, session, "labels joined by dots, then one slash", bad_prefix, prefixed=True)


@rule("base.meta.key-label", near="_meta")
def key_label(event: Message, session: Session) -> Verdicts:
    """Looks at each label of a prefix; an empty one is base.meta.key-prefix."""

    def fault(key: str) -> str:
        label = bad_label(key)
        return f"the label {shown(label)}" if label else ""

    yield from _each_key(event, session, "a letter, then letters, digits and hyphens", fault, prefixed=True)


@rule("base.meta.key-name", near="_meta")
def key_name(event: Message, session: Session) -> Verdicts:
    """Looks at the name part of every key: the whole key where it has no slash."""

    def fault(key: str) -> str:
        return f"the name {shown(name_of(key))}" if bad_name(key) else ""

    expected = "letters, digits, hyphens, underscores and dots, with a letter or digit at both ends"
    yield from _each_key(event, session, expected, fault, prefixed=False)


@rule("base.meta.reverse-dns", near="_meta")
def reverse_dns(event: Message, session: Session) -> Verdicts:
    """Looks for prefixes that end in a common top-level domain and do not begin with one: suspect."""
    seen, clean = False, True
    for at, key in _keys(event, session):
        labels = (prefix_of(key) or "").lower().split(".")
        if len(labels) < 2:
            continue
        seen = True
        if labels[-1] in _TOP_DOMAINS and labels[0] not in _TOP_DOMAINS:
            clean = False
            yield suspect(event, f"a prefix like {'.'.join(reversed(labels))}/", f"{at} has the key {shown(key)}")
    if seen and clean:
        yield holds(event)


@rule("base.meta.reserved-prefix", near="_meta")
def reserved_prefix(event: Message, session: Session) -> Verdicts:
    """Looks at prefixes that belong to the protocol: an unknown key is suspect, as extensions add their own."""
    seen, clean = False, True
    for at, key in _keys(event, session):
        labels = (prefix_of(key) or "").split(".")
        if len(labels) < 2 or labels[1] not in {"modelcontextprotocol", "mcp"}:
            continue
        seen = True
        if key not in _KNOWN:
            clean = False
            yield suspect(event, "a prefix of one's own", f"{at} has the key {shown(key)}, which no revision defines")
    if seen and clean:
        yield holds(event)


@rule("base.meta.request-required")
def request_required(request: Request, session: Session) -> Verdicts:
    """Looks at every request of a client in the stateless era. The types of the members have rules of their own."""
    if request.dir is Dir.S2C or not is_call(request):
        return
    params = request.params
    if "params" in request.obj and not isinstance(params, dict):
        return
    if params is None or "_meta" not in params:
        yield broken(request, "params._meta with protocolVersion and clientCapabilities", "there is no _meta")
        return
    if not isinstance(params["_meta"], dict):
        return
    missing = [key for key in (PROTOCOL_VERSION, CLIENT_CAPABILITIES) if key not in request.meta]
    if missing:
        yield broken(request, "protocolVersion and clientCapabilities in _meta", f"without {' and '.join(missing)}")
    else:
        yield holds(request)


@rule("base.meta.request-shape")
def request_shape(request: Request, session: Session) -> Verdicts:
    """Looks at protocolVersion and logLevel in a request's _meta. The other members have rules of their own."""
    if request.dir is Dir.S2C or not request.meta:
        return
    version = request.meta.get(PROTOCOL_VERSION, "")
    schemas = schemas_of(session)
    if not isinstance(version, str):
        yield broken(request, "protocolVersion is a string", f"protocolVersion is {shown(version)}")
    elif schemas and LOG_LEVEL in request.meta and not schemas.valid("LoggingLevel", request.meta[LOG_LEVEL]):
        yield broken(request, "logLevel is one of the eight levels", f"logLevel is {shown(request.meta[LOG_LEVEL])}")
    else:
        yield holds(request)


@rule("base.meta.client-info")
class ClientInfo:
    """Looks at clientInfo in every request, and reports once for a session how many lack it."""

    def __init__(self) -> None:
        self._with = self._without = 0
        self._first: Request | None = None

    def see(self, request: Request, session: Session) -> Verdicts:
        if request.dir is Dir.S2C or not request.meta or not is_call(request):
            return
        if CLIENT_INFO in request.meta:
            self._with += 1
            yield holds(request)
        else:
            self._without += 1
            self._first = self._first or request

    def end(self, session: Session) -> Verdicts:
        if self._first:
            share = f"{self._without} of {self._with + self._without} requests are without it"
            yield broken(self._first, "clientInfo in every request", share)


@rule("base.meta.server-info")
class ServerInfo:
    """Looks at serverInfo in the _meta of every result, and reports once for each method."""

    def __init__(self) -> None:
        self._without: Recent[str, tuple[Answer, int]] = Recent()

    def see(self, answer: Answer, session: Session) -> Verdicts:
        call = session.call or session.near
        if call is None or not isinstance(answer.result, dict) or not is_due(answer, session):
            return
        if "_meta" in answer.result and not isinstance(answer.result["_meta"], dict):
            return
        if SERVER_INFO in answer.meta:
            yield holds(answer)
        else:
            first, times = self._without.get(call.request.method, (answer, 0))
            self._without[call.request.method] = first, times + 1

    def end(self, session: Session) -> Verdicts:
        for method, (first, times) in self._without.items():
            many = f"; {times} such results" if times > 1 else ""
            yield broken(first, "serverInfo in _meta of every result", f"a result of {method} without it{many}")
