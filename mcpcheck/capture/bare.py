"""Bare: messages that another tool wrote down, one a line or in an array, perhaps without saying who sent which.

How they went over the wire (lines, white space, HTTP) is the file's own doing and not known, so the transport is
"unknown": rules of stdio and of HTTP have no say. A message of which nobody can tell who sent it is not judged.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from mcpcheck.capture.envelope import Enclosed, open_envelope
from mcpcheck.capture.guess import Guess, is_known
from mcpcheck.wire.decode import classify
from mcpcheck.wire.record import Dir, Kind, Record

TRANSPORT: Final = "unknown"

UNSEEN: Final = frozenset({"legacy.batch.request.no-mixing"})
"""What it takes the transport to judge."""

_SENDER: Final = {"client": Dir.C2S, "server": Dir.S2C}


def is_of_mcp(value: Any) -> bool:
    """Whether a message, or one of an array, has a method of the protocol: other protocols are JSON-RPC, too."""
    if isinstance(value, list):
        return any(is_of_mcp(one) for one in value)
    method = value.get("method") if isinstance(value, dict) else None
    if method == "initialize":  # which the Language Server Protocol has as well
        params = value.get("params")
        return isinstance(params, dict) and "protocolVersion" in params
    return isinstance(method, str) and is_known(method)


@dataclass(slots=True)
class Messages:
    """Reads numbered texts as records. What is said of them in the end is in ``notes``."""

    texts: Iterable[tuple[int, bytes]]
    notes: list[str] = field(default_factory=list)
    _guess: Guess = field(default_factory=Guess)
    _incoming: Dir | None = None  # what the recorder calls incoming
    _contradicted: bool = False  # its words for that mean nothing
    _whole: bool = True
    _begun: bool = False
    _start: float | None = None
    _before: tuple[bytes, str] = (b"", "")
    _count: int = 0
    _guessed: int = 0
    _untold: int = 0
    _mixed: int = 0
    _murky: bool = False  # the id of the message is that of several open requests
    _ends: dict[str, set[str]] = field(default_factory=dict)  # what each side has said of itself when it began
    _twice: int = 0
    _other: int = 0

    def __iter__(self) -> Iterator[Record]:
        for n, text in self.texts:
            if not text.strip():
                continue
            found = open_envelope(text)
            if found is None:
                self._other += 1
                if b"jsonrpc" in text:  # one that was cut short, perhaps
                    yield from self._gap(n)
            else:
                yield from self._message(n, found)
        self.notes += self._summary()

    def _message(self, n: int, found: Enclosed) -> Iterator[Record]:
        if (found.text, found.label) == self._before:
            self._twice += 1
            return
        self._before = found.text, found.label
        self._count += 1
        if not self._begun:
            self._begun = True
            yield self._opening(found.value)
        lost = any(self._guess.is_stray(one, classify(one)) for one in _each(found.value))
        dir = self._dir(found)
        if self._mixes(found.value) or self._murky:
            self._mixed += 1
            yield from self._gap(n)
        elif dir is not None:
            yield Record(n, self._time(found), dir, Kind.LINE, found.text)
        else:
            self._untold += 1
            if lost:
                yield from self._gap(n)

    def _mixes(self, value: Any) -> bool:
        """Whether sessions of several servers, or of several clients, are mixed from here on, which nobody can part.

        One that begins anew, with the same version and capabilities, makes no difference.
        """
        if isinstance(value, dict):
            for holder, name in ((value.get("result"), "server"), (value.get("params"), "client")):
                if isinstance(holder, dict) and holder.keys() & {"protocolVersion", "supportedVersions"}:
                    said = [holder.get("protocolVersion"), holder.get("capabilities")]
                    self._ends.setdefault(name, set()).add(json.dumps(said, sort_keys=True, default=str))
        return any(len(alike) > 1 for alike in self._ends.values())

    def _opening(self, value: Any) -> Record:
        """What comes before the first message: nothing, or what nobody has seen."""
        self._whole = isinstance(value, dict) and value.get("method") in ("initialize", "server/discover")
        return _event("open") if self._whole else _event("gap", lost=1)

    def _gap(self, n: int) -> Iterator[Record]:
        """Something is missing here: from now on less can be known. Said once."""
        if self._whole:
            self._whole = False
            yield Record(n, 0.0, Dir.C2S, Kind.EVENT, event="gap", detail={"lost": 1})

    def _time(self, found: Enclosed) -> float:
        if found.time is None:
            return 0.0
        if self._start is None:
            self._start = found.time
        return max(0.0, found.time - self._start)

    def _dir(self, found: Enclosed) -> Dir | None:
        """The direction of a message, or of all elements of an array; None where it cannot be told."""
        stated = _SENDER.get(found.label)
        kinds = [(one, classify(one)) for one in _each(found.value)]
        told = [self._guess.tell(one, kind) for one, kind in kinds]
        sure = next((dir for dir in told if dir is not None), None)
        if stated is None:
            if any(dir not in (None, sure) for dir in told):
                sure = None
            stated = self._by_label(found.label, sure)
            self._guessed += 1
        murky = [self._guess.is_murky(one, kind, stated) for one, kind in kinds]
        self._murky = any(murky)
        for one, kind in kinds:
            self._guess.note(one, kind, stated)
        return stated

    def _by_label(self, label: str, sure: Dir | None) -> Dir | None:
        """What messages whose sender is plain say of the recorder's words, and these of the others."""
        if not label or self._contradicted:
            return sure
        if sure is not None:
            incoming = sure if label == "in" else sure.other
            self._contradicted = self._incoming not in (None, incoming)
            self._incoming = incoming
            return sure
        if self._incoming is None:
            return None
        return self._incoming if label == "in" else self._incoming.other

    def _summary(self) -> Iterator[str]:
        said = f"{_times(self._count, 'message')} of unknown transport, whose rules are not judged"
        if self._guessed:
            said += f"; direction guessed of {'all' if self._guessed == self._count else f'{self._guessed:,}'}"
        yield said
        if self._untold:
            yield f"{self._untold:,} not judged, since either side may have sent them"
        if self._mixed:
            yield f"{self._mixed:,} not judged, since sessions of several clients or servers are mixed"
        if self._twice:
            yield f"{self._twice:,} not judged, since the message before is the very same"
        if self._other:
            yield f"{_times(self._other, 'line')} without a message passed over"


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _event(name: str, **detail: Any) -> Record:
    return Record(0, 0.0, Dir.C2S, Kind.EVENT, event=name, detail=detail)


def _times(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
