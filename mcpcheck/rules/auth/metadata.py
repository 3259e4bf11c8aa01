"""legacy.auth.discovery: how a client asks for the document of an authorization server."""

from mcpcheck.rules.auth.flows import Grant, flows, of_grant
from mcpcheck.rules.registry import Verdicts, broken, holds, rule
from mcpcheck.session.session import Session
from mcpcheck.wire.record import header


@rule("legacy.auth.discovery.march-version-header", early=True)
@of_grant
def march_version_header(grant: Grant, session: Session) -> Verdicts:
    """Looks for MCP-Protocol-Version where a client of that revision asked for the document before it got its token.

    Who asked is known by the User-Agent; without one it is left alone. So is a client that would rather speak a later
    revision: none of those asks for this header there.
    """
    if set(flows(session).wanted) != {"2025-03-26"}:
        return
    asked = flows(session).discoveries.get(grant.agent) if grant.agent else None
    if asked is None or asked.record.n > grant.event.record.n:
        return
    if header(asked.head, "mcp-protocol-version"):
        yield holds(asked)
    else:
        yield broken(asked, f"MCP-Protocol-Version: {session.revision}", "there is no such header")
