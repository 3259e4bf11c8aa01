"""base.response, base.result.id-match, base.error.id-match: which answer belongs to which request."""

from dataclasses import replace

from mcpcheck.rules.payloads import answers_nothing, is_call, is_due, malformed, shown
from mcpcheck.rules.registry import Judgement, Verdicts, broken, holds, rule
from mcpcheck.session.call import Call
from mcpcheck.session.orphans import Orphan
from mcpcheck.session.session import Session
from mcpcheck.verdict import Outcome
from mcpcheck.wire.event import Aborted, Answer, Closed, Event, Exited, NotMessage, TimedOut
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_PROMPT = frozenset(
    {
        "server/discover",
        "initialize",
        "ping",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    }
)
"""Requests that cannot take long, so that a deadline that passes is a verdict."""

_STOPPED = frozenset({2, 9, 15})
"""Signals with which somebody else stops a server: interrupt, kill, terminate."""

_ENDED = "the server ended the connection"

_OTHER_LAYER = frozenset({401, 403, 405, 406, 413, 415, 429})
"""Statuses that an HTTP or an authorization layer answers with before it reads the body."""


@rule("base.response.one-per-request")
class OnePerRequest:
    """Looks at answers and at the end of the connection.

    A request that the server left unanswered when it ended the connection breaks it, and a request that cannot take
    long when its deadline passes. Where the recording does not show how the server ended, it may have been stopped:
    then it is suspect. Silence is no fault for what was cancelled, for an open subscription, and when the client left
    first or the server was stopped from outside; nor where something unreadable came that may have been the answer. A
    recording that begins in the middle or has a gap is not judged.
    """

    def __init__(self) -> None:
        self._unanswered: Recent[int, Judgement] = Recent()

    def see(self, event: Answer | Orphan | Closed | Aborted | Exited | TimedOut, session: Session) -> Verdicts:
        if not session.whole:
            return
        match event:
            case Answer():
                if session.call is not None and len(session.call.answers) == 1 and is_due(event, session):
                    yield holds(event)
            case Orphan():
                yield from self._orphan(event, session)
            case TimedOut():
                for call in session.open_calls(event.dir.other):
                    if call.request.method in _PROMPT:
                        self._miss(call, "nothing came before the deadline", event.record.n)
            case _ if event.record.exchange is not None:
                yield from self._stream_ended(event, session)
            case _:
                self._ended(event, session)

    def end(self, session: Session) -> Verdicts:
        if not session.whole:
            return
        for missing in self._unanswered.values():
            yield missing if session.exited or missing.actual != _ENDED else replace(missing, outcome=Outcome.SUSPECT)

    def _orphan(self, event: Orphan, session: Session) -> Verdicts:
        if not is_due(event.answer, session):
            return
        id = shown(event.answer.id)
        if event.kind == "duplicate":
            first = [event.call.answers[0].record.n] if event.call else []
            yield broken(event, "one answer to each request", f"a second answer to id {id}", *first)
        elif event.kind == "unasked":
            yield broken(event, "an answer to a request", f"no request of the other side has id {id}")

    def _ended(self, event: Event, session: Session) -> None:
        if event.record.detail.get("signal") in _STOPPED:
            self._unanswered.clear()
        elif event.dir is Dir.S2C and not session.client_left:
            for call in session.open_calls(Dir.C2S):
                if self._owed(call, session):
                    self._miss(call, _ENDED, event.record.n)

    def _stream_ended(self, event: Event, session: Session) -> Verdicts:
        exchange, call = session.exchange, session.call
        if exchange is None or call is None or not isinstance(event, Closed) or event.dir is Dir.C2S:
            return
        served = exchange.status == 200 and exchange.media_type in {"application/json", "text/event-stream"}
        elsewhere = exchange.may_be_resumed or exchange.answered_elsewhere
        if served and call.open and not elsewhere and self._owed(call, session):
            yield _missing(call, "its answer ended without one", event.record.n)

    @staticmethod
    def _owed(call: Call, session: Session) -> bool:
        request = call.request
        excused = call.cancelled or request.in_batch or request.method == "subscriptions/listen"
        return is_call(request) and not excused and session.unreadable_from(request.dir.other) < request.record.n

    def _miss(self, call: Call, what: str, n: int) -> None:
        if call.request.record.n not in self._unanswered:
            self._unanswered[call.request.record.n] = _missing(call, what, n)


def _missing(call: Call, what: str, n: int) -> Judgement:
    blames = call.request.dir.other.sender
    return broken(call.request, f"an answer to {call.request.method}", what, n, blames=blames)


@rule("base.response.result-xor-error")
def result_xor_error(event: Answer | NotMessage, session: Session) -> Verdicts:
    """Looks at which of the two members an answer has, whatever their values are."""
    if isinstance(event, NotMessage):
        if isinstance(event.value, dict) and answers_nothing(event, session):
            yield broken(event, "a result or an error", "neither of them")
    elif event.has_result and event.has_error:
        yield broken(event, "a result or an error", "both of them")
    else:
        yield holds(event)


@rule("base.result.id-match")
def result_id_match(event: Answer | Orphan, session: Session) -> Verdicts:
    """Compares the id of a result with that of its request, by value and by type."""
    if isinstance(event, Answer):
        if session.call is not None and event.has_result and is_due(event, session):
            yield holds(event)
    elif event.kind == "misnamed" and event.answer.has_result and event.call and session.whole:
        yield _misnamed(event, event.call)


@rule("base.error.id-match", near="error")
def error_id_match(event: Answer | Orphan, session: Session) -> Verdicts:
    """Compares the id of an error with that of its request, by value and by type.

    Leaves alone an error without an id that an HTTP or an authorization layer gives before it reads the request, one
    that answers what is no valid request object, and one to a probe that a server of unknown era refuses for want of a
    session.
    """
    if isinstance(event, Answer):
        if session.call is not None and event.has_error and not event.has_result and is_due(event, session):
            yield holds(event)
        return
    answer = event.answer
    if event.kind != "misnamed" or answer.has_result or event.call is None or not session.whole:
        return
    status = session.exchange.status if session.exchange else None
    probe = session.revision is None and event.call.request.method == "server/discover" and status is not None
    if answer.id is None and (malformed(event.call.request) or _of_other_layer(status) or (probe and status == 400)):
        return
    yield _misnamed(event, event.call)


def _of_other_layer(status: int | None) -> bool:
    return status is not None and (status in _OTHER_LAYER or status >= 500)


def _misnamed(event: Orphan, call: Call) -> Judgement:
    answer = event.answer
    said = f"id is {shown(answer.id)}" if answer.has_id else "there is no id"
    if type(answer.id) is not type(call.request.id) and answer.id is not None:
        said += f", {_article(answer.id)}"
    return broken(event, f"id is {shown(call.request.id)}, as in the request", said, call.request.record.n)


def _article(id: object) -> str:
    names = {str: "a string", bool: "a boolean", int: "an integer", float: "a number"}
    return names.get(type(id), "another type")


@rule("base.error.id-unreadable")
def id_unreadable(event: Orphan, session: Session) -> Verdicts:
    """Looks at errors that answer what could not be read as a request: no id, or null, and no invented one."""
    if event.answer.dir is not Dir.S2C and session.stateless:
        return
    if event.kind == "unreadable":
        yield holds(event)
    elif event.kind == "invented" and session.whole:
        yield broken(event, "an error without an id", f"id is {shown(event.answer.id)}, which nobody sent")
