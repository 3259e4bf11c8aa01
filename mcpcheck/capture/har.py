"""HAR, an archive of HTTP exchanges (version 1.2), as browsers and proxies export it: one session for each endpoint.

What an archive does not show is not judged: how bodies were framed, bytes that are no UTF-8, when an event of a stream
came. Streams that overlap other exchanges, and bodies that were left out, make a recording that is not whole.
"""

import base64
import binascii
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

from mcpcheck.capture.bare import is_of_mcp
from mcpcheck.capture.har_order import Answered, in_order, is_stream
from mcpcheck.wire.protocol import PROTOCOL_VERSION
from mcpcheck.wire.record import Record, RequestHead, ResponseHead, header

UNSEEN: Final = frozenset(
    {
        "base.message.utf8",  # text was decoded, and broken bytes replaced
        "http.send.single-message",  # an archive may lack a body that was sent
        "http.sse.response-terminates",  # nothing tells when an event came, or when its stream ended
    }
)
"""What no archive shows."""

_OF_HEADERS: Final = frozenset({"http", "legacy.http"})
"""What an archive does not show either that leaves headers out."""


@dataclass(slots=True)
class Session:
    """The exchanges with one origin that has an MCP endpoint, as records. ``unseen``: ids, or what ids begin with."""

    url: str
    transport: str
    records: Iterator[Record]
    unseen: frozenset[str]
    notes: list[str] = field(default_factory=list)


def is_archive(value: Any) -> bool:
    """Whether a JSON document is a HAR."""
    log = value.get("log") if isinstance(value, dict) else None
    return isinstance(log, dict) and isinstance(log.get("entries"), list)


def sessions(value: Any) -> list[Session]:
    """The sessions of an archive, one for each endpoint; none where it has no MCP traffic."""
    entries = [entry for entry in map(_entry, value["log"]["entries"], range(1, 1 << 30)) if entry]
    entries.sort(key=lambda entry: entry.start)
    endpoints = list(dict.fromkeys(entry.place for entry in entries if _is_posted(entry)))
    return [_session(entries, place, set(endpoints) - {place}) for place in endpoints]


def _is_posted(entry: Answered) -> bool:
    """Whether an exchange carries a message of the protocol to its endpoint."""
    return entry.request.method == "POST" and is_of_mcp(_json(entry.body))


def _session(entries: list[Answered], place: tuple[str, str], others: set[tuple[str, str]]) -> Session:
    own = [entry for entry in entries if entry.place[0] == place[0] and entry.place not in others]
    at_endpoint = [entry for entry in own if entry.place == place]
    notes = [f"endpoint guessed: {place[0]}{place[1]}"]
    unseen = UNSEEN
    if any(not entry.request.headers or (entry.response and not entry.headers_seen) for entry in at_endpoint):
        unseen |= _OF_HEADERS
        notes.append("headers are missing from the archive: rules of HTTP are not judged")
    carriers = [entry for entry in own if entry.place == place or entry.is_stream]
    missing = sum(entry.lacks_body for entry in carriers)
    if missing:
        notes.append(f"bodies missing from the archive: {missing:,}")
    whole = not missing and _begins(at_endpoint) and not _overlap(carriers)
    transport = "sse" if any(_is_answered_elsewhere(entry) for entry in at_endpoint) else "http"
    return Session(place[0] + place[1], transport, in_order(own, whole=whole), unseen, notes)


def _is_answered_elsewhere(entry: Answered) -> bool:
    """Whether a request was taken in as clients of HTTP+SSE expect it, whose stream the archive need not have."""
    accepts = (header(entry.request, "accept") or "").lower()
    value = _json(entry.body)
    asks = isinstance(value, dict) and "method" in value and "id" in value
    return asks and entry.response is not None and entry.response.status == 202 and "event-stream" not in accepts


def _begins(entries: list[Answered]) -> bool:
    """Whether the first message that was posted begins a session, or belongs to none."""
    first = next((value for entry in entries if isinstance(value := _json(entry.body), dict)), {})
    return first.get("method") in ("initialize", "server/discover") or PROTOCOL_VERSION in _dict(
        _dict(first, "params"), "_meta"
    )


