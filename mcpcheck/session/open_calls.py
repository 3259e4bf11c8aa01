"""Open calls: the requests that wait for an answer, by their id, and by their progress token."""

from typing import Any

from mcpcheck.session import ids
from mcpcheck.session.call import Call
from mcpcheck.wire.protocol import LOG_LEVEL
from mcpcheck.wire.record import Dir

MOST_OPEN = 10_000
"""How many ids may wait for an answer; more than any session has that is not broken."""

MOST_ALIKE = 20
"""How many open requests may have the same id, and how many of one progress token are remembered."""

Place = tuple[Dir, ids.Key]


class OpenCalls:
    """The requests of both sides that have no answer yet, oldest first."""

    def __init__(self) -> None:
        self._by_id: dict[Place, list[Call]] = {}
        self._by_token: dict[Place, list[Call]] = {}
        self._levels = {Dir.C2S: 0, Dir.S2C: 0}  # how many of them have set a log level

    def of(self, sender: Dir) -> list[Call]:
        """All those of one side."""
        return [call for (side, _), calls in self._by_id.items() if side is sender for call in calls]

    def at(self, place: Place) -> list[Call]:
        """Those of one side with one id."""
        return self._by_id.get(place, [])

    def with_token(self, sender: Dir, token: Any) -> list[Call]:
        """Those of one side with one progress token; ids are compared by type, too."""
        return self._by_token.get((sender, ids.key(token)), [])

    def wants_log(self, sender: Dir) -> bool:
        """Whether one of a side has set a log level."""
        return self._levels[sender] > 0

    def add(self, place: Place, call: Call) -> bool:
        """Take a call in. False where the oldest had to be forgotten for it, so that not everything is known now."""
        same = self._by_id.setdefault(place, [])
        same.append(call)
        meta = call.request.meta
        if "progressToken" in meta:
            sharing = self._by_token.setdefault((place[0], ids.key(meta["progressToken"])), [])
            sharing.append(call)
            del sharing[:-MOST_ALIKE]
        self._levels[place[0]] += LOG_LEVEL in meta
        if len(same) <= MOST_ALIKE and len(self._by_id) <= MOST_OPEN:
            return True
        for old in same[:1] if len(same) > MOST_ALIKE else list(next(iter(self._by_id.values()))):
            self.drop(old)
        return False

    def drop(self, call: Call) -> bool:
        """Take a call out; False where it was not among them."""
        asker, meta = call.request.dir, call.request.meta
        if not _take_out(self._by_id, (asker, ids.key(call.request.id)), call):
            return False
        if "progressToken" in meta:
            _take_out(self._by_token, (asker, ids.key(meta["progressToken"])), call)
        self._levels[asker] -= LOG_LEVEL in meta
        if call.exchange:
            call.exchange.calls.pop(id(call), None)
        return True


def _take_out(calls: dict[Place, list[Call]], place: Place, call: Call) -> bool:
    """Take a call out of those at a place; False where it was not among them."""
    same = calls.get(place, [])
    if len(same) == 1 and same[0] is call:
        del calls[place]
        return True
    rest = [open for open in same if open is not call]
    if len(rest) == len(same):
        return False
    if rest:
        calls[place] = rest
    else:
        del calls[place]
    return True
