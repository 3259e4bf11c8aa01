"""The handshake era on a server of today: a dual-era server serves it whole, a modern-only one refuses it helpfully."""

import json

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.discover import LISTS, judge_responds
from mcpcheck.scenarios.server.errors import needs_discovery
from mcpcheck.scenarios.server.kinds import dual_era, without_handshake
from mcpcheck.survey import initialize_params
from mcpcheck.wire.protocol import LEGACY
from mcpcheck.wire.record import ResponseHead, header


async def initialize(peer: Peer) -> Reply:
    """Open with the handshake of 2025-11-25."""
    peer.voice.era, peer.voice.version = "legacy", LEGACY[-1]
    return await peer.ask("initialize", initialize_params(LEGACY[-1]), within=peer.lab.limits.start)


@scenario(
    exercises=[
        "versioning.server.initialize-names-versions",
        "versioning.matrix.legacy-modern-stdio",
        "versioning.matrix.legacy-modern-http",
    ],
    fresh=True,
    when=without_handshake,
)
async def modern_only_refuses_initialize(peer: Peer) -> None:
    """Sends initialize as the first message to a modern-only server: an error that names its versions, no silence."""
    reply = await initialize(peer)
    if reply.result is not None:
        raise Untestable("the server serves the handshake era, too")
    peer.voice.era, peer.voice.version = "modern", peer.lab.revision
    judge_names(peer, reply)
    if peer.kind == "http":
        id = "versioning.matrix.legacy-modern-http"
        if reply.status is not None and 400 < reply.status < 500:
            peer.suspect(id, reply, "HTTP status 400")
        else:
            peer.check(id, reply.status == 400, reply, "HTTP status 400")
        return
    id = "versioning.matrix.legacy-modern-stdio"
    if not peer.check(id, reply.is_error, reply, "a JSON-RPC error with the request's id"):
        return
    needs_discovery(peer)
    after = await peer.try_ask("server/discover")
    if after.answer is None and after.ended:
        peer.suspect(id, after, "the process goes on after the error", after.ended)
    else:
        peer.check(id, after.result is not None, after, "a valid server/discover is served after the error")


def judge_names(peer: Peer, reply: Reply) -> None:
    """The refusal of initialize names every version that the server supports, in its text or its data."""
    id = "versioning.server.initialize-names-versions"
    error = reply.answer.error if reply.answer else None
    said = json.dumps(error) if isinstance(error, dict) else ""
    lacking = [version for version in peer.lab.inventory.versions if version not in said]
    told = f"{reply.told()}, without {', '.join(lacking)}" if error else reply.told()
    peer.check(id, error and not lacking, reply, "an error that names the supported versions", told)


@scenario(
    exercises=["versioning.matrix.legacy-dual", "versioning.server.legacy-scope", "versioning.server.modern-by-meta"],
    fresh=True,
    when=dual_era,
)
async def dual_era_serves_a_legacy_session(peer: Peer) -> None:
    """Opens a session of the handshake era and uses it, and is served by this revision on another connection."""
    reply = await initialize(peer)
    if reply.result is None:
        raise Untestable("the server does not serve the handshake era")
    id = "versioning.matrix.legacy-dual"
    version = reply.result.get("protocolVersion")
    if not peer.check(id, version in LEGACY, reply, "a protocolVersion of the handshake era", f"it is {version!r}"):
        return
    await open_session(peer, reply, str(version))
    capabilities = reply.result.get("capabilities")
    for capability, (method, *_) in LISTS.items():
        if isinstance(capabilities, dict) and capability in capabilities:
            listed = await peer.ask(method)
            judge_responds(peer, id, listed, f"{method} is served by the legacy revision, without _meta")
    pong = await peer.ask("ping")
    if peer.check(id, pong.result is not None, pong, "ping is answered"):
        await judge_elsewhere(peer)


async def judge_elsewhere(peer: Peer) -> None:
    """With a legacy session open, a modern request on another connection is served without a handshake."""
    needs_discovery(peer)
    async with peer.lab.connect(f"{peer.name}-modern", peer.scenario) as other:
        modern = await other.ask("server/discover", within=peer.lab.limits.start)
        for id in ("versioning.server.legacy-scope", "versioning.server.modern-by-meta"):
            other.check(id, modern.complete, modern, "a modern result, whatever legacy sessions are open elsewhere")
    after = await peer.ask("ping")
    peer.check("versioning.server.legacy-scope", after.result is not None, after, "the legacy session goes on")


async def open_session(peer: Peer, reply: Reply, version: str) -> None:
    """Take over what initialize settled and say that the client is ready."""
    peer.voice.version = version
    if reply.call and reply.call.exchange and isinstance(reply.call.exchange.response, ResponseHead):
        peer.voice.session_id = header(reply.call.exchange.response, "mcp-session-id")
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    if peer.kind == "http":
        await peer.say(note)
    else:
        await peer.send(peer.encode(note), note)


@scenario(exercises=["versioning.server.modern-by-meta"], transports=["stdio"], fresh=True)
async def notification_selects_no_era(peer: Peer) -> None:
    """Probes, gives up on the probe with a notification, which needs no _meta, and probes again: served as before."""
    needs_discovery(peer)
    probe = peer.request("server/discover")
    await peer.send(peer.encode(probe), probe)
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": probe["id"]}}
    await peer.send(peer.encode(note), note)
    reply = await peer.ask("server/discover", within=peer.lab.limits.start)
    expected = "a modern result: the request carries modern _meta, and no initialize was sent"
    peer.check("versioning.server.modern-by-meta", reply.result is not None, reply, expected)
