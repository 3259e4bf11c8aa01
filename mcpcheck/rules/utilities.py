"""completion, logging, pagination: the utilities that a server offers."""

from typing import Any

from mcpcheck.rules import shapes
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import LISTS, complete
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.secrets import secrets_within
from mcpcheck.rules.shapes import without
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.protocol import LOG_LEVEL, SUBSCRIPTION_ID
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_MOST_VALUES = 100
_LOG = "notifications/message"


@rule("completion.complete.request-shape", on="completion/complete")
def completion_request_shape(request: Request, session: Session) -> Verdicts:
    """Looks at the params of every completion/complete."""
    if request.dir is Dir.C2S:
        yield from shapes.params(request, session, "completion/complete", "CompleteRequestParams")


@rule("completion.complete.result-shape", on="completion/complete")
def completion_result_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at every result of completion/complete. A total that contradicts values or hasMore is suspect."""
    result = complete(answer, session, "completion/complete")
    if result is None:
        return
    given = without(result, resultType="complete", _meta=...)
    completion = given.get("completion")
    if isinstance(completion, dict) and isinstance(completion.get("values"), list):
        given = without(given, completion=without(completion, values=completion["values"][:_MOST_VALUES]))
    for verdict in shapes.judge(answer, session, "CompleteResult", given, "result"):
        odd = _contradiction(completion) if isinstance(completion, dict) else ""
        yield suspect(answer, "a total of all values there are", odd) if odd and not verdict.actual else verdict


def _contradiction(completion: dict[str, Any]) -> str:
    values, total, more = completion.get("values"), completion.get("total"), completion.get("hasMore")
    if not isinstance(values, list) or type(total) not in (int, float) or total is None:
        return ""
    if total < len(values):
        return f"total is {total} for {len(values)} values"
    return f"hasMore is false with a total of {total}" if more is False and total > len(values) else ""


@rule("completion.values.max-100", on="completion/complete")
def completion_max_100(answer: Answer, session: Session) -> Verdicts:
    """Counts the values of every result of completion/complete."""
    result = complete(answer, session, "completion/complete")
    completion = result.get("completion") if result else None
    values = completion.get("values") if isinstance(completion, dict) else None
    if not isinstance(values, list):
        return
    if len(values) <= _MOST_VALUES:
        yield holds(answer)
    else:
        yield broken(answer, f"at most {_MOST_VALUES} values", f"{len(values)}")


@rule("logging.capability.declared", on="notifications/message")
class LoggingDeclared:
    """Looks at log messages and at the capabilities that the server has told, earlier or later in the session."""

    def __init__(self) -> None:
        self._first: Notification | None = None

    def see(self, note: Notification, session: Session) -> Verdicts:
        if note.dir is Dir.S2C and note.method == _LOG and self._first is None:
            self._first = note
        return iter(())

    def end(self, session: Session) -> Verdicts:
        if self._first is None or not session.told_capabilities:
            return
        if "logging" in session.declared:
            yield holds(self._first)
        else:
            yield broken(self._first, "the logging capability", "a log message without it")


@rule("logging.message.shape", on="notifications/message")
def logging_message_shape(note: Notification, session: Session) -> Verdicts:
    """Looks at the params of every notifications/message: level, data, logger."""
    if note.dir is Dir.S2C:
        yield from shapes.notified(note, session, _LOG, "LoggingMessageNotificationParams")


@rule("logging.security.no-credentials", on="notifications/message", sender=Dir.S2C)
def logging_no_credentials(note: Notification, session: Session) -> Verdicts:
    """Looks for credentials in data and logger of log messages: private keys, tokens and headers of well-known forms.

    Suspect only: it may be an example. Passwords have no form, and a capture shows none.
    """
    if not isinstance(note.params, dict):
        return
    found = [
        f"{place} holds {kind}"
        for name in ("data", "logger")
        for place, kind in secrets_within(note.params.get(name), f"params.{name}")
    ]
    if found:
        yield suspect(note, "a log message without credentials", found[0])
    else:
        yield holds(note)


@rule("logging.message.only-on-request", on="notifications/message")
def logging_message_only_on_request(note: Notification, session: Session) -> Verdicts:
    """Looks at log messages: the request of their stream has to have set a level; on stdio, any open request."""
    if note.dir is Dir.C2S or note.method != _LOG or _on_listen(note, session):
        return
    if session.exchange is not None:
        call = session.exchange.call
        wanted = call is not None and LOG_LEVEL in call.request.meta
    else:
        wanted = session.wants_log()
    if wanted:
        yield holds(note)
    elif session.whole:
        yield broken(note, "no log message without a logLevel", "no open request has set one")


@rule("logging.message.not-on-listen", on="notifications/message")
def logging_message_not_on_listen(note: Notification, session: Session) -> Verdicts:
    """Looks for log messages on the stream of a subscription; on stdio, for one that names a subscription."""
    if note.dir is Dir.C2S or note.method != _LOG:
        return
    if _on_listen(note, session):
        yield broken(note, "no log message for a subscription", "a log message on one")
    else:
        yield holds(note)


def _on_listen(note: Notification, session: Session) -> bool:
    if session.exchange is None:
        return SUBSCRIPTION_ID in note.meta
    call = session.exchange.call
    return call is not None and call.request.method == "subscriptions/listen"


@rule("pagination.request.cursor-shape", on=LISTS)
class PaginationRequestCursorShape:
    """Looks at cursor in requests of the list methods: a string, and not one that another method gave.

    A cursor that the recording does not show is left alone: a client may keep one. For that reason one of another
    method is suspect only: its own may have given it, too, before the recording.
    """

    def __init__(self) -> None:
        self._given: Recent[str, set[str]] = Recent()

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        if isinstance(event, Answer):
            result = complete(event, session, *LISTS)
            following = result.get("nextCursor") if result else None
            call = session.call or session.near
            if call is not None and isinstance(following, str):
                self._given[following] = self._given.get(following, set()) | {call.request.method}
        elif event.dir is Dir.C2S and event.method in LISTS and isinstance(event.params, dict):
            yield from self._asked(event, session)

    def _asked(self, request: Request, session: Session) -> Verdicts:
        if "cursor" not in request.params:
            yield holds(request)
            return
        cursor = request.params["cursor"]
        if not isinstance(cursor, str):
            yield broken(request, "a string, or no cursor", f"cursor is {shown(cursor)}")
            return
        givers = self._given.get(cursor, set())
        if givers and request.method not in givers and not session.whole:
            return
        if givers and request.method not in givers:
            said = f"{shown(cursor)} is a cursor of {', '.join(sorted(givers))}"
            yield suspect(request, f"a cursor that {request.method} gave", said)
        else:
            yield holds(request)


@rule("pagination.result.next-cursor-shape", on=LISTS)
def pagination_result_next_cursor_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at nextCursor in the results of the list methods, where they have one. The empty string is a cursor."""
    result = complete(answer, session, *LISTS)
    if result is None or "nextCursor" not in result:
        return
    if isinstance(result["nextCursor"], str):
        yield holds(answer)
    else:
        yield broken(answer, "a string, or no nextCursor", f"nextCursor is {shown(result['nextCursor'])}")
