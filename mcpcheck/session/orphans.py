"""Orphans: answers that name no open request, told apart by what they were probably meant for.

Whether an answer was meant for a notification or for a request whose id it got wrong shows only later: when the
requests that were open at the time have their own answers, it was not meant for them. Until then it is held.
"""

from dataclasses import dataclass, field
from typing import Any

from mcpcheck.session import ids
from mcpcheck.session.call import Call
from mcpcheck.wire.event import Answer, Event, Notification
from mcpcheck.wire.record import Dir

_MOST = 100
"""How many orphans are held, for how many requests each, and how many notifications may be what they answer."""


@dataclass(frozen=True, slots=True)
class Orphan(Event):
    """An answer that no open request has asked for.

    ``kind``: ``misnamed`` (meant for ``call``, but the id differs); ``duplicate`` (the request has its answer already);
    ``notification`` (it answers ``notification``); ``unreadable`` (it answers what was no request, and has no id);
    ``invented`` (the same with an id that nobody sent); ``unasked`` (nothing is left that it may belong to).
    """

    kind: str
    answer: Answer
    revision: str | None = None
    call: Call | None = None
    notification: Notification | None = None


@dataclass(slots=True)
class _Held:
    answer: Answer
    revision: str | None
    calls: list[Call]
    notification: Notification | None


@dataclass(slots=True)
class _Side:
    """What one side has sent that an answer of the other may be meant for."""

    notifications: list[Notification] = field(default_factory=list)
    unreadable: int = 0
    held: list[_Held] = field(default_factory=list)


class Orphans:
    """Keeps the answers that have no request until it is clear what they are."""

    def __init__(self) -> None:
        self._sides: dict[Dir, _Side] = {Dir.C2S: _Side(), Dir.S2C: _Side()}

    def notified(self, event: Notification) -> None:
        """A notification was sent. It must not be answered, but it may be."""
        self._sides[event.dir].notifications.append(event)
        del self._sides[event.dir].notifications[:-_MOST]

    def sent_unreadable(self, sender: Dir) -> None:
        """Something was sent that is no message, and so may be answered with an error that has no id."""
        self._sides[sender].unreadable += 1

    def answered(self, asker: Dir, call: Call) -> list[Event]:
        """A request got its answer: older notifications of its sender won't get one any more."""
        side = self._sides[asker]
        if not side.notifications and not side.held:
            return []
        n = call.request.record.n
        side.notifications = [note for note in side.notifications if note.record.n > n]
        for held in side.held:
            held.calls = [open for open in held.calls if open is not call]
        settled = [_final(held) for held in side.held if not held.calls]
        side.held = [held for held in side.held if held.calls]
        return settled

    def take(self, answer: Answer, asker: Dir, calls: list[Call], revision: str | None) -> Event | None:
        """Tell an orphan, or hold it. ``calls`` are the open requests of the asker."""
        side = self._sides[asker]
        nameless = answer.id is None
        if answer.has_error and nameless:
            odd = next((call for call in calls if not _readable(call.request.id)), None)
            if odd is not None or side.unreadable:
                side.unreadable -= odd is None
                return Orphan(answer.record, "unreadable", answer, revision, call=odd)
        alike = [call for call in calls if ids.alike(call.request.id, answer.id)]
        if alike:
            return Orphan(answer.record, "misnamed", answer, revision, call=alike[0])
        calls = [call for call in calls if call.request.method != "subscriptions/listen"]  # it waits for its end
        notification = side.notifications.pop() if side.notifications else None
        if not calls and notification is None and answer.has_error and side.unreadable:
            side.unreadable -= 1
            return Orphan(answer.record, "invented", answer, revision)
        if len(calls) == 1 and notification is None:
            return Orphan(answer.record, "misnamed", answer, revision, call=calls[0])
        held = _Held(answer, revision, list(calls), notification)
        if not calls:
            return _final(held)
        if len(side.held) < _MOST and len(calls) < _MOST:
            side.held.append(held)  # past that nobody can say what it was meant for
        return None

    def finish(self) -> list[Event]:
        """At the end: an orphan that one request alone can have been waiting for was meant for it."""
        settled: list[Event] = []
        for side in self._sides.values():
            for held in side.held:
                if len(held.calls) == 1 and (held.notification is None or held.answer.id is not None):
                    meant = held.calls[0]
                    settled.append(Orphan(held.answer.record, "misnamed", held.answer, held.revision, call=meant))
                elif held.notification is None:
                    settled.append(_final(held))
            side.held.clear()
        return settled


def _final(held: _Held) -> Event:
    kind = "unasked" if held.notification is None else "notification"
    return Orphan(held.answer.record, kind, held.answer, held.revision, notification=held.notification)


def _readable(id: Any) -> bool:
    return type(id) in (str, int)
