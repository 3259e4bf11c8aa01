"""Answers over HTTP: one body, or a stream of events that may stay open."""

from dataclasses import dataclass, field

from mcpcheck.reference.call import Call

JSON = ("Content-Type", "application/json")


@dataclass(eq=False, slots=True)
class Stream:
    """An event stream on one connection. Whoever writes it takes its events, until it has ended and none is left."""

    name: str = ""
    call: Call | None = None
    history: list[bytes] = field(default_factory=list)
    """Every event of the stream, those of earlier connections included."""
    done: bool = False
    """Whether the last message it is for is in it."""
    taken: int = 0
    limit: int | None = None

    @property
    def ended(self) -> bool:
        """Whether no further event will come on this connection."""
        return self.done or self.limit is not None

    def push(self, event: bytes) -> None:
        """Put an event in."""
        if not self.done:
            self.history.append(event)

    @property
    def left(self) -> bool:
        """Whether there are events that were not taken yet."""
        return self.taken < (len(self.history) if self.limit is None else self.limit)

    def take(self) -> list[bytes]:
        """The events that are to be written."""
        start, self.taken = self.taken, len(self.history) if self.limit is None else self.limit
        return self.history[start : self.taken]

    def finish(self) -> None:
        """Nothing more belongs on the stream."""
        self.done = True

    def close(self) -> None:
        """This connection ends here; the stream may go on with another."""
        if self.limit is None:
            self.limit = len(self.history)


@dataclass(eq=False, slots=True)
class HttpReply:
    """The answer to one HTTP request: a body, or a stream."""

    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    stream: Stream | None = None

    @property
    def open_stream(self) -> bool:
        """Whether more events will come."""
        return self.stream is not None and not self.stream.ended

    @property
    def events(self) -> list[bytes]:
        """The events that are there already; they are taken out."""
        return self.stream.take() if self.stream is not None else []


def sse_event(data: bytes, event_id: str | None = None, *, event: str | None = "message") -> bytes:
    """One event, each line of its data on a line of its own."""
    lines = [b"data: " + line for line in data.split(b"\n")]
    if event_id is not None:
        lines.insert(0, b"id: " + event_id.encode())
    if event is not None:
        lines.insert(0, b"event: " + event.encode())
    return b"\n".join(lines) + b"\n\n"
