"""A client and a modern server: it stays modern, takes a version that both have, and reports where there is none."""

from typing import Any

from mcpcheck.client_peer import MODERN_ONLY, Account, ClientPeer, Said
from mcpcheck.scenarios.client.scripted import LENIENT, Asked, ModernServer, Refuses, error
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.transports.client_side import Reply
from mcpcheck.wire.protocol import INVALID_PARAMS, LEGACY, MODERN, UNSUPPORTED_VERSION

FUTURE = "2999-12-31"
LOOP = 5
"""So many identical requests after as many identical refusals are no retry any more."""


def handshake(account: Account) -> list[Said]:
    """The messages that only the legacy era has."""
    return account.of("initialize", "notifications/initialized")


@scenario(
    exercises=[
        "stdio.probe.discover-result",
        "stdio.probe.first",
        "versioning.matrix.dual-modern",
        "versioning.matrix.modern-modern",
    ]
)
async def meets_a_modern_server(client: ClientPeer) -> None:
    """A server of 2026-07-28 answers everything as it should: the client works with it and stays modern."""
    client.needs_modern()
    account = client.survey.modern
    probe = account.opening
    assert probe is not None
    dual = client.survey.dual_era or account.initialize is not None
    probed = client.kind == "stdio" and probe.method == "server/discover"
    id = "versioning.matrix.dual-modern" if dual else "versioning.matrix.modern-modern"
    if probed:
        id = "stdio.probe.discover-result"
    wrong = [said for said in account.after(probe) if said.is_request and said.version != MODERN]
    if handshake(account):
        client.broken(id, account, handshake(account), "modern requests after a modern answer, and no handshake")
    elif wrong:
        client.broken(id, account, wrong, f"version {MODERN} in the metadata of every request")
    elif len(account.requests) > 1 or probe.method != "server/discover":
        client.holds(id, account, *account.requests)
        client.holds(f"versioning.matrix.{'dual' if dual else 'modern'}-modern", account, *account.requests)
    else:
        client.suspect(id, account, [probe], "work, after the server said what it offers")
    if client.kind != "stdio" or not dual:
        return
    if probe.method == "server/discover":
        client.holds("stdio.probe.first", account, probe)
    else:
        client.broken("stdio.probe.first", account, [probe], "server/discover before any other request")


@scenario(exercises=["versioning.era.modern-error", "versioning.client.no-common"])
async def meets_a_server_without_a_common_version(client: ClientPeer) -> None:
    """A server refuses every version with -32022 and names only one that nobody has: no handshake, and an error."""
    client.needs_modern()
    account = await client.meet(Refuses(UNSUPPORTED_VERSION, f"This server speaks {FUTURE} only", supported(FUTURE)))
    first = account.opening
    if first is None or not first.is_modern:
        raise Untestable(f"no modern request was sent: the client {account.in_words()}")
    if account.initialize is not None:
        expected = "an error and no initialize: -32022 says that the server is modern"
        client.broken("versioning.era.modern-error", account, [first, account.initialize], expected)
        return
    if client.survey.dual_era:
        client.holds("versioning.era.modern-error", account, first)
    else:
        client.untestable("versioning.era.modern-error", MODERN_ONLY)
    judge_no_common(client, account, first)


def judge_no_common(client: ClientPeer, account: Account, first: Said) -> None:
    """What the client does when the refusal leaves it nothing to try."""
    id = "versioning.client.no-common"
    same = [said for said in account.requests if (said.method, said.version) == (first.method, first.version)]
    others = [said for said in account.requests if said not in same]
    if len(same) >= LOOP:
        client.broken(id, account, same, f"an error, not the same request {len(same)} times")
    elif others:
        client.suspect(id, account, [first, *others], f"an error: the server said that it has {FUTURE} only")
    elif client.survey.ends_itself and not account.encounter.ended_itself:
        client.suspect(id, account, [first], "an end with an error, as other runs of this client end")
    else:
        client.holds(id, account, first)


def supported(*versions: str) -> Any:
    """The data of a -32022 error."""
    return lambda asked: {"supported": list(versions), "requested": str(asked.version)}


@scenario(exercises=["versioning.client.retry"])
async def is_pointed_to_a_common_version(client: ClientPeer) -> None:
    """The first request is refused with -32022 and two versions, one of them the client's: it tries again with that."""
    client.needs_modern()
    data = supported(FUTURE, MODERN)
    account = await client.meet(Refuses(UNSUPPORTED_VERSION, "Unsupported protocol version", data, times=1))
    first = account.opening
    if first is None or first.version != MODERN:
        raise Untestable(f"the first request does not name {MODERN}: the client {account.in_words()}")
    later = [said for said in account.after(first) if said.is_request and said.is_modern]
    strange = [said for said in later if said.version not in (MODERN, FUTURE)]
    expected = f"the request again with {MODERN}, which the error lists"
    if strange:
        client.broken(
            "versioning.client.retry", account, [first, *strange], expected, f"version {strange[0].version!r}"
        )
    elif any(said.version == MODERN for said in later):
        client.holds("versioning.client.retry", account, first, *later)
    else:
        # The only released version of the era is refused and listed at once: giving up is not beyond doubt a fault.
        client.suspect("versioning.client.retry", account, [first, *account.requests[1:2]], expected)


