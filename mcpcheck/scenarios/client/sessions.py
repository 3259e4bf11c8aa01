"""A client in a session of the handshake era: what it has to answer, and what it must not go on with."""

import dataclasses

from mcpcheck.client_peer import Account, ClientPeer, Said
from mcpcheck.scenarios.client.fallback import ERRORS, STATUSES
from mcpcheck.scenarios.client.scripted import INFO, Asked, Json, LegacyServer, notification, result, text
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.transports.client_side import Reply
from mcpcheck.wire.event import Answer

PINGS = (4711, "mcpcheck-ping")


class Pings(LegacyServer):
    """A legacy server that pings, with an unknown notification between, before it answers the first request."""

    def __init__(self, kind: str) -> None:
        super().__init__(STATUSES["400 empty"] if kind == "http" else ERRORS["-32601"])
        self.pinged = False

    def serve(self, asked: Asked) -> Reply:
        reply = super().serve(asked)
        if self.pinged or reply.status != 200:
            return reply
        self.pinged = True
        pings = [text({"jsonrpc": "2.0", "id": id, "method": "ping"}) for id in PINGS]
        unknown = notification("notifications/mcpcheck-unknown")
        return dataclasses.replace(reply, messages=(pings[0], unknown, pings[1], *reply.messages))


@scenario(
    exercises=["legacy.ping.response.empty", "base.notification.no-response", "legacy.lifecycle.init.initialized"]
)
async def is_pinged(client: ClientPeer) -> None:
    """In a legacy session two pings and an unknown notification come: the pings are answered, and nothing else."""
    client.needs_legacy()
    account = await client.meet(Pings(client.kind))
    opened = account.initialize
    later = account.after(opened) if opened else []
    asked = next((said for said in later if said.is_request and not said.is_modern), None)
    if asked is None:
        raise Untestable("the client sends no request in a legacy session")
    if client.kind == "http":
        judge_handshake(client, account, asked)
    if not account.after(asked):
        raise Untestable("the client sends nothing after the pings: whether it read them is not seen")
    answers = [(said, said.message) for said in account.said if isinstance(said.message, Answer)]
    for ping in PINGS:
        mine = [(said, answer) for said, answer in answers if answer.id == ping]
        if mine and mine[0][1].result is not None and not mine[0][1].has_error:
            client.holds("legacy.ping.response.empty", account, mine[0][0])
        elif mine:
            client.broken("legacy.ping.response.empty", account, [mine[0][0]], "an empty result", "an error")
        elif [said for said in account.after(asked) if said.is_request]:
            client.broken("legacy.ping.response.empty", account, [asked], f"an answer to ping {ping!r}", "none")
        else:
            client.suspect("legacy.ping.response.empty", account, [asked], f"an answer to ping {ping!r}", "none")
    strange = [said for said, answer in answers if answer.id not in PINGS]
    if strange:
        client.broken("base.notification.no-response", account, strange, "no response to a notification")
    else:
        client.holds("base.notification.no-response", account, asked)


def judge_handshake(client: ClientPeer, account: Account, asked: Said) -> None:
    """Over HTTP, where a recording may hold several sessions and the rule is silent: this one holds one."""
    id = "legacy.lifecycle.init.initialized"
    confirmed = account.of("notifications/initialized")
    if confirmed and confirmed[0].t <= asked.t:
        client.holds(id, account, asked)
    else:
        client.broken(id, account, [asked], "notifications/initialized first", f"{asked.method} without it")


class Elsewhere(LegacyServer):
    """A legacy server of a version that no client has."""

    def __init__(self, kind: str) -> None:
        super().__init__(STATUSES["400 empty"] if kind == "http" else ERRORS["-32601"])

    deviates = LegacyServer.deviates | {"legacy.lifecycle"}

    def initialized(self, asked: Asked) -> Reply:
        capabilities: dict[str, Json] = {"tools": {}}
        return result(asked, {"protocolVersion": "1900-01-01", "capabilities": capabilities, "serverInfo": INFO})


@scenario(exercises=["legacy.lifecycle.version.client-disconnect"])
async def is_offered_a_version_of_no_use(client: ClientPeer) -> None:
    """The server answers initialize with version 1900-01-01: the client leaves and sends nothing more."""
    client.needs_legacy()
    account = await client.meet(Elsewhere(client.kind))
    opened = account.initialize
    if opened is None:
        raise Untestable("the client did not initialize this time")
    used = [said for said in account.after(opened) if not said.is_modern and said.method not in ("initialize", "ping")]
    if used:
        client.broken("legacy.lifecycle.version.client-disconnect", account, [opened, *used], "an end of the session")
    else:
        client.holds("legacy.lifecycle.version.client-disconnect", account, opened)
