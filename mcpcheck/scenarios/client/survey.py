"""The first runs of a client: what it is, before anything is expected of it."""

from mcpcheck.client_peer import ClientPeer, Survey
from mcpcheck.scenarios.client.fallback import ERRORS, STATUSES
from mcpcheck.scenarios.client.scripted import LegacyServer, ModernServer


async def survey(client: ClientPeer) -> Survey:
    """Let it meet a modern server and a legacy one; a second legacy one where the first led to no handshake."""
    refusals = ["400 empty", "400 -32000"] if client.kind == "http" else ["-32601", "-32602"]
    known = STATUSES if client.kind == "http" else ERRORS
    both = await client.meet_all({"modern": ModernServer(), "legacy": LegacyServer(known[refusals[0]])})
    found = Survey(both["modern"], [both["legacy"]])
    if found.opens_modern and not found.dual_era:
        found.legacy.append(await client.meet(LegacyServer(known[refusals[1]]), "legacy-2"))
    return found
