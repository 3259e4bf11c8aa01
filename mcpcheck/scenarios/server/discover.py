"""Discovery: what server/discover says, and whether it is true."""

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.errors import needs_discovery
from mcpcheck.survey import initialize_params
from mcpcheck.wire.protocol import MODERN, UNSUPPORTED_VERSION, is_modern

LISTS = {
    "tools": ("tools/list", "tools", "tools.list.responds", "tools.capability.declared"),
    "prompts": ("prompts/list", "prompts", "prompts.list.responds", "prompts.capability.declared"),
    "resources": ("resources/list", "resources", "resources.list.responds", "resources.capability.declared"),
}
"""By capability: the method, the member that lists, the duty to answer, the duty to declare."""


@scenario(
    exercises=[
        "discover.server.implemented",
        "discover.result.shape",
        "discover.result.capabilities-shape",
        "discover.result.versions-true",
        "caching.hints.server-discover",
        "base.meta.server-info",
    ],
)
async def first_request(peer: Peer) -> None:
    """Asks server/discover as the very first thing on a connection: answered, and it lists the version asked in."""
    if peer.lab.opening is not None:  # that was how the survey began
        judge_discovery(*peer.lab.opening)


@scenario(exercises=["discover.server.implemented", "discover.result.versions-true"])
async def after_other_requests(peer: Peer) -> None:
    """Asks server/discover after a list, a refused method and a refused version: it is answered as before."""
    await peer.ask("tools/list")
    await peer.ask("mcpcheck/no-such-method")
    await peer.ask("server/discover", version="1900-01-01")
    judge_discovery(peer, await peer.ask("server/discover"))


def judge_discovery(peer: Peer, reply: Reply) -> None:
    """server/discover is served, and lists the version with which it was asked."""
    if not peer.check("discover.server.implemented", reply.result is not None, reply, "a result"):
        return
    versions = (reply.result or {}).get("supportedVersions")
    if isinstance(versions, list):
        peer.check(
            "discover.result.versions-true",
            peer.voice.version in versions,
            reply,
            f"supportedVersions holds {peer.voice.version}, in which this very request was accepted",
            f"supportedVersions is {versions!r}"[:300],
        )


@scenario(exercises=["discover.result.versions-true"])
async def listed_versions_are_served(peer: Peer) -> None:
    """Uses every modern version that server/discover lists, and opens a legacy session where one is listed."""
    for version in [v for v in peer.lab.inventory.versions if is_modern(v)]:
        reply = await peer.ask("server/discover", version=version)
        peer.check(
            "discover.result.versions-true",
            reply.code != UNSUPPORTED_VERSION,
            reply,
            f"{version} is accepted, since supportedVersions lists it",
        )
    for version in peer.lab.inventory.legacy_versions:
        async with peer.lab.connect(f"legacy-{version}", peer.scenario) as old:
            old.voice.era, old.voice.version = "legacy", version
            reply = await old.try_ask("initialize", initialize_params(version))
            if reply.result is None:
                old.suspect(
                    "discover.result.versions-true", reply, f"initialize with the listed version {version} works"
                )


@scenario(
    exercises=[
        "tools.list.responds",
        "prompts.list.responds",
        "resources.list.responds",
        "discover.result.capabilities-true",
        "tools.capability.declared",
        "prompts.capability.declared",
        "resources.capability.declared",
        "base.error.capability-gated-method",
        "caching.hints.tools-list",
        "caching.hints.prompts-list",
        "caching.hints.resources-list",
        "tools.list.result-shape",
    ]
)
async def capabilities_are_true(peer: Peer) -> None:
    """Asks for every list: behind a declared capability it is answered, behind an undeclared one it has no entries."""
    needs_discovery(peer)
    for capability, (method, member, responds, declared) in LISTS.items():
        reply = await peer.ask(method)
        listed = (reply.result or {}).get(member)
        if peer.lab.declares(capability):
            judge_responds(peer, responds, reply, f"a complete result with {member}")
            peer.holds(declared, reply)
        else:
            peer.untestable(responds, f"the server does not declare {capability}")
            judge_undeclared(peer, reply, listed, declared)
    await completion_is_served(peer)


def judge_responds(peer: Peer, id: str, reply: Reply, expected: str) -> None:
    """A list is answered; a server that has trouble of its own today may say so, which shows nothing."""
    if reply.code == -32603:
        peer.suspect(id, reply, f"{expected}; an internal error may be a passing one")
    else:
        peer.check(id, reply.complete, reply, expected)


def judge_undeclared(peer: Peer, reply: Reply, listed: object, declared: str) -> None:
    """A list without its capability: an error is right, entries are a fault, an empty list is odd."""
    if isinstance(listed, list) and listed:
        peer.broken(declared, reply, "the capability is declared, since the list has entries", f"{len(listed)} entries")
    elif isinstance(listed, list):
        peer.suspect(declared, reply, "no list without the capability", "an empty list")
        peer.suspect("base.error.capability-gated-method", reply, "error -32601")
    elif reply.is_error:
        peer.holds(declared, reply)
        if reply.code == -32601:
            peer.holds("base.error.capability-gated-method", reply)
        else:
            peer.suspect("base.error.capability-gated-method", reply, "error -32601")


async def completion_is_served(peer: Peer) -> None:
    """completion/complete is implemented where completions is declared, whatever it says of the reference."""
    id = "discover.result.capabilities-true"
    if not peer.lab.declares("completions"):
        peer.untestable(id, "the server does not declare completions")
        return
    params = {
        "ref": {"type": "ref/prompt", "name": "mcpcheck-no-such-prompt"},
        "argument": {"name": "mcpcheck", "value": ""},
    }
    reply = await peer.ask("completion/complete", params)
    peer.check(id, reply.code != -32601, reply, "completion/complete is implemented, since completions is declared")


@scenario(exercises=["base.stateless.no-prior-context", "versioning.matrix.modern-modern"], fresh=True)
async def no_handshake_is_needed(peer: Peer) -> None:
    """Sends a list request as the first message of a connection: served at once, without handshake or discovery."""
    method = next((LISTS[name][0] for name in LISTS if peer.lab.declares(name)), None)
    if method is None:
        raise Untestable(
            "the server declares no tools, prompts or resources, so there is no other first request to try"
        )
    reply = await peer.ask(method, within=peer.lab.limits.start)
    if reply.is_error:
        await peer.fence()
        if (await peer.ask(method)).is_error:
            raise Untestable(f"{method} is refused as a later request, too")
    expected = "the first request is served without anything before it"
    peer.check("base.stateless.no-prior-context", reply.result is not None, reply, expected)
    peer.check("versioning.matrix.modern-modern", reply.result is not None, reply, expected)


@scenario(exercises=["base.meta.client-info-optional"])
async def client_info_is_optional(peer: Peer) -> None:
    """Leaves clientInfo out: only protocolVersion and clientCapabilities are required."""
    needs_discovery(peer)
    meta = peer.meta()
    del meta["io.modelcontextprotocol/clientInfo"]
    with peer.deviating("base.meta.client-info"):
        reply = await peer.ask("server/discover", meta=meta)
    peer.check(
        "base.meta.client-info-optional", reply.result is not None, reply, f"a result: {MODERN} needs no clientInfo"
    )
