"""Notifications of the server: what it says while it works on a request, and on a subscription."""

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.roles import Fixture
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.capability import offered
from mcpcheck.scenarios.server.errors import needs_discovery
from mcpcheck.wire.protocol import LOG_LEVEL, METHOD_NOT_FOUND

AT_MOST = 10
"""How many tools are called, where none is known to notify."""

EVERYTHING = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}


@scenario(
    exercises=[
        "base.notification.shape",
        "base.notification.no-id",
        "base.message.params-object",
        "base.message.rpc-prefix",
    ],
    also=["tool.progress", "tool.logs"],
)
async def progress_and_logs(peer: Peer) -> None:
    """Calls tools with a progress token, and with every log message wanted: the rules judge what is notified."""
    fixtures = offered(peer, "tool.progress", "tool.logs") or [
        Fixture("tool.plain", str(tool.get("name")), arguments)
        for tool in peer.lab.prompt_tools()[:AT_MOST]
        if (arguments := peer.lab.arguments_for(tool)) is not None
    ]
    notified = 0
    for number, fixture in enumerate(fixtures):
        extra = {"progressToken": f"mcpcheck-{number}", LOG_LEVEL: "debug"}
        reply = await peer.ask(fixture.method, fixture.params, extra=extra)
        notified += len(reply.notifications)
    if not notified:
        raise Untestable("no tool that may be called reported progress or logged anything")


def judge_promises(peer: Peer, reply: Reply) -> None:
    """Who declares that changes are told implements the request that asks for them."""
    capabilities = peer.lab.inventory.capabilities
    promised = [
        f"{name}.{flag}"
        for name, said in capabilities.items()
        for flag in ("listChanged", "subscribe")
        if isinstance(said, dict) and said.get(flag) is True
    ]
    if not promised:
        return
    expected = f"subscriptions/listen is implemented, since {', '.join(promised)} is declared"
    if reply.code == METHOD_NOT_FOUND:
        peer.suspect("discover.result.capabilities-true", reply, expected)
    elif reply.answer is None:
        peer.holds("discover.result.capabilities-true", reply)
    served = reply.code != METHOD_NOT_FOUND
    peer.check("subscribe.server.implemented", served, reply, expected)


CHANGES = ("tool.changes-tools", "tool.changes-prompts", "tool.changes-resources", "tool.changes-resource")


@scenario(
    exercises=[
        "subscribe.ack.shape",
        "subscribe.notification.subscription-id",
        "subscribe.end.result-shape",
        "resources.updated.notification-shape",
        "http.listen.no-request-scoped-notifications",
        "logging.message.not-on-listen",
        "stdio.server.message-kinds",
        "discover.result.capabilities-true",
        "subscribe.server.implemented",
    ],
    also=[*CHANGES, "tool.ends-subscriptions"],
)
async def subscription(peer: Peer) -> None:
    """Opens a subscription, has changes made where a tool makes them, and ends it: the rules judge what is said."""
    needs_discovery(peer)
    uris = [str(resource.get("uri")) for resource in peer.lab.inventory.resources][:AT_MOST]
    params = {"notifications": {**EVERYTHING, "resourceSubscriptions": uris}}
    extra = {"progressToken": "mcpcheck-listen", LOG_LEVEL: "debug"}
    request = peer.request("subscriptions/listen", params, extra=extra)
    reply = await peer.send(peer.encode(request), request)
    acknowledged = await peer.until(lambda: bool(peer.heard_since(reply.frame)))
    await peer.fence()
    judge_promises(peer, reply)
    if not acknowledged or (reply.call and reply.call.answers):
        raise Untestable(f"the server opens no subscription: {reply.told()}")
    for fixture in offered(peer, *CHANGES, "tool.ends-subscriptions"):
        await peer.ask(fixture.method, fixture.params)
    if peer.kind == "http":
        await peer.leave(reply)
    elif reply.call and not reply.call.answers:
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request["id"]}}
        await peer.send(peer.encode(note), note)
