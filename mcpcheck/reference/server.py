"""The reference server: a good server of every revision, without I/O.

``Server`` is one connection over stdio: ``receive`` takes the payload of a line and returns the lines to write.
``HttpServer`` (http.py) puts the same thing behind Streamable HTTP. Slow work goes on with each ``step`` while the
server is ``busy``.

A mutant overrides one method. The seams, by subject; their names and arguments are kept stable:

======================  ==============================================================================================
envelope                encode, send, answer_id, answer, refuse, error, finished, result_type, result_meta,
                        server_info, cache_hints, cache_ttl, cache_scope, notify, capabilities_for
what comes in           on_not_json, on_not_message, on_batch, on_request, on_notification, on_answer, on_crash,
                        parse_error, invalid_request, on_cancelled, cancel
metadata and dispatch   era, check_envelope, check_metadata, missing_meta, check_version, unsupported_version,
                        check_method, unknown_method, check_log_level, invalid_log_level, not_initialized, serve, run
discovery               discover, discover_result, supported_versions, refused_versions
tools                   tools, list_tools, tool_definitions, tool_definition, call_tool, find_tool, run_tool,
                        tool_result, content_block, argument_fault, invalid_arguments, unknown_tool, tool_failed
prompts                 prompts, list_prompts, prompt_definition, get_prompt, unknown_prompt, check_prompt_arguments,
                        missing_prompt_argument, prompt_message
resources               resources, resource_templates, list_resources, list_templates, as_known, read_resource,
                        acceptable_uri, contents, unknown_resource
completion              complete, check_context, check_reference, candidates, completion
pagination              page, page_size, next_cursor, read_cursor, position, invalid_cursor
input                   begin, input_responses, verify_state, input_required, input_requests, request_state, require,
                        missing_capabilities, missing_capability, check_answer
notifications           report_progress, progress_params, log, wants_log, log_params
subscriptions           listen, check_filter, granted, acknowledge, deliver, subscription_id, publish, wants_list,
                        wants_resource, end_subscriptions, end_subscription, subscription_result
the handshake era       refuse_initialize, initialize, negotiate, initialize_result, on_initialized, ping, set_level,
                        subscribe, unsubscribe, announce, ask_client, client_request, input_failed
life                    opened, closed, step
======================  ==============================================================================================

The seams of the HTTP binding stand in http.py.
"""

from collections.abc import Generator
from typing import Any

from mcpcheck.reference.call import (
    LEVELS,
    Batch,
    Call,
    InternalError,
    InvalidParams,
    Json,
    NeedInput,
    Out,
    Refusal,
    ToolFailed,
)
from mcpcheck.reference.inputs import Work
from mcpcheck.reference.legacy import Legacy
from mcpcheck.reference.tools import Steps
from mcpcheck.wire import event as events
from mcpcheck.wire import jsontext
from mcpcheck.wire.decode import messages
from mcpcheck.wire.event import Answer, Event, Notification, NotJson, NotMessage, Request
from mcpcheck.wire.protocol import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    INVALID_REQUEST,
    LOG_LEVEL,
    METHOD_NOT_FOUND,
    MODERN,
    PARSE_ERROR,
    PROTOCOL_VERSION,
    UNSUPPORTED_VERSION,
)
from mcpcheck.wire.record import Dir, Kind, Record

MODERN_HANDLERS = {
    "server/discover": "discover",
    "tools/list": "list_tools",
    "tools/call": "call_tool",
    "prompts/list": "list_prompts",
    "prompts/get": "get_prompt",
    "resources/list": "list_resources",
    "resources/templates/list": "list_templates",
    "resources/read": "read_resource",
    "completion/complete": "complete",
    "subscriptions/listen": "listen",
}
"""The methods of the stateless era, and who serves them."""

LEGACY_HANDLERS = {
    **{method: name for method, name in MODERN_HANDLERS.items() if method[:4] not in ("serv", "subs")},
    "initialize": "initialize",
    "ping": "ping",
    "logging/setLevel": "set_level",
    "resources/subscribe": "subscribe",
    "resources/unsubscribe": "unsubscribe",
}
"""The methods of the handshake era."""