class Lists(ModernServer):
    """A modern server whose discover result lists other versions than it serves."""

    deviates = LENIENT | frozenset({"discover.result", "versioning.server"})

    def __init__(self, *listed: str) -> None:
        self.listed_versions = listed

    def discovered(self) -> dict[str, Any]:
        return {**super().discovered(), "supportedVersions": list(self.listed_versions)}


@scenario(exercises=["discover.client.choose-listed", "stdio.probe.discover-result", "versioning.matrix.dual-modern"])
async def chooses_from_what_discover_lists(client: ClientPeer) -> None:
    """A discover result lists an unknown version beside the client's, and then the unknown one alone."""
    client.needs_modern()
    if not client.survey.modern.of("server/discover"):
        raise Untestable("the client does not call server/discover")
    accounts = await client.meet_all({"both": Lists(FUTURE, MODERN), "unknown": Lists(FUTURE)})
    for what, account in accounts.items():
        asked = account.of("server/discover")
        work = [said for said in account.requests if said.method != "server/discover" and said.is_modern]
        unlisted = [said for said in work if said.version != FUTURE and (said.version != MODERN or what == "unknown")]
        if not asked:
            client.untestable("discover.client.choose-listed", "the client did not call server/discover again")
        elif unlisted:
            for id in ("discover.client.choose-listed", *(["stdio.probe.discover-result"] * (client.kind == "stdio"))):
                expected = (
                    f"a version that the discover result lists ({FUTURE}{', ' + MODERN if what == 'both' else ''})"
                )
                client.broken(id, account, [asked[0], *unlisted], expected, f"version {unlisted[0].version}")
        elif account.initialize is not None:
            id = "stdio.probe.discover-result" if client.kind == "stdio" else "versioning.matrix.dual-modern"
            expected = "no handshake: a server with a discover result is modern, and it lists no legacy version"
            client.suspect(id, account, [asked[0], account.initialize], expected)
        elif work or what == "unknown":
            client.holds("discover.client.choose-listed", account, asked[0], *work)
        else:
            expected = f"requests with {MODERN}, which is listed"
            client.suspect("discover.client.choose-listed", account, asked[:1], expected)


class LaterError(ModernServer):
    """A modern server that answers everything but server/discover with one error."""

    deviates = LENIENT | frozenset({"base.error", "base.meta.missing-http-400"})

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        self.code = code
        self.message = message
        self.data = data
        self.refused = 0

    def serve(self, asked: Asked) -> Reply:
        if asked.method == "server/discover":
            return super().serve(asked)
        self.refused += 1
        return error(asked, self.code, self.message, self.data)


@scenario(exercises=["versioning.era.cache"])
async def is_refused_later_by_a_modern_server(client: ClientPeer) -> None:
    """A modern server answers the probe, and another request with -32602: its era is settled, so no handshake."""
    client.needs_dual_era()
    account = await client.meet(LaterError(INVALID_PARAMS, "Invalid params"))
    judge_later_error(client, account, "versioning.era.cache")


@scenario(exercises=["base.error.legacy-range-no-meaning"])
async def is_refused_with_a_code_without_meaning(client: ClientPeer) -> None:
    """After a good answer come -32004 and data like that of -32022: the code means nothing, so it is a plain error."""
    client.needs_modern()
    data = {"supported": [LEGACY[-1]], "requested": MODERN}
    account = await client.meet(LaterError(-32004, "Not available", data))
    judge_later_error(client, account, "base.error.legacy-range-no-meaning")


def judge_later_error(client: ClientPeer, account: Account, id: str) -> None:
    """A handshake after a plain error of a modern server is wrong; anything else is the client's affair."""
    probe = account.opening
    refused = next((said for said in account.requests[1:] if said.is_modern), None)
    if probe is None or probe.method != "server/discover" or refused is None:
        raise Untestable("the client sends nothing modern after server/discover, or does not begin with it")
    later = account.after(refused)
    wrong = [said for said in later if said in handshake(account) or (said.is_modern and said.version != MODERN)]
    if wrong:
        client.broken(id, account, [refused, *wrong], f"an error to the user, and {MODERN} as before")
    else:
        client.holds(id, account, refused)
