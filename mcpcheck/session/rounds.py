"""Rounds: which request repeats which, when a client brings the input that it was asked for (mrtr.client.new-id)."""

from typing import Any

from mcpcheck.session import ids
from mcpcheck.session.call import Call
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.protocol import INPUT_METHODS, NAMED_BY
from mcpcheck.wire.recent import Recent

_MOST = 20
"""How many requests for the same thing may wait for their retry; of older ones only the states are remembered."""

_BROUGHT = frozenset({"inputResponses", "requestState"})

Subject = tuple[str, ids.Key]


class Rounds:
    """Remembers the calls that were answered with input_required until they are repeated."""

    def __init__(self) -> None:
        self._waiting: Recent[Subject, list[Call]] = Recent(100)
        self._forgotten: Recent[tuple[Subject, int], None] = Recent()  # the states of calls that are forgotten

    def answered(self, call: Call, answer: Answer) -> None:
        """A result came; input_required is kept."""
        if call.request.method in INPUT_METHODS and answer.result.get("resultType") == "input_required":
            subject = _subject(call)
            calls = [*self._waiting.get(subject, []), call]
            for old in calls[:-_MOST]:
                self._forgotten[subject, _mark(_result(old).get("requestState"))] = None
            self._waiting[subject] = calls[-_MOST:]

    def asked(self, call: Call) -> Call | None:
        """The call that a request repeats; None where it brings no input, or what it repeats is not certain.

        Its state tells, together with the inputs that it answers. A state that nobody gave may be a wrong one: then
        it is the call that asked for exactly these inputs, with the same params, or the only one there is.
        """
        request = call.request
        names = request.text.names
        if request.method not in INPUT_METHODS or (names is not None and names.isdisjoint(_BROUGHT)):
            return None
        responses, state = request.param("inputResponses"), request.param("requestState")
        if responses is None and state is None:
            return None
        subject = _subject(call)
        alike = self._waiting.get(subject, [])
        fitting = [old for old in alike if _fits(old, responses, state)]
        if fitting:
            same = [old for old in fitting if original(old.request) == original(request)] or fitting
            return next((old for old in reversed(same) if inputs_of(old) == _keys(responses)), same[-1])
        if self._waiting.forgetful or self._forgotten.forgetful or (subject, _mark(state)) in self._forgotten:
            return None
        asked = [old for old in alike if responses and _keys(responses) == inputs_of(old)]
        asked = [old for old in asked if original(old.request) == original(request)]
        if asked:
            with_state = {"requestState" in _result(old) for old in asked}
            return asked[-1] if len(with_state) == 1 else None
        return alike[-1] if len(alike) == 1 else None


def original(request: Request) -> dict[str, Any]:
    """What a retry has in common with the request that it repeats: its params without the input and metadata."""
    params = request.params if isinstance(request.params, dict) else {}
    return {"arguments": {}} | {
        name: value for name, value in params.items() if name not in {"_meta", "inputResponses", "requestState"}
    }


def inputs_of(call: Call) -> set[str]:
    """The keys under which the result of a call asks for input."""
    return _keys(_result(call).get("inputRequests"))


def _subject(call: Call) -> Subject:
    """What a request is about: its method, and the tool, prompt or resource."""
    method = call.request.method
    return method, ids.key(call.request.param(NAMED_BY[method]))


def _mark(state: Any) -> int:
    """A state that may be long, in short."""
    return hash(ids.key(state))


def _result(call: Call) -> dict[str, Any]:
    result = call.answer.result if call.answer else None
    return result if isinstance(result, dict) else {}


def _keys(value: Any) -> set[str]:
    return set(value) if isinstance(value, dict) else set()


def _fits(old: Call, responses: Any, state: Any) -> bool:
    """Whether a retry's state and answers go with what the old call's result asked for."""
    result = old.answer.result if old.answer else None
    return isinstance(result, dict) and result.get("requestState") == state and _keys(responses) <= inputs_of(old)
