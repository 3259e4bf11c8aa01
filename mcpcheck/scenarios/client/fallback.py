"""A client and a legacy server: whatever that answers to a modern request, a dual-era client initializes."""

from collections.abc import Iterable

from mcpcheck.client_peer import MODERN_ONLY, Account, ClientPeer
from mcpcheck.scenarios.client.scripted import (
    Asked,
    Json,
    LegacyServer,
    Refusal,
    Refuses,
    error,
    text,
    with_error,
    with_silence,
    with_status,
)
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.transports.client_side import Reply
from mcpcheck.wire.protocol import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CLIENT_CAPABILITY,
)

ERRORS: dict[str, Refusal] = {
    "-32601": with_error(METHOD_NOT_FOUND, "Method not found"),
    "-32602": with_error(INVALID_PARAMS, "Invalid request parameters"),
    "-32600": with_error(INVALID_REQUEST, "Received request before initialization was complete"),
    "-32603": with_error(INTERNAL_ERROR, "Internal error"),
    "-32000": with_error(-32000, "Server not initialized"),
    "-32001": with_error(-32001, "Session not found"),
    "1": with_error(1, "Not now", {"reason": "initialize first"}),
}
"""What legacy servers say to an unknown request before initialize (stdio.fallback.any-error)."""


def no_session(asked: Asked) -> Reply:
    """What the widespread servers on HTTP say to a request without a session: an error without a usable id."""
    body = {"code": -32000, "message": "Bad Request: Server not initialized"}
    return Reply((text({"jsonrpc": "2.0", "error": body, "id": None}),), status=400)


STATUSES: dict[str, Refusal] = {
    "400 empty": with_status(400),
    "400 html": with_status(400, b"<!doctype html><title>Bad Request</title>", "text/html"),
    "400 text": with_status(400, b"Bad Request: missing session", "text/plain"),
    "400 -32600": with_error(INVALID_REQUEST, "Invalid Request", status=400),
    "400 -32000": no_session,
}
"""Answers with 400 that are no recognized modern error (http.compat.inspect-400-body)."""
OTHER_STATUSES: dict[str, Refusal] = {"404 empty": with_status(404), "405 empty": with_status(405)}
"""Other statuses of a server without the modern endpoint: only the compatibility matrix speaks of them."""


def judge_session(client: ClientPeer, accounts: Iterable[Account]) -> None:
    """After the handshake the session goes on in the legacy era."""
    id = "versioning.matrix.dual-legacy"
    for account in accounts:
        opened = account.initialize
        if opened is None:
            continue
        modern = [said for said in account.after(opened) if said.is_request and said.is_modern]
        if modern:
            client.broken(id, account, [opened, *modern], "legacy requests after initialize was answered")
        elif account.of("notifications/initialized"):
            client.holds(id, account, opened)
        else:
            client.suspect(id, account, [opened], "notifications/initialized, and work in the legacy session")


def judge_modern_only(client: ClientPeer, accounts: Iterable[Account]) -> None:
    """A client without a legacy version fails cleanly; whether its error is clear is for a person to read."""
    id = "versioning.matrix.modern-legacy"
    for account in accounts:
        if client.survey.ends_itself and not account.encounter.ended_itself:
            client.suspect(id, account, account.requests[:1], "an end with an error that says what is missing")
        else:
            client.holds(id, account, *account.requests[:1])


@scenario(
    exercises=[
        "stdio.fallback.any-error",
        "stdio.fallback.no-single-code",
        "versioning.matrix.dual-legacy",
        "versioning.matrix.modern-legacy",
    ],
    transports=["stdio"],
)
async def is_refused_by_a_legacy_server(client: ClientPeer) -> None:
    """Legacy servers answer the probe with one error each, seven in all: each time initialize follows."""
    client.needs_modern()
    accounts = await client.meet_all({code: LegacyServer(refusal) for code, refusal in ERRORS.items()})
    back = [code for code, account in accounts.items() if account.fell_back]
    if not back and not client.survey.dual_era:
        judge_modern_only(client, accounts.values())
        raise Untestable(MODERN_ONLY)
    for code, account in accounts.items():
        if account.fell_back:
            client.holds("stdio.fallback.any-error", account, *account.requests[:1])
        else:
            expected = f"initialize after error {code}, which is no modern one"
            client.broken("stdio.fallback.any-error", account, account.requests, expected)
            expected = "a fallback that does not hang on one code"
            actual = f"initialize after {', '.join(back) or 'none of these'}, and not after {code}"
            client.broken("stdio.fallback.no-single-code", account, account.requests, expected, actual)
    if len(back) == len(accounts):
        client.holds("stdio.fallback.no-single-code", accounts[back[0]])
    judge_session(client, accounts.values())


