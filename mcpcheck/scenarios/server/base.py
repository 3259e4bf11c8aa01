"""The envelope from the server's side: ids come back, notifications stay unanswered, malformed requests are refused."""

from typing import Any

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.scenarios.registry import scenario
from mcpcheck.scenarios.server.errors import needs_discovery
from mcpcheck.wire.event import Answer, Event
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, HEADER_MISMATCH, PROTOCOL_VERSION

OWN = ("base", "stdio", "http", "versioning", "tools", "cancel")
"""The areas under which a deliberately malformed message of ours may break rules."""


ACCEPTED = 202

OVERTAKEN = 0.3
"""Seconds by which the fence's answer may overtake another."""


@scenario(exercises=["base.result.id-match", "base.response.one-per-request"])
async def ids_come_back(peer: Peer) -> None:
    """Asks with ids of every legal kind, one after the other: each comes back equal in value and type."""
    for id in (0, -1, 9007199254740991, "", "0", "abc", "Grüße-世界-\U0001f600"):
        reply = await peer.ask("server/discover", id=id)
        sent = reply.answer.id if reply.answer and reply.answer.has_id else None
        same = type(sent) is type(id) and sent == id
        peer.check("base.result.id-match", same, reply, f"the id {id!r}, in its type", f"the id is {sent!r}")


@scenario(exercises=["base.notification.no-response"])
async def notification_draws_no_answer(peer: Peer) -> None:
    """Sends notifications that lead nowhere, then a fence: nothing but the fence's answer may come.

    What does come is judged by the rule.
    """
    before = peer.frame
    with peer.deviating("cancel", "base.notification"):
        for note in (
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "mcpcheck-none"}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}},
            {"jsonrpc": "2.0", "method": "notifications/mcpcheck-unknown", "params": {"_meta": peer.meta()}},
        ):
            if peer.kind == "stdio":
                await peer.send(peer.encode(note), note)
            else:
                await peer.say(note, headers={"MCP-Protocol-Version": peer.voice.version})
    fence = await peer.fence()
    answers = [e for e in peer.heard_since(before) if isinstance(e, Answer)]
    if peer.kind == "http":  # the refusal of a notification may have a body
        answers = [answer for answer in answers if not answer.has_error]
    if all(answer is fence.answer for answer in answers):
        peer.holds("base.notification.no-response", fence)


def refused(
    peer: Peer, id: str, reply: Reply, code: int, *, on_http: tuple[int, ...] = (), also: tuple[int, ...] = ()
) -> None:
    """Judge a refusal with one right code; ``also`` draws a suspicion at most, ``on_http`` passes on HTTP."""
    by_http = peer.kind == "http" and (reply.status or 0) >= 400 and (reply.answer is None or of_old(peer, reply))
    if reply.code == code or (peer.kind == "http" and reply.code in on_http):
        peer.holds(id, reply)
    elif reply.code in also or by_http:
        peer.suspect(id, reply, f"error {code}")
    elif reply.answer is None and peer.kind == "stdio":
        peer.suspect(id, reply, f"error {code}", "no answer before the fence's")
    elif reply.answer is None and reply.status == ACCEPTED:  # perhaps it was taken for a broken response
        peer.suspect(id, reply, f"error {code}")
    else:
        peer.broken(id, reply, f"error {code}")


def of_old(peer: Peer, reply: Reply) -> bool:
    """Whether a dual-era server let its older era refuse what it could not place."""
    return bool(peer.lab.inventory.legacy) and isinstance(reply.code, int) and -32019 <= reply.code <= -32000


async def malformed(peer: Peer, data: bytes, like: Any = None) -> Reply:
    """Send bytes that are no valid request, and a fence behind them; the reply holds what came for the bytes."""
    headers_of = like or peer.request("server/discover", id="mcpcheck-headers")
    with peer.deviating(*OWN):
        reply = await peer.send(data, headers_of)
    if peer.kind == "http":
        await peer.hear(reply)
        await peer.fence()
        return reply
    fence = await peer.fence()

    def loose() -> list[Event]:
        heard = peer.heard_since(reply.frame)
        return [event for event in heard if isinstance(event, Answer) and event is not fence.answer]

    if reply.answer is None:
        inventory = peer.lab.inventory
        if not loose() and not inventory.drops:  # it may have been overtaken
            inventory.drops = not await peer.until(lambda: bool(loose()), OVERTAKEN)
        reply.events = loose()
        reply.ended = "" if reply.events else "no answer before the fence's"
    return reply


