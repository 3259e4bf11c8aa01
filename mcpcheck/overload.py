"""Overload: a server that will not be asked so fast is asked again, a little later, before anything is said of it."""

from mcpcheck.reply import Reply
from mcpcheck.wire.event import HttpResponse
from mcpcheck.wire.record import header

LATER = frozenset({429, 503})
"""HTTP statuses by which a server, or what stands before it, puts a client off."""

AGAIN = 2
"""How often a message is sent again."""

PAUSE = 1.0
"""Seconds between two attempts, where the server does not say how long."""


def put_off(reply: Reply) -> bool:
    """Whether a message was not served because of the load."""
    return reply.status in LATER


def pause(reply: Reply) -> float:
    """The seconds that the server wants a client to wait."""
    heads = [event.head for event in reply.events if isinstance(event, HttpResponse)]
    said = header(heads[0], "retry-after") if heads else None
    return float(said) if said is not None and said.strip().isdecimal() else PAUSE
