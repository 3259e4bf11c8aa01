"""Streams: which event stream a client listens on, on HTTP+SSE of 2024-11-05.

There a client POSTs to the address that its own stream has named, and everything that the server says comes on that
stream. Only this tells one client from another.
"""

from urllib.parse import unquote, urljoin, urlsplit

from mcpcheck.session.call import Call, Exchange
from mcpcheck.wire import sse
from mcpcheck.wire.event import Event, NotJson
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir, Kind


class Streams:
    """The addresses that event streams have named, each with the exchange of its stream."""

    def __init__(self) -> None:
        self._of: Recent[str, int] = Recent()
        self._bare: Recent[str, None] = Recent()  # the same without their queries

    def __contains__(self, path: str) -> bool:
        """Whether a stream has named this path, with its query, as the address for POSTs."""
        return unquote(path) in self._of

    def near(self, path: str) -> bool:
        """Whether a stream has named this path, with whatever query."""
        return unquote(path.partition("?")[0]) in self._bare

    @property
    def forgetful(self) -> bool:
        """Whether a path that no stream seems to have named may be among those that are forgotten."""
        return self._of.forgetful

    def named(self, event: Event, exchange: Exchange | None) -> None:
        """A stream has named the address for POSTs."""
        base = exchange.request.path if exchange and exchange.request else "/"
        path = _resolved(base, sse.data_bytes(event.record.data) or b"")
        if path is not None and event.record.exchange is not None:
            self._of[unquote(path)] = event.record.exchange
            self._bare[unquote(path.partition("?")[0])] = None

    def of(self, event: Event, exchange: Exchange | None) -> int | None:
        """The stream of the client that an event comes from or goes to; None where that is unknown."""
        if event.record.kind is Kind.SSE:
            return event.record.exchange
        return self._of.get(unquote(exchange.request.path)) if exchange and exchange.request else None


def waiting(calls: list[Call], stream: int | None, whole: bool) -> Call | None:
    """Of the open calls of one id, oldest first, the one that an answer on a stream, or from its client, is for.

    In a recording that is not whole it has to be one of that stream.
    """
    if stream is None:
        return calls[0] if calls else None
    own = next((call for call in calls if call.stream == stream), None)
    return own or (next((call for call in calls if call.stream is None), None) if whole else None)


def names_endpoint(event: Event) -> bool:
    """Whether an event of a stream names the address for POSTs, as HTTP+SSE begins with it."""
    return (
        isinstance(event, NotJson)
        and event.dir is Dir.S2C
        and event.record.kind is Kind.SSE
        and sse.parse(event.record.data).event == "endpoint"
    )


def _resolved(base: str, data: bytes) -> str | None:
    """The path and query of an address that was given relative to a path."""
    try:
        parts = urlsplit(urljoin(f"http://server{base}", data.decode().strip()))
    except ValueError:
        return None
    path = parts.path or "/"
    return f"{path}?{parts.query}" if parts.query else path
