"""Multi round-trip requests: asking for input, and the retry that brings it."""

from typing import Any

from mcpcheck.inputs import responses_to
from mcpcheck.peer import ALL_CAPABILITIES, Peer
from mcpcheck.reply import Reply
from mcpcheck.roles import Fixture
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.capability import ASKING, offered

ELICITING = ("tool.elicits", "prompt.elicits", "resource.elicits", "tool.state")
ASKING_ROLES = (*ASKING, "tool.state", "tool.multiple")
EVERY_ROLE = (*ASKING_ROLES, "tool.rounds", "tool.tampered", "tool.capabilities", "tool.streams")
NOT_HERE = {
    "server/discover": None,
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resources",
}


async def first_round(peer: Peer, fixture: Fixture) -> Reply:
    """The first attempt, every capability being declared; Untestable where it asks for nothing."""
    peer.voice.capabilities = ALL_CAPABILITIES
    reply = await peer.ask(fixture.method, fixture.params)
    if not reply.needs_input:
        raise Untestable(f"{fixture.name} asked for no input: {reply.told()}")
    return reply


async def retry(peer: Peer, fixture: Fixture, asked: Reply, **changes: Any) -> Reply:
    """The same request again with the input, the state and a new id. ``changes`` replace members; None removes one."""
    result = asked.result or {}
    params = {**fixture.params, "inputResponses": responses_to(result.get("inputRequests"))}
    if "requestState" in result:
        params["requestState"] = result["requestState"]
    params |= changes
    return await peer.ask(fixture.method, {key: value for key, value in params.items() if value is not REMOVED})


REMOVED = object()


async def to_the_end(peer: Peer, fixture: Fixture, reply: Reply, rounds: int = 10) -> Reply:
    """Answer every further round, up to a bound."""
    for _ in range(rounds):
        if not reply.needs_input:
            break
        reply = await retry(peer, fixture, reply)
    return reply


@scenario(
    exercises=[
        "mrtr.server.retry-independent",
        "mrtr.result.shape",
        "mrtr.result.at-least-one",
        "mrtr.result.declared-capability",
        "mrtr.input-requests.kind",
        "mrtr.input-requests.keys-unique",
        "base.result.result-type-known",
        "base.pattern.server-no-requests",
        "caching.hints.not-on-input-required",
    ],
    any_of=EVERY_ROLE,
)
async def round_trips(peer: Peer) -> None:
    """Uses everything that asks for input, answers, and retries under a new id until the result is complete."""
    fixtures = offered(peer, *EVERY_ROLE)
    if not fixtures:
        peer.lab.fixture("tool.elicits")
    for fixture in {(f.method, f.name): f for f in fixtures}.values():
        peer.voice.capabilities = ALL_CAPABILITIES
        asked = await peer.ask(fixture.method, fixture.params)
        if not asked.needs_input:
            continue
        judge_end(peer, fixture, await to_the_end(peer, fixture, asked))


@scenario(exercises=["mrtr.server.retry-independent"], transports=["stdio"], any_of=ELICITING)
async def retry_in_another_process(peer: Peer) -> None:
    """Takes a request for input to another process of the server, and retries there: the retry is complete in itself.

    Only where no requestState is issued, since processes need not share the key that protects it.
    """
    fixture = asking(peer)
    asked = await first_round(peer, fixture)
    if "requestState" in (asked.result or {}):
        raise Untestable(f"{fixture.name} issues a requestState, whose key processes need not share")
    async with peer.lab.connect(f"{peer.name}-retry", peer.scenario) as other:
        await other.fence()
        other.voice.capabilities = ALL_CAPABILITIES
        judge_end(other, fixture, await to_the_end(other, fixture, await retry(other, fixture, asked)))


def judge_end(peer: Peer, fixture: Fixture, done: Reply) -> None:
    """A retry completes; a stranger's tool may have its reasons not to like what was answered, and say so."""
    id = "mrtr.server.retry-independent"
    expected = f"{fixture.name}: a complete result, since the retry holds all that was asked for"
    if done.complete or not fixture.shown:
        peer.check(id, done.complete, done, expected)
    else:
        peer.suspect(id, done, f"{expected}, unless it does not like the answers of mcpcheck")


@scenario(exercises=["mrtr.result.supported-methods"])
async def other_methods_ask_for_nothing(peer: Peer) -> None:
    """Sends every other request with all capabilities declared: none of them is answered with input_required."""
    peer.voice.capabilities = ALL_CAPABILITIES
    for method, capability in NOT_HERE.items():
        if capability is None or peer.lab.declares(capability):
            await peer.ask(method)
    if peer.lab.declares("completions"):
        ref = {"type": "ref/prompt", "name": "mcpcheck-no-such-prompt"}
        await peer.ask("completion/complete", {"ref": ref, "argument": {"name": "mcpcheck", "value": ""}})


