"""authext.cc: clients that act on their own behalf."""

from mcpcheck.rules.auth.flows import Grant, of_grant
from mcpcheck.rules.registry import Verdicts, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Request
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES

EXTENSION = "io.modelcontextprotocol/oauth-client-credentials"


@rule("authext.cc.declared", early=True)
@of_grant
def declared(grant: Grant, session: Session) -> Verdicts:
    """Looks at the first request with a token that client credentials brought: it declares the extension.

    OAuth has this grant without any extension, too; a request that does not declare it is suspect.
    """
    request = grant.use
    if grant.type != "client_credentials" or not isinstance(request, Request):
        return
    capabilities = request.meta.get(CLIENT_CAPABILITIES)
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    if isinstance(extensions, dict) and isinstance(extensions.get(EXTENSION), dict):
        yield holds(request)
    else:
        yield suspect(
            request, f"the extension {EXTENSION}", "the request declares no such extension", grant.event.record.n
        )
