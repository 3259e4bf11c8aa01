"""Record: one unit on the wire, as it was sent. The only thing that is stored; all meaning is derived from it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from mcpcheck.wire.jsontext import JsonText


class Dir(StrEnum):
    """Who sent it."""

    C2S = "c2s"
    S2C = "s2c"

    @property
    def other(self) -> "Dir":
        return Dir.S2C if self is Dir.C2S else Dir.C2S

    @property
    def sender(self) -> str:
        """The role that sends in this direction: "client" or "server"."""
        return "client" if self is Dir.C2S else "server"


class Kind(StrEnum):
    """What sort of unit a record is."""

    LINE = "line"  # stdio: one line of stdin or stdout, without its end
    STDERR = "stderr"  # stdio: one line of the server's standard error
    HEAD = "head"  # HTTP: a request's or an answer's head
    BODY = "body"  # HTTP: a whole body that is no event stream; absent where the body is empty
    SSE = "sse"  # HTTP: one event of an event stream: its whole text, line ends included
    EVENT = "event"  # what is no payload: open, eof, exit, abort, timeout, gap


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The head of an HTTP request; headers spelled and ordered as sent."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """The head of an HTTP answer; headers spelled and ordered as sent."""

    status: int
    reason: str = ""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """One unit on the wire.

    ``data`` is the payload as sent: a line without its end, a body, or an event's text with its line ends.
    ``end`` is how a line ended: ``b"\\n"``, ``b"\\r\\n"`` or ``b""`` for a last line without an end.
    ``event`` names what is no payload: open, eof, exit, abort, timeout, gap; ``detail`` holds what belongs to it
    (``code`` and ``signal`` of an exit, ``lost`` of a gap, ``reason`` of an abort).
    ``text`` is ``data`` as read, where whoever made the record has read it already.
    """

    n: int
    t: float
    dir: Dir
    kind: Kind
    data: bytes = b""
    end: bytes = b"\n"
    exchange: int | None = None
    http: RequestHead | ResponseHead | None = None
    event: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)
    redacted: tuple[str, ...] = ()
    text: JsonText | None = field(default=None, compare=False, repr=False)


def header(head: RequestHead | ResponseHead, name: str) -> str | None:
    """The first value of a header, its name compared without regard to case; None where it is absent."""
    values = header_values(head, name)
    return values[0] if values else None


def header_values(head: RequestHead | ResponseHead, name: str) -> list[str]:
    """Every value of a header, in order."""
    wanted = name.lower()
    return [value for key, value in head.headers if key.lower() == wanted]
