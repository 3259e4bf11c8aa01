"""A client whose call is answered with input_required: the retry carries what it has to, and nothing else."""

import json
from typing import Any

from mcpcheck.client_peer import Account, ClientPeer, Said
from mcpcheck.scenarios.client.scripted import INFO, Asked, ModernServer, result
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.transports.client_side import Reply
from mcpcheck.wire.event import Message
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, PROTOCOL_VERSION, SERVER_INFO

Json = Any

STATES = (
    '{"step" : 1,  "of":[ ] }',
    "one line\nand an end\n",
    "\ttab, \x01 and \x7f",
    " padded ",
    "gr\u00fc\u00df-\u4e16\u754c \U0001d4dc\u2028 e\u0301",
    "",
    "0",
    "s" * 65536,
)
"""Strings that a client is tempted to trim, to parse, to escape anew or to drop (mrtr.client.state-echo)."""
NO_RETRY = "the client does not repeat a call that was answered with input_required, which is its right"

FORM = {"type": "object", "properties": {"name": {"type": "string", "title": "Your name"}}, "required": ["name"]}
REQUESTS: dict[str, dict[str, Json]] = {
    "elicitation": {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "mcpcheck asks for a name", "requestedSchema": FORM},
    },
    "sampling": {
        "method": "sampling/createMessage",
        "params": {
            "messages": [{"role": "user", "content": {"type": "text", "text": "Say a word for mcpcheck."}}],
            "maxTokens": 20,
        },
    },
    "roots": {"method": "roots/list"},
}


class Rounds(ModernServer):
    """A modern server that asks for more input in each of some rounds of a call."""

    def __init__(self, rounds: list[dict[str, Json]]) -> None:
        self.rounds = rounds
        self.gone: dict[Json, int] = {}
        """How many rounds each tool's call has had, and each call that had to begin anew."""

    def called(self, asked: Asked) -> Reply:
        name = asked.params.get("name")
        anew = None if is_retry(asked.params) else json.dumps([name, asked.params.get("arguments")], sort_keys=True)
        gone = self.gone.get(name, 0) if anew is None or anew in self.gone else 0
        self.gone[name] = gone + 1
        if anew is not None:
            self.gone[anew] = gone + 1
        if gone >= len(self.rounds):
            return super().called(asked)
        return result(asked, {"resultType": "input_required", **self.rounds[gone], "_meta": {SERVER_INFO: INFO}})


def is_retry(params: Json) -> bool:
    """Whether a call brings back what only a retry has."""
    return isinstance(params, dict) and ("inputResponses" in params or "requestState" in params)


def attempts(account: Account) -> list[Said]:
    """The rounds of the first call, in order: those of its tool that are retries, or the same once more."""
    calls = account.of("tools/call")
    return [call for call in calls if _same(calls[0].message, call.message)]


def _same(first: Message, later: Message) -> bool:
    names = first.param("name") == later.param("name")
    return names and (is_retry(later.params) or first.param("arguments") == later.param("arguments"))


def judge_original(client: ClientPeer, account: Account, first: Said, retry: Said) -> None:
    """A retry is the first attempt again: the same name and arguments, with metadata of its own."""
    id = "mrtr.client.retry-original"
    changed = [key for key in ("name", "arguments") if first.message.param(key) != retry.message.param(key)]
    lacking = [
        key
        for key in (PROTOCOL_VERSION, CLIENT_CAPABILITIES)
        if key in first.message.meta.keys() - retry.message.meta.keys()
    ]
    if changed or lacking:
        what = f"{', '.join(changed)} changed" if changed else f"_meta without {', '.join(lacking)}"
        client.broken(id, account, [first, retry], "the original call again, with metadata", what)
    else:
        client.holds(id, account, first, retry)


