"""How a deviation is written and found.

A deviation is a small function that takes the draft of a valid message and bends one thing about it::

    @deviation(breaks="base.request.id-not-null", owes=Owes.ERROR_OR_NOTHING, sound=False)
    def null_id(draft: Draft, value: Any) -> None:
        \"\"\"The id is null.\"\"\"
        draft.message["id"] = None

It names what it breaks on our side (nothing, where an unusual message is legal) and what the server owes in return.
The registry finds deviations by walking ``fuzz/deviations``; their order is that of their names.
"""

import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any

from hypothesis.strategies import SearchStrategy, just

from mcpcheck.catalogue.load import load


class Owes(StrEnum):
    """What a server owes to a message."""

    RESULT = "a result"
    ANSWER = "an answer, whichever"
    ERROR = "an error"
    ERROR_OR_NOTHING = "an error, or nothing"
    NOTHING = "nothing"
    ANYTHING = "anything valid, or nothing"

    @property
    def waits(self) -> bool:
        """Whether silence is no reply."""
        return self in {Owes.RESULT, Owes.ANSWER, Owes.ERROR}


@dataclass(slots=True)
class Draft:
    """A message on its way: the object, or the bytes that go out in its place, and what carries them.

    ``headers`` replace an HTTP header or, where None, remove it; ``more_headers`` are added, spelled as given.
    """

    message: dict[str, Any]
    data: bytes | None = None
    end: bytes = b"\n"
    headers: dict[str, str | None] = field(default_factory=dict)
    more_headers: dict[str, str] = field(default_factory=dict)

    @property
    def params(self) -> dict[str, Any]:
        """The params object."""
        params: dict[str, Any] = self.message["params"]
        return params

    @property
    def meta(self) -> dict[str, Any]:
        """The _meta object of params."""
        meta: dict[str, Any] = self.params["_meta"]
        return meta

    @property
    def text(self) -> bytes:
        """What goes out."""
        if self.data is not None:
            return self.data
        return json.dumps(self.message, ensure_ascii=False).encode("utf-8", "surrogatepass")


Bend = Callable[[Draft, Any], None]


@dataclass(frozen=True, slots=True)
class Deviation:
    """One way to depart from a valid message.

    ``under`` is the server's requirement by which a reply other than the one that is owed is judged: broken where
    ``sure``, else suspect; without it such a reply draws no complaint. ``sound`` says that every reader can tell the
    message's id; where it is not, an answer may name another id or none. ``methods`` are those that it can bend, all
    where empty.
    """

    name: str
    doc: str
    bend: Bend
    values: SearchStrategy[Any]
    breaks: tuple[str, ...]
    owes: Owes
    under: str
    sure: bool
    sound: bool
    kinds: tuple[str, ...]
    methods: tuple[str, ...]
    transports: tuple[str, ...]

    @property
    def area(self) -> str:
        return self.name.partition(".")[0]

    def fits(self, method: str, kind: str) -> bool:
        """Whether it can bend such a message; ``kind`` is "request" or "notification"."""
        return kind in self.kinds and (not self.methods or method in self.methods)


_DEVIATIONS: dict[str, Deviation] = {}


def deviation(
    *,
    breaks: str | Collection[str] = (),
    owes: Owes,
    values: SearchStrategy[Any] | None = None,
    under: str = "",
    sure: bool = False,
    sound: bool = True,
    of: str | Collection[str] = "request",
    methods: Collection[str] = (),
    transports: Collection[str] = ("stdio", "http"),
) -> Callable[[Bend], Bend]:
    """Register a function; its name is the module's and its own, ``envelope.null_id``."""
    broken = (breaks,) if isinstance(breaks, str) else tuple(breaks)
    kinds = (of,) if isinstance(of, str) else tuple(of)

    def register(bend: Bend) -> Bend:
        name = f"{bend.__module__.rpartition('.')[2]}.{bend.__name__}"
        unknown = [id for id in (*broken, *([under] if under else [])) if id not in load()]
        if name in _DEVIATIONS or unknown:
            raise ValueError(f"two deviations are called {name}" if not unknown else f"{name}: no such ids {unknown}")
        _DEVIATIONS[name] = Deviation(
            name=name,
            doc=inspect.getdoc(bend) or "",
            bend=bend,
            values=just(None) if values is None else values,
            breaks=broken,
            owes=owes,
            under=under,
            sure=sure,
            sound=sound,
            kinds=kinds,
            methods=tuple(methods),
            transports=tuple(transports),
        )
        return bend

    return register


@cache
def _discover() -> None:
    import mcpcheck.fuzz.deviations as package

    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)


def deviations(transport: str | None = None) -> list[Deviation]:
    """Every deviation, or those that a transport can carry, by name."""
    _discover()
    return [found for _, found in sorted(_DEVIATIONS.items()) if transport is None or transport in found.transports]
