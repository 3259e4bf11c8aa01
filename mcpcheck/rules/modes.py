"""elicit: the modes of elicitation that a client declares."""

from mcpcheck.rules.elicit import capability
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Request
from mcpcheck.wire.record import Dir


@rule("elicit.capability.at-least-one-mode", near="elicitation", sender=Dir.C2S)
def at_least_one_mode(request: Request, session: Session) -> Verdicts:
    """Looks at the members of a client's elicitation capability: none (which means form), or form or url among them.

    Others alone are suspect: the client may mean them beside form.
    """
    for at, value in capability(request, "elicitation"):
        if not isinstance(value, dict):
            continue
        if not value or value.keys() & {"form", "url"}:
            yield holds(request)
        else:
            said = f"{at}.elicitation has {shown(next(iter(value)))} alone"
            yield suspect(request, "form, url or both", said)
