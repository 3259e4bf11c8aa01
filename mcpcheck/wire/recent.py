"""Recent: a dictionary that keeps the newest entries only, so that what is remembered of a session has a bound."""

from collections import OrderedDict
from typing import TypeVar

MOST = 10_000

K = TypeVar("K")
V = TypeVar("V")


class Recent(OrderedDict[K, V]):
    """A dictionary of at most ``most`` entries. ``forgetful``: some are gone, what is missing may have been there."""

    def __init__(self, most: int | None = None) -> None:
        super().__init__()
        self.most = MOST if most is None else min(most, MOST)
        self.forgetful = False

    def __setitem__(self, key: K, value: V) -> None:
        """Put an entry in. The entry that was put in first makes room for it; a new value for a key is no new entry."""
        super().__setitem__(key, value)
        if len(self) > self.most:
            self.popitem(last=False)
            self.forgetful = True
