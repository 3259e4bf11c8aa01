"""Reply: what came of one message of ours."""

from dataclasses import dataclass, field
from typing import Any

from mcpcheck.session.session import Call
from mcpcheck.wire.event import Aborted, Answer, Event, Exited, HttpBody, HttpResponse, Notification
from mcpcheck.wire.record import Kind


@dataclass(slots=True)
class Reply:
    """What came of one message of ours. ``call`` is None for what is no request."""

    frame: int
    call: Call | None = None
    exchange: int | None = None
    status: int | None = None
    events: list[Event] = field(default_factory=list)
    waited: float = 0.0
    ended: str = ""  # how the connection or process ended, if it did

    @property
    def answer(self) -> Answer | None:
        return self.call.answer if self.call else self._loose

    @property
    def _loose(self) -> Answer | None:
        return next((event for event in self.events if isinstance(event, Answer)), None)

    @property
    def result(self) -> dict[str, Any] | None:
        """The result, where it is an object."""
        value = self.answer.result if self.answer else None
        return value if isinstance(value, dict) else None

    @property
    def code(self) -> Any:
        return self.answer.code if self.answer else None

    @property
    def data(self) -> Any:
        error = self.answer.error if self.answer else None
        return error.get("data") if isinstance(error, dict) else None

    @property
    def is_error(self) -> bool:
        return bool(self.answer and self.answer.has_error)

    @property
    def complete(self) -> bool:
        """A result that is no request for input."""
        return self.result is not None and self.result.get("resultType", "complete") == "complete"

    @property
    def needs_input(self) -> bool:
        return self.result is not None and self.result.get("resultType") == "input_required"

    @property
    def streamed(self) -> bool:
        """Whether the answer came in an event stream."""
        return bool(self.answer and self.answer.record.kind is Kind.SSE)

    @property
    def notifications(self) -> list[Notification]:
        return [event for event in self.events if isinstance(event, Notification)]

    @property
    def frames(self) -> tuple[int, ...]:
        answers = self.call.answers if self.call else [self._loose] if self._loose else []
        heads = [
            event.record.n for event in self.events if isinstance(event, HttpResponse | HttpBody | Aborted | Exited)
        ]
        return tuple(sorted({self.frame, *heads, *(answer.record.n for answer in answers)}))

    def told(self) -> str:
        """What came, in a phrase."""
        suffix = f" (HTTP {self.status})" if self.status is not None else ""
        answer = self.answer
        if answer is None:
            return (
                self.ended or ("no JSON-RPC answer" if self.status else f"no answer within {self.waited:g} s")
            ) + suffix
        if answer.has_error:
            error = answer.error if isinstance(answer.error, dict) else {}
            return f"error {error.get('code')!r}: {str(error.get('message'))[:120]!r}{suffix}"
        kind = self.result.get("resultType", "complete") if self.result is not None else "malformed"
        marks = " with isError" if self.result and self.result.get("isError") is True else ""
        return f"a result of type {kind!r}{marks}{suffix}"
