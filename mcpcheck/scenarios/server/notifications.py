"""Notifications of the server: what it says while it works on a request, and on a subscription."""

from mcpcheck.peer import Peer
from mcpcheck.roles import Fixture
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.capability import offered
from mcpcheck.wire.protocol import LOG_LEVEL

AT_MOST = 10
"""How many tools are called, where none is known to notify."""

EVERYTHING = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}


@scenario(
    exercises=[
        "base.notification.shape",
        "base.notification.no-id",
        "base.message.params-object",
        "base.message.rpc-prefix",
    ]
)
async def progress_and_logs(peer: Peer) -> None:
    """Calls tools with a progress token, and with every log message wanted: the rules judge what is notified."""
    fixtures = offered(peer, "tool.progress", "tool.logs") or [
        Fixture("tool.plain", str(tool.get("name")), arguments)
        for tool in peer.lab.allowed_tools()[:AT_MOST]
        if (arguments := peer.lab.arguments_for(tool)) is not None
    ]
    notified = 0
    for number, fixture in enumerate(fixtures):
        extra = {"progressToken": f"mcpcheck-{number}", LOG_LEVEL: "debug"}
        reply = await peer.ask(fixture.method, fixture.params, extra=extra)
        notified += len(reply.notifications)
    if not notified:
        raise Untestable("no tool that may be called reported progress or logged anything")


@scenario(exercises=["stdio.server.message-kinds"], transports=["stdio"])
async def subscription(peer: Peer) -> None:
    """Opens a subscription to every list, hears its acknowledgement, and cancels it: the rules judge what is said."""
    request = peer.request("subscriptions/listen", {"notifications": EVERYTHING})
    reply = await peer.send(peer.encode(request), request)
    await peer.fence()
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request["id"]}}
    if reply.answer is None:
        await peer.send(peer.encode(note), note)
    await peer.fence()
