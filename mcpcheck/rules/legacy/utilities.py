"""legacy.logging: a method that later revisions no longer have."""

from mcpcheck.rules import shapes
from mcpcheck.rules.registry import Verdicts, rule
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Request
from mcpcheck.wire.record import Dir


@rule("legacy.logging.set-level.request-shape", on="logging/setLevel")
def set_level_request_shape(request: Request, session: Session) -> Verdicts:
    """Looks at the params of logging/setLevel: one of the eight levels."""
    if request.dir is Dir.C2S:
        yield from shapes.params(request, session, "logging/setLevel", "SetLevelRequestParams")
