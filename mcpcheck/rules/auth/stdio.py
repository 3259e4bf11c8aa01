"""auth.applies: authorization is for HTTP; on stdio credentials come from the environment."""

from typing import Any

from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.record import Dir

_MOST = 100


@rule("auth.applies.not-on-stdio", near=("error", "authorization", "Authorization"))
def not_on_stdio(event: Request | Answer, session: Session) -> Verdicts:
    """Looks for a bearer token in the _meta of requests, and for the challenge of a server in its errors.

    The challenge is known by resource_metadata, which nothing else has. Either is suspect: a gateway may pass on what
    it had to hear elsewhere, and a token may be meant for somebody else.
    """
    if isinstance(event, Request):
        if event.dir is Dir.S2C:
            return
        for name in ("authorization", "Authorization"):
            value = event.meta.get(name)
            if isinstance(value, str) and value.lower().startswith("bearer "):
                yield suspect(event, "credentials from the environment", f"a bearer token in _meta.{name}")
    elif event.has_error and event.dir is Dir.S2C:
        where = _challenge(event.error)
        if where is None:
            yield holds(event)
        else:
            yield suspect(event, "credentials from the environment", f"a challenge in {shown(where)}")


def _challenge(error: Any) -> str | None:
    """Where an error asks for authorization; it is looked for in the data and one level below."""
    data = error.get("data") if isinstance(error, dict) else None
    if not isinstance(data, dict):
        return None
    below = [(f"{name}.", one) for name, one in list(data.items())[:_MOST] if isinstance(one, dict)]
    for place, holder in [("", data), *below]:
        for name, value in list(holder.items())[:_MOST]:
            if name == "resource_metadata" and isinstance(value, str):
                return f"data.{place}{name}"
            if name.lower() == "www-authenticate" and isinstance(value, str) and "resource_metadata=" in value[:2000]:
                return f"data.{place}{name}"
    return None
