"""progress: tokens, and notifications that name them."""

from typing import Any

from mcpcheck.rules import shapes
from mcpcheck.rules.payloads import integral, is_call, shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session import ids
from mcpcheck.session.call import Call, Exchange
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Notification, Request
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import header

_METHOD = "notifications/progress"


@rule("progress.token.type", near="progressToken")
def token_type(request: Request, session: Session) -> Verdicts:
    """Looks at the progressToken of requests, where they have one."""
    if "progressToken" not in request.meta:
        return
    token = request.meta["progressToken"]
    if type(token) in (str, int):
        yield holds(request)
    elif integral(token):
        yield suspect(request, "a string or an integer", f"progressToken is {token!r}, not an integer to every reader")
    else:
        yield broken(request, "a string or an integer", f"progressToken is {shown(token)}")


@rule("progress.token.unique", near="progressToken")
def token_unique(request: Request, session: Session) -> Verdicts:
    """Compares a token with those of the sender's open requests, by value and by type.

    Those of another session on HTTP are no matter. Within one a clash is suspect; where there are no sessions it may
    be that of two clients and is left alone.
    """
    token = request.meta.get("progressToken")
    if token is None or not session.whole or not is_call(request):
        return
    same = session.calls_with_token(request.dir, token)
    others = (call for call in same if call is not session.call and not _refused(call) and _may_be_own(call, session))
    other = next(others, None)
    if other is None:
        yield holds(request)
    elif session.one_client or other.stream is not None or _in_its_session(other, session):
        n = other.request.record.n
        verdict = broken if session.one_client and not other.cancelled else suspect
        yield verdict(request, "a token that no open request has", f"frame {n} has {shown(token)}, too", n)


def _owner(note: Notification, session: Session, token: Any) -> Call | None:
    """The open request that progress is for: that of its stream, or the only one that has the token."""
    calls = session.calls_with_token(note.dir.other, token)
    own = [call for call in calls if session.exchange is not None and call.exchange is session.exchange]
    own = own or [call for call in calls if session.stream is not None and call.stream == session.stream]
    if own:
        return own[0]
    return calls[0] if len(calls) == 1 else None


def _may_be_own(call: Call, session: Session) -> bool:
    """Whether a request may be of the client whose message this is: it has no other stream, and no other session id."""
    if call.stream is not None or session.stream is not None:
        return call.stream == session.stream
    names = {_session_id(call.exchange), _session_id(session.exchange)} - {None}
    return len(names) < 2


def _in_its_session(call: Call, session: Session) -> bool:
    name = _session_id(session.exchange)
    return name is not None and name == _session_id(call.exchange)


def _session_id(exchange: Exchange | None) -> str | None:
    return header(exchange.request, "mcp-session-id") if exchange and exchange.request else None


def _refused(call: Call) -> bool:
    status = call.exchange.status if call.exchange else None
    return status is not None and (status in {401, 403, 429} or status >= 500)


@rule("progress.notification.shape", on=_METHOD)
def notification_shape(note: Notification, session: Session) -> Verdicts:
    """Looks at the params of every notifications/progress."""
    yield from shapes.notified(note, session, _METHOD, "ProgressNotificationParams")


@rule("progress.notification.increases", on=_METHOD)
class NotificationIncreases:
    """Compares each progress with the one before it, of the same request and token."""

    def __init__(self) -> None:
        self._last: Recent[tuple[int, ids.Key], tuple[float, int]] = Recent()

    def see(self, note: Notification, session: Session) -> Verdicts:
        value, token = note.param("progress"), note.param("progressToken")
        if note.method != _METHOD or type(value) not in (int, float) or token is None:
            return
        call = _owner(note, session, token)
        if call is None:
            return
        place = (call.request.record.n, ids.key(token))
        before = self._last.get(place) if call.request.record.n > session.gap else None
        self._last[place] = (value, note.record.n)
        if before is None:
            return
        if value > before[0]:
            yield holds(note)
        else:
            yield broken(note, f"more than {before[0]!r}", f"progress is {value!r}", before[1])


@rule("progress.notification.known-token", on=_METHOD)
def notification_known_token(note: Notification, session: Session) -> Verdicts:
    """Looks for tokens that nobody gave; a token of an answered request, or of another stream, is not meant.

    A recording that begins in the middle, or has a gap, is not judged.
    """
    token = note.param("progressToken")
    if type(token) not in (str, int) or not session.whole or _on_listen(session):
        return
    if session.tokens.may_be_given(note.dir.other, token):
        yield holds(note)
    else:
        yield broken(note, "a token that a request gave", f"progressToken is {shown(token)}")


def _on_listen(session: Session) -> bool:
    """Whether the event is on the stream of a subscription (http.listen.no-request-scoped-notifications)."""
    call = session.exchange.call if session.exchange else None
    return call is not None and call.request.method == "subscriptions/listen"


@rule("progress.notification.stops", on=_METHOD)
def notification_stops(note: Notification, session: Session) -> Verdicts:
    """Looks for progress after the answer of the request whose token it names.

    On HTTP the two have to stand on one stream: between streams there is no order. A task of 2025-11-25 goes on after
    its first answer.
    """
    token = note.param("progressToken")
    given = session.tokens.find(note.dir.other, token) if type(token) in (str, int) else None
    if given is None:
        return
    if given.answered is None:
        yield holds(note)
    elif given.exchange == note.record.exchange and given.answered > session.gap:
        yield broken(note, "no progress after the answer", f"progress for {shown(token)}", given.answered)
