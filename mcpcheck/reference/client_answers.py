"""How a client reads what comes back: lines, JSON bodies, event streams and statuses, each to its request."""

from mcpcheck.reference.client_input import ClientInput
from mcpcheck.reference.client_wire import Action, Failure, Json, Leave, Send, Waiting
from mcpcheck.wire import jsontext, sse
from mcpcheck.wire.record import ResponseHead, header


class Exchange:
    """One POST under way: the request in it, the head of its answer, and what has come of the body."""

    def __init__(self, request_id: Json) -> None:
        self.request_id = request_id
        self.head = ResponseHead(0)
        self.body = bytearray()
        self.events = sse.SseSplitter()

    @property
    def media(self) -> str:
        return (header(self.head, "content-type") or "").partition(";")[0].strip().lower()


class ClientAnswers(ClientInput):
    """Pairs answers with requests; an answer that nobody waits for is ignored."""

    def __init__(self, *args: Json, **options: Json) -> None:
        super().__init__(*args, **options)
        self._exchanges: dict[int, Exchange] = {}

    def ask(self, waiting: Waiting, version: str) -> list[Action]:
        """Send a request and remember who waits for its answer."""
        send = self.put(waiting.message, version)
        waiting.exchange = send.exchange
        self.waiting[waiting.message["id"]] = waiting
        self._open(send, waiting.message["id"])
        return [send]

    def tell(self, method: str, version: str, params: dict[str, Json] | None = None) -> list[Action]:
        """Send a notification."""
        message: dict[str, Json] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        send = self.put(message, version)
        self._open(send, None)
        return [send]

    def _open(self, send: Send, request_id: Json) -> None:
        if send.exchange is not None:
            self._exchanges[send.exchange] = Exchange(request_id)

    # stdio, and every message once it is cut out of its body

    def receive(self, data: bytes, exchange: int | None = None) -> list[Action]:
        """Take one message of the server in. What is none is left alone."""
        message = jsontext.read(data).value
        if not isinstance(message, dict):
            return []
        if isinstance(message.get("method"), str):
            return self.on_request(message) if "id" in message else self.on_notification(message)
        waiting = self.waited_for(message)
        if waiting is None:
            return []
        if isinstance(message.get("result"), dict):
            return waiting.then(message["result"])
        return waiting.otherwise(self.failure(message, None))

    def waited_for(self, message: dict[str, Json]) -> Waiting | None:
        """The request that an answer belongs to; its id is free again."""
        id = message.get("id")
        return self.waiting.pop(id, None) if type(id) in (int, str) else None

    def failure(self, message: dict[str, Json], status: int | None) -> Failure:
        """An error response in words."""
        error = message.get("error")
        if not isinstance(error, dict):
            return Failure(None, "an answer that is neither a result nor an error", status=status)
        code = error.get("code")
        return Failure(code if type(code) is int else None, str(error.get("message", "")), error.get("data"), status)

    # HTTP

    def http_head(self, exchange: int, head: ResponseHead) -> list[Action]:
        """The head of an answer has come."""
        if exchange in self._exchanges:
            self._exchanges[exchange].head = head
            issued = header(head, "mcp-session-id")
            if issued is not None and self._opens_session(exchange):
                self.session_id = issued
        return []

    def _opens_session(self, exchange: int) -> bool:
        waiting = self.waiting.get(self._exchanges[exchange].request_id)
        return waiting is not None and waiting.method == "initialize"

    def http_data(self, exchange: int, chunk: bytes) -> list[Action]:
        """A piece of a body has come: events are read at once, a JSON body when it is whole."""
        answer = self._exchanges.get(exchange)
        if answer is None:
            return []
        if answer.head.status >= 300 or answer.media != "text/event-stream":
            answer.body += chunk
            return []
        actions: list[Action] = []
        for event in answer.events.feed(chunk):
            actions += self.on_event(event, exchange)
        return actions

    def on_event(self, event: bytes, exchange: int) -> list[Action]:
        """An event of a stream: its data is a message; comments and events without data are skipped."""
        data = sse.data_bytes(event)
        return self.receive(data, exchange) if data else []

    def http_end(self, exchange: int) -> list[Action]:
        """The body is whole, or broke off: whoever still waits for the answer of this exchange is told so."""
        answer = self._exchanges.pop(exchange, None)
        if answer is None:
            return []
        actions: list[Action] = []
        if answer.head.status < 300 and answer.body:
            actions = self.read_body(bytes(answer.body), exchange)
        if answer.request_id not in self.waiting or self.waiting[answer.request_id].exchange != exchange:
            return actions
        waiting = self.waiting.pop(answer.request_id)
        return actions + waiting.otherwise(self.refused(answer))

    def read_body(self, body: bytes, exchange: int) -> list[Action]:
        """A JSON body: one message."""
        return self.receive(body, exchange)

    def refused(self, answer: Exchange) -> Failure:
        """What an HTTP answer without a result says: a JSON-RPC error in its body, or only a status."""
        message = jsontext.read(bytes(answer.body)).value
        if isinstance(message, dict) and isinstance(message.get("error"), dict):
            return self.failure(message, answer.head.status)
        if answer.head.status < 300:
            return Failure(None, "the stream ended without an answer", status=answer.head.status or None)
        return Failure(None, f"HTTP status {answer.head.status}", status=answer.head.status)

    # Giving up

    def abandon(self, waiting: Waiting) -> list[Action]:
        """Cancel a request that has had no answer: with a notification on stdio, by leaving the stream on HTTP."""
        self.waiting.pop(waiting.message["id"], None)
        if waiting.exchange is not None:
            self._exchanges.pop(waiting.exchange, None)
            leave: list[Action] = [Leave(waiting.exchange)]
            return leave + (self.cancel(waiting) if self.in_legacy else [])
        return self.cancel(waiting)

    def cancel(self, waiting: Waiting) -> list[Action]:
        """The notification that cancels a request; initialize is never cancelled."""
        if waiting.method == "initialize":
            return []
        version = self.version or self.modern[-1]
        return self.tell("notifications/cancelled", version, {"requestId": waiting.message["id"]})
