"""What stands in the HTTP traffic of an OAuth flow: parameters, documents, tokens. Total, and bounded in size."""

from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

from mcpcheck.wire import jsontext
from mcpcheck.wire.event import HttpBody, HttpRequest, HttpResponse, Notification, Request
from mcpcheck.wire.record import RequestHead, header

MOST_BYTES = 65_536
"""How long a query, a form or a document may be that is read: far more than any has that is meant."""

MOST_FIELDS = 100

Seen = HttpRequest | HttpResponse | HttpBody | Request | Notification
"""The events that every rule of a flow sees, so that what one learns all know."""

Fields = dict[str, list[str]]
"""The parameters of a query or a form, each with its values in order."""


def fields(text: str) -> Fields:
    """The parameters of a query or a form; empty where it is too long to be read."""
    found: Fields = {}
    if len(text) > MOST_BYTES:
        return found
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        return found
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


def query(head: RequestHead) -> Fields:
    """The parameters of a request's query."""
    return fields(head.path.partition("?")[2].partition("#")[0])


def path(head: RequestHead) -> str:
    """The path of a request, without its query."""
    return head.path.partition("?")[0]


def first(of: Fields, name: str) -> str:
    """The first value of a parameter that is not empty; empty where there is none."""
    return next((value for value in of.get(name, ()) if value), "")


def form(event: HttpBody) -> Fields:
    """The parameters of a form that was POSTed."""
    data = event.record.data
    return fields(data.decode("utf-8", "replace")) if len(data) <= MOST_BYTES and b"=" in data else {}


def document(event: HttpBody) -> dict[str, Any]:
    """The JSON object that a body is; empty where it is none."""
    record = event.record
    if len(record.data) > MOST_BYTES or record.data.lstrip()[:1] != b"{":
        return {}
    text = record.text or jsontext.read(record.data)
    return text.value if text.readable and isinstance(text.value, dict) else {}


def member(of: dict[str, Any], name: str) -> str:
    """A string member; empty where there is none."""
    value = of.get(name)
    return value if isinstance(value, str) else ""


def strings(of: dict[str, Any], name: str) -> tuple[str, ...]:
    """The strings of a list member."""
    value = of.get(name)
    return tuple(one for one in value[:MOST_FIELDS] if isinstance(one, str)) if isinstance(value, list) else ()


def bearer(head: RequestHead | None) -> str:
    """The token that a request carries as the protocol wants it; empty where it carries none."""
    scheme, _, token = ((header(head, "authorization") if head else None) or "").strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def split(url: str) -> SplitResult | None:
    """The parts of a URL; None where it is none."""
    try:
        parts = urlsplit(url)
        _ = parts.hostname, parts.port  # these raise, too
    except ValueError:
        return None
    return parts
