"""Versions: a request in a version that the server does not implement is refused with -32022, and only that request."""

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.scenarios.registry import scenario
from mcpcheck.scenarios.server.discover import LISTS
from mcpcheck.scenarios.server.errors import needs_discovery
from mcpcheck.wire.protocol import UNSUPPORTED_VERSION, is_modern

PAST, FUTURE = "1900-01-01", "2999-12-31"


def served_method(peer: Peer) -> str:
    """A request other than server/discover that this server serves; server/discover where there is none."""
    return next((LISTS[name][0] for name in LISTS if peer.lab.declares(name)), "server/discover")


@scenario(
    exercises=[
        "versioning.server.unsupported-version",
        "versioning.server.unsupported-shape",
        "versioning.server.unsupported-list",
        "http.version.unsupported-400",
    ]
)
async def unknown_versions_are_refused(peer: Peer) -> None:
    """Asks in a version of long ago and in one of the far future, on server/discover and on another method."""
    needs_discovery(peer)
    for version, method in ((PAST, "server/discover"), (FUTURE, "server/discover"), (PAST, served_method(peer))):
        reply = await peer.ask(method, version=version)
        expected = f"error -32022, since no server implements {version}"
        if not peer.check("versioning.server.unsupported-version", reply.code == UNSUPPORTED_VERSION, reply, expected):
            continue
        if peer.kind == "http":
            peer.check("http.version.unsupported-400", reply.status == 400, reply, "HTTP status 400")
        await judge_supported(peer, reply, method, version)


async def judge_supported(peer: Peer, reply: Reply, method: str, refused: str) -> None:
    """The versions that a -32022 error lists are those that the server serves."""
    supported = reply.data.get("supported") if isinstance(reply.data, dict) else None
    if not isinstance(supported, list):
        return  # versioning.server.unsupported-shape has it
    id = "versioning.server.unsupported-list"
    told = f"data.supported is {supported!r}"[:300]
    if not supported or refused in supported:
        peer.broken(id, reply, f"data.supported names the versions that are served, and not {refused}", told)
        return
    modern = next((v for v in supported if isinstance(v, str) and is_modern(v)), None)
    if modern is None:
        peer.suspect(id, reply, "a version from 2026-07-28 on, in which this server is tested", told)
        return
    again = await peer.ask(method, version=modern)
    peer.check(id, again.code != UNSUPPORTED_VERSION, again, f"{modern} is accepted, since data.supported lists it")


@scenario(exercises=["versioning.server.per-request", "versioning.server.unsupported-version"], fresh=True)
async def each_request_is_judged_by_its_own_version(peer: Peer) -> None:
    """Mixes three requests in an unknown version with three valid ones, without waiting: each gets its own answer."""
    needs_discovery(peer)
    replies: list[tuple[str, Reply]] = []
    for number in range(6):
        version = PAST if number % 2 == 0 else peer.voice.version
        message = peer.request("server/discover", version=version)
        replies.append((version, await peer.send(peer.encode(message), message)))
    for _, reply in replies:
        await peer.hear(reply)
    if replies[0][1].code != UNSUPPORTED_VERSION:
        return  # it refuses no unknown version rightly: versioning.server.unsupported-version has it
    for version, reply in replies:
        if version == PAST:
            ok, expected = reply.code == UNSUPPORTED_VERSION, "error -32022 for the request in an unknown version"
        else:
            ok, expected = reply.result is not None, "a result for the valid request, whatever came before it"
        peer.check("versioning.server.per-request", ok, reply, expected)
