"""mrtr.client: what a client brings back when it repeats a request that was answered with input_required."""

from typing import Any

from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session import ids
from mcpcheck.session.call import Call
from mcpcheck.session.rounds import inputs_of, original
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, INPUT_METHODS, NAMED_BY
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_CAPABILITY = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
_LONG = 16
"""So many characters of a state are hardly the same by chance."""


def _asked(attempt: Call) -> dict[str, Any]:
    """What the result of an attempt asks for."""
    result = attempt.answer.result if attempt.answer else None
    return result if isinstance(result, dict) else {}


def _brought(request: Request) -> set[str]:
    responses = request.param("inputResponses")
    return set(responses) if isinstance(responses, dict) else set()


def _attempt(request: Request, session: Session) -> Call | None:
    """The call that a request repeats for certain.

    Its state came back; or it had none, and its inputs came, all of them or to the same params; or the params are the
    same and exactly the inputs came that were asked for, so that the state alone is another.
    """
    attempt = session.attempt
    if attempt is None or request.dir is Dir.S2C or not session.whole or session.unreadable_from(Dir.S2C):
        return None
    state, back = _asked(attempt).get("requestState"), request.param("requestState")
    inputs, brought = inputs_of(attempt), _brought(request)
    same = original(attempt.request) == original(request)
    if isinstance(state, str) and state and back == state:
        return attempt
    if state is None and back is None and inputs and (brought == inputs or (same and brought < inputs)):
        return attempt
    return attempt if same and brought == inputs else None


@rule("mrtr.client.state-echo", on=INPUT_METHODS, near=("inputResponses", "requestState"))
class StateEcho:
    """Compares requestState with that of the result that asked for input, character by character.

    A retry is known by the inputs that it brings, or by the params that it repeats; a state that another request was
    given has a rule of its own.
    """

    def __init__(self) -> None:
        self._issued = _Issued()

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        if isinstance(event, Answer):
            self._issued.learn(event, session)
            return
        attempt = _attempt(event, session)
        state = _asked(attempt).get("requestState") if attempt else None
        if attempt is None or not isinstance(state, str):
            return
        back = event.param("requestState")
        if back == state:
            yield holds(event)
        elif self._issued.to(back) is None:
            n = attempt.answer.record.n if attempt.answer else attempt.request.record.n
            there = isinstance(event.params, dict) and "requestState" in event.params
            yield broken(event, f"requestState {shown(state)}", shown(back) if there else "no requestState", n)


@rule("mrtr.client.no-state", on=INPUT_METHODS, near=("inputResponses", "requestState"))
def no_state(request: Request, session: Session) -> Verdicts:
    """Looks for requestState, null included, in the retry of a request whose result had none."""
    attempt = _attempt(request, session)
    if attempt is None or "requestState" in _asked(attempt):
        return
    if "requestState" in request.params:
        n = attempt.answer.record.n if attempt.answer else attempt.request.record.n
        said = f"requestState {shown(request.param('requestState'))}"
        yield broken(request, "no requestState, since the result had none", said, n)
    else:
        yield holds(request)


@rule("mrtr.client.retry-original", on=INPUT_METHODS, near=("inputResponses", "requestState"))
def retry_original(request: Request, session: Session) -> Verdicts:
    """Compares the arguments of a retry with those of the request that it repeats. Metadata is its own.

    No arguments are the same as empty ones; a difference in what this revision does not know is suspect.
    """
    attempt = _attempt(request, session)
    if attempt is None:
        return
    first, again = original(attempt.request), original(request)
    changed = [name for name in sorted(first.keys() | again.keys()) if first.get(name) != again.get(name)]
    if not changed:
        yield holds(request)
    else:
        judged = broken if "arguments" in changed else suspect
        said = f"{', '.join(changed)} changed"
        yield judged(request, "the original request again, with the input", said, attempt.request.record.n)


@rule("mrtr.client.fulfil-first", on=INPUT_METHODS, near=("inputResponses", "requestState"))
def fulfil_first(request: Request, session: Session) -> Verdicts:
    """Looks at which of the inputs that were asked for a retry brings; a refusal by the user is brought, too.

    Where the server asks for what the client has not declared, or for what is no input, it is left alone. So is what
    is no object.
    """
    attempt = _attempt(request, session)
    if attempt is None or not isinstance(request.params.get("inputResponses", {}), dict):
        return
    asked, brought = _asked(attempt).get("inputRequests"), _brought(request)
    if not isinstance(asked, dict) or not asked or not _can_do(asked, attempt.request):
        return
    missing = [key for key in asked if key not in brought]
    if missing:
        n = attempt.answer.record.n if attempt.answer else attempt.request.record.n
        said = f"nothing for {', '.join(map(shown, missing))}"
        yield broken(request, "a response to each input request", said, n)
    else:
        yield holds(request)


def _can_do(asked: dict[str, Any], request: Request) -> bool:
    """Whether a client has declared all that it is asked for."""
    declared = request.meta.get(CLIENT_CAPABILITIES)
    return isinstance(declared, dict) and all(_declares(declared, entry) for entry in asked.values())


def _declares(declared: dict[str, Any], entry: Any) -> bool:
    method = entry.get("method") if isinstance(entry, dict) else None
    capability = declared.get(_CAPABILITY.get(method, "")) if isinstance(method, str) else None
    if not isinstance(capability, dict):
        return False
    params = entry.get("params")
    mode = params.get("mode", "form") if isinstance(params, dict) else "form"
    return method != "elicitation/create" or mode in (capability or {"form": {}})


class _Issued:
    """The states that results have given, each with the only request that it was given to; None if to several."""

    def __init__(self) -> None:
        self._to: Recent[int, tuple[str, ids.Key, int] | None] = Recent()

    def learn(self, answer: Answer, session: Session) -> None:
        call, result = session.call, answer.result
        state = result.get("requestState") if isinstance(result, dict) else None
        if call is None or answer.dir is Dir.C2S or not isinstance(state, str):
            return
        subject = _subject(call.request)
        known = self._to.get(hash(state), subject)
        self._to[hash(state)] = subject if known is not None and known[:2] == subject[:2] else None

    def to(self, state: Any) -> tuple[str, ids.Key, int] | None:
        """The method and the subject to which alone a state was given, and the frame; None where that is unknown."""
        return self._to.get(hash(state)) if isinstance(state, str) and not self._to.forgetful else None


def _subject(request: Request) -> tuple[str, ids.Key, int]:
    return request.method, ids.key(request.param(NAMED_BY.get(request.method, ""))), request.record.n


@rule("mrtr.client.isolation", near="requestState")
class Isolation:
    """Looks for a state that was given to another request only: of another method, tool, prompt or resource.

    A short one, which may be the same by chance, is suspect.
    """

    def __init__(self) -> None:
        self._issued = _Issued()

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        if isinstance(event, Answer):
            self._issued.learn(event, session)
            return
        state = event.param("requestState")
        given = self._issued.to(state)
        if event.dir is Dir.S2C or given is None or not session.whole:
            return
        if given[:2] == _subject(event)[:2]:
            yield holds(event)
        else:
            judged = broken if len(state) >= _LONG else suspect
            said = f"the state that {given[0]} was given, in a {event.method}"
            yield judged(event, "a state with the request that it belongs to", said, given[2])
