"""Log levels: one that does not exist is refused."""

from mcpcheck.peer import Peer
from mcpcheck.scenarios.registry import scenario
from mcpcheck.scenarios.server.errors import needs_discovery
from mcpcheck.wire.protocol import LOG_LEVEL


@scenario(exercises=["logging.level.invalid-rejected"])
async def level_that_does_not_exist(peer: Peer) -> None:
    """Asks for log messages from a level on that nobody knows: the rule judges what comes."""
    needs_discovery(peer)
    with peer.deviating("logging", "base.meta"):
        await peer.ask("server/discover", extra={LOG_LEVEL: "mcpcheck-loud"})
