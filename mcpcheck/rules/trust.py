"""trust: capabilities are kept to, beyond what single requirements say of them."""

from mcpcheck.rules.registry import Verdicts, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Notification, Request
from mcpcheck.wire.record import Dir

_NEEDS = {
    "tools/list": "tools",
    "tools/call": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "completion/complete": "completions",
}
_TELLS = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
    "notifications/resources/updated": "resources",
}


@rule("trust.capabilities.respected", on=(*_NEEDS, *_TELLS))
def capabilities_respected(event: Request | Notification, session: Session) -> Verdicts:
    """Looks at what is asked of a server, and told by it, after it has declared its capabilities.

    A client that asks for a feature which the server never declared is suspect, and so is a server that tells of one.
    Where several clients may speak, what they ask is left alone: one may not have seen the declaration. Prompts, log
    messages and what a server asks of a client have rules of their own.
    """
    if event.dir is Dir.C2S:
        needed = _NEEDS.get(event.method) if session.one_client else None
    else:
        needed = _TELLS.get(event.method)
    if needed is None or not session.discovered or not session.whole:
        return
    if needed in session.declared:
        yield holds(event)
    else:
        yield suspect(event, f"the capability {needed} for {event.method}", f"{needed} was never declared")