@scenario(exercises=["stdio.fallback.timeout"], transports=["stdio"])
async def is_left_without_an_answer(client: ClientPeer) -> None:
    """A legacy server says nothing at all before initialize: after a while the client initializes."""
    client.needs_dual_era()
    account = await client.meet(LegacyServer(with_silence), patience=2 * client.patience)
    expected = "initialize after a reasonable time without an answer to the probe"
    if account.fell_back:
        client.holds("stdio.fallback.timeout", account, *account.requests)
    elif account.encounter.ended_itself:
        client.broken("stdio.fallback.timeout", account, account.requests, expected)
    else:
        client.suspect("stdio.fallback.timeout", account, account.requests, expected)


class LateAnswer(LegacyServer):
    """A legacy server that answers what came before initialize only after it."""

    def __init__(self) -> None:
        super().__init__(self.keep)
        self.kept: list[Asked] = []

    def keep(self, asked: Asked) -> Reply:
        self.kept.append(asked)
        return Reply(hang=True)

    def initialized(self, asked: Asked) -> Reply:
        late = [error(each, METHOD_NOT_FOUND, "Method not found").messages[0] for each in self.kept]
        self.kept.clear()
        return Reply((*super().initialized(asked).messages, *late))


@scenario(exercises=["stdio.fallback.timeout"], transports=["stdio"])
async def gets_the_answer_to_the_probe_too_late(client: ClientPeer) -> None:
    """The probe's answer arrives behind that to initialize: the session goes on all the same."""
    client.needs_dual_era()
    account = await client.meet(LateAnswer(), patience=2 * client.patience)
    opened = account.initialize
    if opened is None:
        raise Untestable("the client did not initialize in time")
    if account.after(opened):
        client.holds("stdio.fallback.timeout", account, opened)
    else:
        client.suspect("stdio.fallback.timeout", account, [opened], "a session that goes on after the late answer")


@scenario(
    exercises=["versioning.matrix.dual-legacy", "versioning.matrix.modern-legacy", "http.compat.inspect-400-body"],
    transports=["http"],
)
async def gets_a_4xx_without_a_modern_error(client: ClientPeer) -> None:
    """Legacy servers answer the first request with 400 and no modern error, or with 404 or 405: initialize follows."""
    client.needs_modern()
    refusals = {**STATUSES, **OTHER_STATUSES}
    accounts = await client.meet_all({what: LegacyServer(refusal) for what, refusal in refusals.items()})
    if not any(account.fell_back for account in accounts.values()) and not client.survey.dual_era:
        judge_modern_only(client, accounts.values())
        raise Untestable(MODERN_ONLY)
    for what, account in accounts.items():
        expected = f"initialize after {what}: there is no modern error in it"
        if account.fell_back:
            client.holds("http.compat.inspect-400-body", account, *account.requests[:1])
        elif what in STATUSES:
            client.broken("versioning.matrix.dual-legacy", account, account.requests, expected)
        else:
            client.suspect("versioning.matrix.dual-legacy", account, account.requests, expected)
    judge_session(client, accounts.values())


@scenario(exercises=["http.compat.inspect-400-body"], transports=["http"])
async def gets_a_400_with_a_modern_error(client: ClientPeer) -> None:
    """A modern server answers the first request with 400 and -32020, then -32021: that is no reason for initialize."""
    client.needs_dual_era()
    scripts = {"-32020": Refuses(HEADER_MISMATCH, "Header mismatch: Mcp-Param-Region"), "-32021": lacks_capability()}
    for code, account in (await client.meet_all(scripts)).items():
        if account.initialize is not None:
            expected = f"no initialize after {code}, which only modern servers send"
            wrong = [*account.requests[:1], account.initialize]
            client.broken("http.compat.inspect-400-body", account, wrong, expected)
        elif account.requests:
            client.holds("http.compat.inspect-400-body", account, *account.requests[:1])


def lacks_capability() -> Refuses:
    """A modern server that wants a capability which no client declares."""
    missing: dict[str, Json] = {"experimental": {"com.example/mcpcheck": {}}}
    text = "A client capability is missing"
    return Refuses(MISSING_CLIENT_CAPABILITY, text, lambda asked: {"requiredCapabilities": missing})


@scenario(exercises=["versioning.era.modern-error"], transports=["stdio"])
async def is_told_of_a_missing_capability(client: ClientPeer) -> None:
    """A modern server answers the first request with -32021, which no legacy server has: no handshake follows."""
    client.needs_dual_era()
    account = await client.meet(lacks_capability())
    first = account.requests[:1]
    if account.initialize is not None:
        # The page names -32022 as its example of a modern error, so this one is not beyond doubt.
        expected = "no initialize after -32021, which only modern servers send"
        client.suspect("versioning.era.modern-error", account, [*first, account.initialize], expected)
    elif first:
        client.holds("versioning.era.modern-error", account, *first)
