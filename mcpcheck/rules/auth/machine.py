"""authext.cc, authext.ema: clients that act on their own behalf, or for a user whom an organization vouches for."""

from mcpcheck.rules.auth.flows import Grant, of_grant
from mcpcheck.rules.registry import Verdicts, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Request
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES

EXTENSION = "io.modelcontextprotocol/oauth-client-credentials"
MANAGED = "io.modelcontextprotocol/enterprise-managed-authorization"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


@rule("authext.cc.declared", early=True)
@of_grant
def declared(grant: Grant, session: Session) -> Verdicts:
    """Looks at the first request with a token that client credentials brought: it declares the extension.

    OAuth has this grant without any extension, too; a request that does not declare it is suspect.
    """
    request = grant.use
    if grant.type != "client_credentials" or not isinstance(request, Request):
        return
    if _declares(request, EXTENSION):
        yield holds(request)
    else:
        said = "the request declares no such extension"
        yield suspect(request, f"the extension {EXTENSION}", said, grant.event.record.n)


@rule("authext.ema.declared", early=True)
@of_grant
def managed_declared(grant: Grant, session: Session) -> Verdicts:
    """Looks at the first request with a token that an assertion brought: it declares the extension.

    Clients that act on their own behalf may use this grant as well and declare an extension of their own; OAuth has it
    without any, so that a request which declares neither is suspect.
    """
    request = grant.use
    if grant.type != JWT_BEARER or not isinstance(request, Request):
        return
    if _declares(request, MANAGED):
        yield holds(request)
    elif not _declares(request, EXTENSION):
        said = "the request declares no such extension"
        yield suspect(request, f"the extension {MANAGED}", said, grant.event.record.n)


def _declares(request: Request, extension: str) -> bool:
    capabilities = request.meta.get(CLIENT_CAPABILITIES)
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    return isinstance(extensions, dict) and isinstance(extensions.get(extension), dict)
