"""Rounds: which request repeats which, when a client brings the input that it was asked for (mrtr.client.new-id)."""

from typing import Any

from mcpcheck.session import ids
from mcpcheck.session.call import Call
from mcpcheck.wire.event import Answer
from mcpcheck.wire.protocol import INPUT_METHODS, NAMED_BY
from mcpcheck.wire.recent import Recent

_MOST = 20
"""How many requests for the same thing may wait for their retry; older ones are forgotten."""


class Rounds:
    """Remembers the calls that were answered with input_required until they are repeated."""

    def __init__(self) -> None:
        self._waiting: Recent[tuple[str, ids.Key], list[Call]] = Recent(100)

    def answered(self, call: Call, answer: Answer) -> None:
        """A result came; input_required is kept."""
        if call.request.method in INPUT_METHODS and answer.result.get("resultType") == "input_required":
            subject = _subject(call)
            self._waiting[subject] = [*self._waiting.get(subject, [])[1 - _MOST :], call]

    def asked(self, call: Call) -> Call | None:
        """The call that a request repeats; None where it brings no input, or what it repeats was not seen."""
        request = call.request
        if request.method not in INPUT_METHODS:
            return None
        responses, state = request.param("inputResponses"), request.param("requestState")
        if responses is None and state is None:
            return None
        alike = self._waiting.get(_subject(call), [])
        fitting = [old for old in alike if _fits(old, responses, state)]
        if len(fitting) > 1:  # calls of one tool side by side: the arguments tell them apart
            arguments = request.param("arguments")
            fitting = [old for old in fitting if old.request.param("arguments") == arguments] or fitting
        return fitting[-1] if fitting else alike[-1] if len(alike) == 1 else None


def _subject(call: Call) -> tuple[str, ids.Key]:
    """What a request is about: its method, and the tool, prompt or resource."""
    method = call.request.method
    return method, ids.key(call.request.param(NAMED_BY[method]))


def _fits(old: Call, responses: Any, state: Any) -> bool:
    """Whether a retry's state and answers go with what the old call's result asked for."""
    result = old.answer.result if old.answer else None
    if not isinstance(result, dict):
        return False
    asked = result.get("inputRequests")
    asked = asked if isinstance(asked, dict) else {}
    answered = responses if isinstance(responses, dict) else {}
    return result.get("requestState") == state and set(answered) <= set(asked)
