"""Events: what a record means to the protocol. Every record decodes to at least one of these, whatever it holds."""

from dataclasses import dataclass, field
from typing import Any

from mcpcheck.wire.jsontext import JsonText
from mcpcheck.wire.record import Dir, Record, RequestHead, ResponseHead


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on the wire. ``record`` is where it stands, ``dir`` who sent it."""

    record: Record
    dir: Dir = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dir", self.record.dir)


@dataclass(frozen=True, slots=True)
class Payload(Event):
    """Anything that stands where a message has to stand; ``text`` is what the JSON reader made of it."""

    text: JsonText


@dataclass(frozen=True, slots=True)
class NotJson(Payload):
    """A payload that is not JSON text, or that could not be read to its end. An empty line is one, too."""


@dataclass(frozen=True, slots=True)
class NotMessage(Payload):
    """JSON that is none of request, notification, result response and error response; ``value`` is what it is."""

    value: Any

    @property
    def id(self) -> Any:
        """The id, where the value is an object that has one."""
        return self.value.get("id") if isinstance(self.value, dict) else None


@dataclass(frozen=True, slots=True)
class Batch(Payload):
    """A JSON array. Its elements follow as events of their own, with ``in_batch`` set."""

    size: int


@dataclass(frozen=True, slots=True)
class Message(Payload):
    """A JSON object that is a message. ``obj`` is all of it, unknown members included.

    ``params`` is as sent: normally an object, and None where it is absent. ``meta`` is the _meta object of params (of
    result, for an answer); empty where there is none or it is no object.
    """

    obj: dict[str, Any]
    in_batch: bool = False
    params: Any = field(init=False, compare=False, repr=False)
    meta: dict[str, Any] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:  # once here, since rules ask for these again and again
        params = self.obj.get("params")
        holder = self.obj.get("result") if isinstance(self, Answer) else params
        meta = holder.get("_meta") if isinstance(holder, dict) else None
        object.__setattr__(self, "dir", self.record.dir)
        object.__setattr__(self, "params", params)
        object.__setattr__(self, "meta", meta if isinstance(meta, dict) else {})

    def param(self, name: str) -> Any:
        """One member of params; None where params is no object or lacks it."""
        return self.params.get(name) if isinstance(self.params, dict) else None


@dataclass(frozen=True, slots=True)
class Request(Message):
    """A message with a string method and an id member (of any JSON type, null included)."""

    @property
    def id(self) -> Any:
        return self.obj["id"]

    @property
    def method(self) -> str:
        method: str = self.obj["method"]
        return method


@dataclass(frozen=True, slots=True)
class Notification(Message):
    """A message with a string method and no id member."""

    @property
    def method(self) -> str:
        method: str = self.obj["method"]
        return method


@dataclass(frozen=True, slots=True)
class Answer(Message):
    """A message without method that has result, error or both."""

    @property
    def id(self) -> Any:
        """The id; None where it is absent or null (see ``has_id``)."""
        return self.obj.get("id")

    @property
    def has_id(self) -> bool:
        return "id" in self.obj

    @property
    def has_result(self) -> bool:
        return "result" in self.obj

    @property
    def has_error(self) -> bool:
        return "error" in self.obj

    @property
    def result(self) -> Any:
        return self.obj.get("result")

    @property
    def error(self) -> Any:
        return self.obj.get("error")

    @property
    def code(self) -> Any:
        """error.code; None where there is no error object."""
        return self.error.get("code") if isinstance(self.error, dict) else None


@dataclass(frozen=True, slots=True)
class HttpRequest(Event):
    """The head of an HTTP request. ``to_endpoint``: it is addressed to the MCP endpoint."""

    head: RequestHead
    to_endpoint: bool = True


@dataclass(frozen=True, slots=True)
class HttpResponse(Event):
    """The head of an HTTP answer, and of the request it belongs to, if that was seen."""

    head: ResponseHead
    request: RequestHead | None = None


@dataclass(frozen=True, slots=True)
class HttpBody(Event):
    """A body that is no message of the protocol: OAuth, HTML, what an HTTP layer says of its own."""


@dataclass(frozen=True, slots=True)
class SseNoData(Event):
    """An event of a stream without data, or with empty data: a comment, a keep-alive, a priming event."""


@dataclass(frozen=True, slots=True)
class StderrLine(Event):
    """A line of the server's standard error."""


@dataclass(frozen=True, slots=True)
class Opened(Event):
    """A connection or process was opened."""


@dataclass(frozen=True, slots=True)
class Closed(Event):
    """``dir``'s stream came to its regular end; on HTTP the answer's body of that exchange is whole."""


@dataclass(frozen=True, slots=True)
class Exited(Event):
    """The server process ended: ``record.detail`` has ``code`` or ``signal``."""


@dataclass(frozen=True, slots=True)
class Aborted(Event):
    """``dir`` broke off in the middle: a reset connection, a body cut short, a client that left a stream."""


@dataclass(frozen=True, slots=True)
class TimedOut(Event):
    """``dir`` owed something and a deadline passed."""


@dataclass(frozen=True, slots=True)
class Gap(Event):
    """Units that the recorder could not keep: ``record.detail["lost"]`` of them."""
