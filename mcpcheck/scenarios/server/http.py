"""The Streamable HTTP endpoint: origins, notifications, status codes, and what belongs to older revisions."""

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.errors import needs_discovery
from mcpcheck.scenarios.server.kinds import modern_only
from mcpcheck.survey import LISTS
from mcpcheck.wire.event import HttpBody, Message, NotJson, NotMessage

LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def host(peer: Peer) -> str:
    """The host under test, without port."""
    address = getattr(peer.transport, "address", None)
    return address.host if address else "localhost"


@scenario(exercises=["http.origin.validated", "http.origin.rejected-403"], transports=["http"])
async def foreign_origin_is_refused(peer: Peer) -> None:
    """Sends valid requests that claim to come from a web page of another origin, the Host header being right."""
    control = await peer.ask("server/discover")
    if control.result is None:
        raise Untestable("the same request without Origin is refused, too")
    for method in ("server/discover", "tools/list"):
        reply = await peer.try_ask(method, headers={"Origin": "http://mcpcheck.invalid"})
        judge_origin(peer, reply)


def judge_origin(peer: Peer, reply: Reply) -> None:
    if reply.status is None or reply.status == 401:
        return
    id, expected = "http.origin.validated", "the foreign origin is refused"
    if reply.result is None and reply.status >= 400:
        peer.holds(id, reply)
        peer.check("http.origin.rejected-403", reply.status == 403, reply, "HTTP status 403")
    elif host(peer) in LOOPBACK:
        peer.broken(id, reply, expected)
    else:
        peer.suspect(id, reply, f"{expected}, unless this public server means to serve every origin")


NOTES = [
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "mcpcheck-none"}},
    {"jsonrpc": "2.0", "method": "notifications/mcpcheck-unknown"},
]


@scenario(exercises=["http.notification.accepted-202", "http.notification.no-body"], transports=["http"])
async def notification_is_accepted(peer: Peer) -> None:
    """POSTs notifications: 202 without a body where they are accepted, an error status where not."""
    for note in NOTES:
        with peer.deviating("cancel"):
            reply = await peer.say(note, headers={"MCP-Protocol-Version": peer.voice.version})
        if reply.status is None or reply.status == 401:
            continue
        accepted = reply.status == 202
        peer.check("http.notification.accepted-202", accepted or reply.status >= 400, reply, "HTTP 202, or a refusal")
        if accepted:
            bodies = [event for event in reply.events if isinstance(event, Message | HttpBody | NotJson | NotMessage)]
            told = f"{len(bodies[0].record.data)} bytes" if bodies else ""
            peer.check("http.notification.no-body", not bodies, reply, "202 has no body", told)


@scenario(exercises=["http.notification.rejected-status"], transports=["http"])
async def malformed_notification(peer: Peer) -> None:
    """POSTs a notification whose params are a text: dropped with 202 or refused with an error status."""
    with peer.deviating("base", "http", "cancel", "stdio"):
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": "text"}
        reply = await peer.say(note, headers={"MCP-Protocol-Version": peer.voice.version})
    if reply.status is None or reply.status == 401:
        raise Untestable("the notification got no HTTP answer that could be judged")
    silent = reply.answer is None and 200 <= reply.status < 300
    peer.check(
        "http.notification.rejected-status", reply.status >= 400 or silent, reply, "an HTTP error status, or 202"
    )


@scenario(exercises=["http.method.not-found-404", "base.error.method-not-found"])
async def unknown_method(peer: Peer) -> None:
    """Calls a method that nobody implements, and those that this revision removed or embeds in input requests."""
    reply = await peer.ask("mcpcheck/no-such-method")
    peer.check("base.error.method-not-found", reply.code == -32601, reply, "error -32601")
    judge_404(peer, reply)
    for method in ("ping", "logging/setLevel", "resources/subscribe", "roots/list", "sampling/createMessage"):
        reply = await peer.ask(method)
        if reply.code == -32601:
            peer.holds("base.error.method-not-found", reply)
            judge_404(peer, reply)
        else:
            peer.suspect("base.error.method-not-found", reply, f"error -32601: {method} is no request of this revision")


def judge_404(peer: Peer, reply: Reply) -> None:
    if peer.kind == "http" and reply.code == -32601:
        peer.check("http.method.not-found-404", reply.status == 404, reply, "HTTP status 404")


@scenario(exercises=["http.compat.get-405", "http.compat.delete-405"], transports=["http"], when=modern_only)
async def old_http_methods(peer: Peer) -> None:
    """Sends GET and DELETE, which only older revisions have, to a server of this revision alone."""
    for method, id in (("GET", "http.compat.get-405"), ("DELETE", "http.compat.delete-405")):
        reply = await peer.send(b"", None, http_method=method, headers={"Accept": "text/event-stream"})
        await peer.hear_head(reply)
        if reply.status != 401:
            peer.check(id, reply.status == 405, reply, "HTTP status 405")
        await peer.leave(reply)


@scenario(
    exercises=["http.compat.ignores-session-id", "http.compat.ignores-last-event-id"],
    transports=["http"],
    when=modern_only,
)
async def old_headers_are_ignored(peer: Peer) -> None:
    """Sends headers of older revisions to a server of this revision alone: they change nothing."""
    needs_discovery(peer)
    reply = await peer.ask("server/discover", headers={"Mcp-Session-Id": "mcpcheck-bogus"})
    peer.check("http.compat.ignores-session-id", reply.result is not None, reply, "the usual result")
    reply = await peer.ask("server/discover", headers={"Last-Event-ID": "1"})
    peer.check("http.compat.ignores-last-event-id", reply.result is not None, reply, "the usual result")


@scenario(exercises=["http.endpoint.concurrent-requests"], transports=["http"])
async def requests_at_the_same_time(peer: Peer) -> None:
    """Sends three requests at once, each on a connection of its own, beside an open subscription: each is answered."""
    needs_discovery(peer)
    listen = peer.request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    held = await peer.hear_head(await peer.send(peer.encode(listen), listen))
    replies = []
    for _ in range(3):
        message = peer.request("server/discover")
        replies.append(await peer.send(peer.encode(message), message))
    for reply in replies:
        await peer.hear(reply)
        peer.check("http.endpoint.concurrent-requests", reply.result is not None, reply, "an answer of its own")
    await peer.leave(held)


@scenario(exercises=["http.endpoint.single-post"], transports=["http"])
async def one_address_for_every_method(peer: Peer) -> None:
    """POSTs every kind of request to the one address: each is answered as JSON-RPC, whatever the answer."""
    methods = [method for capability, method, _ in LISTS.values() if peer.lab.declares(capability)]
    for method in ("server/discover", *methods):
        reply = await peer.try_ask(method)
        if reply.status in {401, 403} or reply.status is None:
            continue
        moved = reply.answer is None and reply.status in {404, 405, 410, 421}
        peer.check("http.endpoint.single-post", not moved, reply, f"{method} is answered at the MCP endpoint")
