"""Seen: a set of ids that takes little room, however many a session brings.

Integers that follow each other are kept as ranges, since most peers count. Of all else the newest are kept.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator

from mcpcheck.session import ids

MOST = 50_000
"""How many ids that are no integers, and how many ranges, are kept."""


class Seen:
    """Which ids one side has used. ``forgetful``: some are forgotten, so that a missing one may have been there."""

    def __init__(self, most: int | None = None) -> None:
        self.forgetful = False
        self._most = MOST if most is None else most
        self._starts: list[int] = []  # of ranges that neither meet nor overlap, in order
        self._ends: list[int] = []  # and the first number behind each
        self._others: OrderedDict[ids.Key, None] = OrderedDict()

    def add(self, key: ids.Key) -> bool:
        """Put an id in. False where it is there already."""
        kind, id = key
        if kind == "integer" and isinstance(id, int):
            return self._add_number(id)
        if key in self._others:
            return False
        self._others[key] = None
        if len(self._others) > self._most:
            self._others.popitem(last=False)
            self.forgetful = True
        return True

    def discard(self, key: ids.Key) -> None:
        """Take an id out, where it is there."""
        kind, id = key
        if kind != "integer" or not isinstance(id, int):
            self._others.pop(key, None)
            return
        at = bisect_right(self._starts, id) - 1
        if at < 0 or id >= self._ends[at]:
            return
        end = self._ends[at]
        left = [(self._starts[at], id)] if self._starts[at] < id else []
        right = [(id + 1, end)] if id + 1 < end else []
        self._starts[at : at + 1] = [start for start, _ in left + right]
        self._ends[at : at + 1] = [end for _, end in left + right]

    def __contains__(self, key: ids.Key) -> bool:
        kind, id = key
        if kind != "integer" or not isinstance(id, int):
            return key in self._others
        at = bisect_right(self._starts, id) - 1
        return at >= 0 and id < self._ends[at]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """The ranges of integers: the first, and the one behind the last."""
        return zip(self._starts, self._ends, strict=True)

    def _add_number(self, id: int) -> bool:
        starts, ends = self._starts, self._ends
        if ends and id == ends[-1]:  # the usual case: the next number
            ends[-1] += 1
            return True
        at = bisect_right(starts, id) - 1
        if at >= 0 and id < ends[at]:
            return False
        joins_left = at >= 0 and ends[at] == id
        joins_right = at + 1 < len(starts) and starts[at + 1] == id + 1
        if joins_left and joins_right:
            ends[at] = ends.pop(at + 1)
            del starts[at + 1]
        elif joins_left:
            ends[at] += 1
        elif joins_right:
            starts[at + 1] = id
        else:
            starts.insert(at + 1, id)
            ends.insert(at + 1, id + 1)
            if len(starts) > self._most:
                del starts[0], ends[0]
                self.forgetful = True
        return True