_WITH_WORK = frozenset({"tools/call", "prompts/get", "resources/read"})
MODERN_KEYS = (PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL)
"""Metadata that only a request of the stateless era carries."""


def read(data: bytes) -> Event:
    """What a payload of the client is: a message, a batch, or neither."""
    return next(messages(Record(0, 0.0, Dir.C2S, Kind.LINE, data), jsontext.read(data)))


class Server(Legacy):
    """One connection. Without arguments it speaks every revision, each in its own way."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.running: dict[Call, Steps] = {}

    one_client = True
    """Whether all requests come from one client: over HTTP they do not, and only a disconnection cancels one."""

    # Life

    def opened(self) -> list[bytes]:
        """The connection is open; a good server says nothing of its own."""
        return []

    def closed(self) -> list[bytes]:
        """The client closed its side; what is still to be written before the process ends."""
        self.open.clear()
        self.running.clear()
        self.waiting.clear()
        if self in self.world.servers:
            self.world.servers.remove(self)
        return []

    def receive(self, data: bytes) -> list[bytes]:
        """Take one line, without its end, and return the lines to write, without theirs."""
        self.on_event(read(data))
        return [out.data for out in self.take()]

    @property
    def busy(self) -> bool:
        """Whether slow work is under way, so that ``step`` has something to do."""
        return bool(self.running)

    def step(self) -> list[bytes]:
        """Do one step of each slow work; return the lines to write."""
        self.work()
        return [out.data for out in self.take()]

    def work(self) -> None:
        """Do one step of each slow work."""
        for call in list(self.running):
            self.advance(call)

    def advance(self, call: Call) -> None:
        """Do one step of a request's work, and answer it once the work is done."""
        try:
            next(self.running[call])
        except StopIteration as end:
            del self.running[call]
            self.answer(call, end.value)
        except Exception as error:
            del self.running[call]
            self.refuse(call, self.on_crash(call, error))

    # What comes in

    def on_event(self, event: Event) -> Call | None:
        """Take one thing that the client sent; the request, where it is one that was let in."""
        match event:
            case Request(text=text) if text.fault("constant"):
                self.on_not_json(NotJson(event.record, text))
            case Request():
                return self.on_request(event)
            case Notification():
                for data in self.on_notification(event):
                    self._outbox.append(Out(data))
            case Answer():
                self.on_answer(event)
            case events.Batch():
                self.on_batch(event)
            case NotJson():
                self.on_not_json(event)
            case NotMessage():
                self.on_not_message(event)
        return None

    def on_not_json(self, event: NotJson) -> None:
        """Answer what is not JSON; a blank line is nothing."""
        if not event.text.fault("empty"):
            self.send(self.error(None, self.parse_error(event)))

    def parse_error(self, event: NotJson) -> Refusal:
        """The refusal of what cannot be read."""
        if event.text.fault("depth"):
            return Refusal(INVALID_REQUEST, "Invalid request: nested too deep")
        return Refusal(PARSE_ERROR, "Parse error")

    def on_not_message(self, event: NotMessage) -> None:
        """Answer JSON that is no message, unless it looks like a notification gone wrong."""
        if not isinstance(event.value, dict) or "id" in event.value:
            self.send(self.error(readable_id(event.id), self.invalid_request("Invalid request")))

    def invalid_request(self, reason: str) -> Refusal:
        """The refusal of what is no request."""
        return Refusal(INVALID_REQUEST, reason)

    def on_batch(self, batch: events.Batch) -> list[Call]:
        """Serve a batch in a session of 2025-03-26; refuse it as a whole anywhere else."""
        if self.session is None or self.session.revision != "2025-03-26" or batch.size == 0:
            self.send(self.error(None, self.invalid_request("Invalid request: batches are not supported")))
            return []
        elements = [next(messages(batch.record, jsontext.JsonText(True, item))) for item in batch.text.value]
        group = Batch(sum(isinstance(element, Request) for element in elements))
        calls = []
        for element in elements:
            if isinstance(element, Request):
                calls.append(self.on_request(element, group))
            else:
                self.on_event(element)
        return calls

    def on_request(self, request: Request, batch: Batch | None = None) -> Call:
        """Let a request in and serve it, or refuse it."""
        params = request.params if isinstance(request.params, dict) else {}
        call = Call(readable_id(request.id), request.method, params, batch=batch)
        self.open.append(call)
        try:
            call.revision = self.era(call)
            self.check_envelope(request)
            self.let_in(call)
        except Refusal as refusal:
            self.refuse(call, refusal)
        except Exception as error:
            self.refuse(call, self.on_crash(call, error))
        else:
            self.serve(call)
        return call

    def on_notification(self, note: Notification) -> list[bytes]:
        """Take a notification. Nothing is said to it."""
        match note.method:
            case "notifications/cancelled" if self.one_client:
                self.on_cancelled(note)
            case "notifications/initialized":
                self.on_initialized()
        return []

    def on_cancelled(self, note: Notification) -> None:
        """Give up the request that a cancellation names; one that names none is ignored."""
        wanted = note.param("requestId")
        for call in list(self.open):
            if type(wanted) in (str, int) and type(call.id) is type(wanted) and call.id == wanted:
                self.cancel(call)

    def cancel(self, call: Call) -> None:
        """Give up a request: nothing more is said of it."""
        if call not in self.open:
            return
        self.open.remove(call)
        call.answered = True
        self.running.pop(call, None)
        for waiting in [waiting for waiting in self.waiting if waiting.call is call]:
            self.forget(waiting)

    def on_crash(self, call: Call, error: Exception) -> Refusal:
        """What is said of an exception: nothing of its inside."""
        return InternalError()

    # Metadata

    def era(self, call: Call) -> str:
        """The revision by which a request is served: its own metadata decides, else the session."""
        if any(key in call.meta for key in MODERN_KEYS) or not self.legacy:
            return MODERN
        if self.session is not None:
            return self.session.revision
        return self.legacy[-1]

    def check_envelope(self, request: Request) -> None:
        """Refuse a request that is not one by JSON-RPC."""
        if type(request.id) not in (str, int):
            raise self.invalid_request("Invalid request: id is neither a string nor an integer")
        if request.obj.get("jsonrpc") != "2.0":
            raise self.invalid_request('Invalid request: jsonrpc is not "2.0"')
        if "params" in request.obj and not isinstance(request.params, dict):
            raise InvalidParams("params is not an object")

    def let_in(self, call: Call) -> None:
        """Check what every request of its era has to say of itself."""
        if not call.modern:
            self.let_in_legacy(call)
            return
        if call.method == "initialize" and not any(key in call.meta for key in MODERN_KEYS):
            raise self.refuse_initialize(call)
        self.check_metadata(call)
        self.check_version(call)
        self.check_method(call, MODERN_HANDLERS)
        self.check_log_level(call)
        if "progressToken" in call.meta and call.progress_token is None:
            raise InvalidParams("progressToken is neither a string nor an integer")
        call.declare()

    def let_in_legacy(self, call: Call) -> None:
        """Check what a request of the handshake era may be at this point."""
        if self.session is None and call.method not in ("initialize", "ping"):
            raise self.not_initialized(call)
        self.check_method(call, LEGACY_HANDLERS)
        if self.session is not None:
            call.capabilities = self.session.capabilities
            call.log_level = self.session.log_level

    def not_initialized(self, call: Call) -> Refusal:
        """The refusal of a request that has neither metadata nor a session."""
        return self.missing_meta(call, PROTOCOL_VERSION)

    def check_metadata(self, call: Call) -> None:
        """Refuse a request without the metadata that each has to carry."""
        for key, kind in ((PROTOCOL_VERSION, str), (CLIENT_CAPABILITIES, dict)):
            if not isinstance(call.meta.get(key), kind):
                raise self.missing_meta(call, key)

    def missing_meta(self, call: Call, key: str) -> Refusal:
        """The refusal of a request that lacks required metadata."""
        refusal = InvalidParams(f"params._meta lacks a valid {key}")
        refusal.metadata = True
        return refusal

    def check_version(self, call: Call) -> None:
        """Refuse a request of a version that is not spoken."""
        version = call.meta[PROTOCOL_VERSION]
        if version != MODERN or not self.modern:
            raise self.unsupported_version(call, version)

    def unsupported_version(self, call: Call, requested: str) -> Refusal:
        """The refusal of a version."""
        data = {"supported": self.refused_versions(requested), "requested": requested}
        return Refusal(UNSUPPORTED_VERSION, "Unsupported protocol version", data, metadata=True)

    def refused_versions(self, requested: str) -> list[str]:
        """The versions that are offered instead of one that is refused."""
        return [version for version in self.supported_versions() if version != requested]

    def check_method(self, call: Call, handlers: dict[str, str]) -> None:
        """Refuse a request whose method is not served in its era."""
        if call.method not in handlers:
            raise self.unknown_method(call)

    def unknown_method(self, call: Call) -> Refusal:
        """The refusal of a method."""
        return Refusal(METHOD_NOT_FOUND, f"Method not found: {call.method[:100]}")

    def check_log_level(self, call: Call) -> None:
        """Refuse a request whose log level is none."""
        if LOG_LEVEL in call.meta and call.meta[LOG_LEVEL] not in LEVELS:
            raise self.invalid_log_level(call)

    def invalid_log_level(self, call: Call) -> Refusal:
        """The refusal of a log level."""
        return InvalidParams(f"{LOG_LEVEL} is no log level")

    # Serving

    def serve(self, call: Call, work: Work | None = None) -> None:
        """Serve a request that was let in, from its start or with further input."""
        try:
            work = work or self.begin(call)
            outcome = self.run(call, work)
        except NeedInput as need:
            self.on_need(call, work, need)
        except ToolFailed as failure:
            self.answer(call, self.tool_failed(call, str(failure)))
        except Refusal as refusal:
            self.refuse(call, refusal)
        except Exception as error:
            self.refuse(call, self.on_crash(call, error))
        else:
            self.on_outcome(call, outcome)

    def run(self, call: Call, work: Work) -> "dict[str, Json] | Steps | None":
        """Hand a request to the method that serves it."""
        name = (MODERN_HANDLERS if call.modern else LEGACY_HANDLERS)[call.method]
        handler = getattr(self, name)
        outcome: dict[str, Json] | Steps | None = handler(call, work) if call.method in _WITH_WORK else handler(call)
        return outcome

    def on_outcome(self, call: Call, outcome: "dict[str, Json] | Steps | None") -> None:
        """Answer a request, or leave it open: as a subscription, or as work that takes its time."""
        if isinstance(outcome, Generator):
            self.running[call] = outcome
            self.advance(call)
        elif outcome is not None:
            self.answer(call, outcome)

    def on_need(self, call: Call, work: Work | None, need: NeedInput) -> None:
        """Ask for input in the way of the request's era."""
        if call.modern or work is None:
            self.answer(call, self.input_required(call, need))
            return
        try:
            self.ask_client(call, work, need)
        except Refusal as refusal:
            self.refuse(call, refusal)

    # Discovery

    def discover(self, call: Call) -> dict[str, Json]:
        """Tell what the server speaks and offers."""
        return self.discover_result(call)

    def discover_result(self, call: Call) -> dict[str, Json]:
        """The body of the answer to server/discover."""
        return {
            "supportedVersions": self.supported_versions(),
            "capabilities": self.capabilities_for(MODERN),
            "instructions": self.INSTRUCTIONS,
        }

    def supported_versions(self) -> list[str]:
        """Every version that is spoken, the latest first."""
        return sorted(self.revisions, reverse=True)

    # Changes

    def on_change(self, kind: str, uri: str | None) -> None:
        """Something changed: tell the subscriptions and the session of it, each in its way."""
        if kind == "end":
            self.end_subscriptions()
            return
        self.publish(kind, uri)
        self.announce(kind, uri)


def readable_id(value: Json) -> Json:
    """An id that can be repeated in an answer; None for what is none."""
    return value if type(value) in (str, int) else None