@scenario(exercises=["base.error.parse", "base.error.id-unreadable"])
async def broken_json(peer: Peer) -> None:
    """Sends text that is no JSON, then a fence: error -32700, and the connection goes on."""
    await peer.fence()
    reply = await malformed(peer, b'{"jsonrpc": "2.0", "id": 7, "method": ')
    refused(peer, "base.error.parse", reply, -32700, also=(HEADER_MISMATCH,))


@scenario(exercises=["base.error.invalid-request"])
async def invalid_requests(peer: Peer) -> None:
    """Sends JSON that is no request object, then a fence: error -32600, and the connection goes on."""
    await peer.fence()
    params = {"_meta": peer.meta()}
    shapes: list[tuple[dict[str, Any], bool]] = [
        ({"jsonrpc": "2.0", "id": "mcpcheck-11", "params": params}, False),
        ({"jsonrpc": "2.0", "id": "mcpcheck-12", "method": 5, "params": params}, False),
        ({"id": "mcpcheck-13", "method": "server/discover", "params": params}, True),
        ({"jsonrpc": "1.0", "id": "mcpcheck-14", "method": "server/discover", "params": params}, True),
    ]
    for shape, lenient in shapes:
        reply = await malformed(peer, peer.encode(shape))
        if lenient and reply.result is not None:
            peer.suspect("base.error.invalid-request", reply, "error -32600")
        else:
            also, on_http = (-32700, -32602), () if lenient else (HEADER_MISMATCH,)
            refused(peer, "base.error.invalid-request", reply, -32600, also=also, on_http=on_http)


@scenario(exercises=["base.error.batch-rejected"])
async def batch_is_refused(peer: Peer) -> None:
    """Sends an array of two requests, which this revision does not have, then a fence."""
    await peer.fence()
    batch = [peer.request("server/discover", id=f"mcpcheck-2{n}") for n in (1, 2)]
    reply = await malformed(peer, peer.encode(batch), batch[0])
    id, expected = "base.error.batch-rejected", "one error -32600 without an id"
    if reply.code in {-32600, -32700} or (peer.kind == "http" and 400 <= (reply.status or 0) < 500):
        peer.holds(id, reply)
    else:
        peer.suspect(id, reply, expected)


@scenario(exercises=["base.meta.missing-rejected", "base.meta.missing-http-400", "base.stateless.no-prior-context"])
async def required_meta_is_missing(peer: Peer) -> None:
    """After a valid request, leaves out protocolVersion, then clientCapabilities: refused with -32602 each time."""
    needs_discovery(peer)
    await peer.fence()
    for key in (PROTOCOL_VERSION, CLIENT_CAPABILITIES):
        meta = peer.meta()
        del meta[key]
        with peer.deviating("base.meta", "http"):
            reply = await peer.ask("server/discover", meta=meta, headers={"MCP-Protocol-Version": peer.voice.version})
        expected = f"error -32602, since _meta lacks {key}"
        if peer.kind == "http" and key == PROTOCOL_VERSION and reply.code == HEADER_MISMATCH:
            peer.suspect("base.meta.missing-rejected", reply, f"{expected}; -32020 is close, for the header")
            continue
        if of_either_era(peer, key) and reply.is_error and reply.code != -32602:
            told = f"{expected}, unless the server takes it for a request of the handshake era"
            peer.suspect("base.meta.missing-rejected", reply, told)
            continue
        remembered = reply.result is not None
        peer.check(
            "base.stateless.no-prior-context", not remembered, reply, "a request is not served from what came before"
        )
        if peer.check("base.meta.missing-rejected", reply.code == -32602, reply, expected) and peer.kind == "http":
            peer.check("base.meta.missing-http-400", reply.status == 400, reply, "HTTP status 400")


def of_either_era(peer: Peer, lacking: str) -> bool:
    """Whether a dual-era server on stdio, where no header tells, may take a request without this for an old one."""
    return peer.kind == "stdio" and bool(peer.lab.inventory.legacy) and lacking == PROTOCOL_VERSION


@scenario(exercises=["base.stateless.mixed-contexts"])
async def unrelated_requests_are_mixed(peer: Peer) -> None:
    """Sends ten requests of different clients without waiting: each gets its own answer."""
    needs_discovery(peer)
    replies = []
    for number in range(10):
        changes: dict[str, Any] = {"client_info": {"name": f"mcpcheck-{number}", "version": "1"}}
        changes["capabilities"] = {"elicitation": {}} if number % 2 else {}
        message = peer.request("server/discover", id=f"mcpcheck-mixed-{number}", **changes)
        replies.append(await peer.send(peer.encode(message), message))
    for reply in replies:
        await peer.hear(reply)
        peer.check("base.stateless.mixed-contexts", reply.result is not None, reply, "each request gets its own answer")
