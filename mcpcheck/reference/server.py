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
completion              complete, check_context, check_reference, completion_failed, candidates, completion
pagination              page, page_size, next_cursor, read_cursor, position, invalid_cursor
input                   begin, input_responses, verify_state, open_state, same_user, user_of, spend, opened_as,
                        input_required, input_requests, request_state, require, missing_capabilities,
                        missing_capability, check_answer
notifications           report_progress, progress_params, log, wants_log, log_params
subscriptions           listen, check_filter, granted, acknowledge, deliver, subscription_id, publish, wants_list,
                        wants_resource, end_subscriptions, end_subscription, subscription_result
the handshake era       refuse_initialize, initialize, negotiate, initialize_result, on_initialized, ping, set_level,
                        subscribe, unsubscribe, announce, ask_client, client_request, input_failed
life                    opened, closed, step, lingers
======================  ==============================================================================================

The seams of the HTTP binding stand in http.py.
"""

from collections.abc import Generator
from typing import Any

from mcpcheck.reference.admission import LEGACY_HANDLERS, MODERN_HANDLERS, Admission
from mcpcheck.reference.call import (
    Batch,
    Call,
    InternalError,
    Json,
    NeedInput,
    Out,
    Refusal,
    ToolFailed,
)
from mcpcheck.reference.inputs import Work
from mcpcheck.reference.tools import Steps
from mcpcheck.wire import event as events
from mcpcheck.wire import jsontext
from mcpcheck.wire.decode import messages
from mcpcheck.wire.event import Answer, Event, Notification, NotJson, NotMessage, Request
from mcpcheck.wire.protocol import (
    INVALID_REQUEST,
    MODERN,
    PARSE_ERROR,
)
from mcpcheck.wire.record import Dir, Kind, Record

_WITH_WORK = frozenset({"tools/call", "prompts/get", "resources/read"})


def read(data: bytes) -> Event:
    """What a payload of the client is: a message, a batch, or neither."""
    return messages(Record(0, 0.0, Dir.C2S, Kind.LINE, data), jsontext.read(data))[0]


class Server(Admission):
    """One connection. Without arguments it speaks every revision, each in its own way."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.running: dict[Call, Steps] = {}

    one_client = True
    """Whether all requests come from one client: over HTTP they do not, and only a disconnection cancels one."""

    # Life

    def lingers(self) -> bool:
        """Whether the process stays when its input has ended."""
        return False

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

    def on_batch(self, batch: events.Batch) -> list[Call]:
        """Serve a batch in a session of 2025-03-26; refuse it as a whole anywhere else."""
        if self.session is None or self.session.revision != "2025-03-26" or batch.size == 0:
            self.send(self.error(None, self.invalid_request("Invalid request: batches are not supported")))
            return []
        elements = [messages(batch.record, jsontext.JsonText(True, item))[0] for item in batch.text.value]
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
