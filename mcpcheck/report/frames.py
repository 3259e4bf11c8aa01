"""A record as evidence: as text, shortened to what a person reads, without values that could be secrets."""

import json
import re
import shlex
from dataclasses import replace
from typing import Final

from mcpcheck.capture.redact import Redactor
from mcpcheck.report.escape import printable
from mcpcheck.wire.protocol import META_PREFIX
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead

HEAD: Final = 360
TAIL: Final = 80
"""How many characters of a payload are shown from its beginning and, where that is not all, from its end."""

LIMIT: Final = 64 * 1024
"""Up to which size a payload is looked into."""

SHOWN: Final = frozenset(
    {
        "accept",
        "allow",
        "cache-control",
        "content-encoding",
        "content-type",
        "host",
        "last-event-id",
        "location",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "origin",
        "transfer-encoding",
        "www-authenticate",
        "x-accel-buffering",
    }
)
"""The headers whose values a report shows. Of any other it shows the name: the value could be a secret."""

_META: Final = re.compile(rb'"_meta"\s*:\s*(?={)')
_BREAK: Final = re.compile(r"\r\n|\n|\r")


class _Blank(Redactor):
    """Leaves no digest: a report has no salt that is secret, and a weak password could be guessed from one."""

    def digest(self, value: bytes) -> bytes:
        return b"redacted"


def without_secrets(record: Record) -> Record:
    """The record as a report may show it; a capture that was redacted before keeps its digests."""
    return _Blank(b"").record(record)


def safe_address(url: str) -> str:
    """An address without a password, and without what of its query could be a secret."""
    return _Blank(b"").address(url, "", [])


def safe_command(line: str) -> str:
    """A command line for a POSIX shell, without the secrets in it."""
    return shlex.join(_Blank(b"").command(shlex.split(line)))


def arrow(record: Record) -> str:
    """Which way it went: ``-->`` from the client, ``<--`` from the server."""
    return "-->" if record.dir is Dir.C2S else "<--"


def lines(record: Record, *, meta: bool = True) -> list[str]:
    """What a record holds, as lines that can be printed anywhere; ``meta``: with what _meta always holds."""
    record = without_secrets(record)
    if not meta and len(record.data) <= LIMIT:
        record = replace(record, data=without_usual_meta(record.data))
    if record.kind is Kind.EVENT:
        return [_event(record)]
    shown: list[str] = []
    if record.http:
        shown += head(record.http)
    if record.data or not record.http:
        shown += [printable(line) for line in _BREAK.split(_payload(record))]
    if record.kind is Kind.STDERR:
        shown[0] = "stderr: " + shown[0]
    return shown


def head(http: RequestHead | ResponseHead) -> list[str]:
    """An HTTP head, compact: its first line, the headers that matter, and the names of the rest."""
    if isinstance(http, RequestHead):
        first = f"{http.method} {without_query(http.path)}"
    else:
        first = f"HTTP {http.status} {http.reason}".rstrip()
    shown = [f"{name}: {value(name, text)}" for name, text in http.headers if name.lower() in SHOWN]
    hidden = [name for name, _ in http.headers if name.lower() not in SHOWN]
    if hidden:
        shown.append(f"(also {', '.join(hidden)})")
    return [printable(line) for line in (first, *shown)]


def value(name: str, text: str) -> str:
    """A header's value as a report may show it."""
    if name.lower() not in SHOWN:
        return "(not shown)"
    return without_query(text) if name.lower() == "location" else text


def without_query(address: str) -> str:
    """An address whose query is not shown: keys and codes travel there."""
    path, question, _ = address.partition("?")
    return f"{path}?(not shown)" if question else path


def without_usual_meta(data: bytes) -> bytes:
    """A payload whose _meta objects are ``{...}`` where they hold the protocol's own keys and nothing else."""
    out, at = b"", 0
    for member in _META.finditer(data):
        start = member.end()
        if start < at:
            continue
        try:
            rest = data[start:].decode()
            meta, length = json.JSONDecoder().raw_decode(rest)
        except (ValueError, RecursionError):
            continue
        if isinstance(meta, dict) and meta and all(key.startswith(META_PREFIX) for key in meta):
            out, at = out + data[at:start] + b"{...}", start + len(rest[:length].encode())
    return out + data[at:]


def _event(record: Record) -> str:
    detail = f" {json.dumps(record.detail, sort_keys=True, default=str)}" if record.detail else ""
    return printable(f"[{record.event or 'event'}{detail}]")


def _payload(record: Record) -> str:
    data = record.data.rstrip(b"\r\n") if record.kind is Kind.SSE else record.data
    if not data:
        return "(empty)"
    if len(data) <= HEAD + TAIL:
        return data.decode("utf-8", "backslashreplace")
    # A character takes four bytes at most: the slices hold enough, and a character cut at their inner ends is dropped.
    start = data[: 4 * HEAD + 3].decode("utf-8", "backslashreplace")[:HEAD]
    end = data[-4 * TAIL - 3 :].decode("utf-8", "backslashreplace")[-TAIL:]
    return f"{start} [... {len(data):,} bytes in all ...] {end}"
