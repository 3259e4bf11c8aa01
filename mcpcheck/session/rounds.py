"""Rounds: which request repeats which, when a client brings the input that it was asked for (mrtr.client.new-id)."""

from typing import Any

from mcpcheck.session.call import Call
from mcpcheck.wire.event import Answer
from mcpcheck.wire.protocol import INPUT_METHODS, NAMED_BY

_MOST = 200
"""How many requests for input may wait for their retry; older ones are forgotten."""


class Rounds:
    """Remembers the calls that were answered with input_required until they are repeated."""

    def __init__(self) -> None:
        self._waiting: list[Call] = []

    def answered(self, call: Call, answer: Answer) -> None:
        """A result came; input_required is kept."""
        if call.request.method in INPUT_METHODS and answer.result.get("resultType") == "input_required":
            self._waiting = [*self._waiting[-_MOST:], call]

    def asked(self, call: Call) -> Call | None:
        """The call that a request repeats; None where it brings no input, or what it repeats was not seen."""
        request = call.request
        if request.method not in INPUT_METHODS:
            return None
        responses, state = request.param("inputResponses"), request.param("requestState")
        if responses is None and state is None:
            return None
        alike = [old for old in self._waiting if _subject(old) == _subject(call)]
        fitting = [old for old in alike if _fits(old, responses, state)]
        return fitting[-1] if fitting else alike[-1] if len(alike) == 1 else None


def _subject(call: Call) -> tuple[str, Any]:
    """What a request is about: its method, and the tool, prompt or resource."""
    method = call.request.method
    return method, call.request.param(NAMED_BY[method])


def _fits(old: Call, responses: Any, state: Any) -> bool:
    """Whether a retry's state and answers go with what the old call's result asked for."""
    result = old.answer.result if old.answer else None
    if not isinstance(result, dict):
        return False
    asked = result.get("inputRequests")
    asked = asked if isinstance(asked, dict) else {}
    answered = responses if isinstance(responses, dict) else {}
    return result.get("requestState") == state and set(answered) <= set(asked)