@scenario(exercises=["mrtr.server.rerequest-missing", "elicit.server.handles-missing-answer"], any_of=ELICITING)
async def missing_responses(peer: Peer) -> None:
    """Retries without the response that was asked for: the server asks again, rather than fail."""
    fixture = asking(peer)
    for given in ({}, {"mcpcheck-unknown": {"action": "accept", "content": {}}}):
        asked = await first_round(peer, fixture)
        with peer.deviating("mrtr"):
            reply = await retry(peer, fixture, asked, inputResponses=given)
        if judge_copes(peer, reply, "elicit.server.handles-missing-answer"):
            failed = reply.is_error or (reply.result or {}).get("isError") is True
            asks = not failed if fixture.shown else reply.needs_input  # another tool may do without what it asked for
            peer.check("mrtr.server.rerequest-missing", asks, reply, "input_required again, for what is missing")


def asking(peer: Peer) -> Fixture:
    """Whatever this server has that asks for an elicitation."""
    found = offered(peer, *ELICITING)
    return found[0] if found else peer.lab.fixture("tool.elicits")


def judge_copes(peer: Peer, reply: Reply, id: str) -> bool:
    """A server copes with an answer that it did not hope for: something well-formed, and no internal error."""
    failed = reply.status is not None and reply.status >= 500
    copes = reply.answer is not None and not failed and reply.code != -32603
    return peer.check(id, copes, reply, "a well-formed answer")


@scenario(exercises=["mrtr.server.ignore-extra"], any_of=ELICITING)
async def superfluous_responses(peer: Peer) -> None:
    """Retries with the right responses and two that nobody asked for: the same outcome as without them."""
    fixture = asking(peer)
    asked = await first_round(peer, fixture)
    plain = await retry(peer, fixture, asked)
    if not plain.complete:
        raise Untestable(f"{fixture.name} does not complete with the right responses alone: {plain.told()}")
    asked = await first_round(peer, fixture)
    right = responses_to((asked.result or {}).get("inputRequests"))
    extra = {"action": "accept", "content": {"mcpcheck": "extra"}}
    with peer.deviating("mrtr"):
        reply = await retry(peer, fixture, asked, inputResponses={**right, "mcpcheck-1": extra, "mcpcheck-2": extra})
    peer.check("mrtr.server.ignore-extra", reply.complete, reply, "the same complete result as without the extras")


@scenario(exercises=["mrtr.server.validate-responses"], any_of=ELICITING)
async def malformed_responses(peer: Peer) -> None:
    """Retries with responses that are no elicitation results: refused or asked again, not taken as good input."""
    fixture = asking(peer)
    for bad in (12345, {"action": "maybe"}):
        asked = await first_round(peer, fixture)
        keys = list((asked.result or {}).get("inputRequests") or {})
        with peer.deviating("mrtr", "elicit", "sampling", "roots", "tools", "prompts", "resources"):
            reply = await retry(peer, fixture, asked, inputResponses=dict.fromkeys(keys, bad))
        plain = reply.complete and (reply.result or {}).get("isError") is not True
        peer.check("mrtr.server.validate-responses", not plain, reply, f"{bad!r} is not taken for an input response")


@scenario(exercises=["mrtr.server.protocol-error"], any_of=ELICITING)
async def malformed_retry(peer: Peer) -> None:
    """Retries with inputResponses or requestState of the wrong JSON type: a JSON-RPC error."""
    fixture = asking(peer)
    bad: list[dict[str, Any]] = [{"inputResponses": []}, {"inputResponses": "text"}, {"requestState": 5}]
    for changes in bad:
        asked = await first_round(peer, fixture)
        with peer.deviating("mrtr", "tools", "prompts", "resources"):
            reply = await retry(peer, fixture, asked, **changes)
        right = reply.is_error and reply.code != -32603
        peer.check("mrtr.server.protocol-error", right, reply, f"a JSON-RPC error for {changes!r}")


@scenario(exercises=["mrtr.server.no-assumption", "elicit.server.no-success-assumption"], any_of=ELICITING)
async def abandoned_requests(peer: Peer) -> None:
    """Asks twenty times and never retries: the server works on as before."""
    fixture = asking(peer)
    await first_round(peer, fixture)
    for _ in range(20):
        await peer.ask(fixture.method, fixture.params)
    after = await peer.ask(fixture.method, fixture.params)
    for id in ("mrtr.server.no-assumption", "elicit.server.no-success-assumption"):
        peer.check(id, after.needs_input, after, "a fresh request for input, as the first time")


@scenario(exercises=["elicit.server.handles-decline", "elicit.server.handles-cancel"], any_of=ELICITING)
async def user_says_no(peer: Peer) -> None:
    """Answers an elicitation with decline, then with cancel: the server copes."""
    fixture = asking(peer)
    for action in ("decline", "cancel"):
        asked = await first_round(peer, fixture)
        given = responses_to((asked.result or {}).get("inputRequests"), elicitation={"action": action})
        reply = await retry(peer, fixture, asked, inputResponses=given)
        judge_copes(peer, reply, f"elicit.server.handles-{action}")