@scenario(exercises=["mrtr.client.state-echo", "mrtr.client.retry-original", "mrtr.client.new-id"])
async def is_given_awkward_states(client: ClientPeer) -> None:
    """Each round of a call hands out a requestState that invites changes: it comes back character for character."""
    client.needs_calls()
    account = await client.meet(Rounds([{"requestState": state} for state in STATES]))
    rounds = attempts(account)
    pairs = list(zip(rounds, rounds[1:], STATES, strict=False))
    echoed = [state for _, retry, state in pairs if retry.message.param("requestState") == state]
    carried = any("requestState" in (retry.message.params or {}) for _, retry, _ in pairs)
    if not pairs:
        raise Untestable(NO_RETRY)
    for attempt, retry, state in pairs:
        expected = f"requestState {_short(state)}"
        back = retry.message.param("requestState")
        if "requestState" in (retry.message.params or {}) and back == state:
            client.holds("mrtr.client.state-echo", account, attempt, retry)
        elif echoed or carried:
            actual = _short(back) if "requestState" in (retry.message.params or {}) else "no requestState"
            client.broken("mrtr.client.state-echo", account, [attempt, retry], expected, actual)
            break
        else:
            client.suspect("mrtr.client.state-echo", account, [attempt, retry], expected, "the call without any state")
            break
        judge_original(client, account, rounds[0], retry)


def _short(state: Any) -> str:
    shown = json.dumps(state)
    return shown if len(shown) < 60 else f"{shown[:40]}... ({len(state)} characters)"


def askable(capabilities: dict[str, Json]) -> dict[str, Json]:
    """An input request of each kind that the client declares, two where it is one; empty where it declares none."""
    declared = {kind: value for kind, value in capabilities.items() if kind in REQUESTS and isinstance(value, dict)}
    form = declared.get("elicitation")
    if form and "form" not in form and "url" in form:
        del declared["elicitation"]
    kinds = list(declared)
    if len(kinds) == 1:
        kinds *= 2
    return {f"input {number}": REQUESTS[kind] for number, kind in enumerate(kinds, 1)}


@scenario(
    exercises=[
        "mrtr.client.fulfil-first",
        "mrtr.client.state-echo",
        "mrtr.client.no-state",
        "mrtr.client.retry-original",
        "mrtr.client.new-id",
    ]
)
async def is_asked_for_inputs(client: ClientPeer) -> None:
    """Several inputs and a state are wanted, then one input and no state: the retries carry just that."""
    client.needs_calls()
    wanted = askable(client.survey.capabilities)
    if not wanted:
        raise Untestable("the client declares none of elicitation (form), sampling and roots on its calls")
    second = {"again": wanted["input 1"]}
    first_round = {"inputRequests": wanted, "requestState": "state of round one"}
    account = await client.meet(Rounds([first_round, {"inputRequests": second}]))
    rounds = attempts(account)
    retries = [call for call in rounds[1:] if isinstance(call.message.param("inputResponses"), dict)]
    if len(rounds) < 2:
        raise Untestable(NO_RETRY)
    bare = rounds[1]
    if bare not in retries and bare.message.param("requestState") != first_round["requestState"]:
        raise Untestable("the client calls again without inputResponses, as if anew")
    answers = bare.message.param("inputResponses")
    if isinstance(answers, dict) and set(wanted) <= set(answers):
        client.holds("mrtr.client.fulfil-first", account, rounds[0], bare)
    else:
        got = sorted(answers) if isinstance(answers, dict) else "no inputResponses"
        expected = f"inputResponses for {sorted(wanted)}"
        client.broken("mrtr.client.fulfil-first", account, rounds[:2], expected, str(got))
    if bare.message.param("requestState") == first_round["requestState"]:
        client.holds("mrtr.client.state-echo", account, rounds[0], bare)
    else:
        state = bare.message.param("requestState")
        client.broken("mrtr.client.state-echo", account, rounds[:2], "the requestState of the result", _short(state))
    judge_original(client, account, rounds[0], bare)
    if len(rounds) > 2:
        judge_stateless(client, account, rounds[1], rounds[2])


def judge_stateless(client: ClientPeer, account: Account, attempt: Said, retry: Said) -> None:
    """The retry of a round that had no state has none either."""
    id = "mrtr.client.no-state"
    if "requestState" in (retry.message.params or {}):
        actual = f"requestState {_short(retry.message.param('requestState'))}"
        client.broken(id, account, [attempt, retry], "no requestState, since the result had none", actual)
    else:
        client.holds(id, account, attempt, retry)
