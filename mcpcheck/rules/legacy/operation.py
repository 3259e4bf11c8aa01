"""legacy.lifecycle.operation: what was negotiated is what is used."""

from mcpcheck.rules.legacy.handshakes import Capabilities, Handshake, Handshakes
from mcpcheck.rules.registry import Judgement, Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.protocol import MODERN, REVISIONS
from mcpcheck.wire.record import Dir

_OF_SERVER = {
    "tools/list": ("tools",),
    "tools/call": ("tools",),
    "prompts/list": ("prompts",),
    "prompts/get": ("prompts",),
    "resources/list": ("resources",),
    "resources/templates/list": ("resources",),
    "resources/read": ("resources",),
    "resources/subscribe": ("resources", "subscribe"),
    "resources/unsubscribe": ("resources", "subscribe"),
    "completion/complete": ("completions",),
    "logging/setLevel": ("logging",),
    "notifications/tools/list_changed": ("tools", "listChanged"),
    "notifications/prompts/list_changed": ("prompts", "listChanged"),
    "notifications/resources/list_changed": ("resources", "listChanged"),
    "notifications/resources/updated": ("resources", "subscribe"),
}
"""The capability of the server that a message takes, whichever side sends it."""

_OF_CLIENT = {
    "sampling/createMessage": ("sampling",),
    "roots/list": ("roots",),
    "elicitation/create": ("elicitation",),
    "notifications/roots/list_changed": ("roots", "listChanged"),
}
"""The same of the client."""

_SINCE = {
    "elicitation/create": "2025-06-18",
    "notifications/elicitation/complete": "2025-11-25",
    "tasks/get": "2025-11-25",
    "tasks/result": "2025-11-25",
    "tasks/list": "2025-11-25",
    "tasks/cancel": "2025-11-25",
    "notifications/tasks/status": "2025-11-25",
    "subscriptions/listen": MODERN,
    "notifications/subscriptions/acknowledged": MODERN,
}
"""The revision that brought a method."""

_ALWAYS = ("tools/list", "prompts/list", "resources/list", "roots/list", "sampling/createMessage")
_SENDERS = {
    **dict.fromkeys((name for name in _OF_SERVER if not name.startswith("notifications/")), Dir.C2S),
    **dict.fromkeys((name for name in _OF_SERVER if name.startswith("notifications/")), Dir.S2C),
    **dict.fromkeys(_OF_CLIENT, Dir.S2C),
    "notifications/roots/list_changed": Dir.C2S,
}


@rule("legacy.lifecycle.operation.capabilities-must", on=("initialize", *_OF_SERVER, *_OF_CLIENT))
@rule("legacy.lifecycle.operation.capabilities-should", on=("initialize", *_OF_SERVER, *_OF_CLIENT))
class Capability:
    """Looks for the declared capability behind each request, list_changed and update after a handshake.

    Suspect are a list_changed without listChanged, and what comes where the recording cannot tell the sessions of
    several clients apart. Log messages and tasks have rules of their own; methods that the revision does not know are
    a matter of its version. A session whose handshake was not seen is left alone.
    """

    def __init__(self) -> None:
        self._handshakes = Handshakes()

    def see(self, event: Request | Notification | Answer, session: Session) -> Verdicts:
        if isinstance(event, Answer):
            self._handshakes.learn(event, session)
            return
        found = self._handshakes.of(session)
        if found is None or _SENDERS.get(event.method) is not event.dir or not _knows(session, event.method):
            return
        if event.method in _OF_SERVER:
            yield from _needs(event, found.server, found, *_OF_SERVER[event.method])
        elif event.method in _OF_CLIENT:
            yield from _needs(event, found.client, found, *_OF_CLIENT[event.method])


def _knows(session: Session, method: str) -> bool:
    """Whether the revision has a method, and a capability for it."""
    if method == "completion/complete":
        return session.revision != REVISIONS[0]
    return session.revision is not None and session.revision >= _SINCE.get(method, "")


def _needs(
    event: Request | Notification, declared: Capabilities, handshake: Handshake, name: str, detail: str = ""
) -> Verdicts:
    if name not in declared:
        verdict = broken if handshake.sure else suspect
        yield verdict(event, f"{event.method} only with the capability {name}", f"{name} was not declared")
        return
    value = declared[name]
    if not isinstance(value, dict) or not isinstance(value.get(detail, False), bool):
        return
    if not detail or value.get(detail):
        yield holds(event)
        return
    verdict = broken if handshake.sure and detail == "subscribe" else suspect
    yield verdict(event, f"{event.method} only with {name}.{detail}", f"{name}.{detail} was not declared")


@rule("legacy.lifecycle.operation.version-must", on=("initialize", *_SINCE, *_ALWAYS))
@rule("legacy.lifecycle.operation.version-should", on=("initialize", *_SINCE, *_ALWAYS))
class Version:
    """Looks for methods that only a later revision than the negotiated one has.

    They are suspect where a capability of their name, an extension or an experiment was declared: that may cover them.
    Content, batches and headers have rules of their own; members that only a later revision knows are free.
    """

    def __init__(self) -> None:
        self._handshakes = Handshakes()

    def see(self, event: Request | Notification | Answer, session: Session) -> Verdicts:
        if isinstance(event, Answer):
            self._handshakes.learn(event, session)
            return
        found = self._handshakes.of(session)
        if found is not None and session.revision is not None:
            yield self._judged(event, found, session.revision)

    @staticmethod
    def _judged(event: Request | Notification, found: Handshake, revision: str) -> Judgement:
        since = _SINCE.get(event.method, "")
        if revision >= since:
            return holds(event)
        area = event.method.removeprefix("notifications/").partition("/")[0]
        covers = {area, "experimental", "extensions"}
        covered = covers & (found.client.keys() | found.server.keys())
        verdict = suspect if covered or not found.sure else broken
        return verdict(event, f"messages of {revision}, the negotiated version", f"{event.method} is of {since}")
