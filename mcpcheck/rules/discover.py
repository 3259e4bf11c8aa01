"""discover: what a result of server/discover holds."""

from mcpcheck.rules.places import complete
from mcpcheck.rules.registry import Verdicts, rule
from mcpcheck.rules.shapes import judge, without
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer


@rule("discover.result.shape", on="server/discover")
def result_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at every result of server/discover. Caching hints, capabilities and _meta have rules of their own."""
    result = complete(answer, session, "server/discover")
    if result is not None:
        given = without(result, ttlMs=0, cacheScope="public", resultType="complete", _meta=...)
        if isinstance(given.get("capabilities"), dict):
            given = without(given, capabilities={})
        yield from judge(answer, session, "DiscoverResult", given, "result")


@rule("discover.result.capabilities-shape", on="server/discover")
def capabilities_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at the capabilities of a server/discover result: known members are objects, their flags booleans.

    The settings of extensions have a rule of their own; members that are not known may be anything.
    """
    result = complete(answer, session, "server/discover")
    if result is not None and isinstance(result.get("capabilities"), dict):
        capabilities = without(result["capabilities"], extensions=...)
        yield from judge(answer, session, "ServerCapabilities", capabilities, "capabilities")
