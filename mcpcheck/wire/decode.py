"""Records to events. Total: whatever a peer sent decodes to something, and nothing raises."""

from collections.abc import Sequence
from typing import Any

from mcpcheck.wire import jsontext, sse
from mcpcheck.wire.event import (
    Aborted,
    Answer,
    Batch,
    Closed,
    Event,
    Exited,
    Gap,
    HttpBody,
    HttpRequest,
    HttpResponse,
    Message,
    Notification,
    NotJson,
    NotMessage,
    Opened,
    Request,
    SseNoData,
    StderrLine,
    TimedOut,
)
from mcpcheck.wire.jsontext import JsonText
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead, header

_LIFE: dict[str, type[Event]] = {
    "open": Opened,
    "eof": Closed,
    "exit": Exited,
    "abort": Aborted,
    "timeout": TimedOut,
    "gap": Gap,
}


class Decoder:
    """Reads records in order; it remembers the heads of the HTTP exchanges that are under way and nothing else.

    ``endpoint`` is the path of the MCP endpoint, where it is known: bodies on other paths (OAuth) are no messages
    unless they look like one.
    """

    def __init__(self, endpoint: str | None = None) -> None:
        self._endpoint = endpoint
        self._requests: Recent[int, RequestHead] = Recent()
        self._responses: Recent[int, ResponseHead] = Recent()

    def decode(self, record: Record) -> Sequence[Event]:
        """Every record decodes to something; nothing that a peer sends raises here."""
        match record.kind:
            case Kind.LINE:
                return messages(record, record.text or jsontext.read(record.data))
            case Kind.STDERR:
                return [StderrLine(record)]
            case Kind.HEAD:
                return [self._head(record)]
            case Kind.BODY:
                return self._body(record)
            case Kind.SSE:
                return self._sse(record)
            case Kind.EVENT:
                return [self._life(record)]

    def _head(self, record: Record) -> Event:
        if isinstance(record.http, RequestHead):
            if record.exchange is not None:
                self._requests[record.exchange] = record.http
            return HttpRequest(record, record.http, self._is_endpoint(record.http))
        head = record.http or ResponseHead(0)
        if record.exchange is not None:
            self._responses[record.exchange] = head
        return HttpResponse(record, head, self._requests.get(record.exchange or -1))

    def _body(self, record: Record) -> Sequence[Event]:
        request = self._requests.get(record.exchange or -1)
        text = record.text or jsontext.read(record.data)
        looks_like_one = isinstance(text.value, dict) and "jsonrpc" in text.value
        if record.dir is Dir.C2S:
            posted = request is None or (request.method == "POST" and self._is_endpoint(request))
            is_message = looks_like_one or posted
        else:
            response = self._responses.get(record.exchange or -1)
            is_message = looks_like_one or _answers_as_message(request, response, text, self._is_endpoint)
        return messages(record, text) if is_message else [HttpBody(record)]

    def _sse(self, record: Record) -> Sequence[Event]:
        data = sse.data_bytes(record.data)
        return messages(record, jsontext.read(data)) if data else [SseNoData(record)]

    def _life(self, record: Record) -> Event:
        if record.event in {"eof", "abort"} and record.dir is Dir.S2C and record.exchange is not None:
            self._requests.pop(record.exchange, None)
            self._responses.pop(record.exchange, None)
        return _LIFE.get(record.event or "", Gap)(record)

    def _is_endpoint(self, head: RequestHead) -> bool:
        return self._endpoint is None or head.path.partition("?")[0] == self._endpoint


def _answers_as_message(
    request: RequestHead | None, response: ResponseHead | None, text: JsonText, endpoint: Any
) -> bool:
    """Whether the body of an answer stands where the protocol wants a message: 2xx on the endpoint, to a POST."""
    if response is None or not 200 <= response.status < 300:
        return False
    if not text.readable and (header(response, "content-encoding") or "identity").strip().lower() != "identity":
        return False  # compressed in a way that could not be undone: nobody can say what it is
    if request is not None and (request.method != "POST" or not endpoint(request)):
        return False
    media = (header(response, "content-type") or "").partition(";")[0].strip().lower()
    return media == "application/json" or (not media and text.readable)


def messages(record: Record, text: JsonText) -> Sequence[Event]:
    """The events of one JSON text: a message, a batch and its elements, or what stands there instead."""
    if not text.readable:
        return [NotJson(record, text)]
    if isinstance(text.value, list):
        elements = [_message(record, text, element, in_batch=True) for element in text.value]
        return [Batch(record, text, len(text.value)), *elements]
    return [_message(record, text, text.value)]


def _message(record: Record, text: JsonText, value: Any, *, in_batch: bool = False) -> Event:
    kind = classify(value)
    if kind is None:
        return NotMessage(record, text, value)
    return kind(record, text, value, in_batch)


def classify(value: Any) -> type[Message] | None:
    """The kind of message that a JSON value is by its members; None where it is none (base.message.form)."""
    if not isinstance(value, dict):
        return None
    answers = "result" in value or "error" in value
    if "method" in value:
        if answers or not isinstance(value["method"], str):
            return None
        return Request if "id" in value else Notification
    return Answer if answers else None
