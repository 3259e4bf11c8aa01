"""Tokens: the progress tokens that requests gave, and what became of the requests."""

from dataclasses import dataclass
from typing import Any

from mcpcheck.session import ids
from mcpcheck.session.call import Call
from mcpcheck.session.seen import Seen
from mcpcheck.wire.event import Answer
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir


@dataclass(slots=True)
class Token:
    """The newest request that gave a token: the frame of its answer, and the exchange that the answer came on.

    A task of 2025-11-25 goes on after its first answer: its token is as if it had none.
    """

    answered: int | None = None
    exchange: int | None = None


class Tokens:
    """The tokens of requests, open and answered, by their sender."""

    def __init__(self) -> None:
        self._newest: Recent[tuple[Dir, ids.Key], Token] = Recent()
        self._given = {Dir.C2S: Seen(), Dir.S2C: Seen()}

    def asked(self, call: Call) -> None:
        """A request gives a token."""
        request = call.request
        key = ids.key(request.meta["progressToken"])
        self._newest[(request.dir, key)] = Token()
        self._given[request.dir].add(key)

    def answered(self, call: Call, answer: Answer) -> None:
        """The request has its answer."""
        token = self.find(call.request.dir, call.request.meta["progressToken"])
        if token is not None and not _is_task(answer):
            token.answered, token.exchange = answer.record.n, answer.record.exchange

    def find(self, sender: Dir, token: Any) -> Token | None:
        """The newest request of one side that gave a token; None where there is none, or where it is long ago."""
        return self._newest.get((sender, ids.key(token)))

    def may_be_given(self, sender: Dir, token: Any) -> bool:
        """Whether a request of one side has given a token, or whether that is forgotten."""
        given = self._given[sender]
        return ids.key(token) in given or given.forgetful


def _is_task(answer: Answer) -> bool:
    return isinstance(answer.result, dict) and isinstance(answer.result.get("task"), dict)
