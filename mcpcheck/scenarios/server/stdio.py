"""The process behind the lines: it ends when its input does."""

from mcpcheck.peer import Peer
from mcpcheck.scenarios.registry import scenario
from mcpcheck.wire.event import Exited

LEFT = 5.0
"""How many seconds a server has to end by itself."""


@scenario(exercises=["stdio.shutdown.server-exit"], transports=["stdio"], ends=True)
async def input_ends(peer: Peer) -> None:
    """Closes the standard input of a process that has answered and holds a subscription: the process exits."""
    fence = await peer.fence()
    listen = peer.request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    await peer.send(peer.encode(listen), listen)
    await peer.transport.end_input()

    def exited() -> bool:
        return any(isinstance(event, Exited) for event in peer.events)

    await peer.until(exited, LEFT)
    told = f"it still ran {LEFT:g} s after the end of its standard input"
    peer.check("stdio.shutdown.server-exit", exited(), fence, "the server exits when its input ends", told)
