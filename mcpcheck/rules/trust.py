"""trust: capabilities are kept to, beyond what single requirements say of them."""

from mcpcheck.rules.registry import Verdicts, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Request
from mcpcheck.wire.record import Dir

_NEEDS = {
    "tools/list": "tools",
    "tools/call": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "completion/complete": "completions",
}


@rule("trust.capabilities.respected", on=_NEEDS, sender=Dir.C2S)
def capabilities_respected(request: Request, session: Session) -> Verdicts:
    """Looks at what a client asks of a server that has told its capabilities. What it never declared is suspect.

    Where several clients may speak it is left alone: one may not have seen the declaration. Prompts, log messages,
    subscriptions and what a server asks of a client have rules of their own.
    """
    needed = _NEEDS.get(request.method)
    if needed is None or not session.discovered or not session.one_client or not session.whole:
        return
    if needed in session.declared:
        yield holds(request)
    else:
        yield suspect(request, f"the capability {needed} for {request.method}", f"{needed} was never declared")