def _overlap(entries: list[Answered]) -> bool:
    """Whether a stream of events was open while something else was sent: the order of the two is not known."""
    end = float("-inf")
    for entry in entries:
        if entry.start < end:
            return True
        if entry.is_stream:
            end = max(end, entry.end)
    return False


def _entry(entry: Any, number: int) -> Answered | None:
    """One exchange; None for what is none, a WebSocket say."""
    request = _dict(entry, "request")
    response = _dict(entry, "response")
    method, url = request.get("method"), request.get("url")
    if not isinstance(method, str) or not isinstance(url, str):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https"):
        return None
    path = parts.path or "/"
    body, lacks_request = _posted(request)
    head, headers_seen = _answer_head(response)
    content, lacks_answer = _content(response, head)
    start = _time(entry.get("startedDateTime"))
    return Answered(
        number=number,
        start=start,
        end=start + _duration(entry.get("time")),
        place=(f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}", path),
        request=RequestHead(method, f"{path}?{parts.query}" if parts.query else path, _headers(request)),
        body=body,
        response=head,
        content=content,
        headers_seen=headers_seen,
        lacks_body=lacks_request or lacks_answer,
    )


def _posted(request: dict[str, Any]) -> tuple[bytes, bool]:
    """The body of a request, and whether one is missing."""
    data = _dict(request, "postData")
    text = data.get("text")
    if isinstance(text, str) and text:
        found = _bytes(text, data.get("encoding"))
        return found or b"", found is None
    size = request.get("bodySize")
    return b"", request.get("method") == "POST" and not (size == 0 and isinstance(size, int))


def _answer_head(response: dict[str, Any]) -> tuple[ResponseHead | None, bool]:
    """The head of an answer, and whether its headers are there; None where there was no answer."""
    status = response.get("status")
    if type(status) is not int or not 100 <= status <= 999:
        return None, False
    headers = _headers(response)
    media = _dict(response, "content").get("mimeType")
    reason = response.get("statusText")
    if not headers and isinstance(media, str) and "/" in media:
        return ResponseHead(status, reason if isinstance(reason, str) else "", (("Content-Type", media),)), False
    return ResponseHead(status, reason if isinstance(reason, str) else "", headers), bool(headers)


def _content(response: dict[str, Any], head: ResponseHead | None) -> tuple[bytes, bool]:
    """The body of an answer without its content coding, and whether it, or part of it, is missing."""
    content = _dict(response, "content")
    text, size = content.get("text"), content.get("size")
    size = size if type(size) is int else 0
    if isinstance(text, str) and text:
        found = _bytes(text, content.get("encoding"))
        if found is None:
            return b"", True
        if is_stream(head):
            return found, len(found) < size
        if len(found) >= size or _json(found) is not None:  # the size may be that of a compressed body
            return found, False
        return b"", True
    status = head.status if head else 0
    bodiless = not 200 <= status < 300 or status in (202, 204) or (head and header(head, "content-length") == "0")
    return b"", size > 0 or not bodiless


def _bytes(text: str, encoding: Any) -> bytes | None:
    if encoding != "base64":
        return text.encode("utf-8", "replace")
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return None


def _headers(message: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Header fields without the pseudo headers of HTTP/2."""
    pairs = message.get("headers")
    found = [(_get(pair, "name"), _get(pair, "value")) for pair in (pairs if isinstance(pairs, list) else ())]
    return tuple(
        (name, value)
        for name, value in found
        if isinstance(name, str) and isinstance(value, str) and name and not name.startswith(":")
    )


def _time(said: Any) -> float:
    try:
        when = datetime.fromisoformat(said)
    except (TypeError, ValueError):
        return 0.0
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _duration(said: Any) -> float:
    known = isinstance(said, int | float) and 0 <= said < 1e12
    return said / 1000 if known else 0.0


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _dict(value: Any, name: str) -> dict[str, Any]:
    found = _get(value, name)
    return found if isinstance(found, dict) else {}
