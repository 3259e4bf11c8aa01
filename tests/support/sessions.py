r"""Sessions in shorthand: a few readable lines instead of records, each with the verdicts that it has to earn.

::

    # a title begins a session
    @http                        its transport (stdio if not said)
    @revision 2025-11-25         the revision of what does not tell its own; 2026-07-28 if not said, "none" for unknown
    @partial                     the recording begins in the middle
    @later 6                     six seconds pass
    c: 1 tools/list {"cursor":"x"}       a well-formed request with id 1: the members a good client adds are added
    c: note notifications/cancelled {"requestId":1}
    s: 1 -> {"tools":[]}                 a well-formed result, with resultType and serverInfo
    s: 1 error -32601 {"data"...}        an error
    c> {"jsonrpc":"2.0",...}             exactly this line (on HTTP: this body in the exchange under way)
    s$ caf\xe9                           the same with escapes, for what is no text
    s] {"half                            the last line of a stream, without its newline
    e> text                              a line of standard error
    . s eof                              an event: open, eof, abort, timeout, exit {"code":1}, gap {"lost":3}
    ! some.id: part of actual            the line above breaks this requirement
    ? some.id: part of actual            the line above is suspect
    = some.id                            the requirement was exercised by the line above and held

On HTTP a well-formed message brings its exchange with it. ``[Name: value | Name: -]`` behind it sets or removes
headers, ``[status 404]`` sets the status, ``[open]`` leaves the answer's end out. ``s: 1 ~ notifications/progress
{...}`` is an event on the stream that answers request 1, and ``s: 1 ~> {...}`` the result that ends it.
``c> POST /mcp | A: b`` and ``s> 200 OK | A: b`` are heads, and what follows them is their body (for an event stream:
one event a line, ``\n`` escaped).

All findings of a session have to be written down: a case shows what a line breaks, and that it breaks nothing else.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcpcheck.engine import Engine
from mcpcheck.verdict import Outcome, Verdict
from mcpcheck.wire import mcp_http
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, CLIENT_INFO, MODERN, PROTOCOL_VERSION, SERVER_INFO
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead

META: dict[str, Any] = {
    PROTOCOL_VERSION: MODERN,
    CLIENT_INFO: {"name": "client", "version": "1"},
    CLIENT_CAPABILITIES: {},
}
SERVER: dict[str, Any] = {SERVER_INFO: {"name": "server", "version": "1"}}
MARKS = {"!": Outcome.BROKEN, "?": Outcome.SUSPECT, "=": Outcome.HOLDS}
DIRS = {"c": Dir.C2S, "s": Dir.S2C}
SSE_HEADERS = (("Content-Type", "text/event-stream"), ("X-Accel-Buffering", "no"))


@dataclass(slots=True)
class Expected:
    """A verdict that a case expects on one of its lines."""

    outcome: Outcome
    id: str
    part: str
    frames: range
    line: int

    def fits(self, verdict: Verdict) -> bool:
        there = any(n in verdict.frames for n in self.frames)
        said = self.part in f"{verdict.actual}; {verdict.expected}"
        return there and verdict.outcome is self.outcome and verdict.requirement == self.id and said


@dataclass(slots=True)
class Case:
    """One session in shorthand, as records, and the verdicts that it expects."""

    title: str
    line: int
    transport: str = "stdio"
    revision: str | None = MODERN
    records: list[Record] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)

    def judge(self) -> list[Verdict]:
        """Every verdict on the session."""
        engine = Engine(self.transport, endpoint="/mcp" if self.transport == "http" else None, default=self.revision)
        verdicts = [verdict for record in self.records for verdict in engine.feed(record)]
        return verdicts + engine.finish()

    def complaints(self, verdicts: list[Verdict]) -> Iterator[str]:
        """What differs between the verdicts that came and those that the case expects."""
        left = [verdict for verdict in verdicts if verdict.is_finding]
        for expected in self.expected:
            if expected.outcome is Outcome.HOLDS:
                found = any(expected.fits(verdict) for verdict in verdicts)
            else:
                fitting = [verdict for verdict in left if expected.fits(verdict)]
                left = [verdict for verdict in left if verdict not in fitting]
                found = bool(fitting)
            if not found:
                yield f"line {expected.line}: expected {expected.outcome}: {expected.id}: {expected.part}"
        for verdict in left:
            yield f"{self.title}: {verdict.outcome} {verdict.requirement} {verdict.frames}: {verdict.actual}"


def read(path: Path) -> list[Case]:
    """The sessions of a case file."""
    return list(parse(path.read_text(encoding="utf-8")))


def parse(text: str) -> Iterator[Case]:
    """The sessions of a text."""
    script = _Script(Case("a session", 1))
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("# "):
            if script.case.records:
                yield script.case
            script = _Script(Case(line[2:].strip(), number))
        elif line.strip():
            script.read(line, number)
    if script.case.records:
        yield script.case


class _Script:
    """Turns the lines of one session into records."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._n = 0
        self._late = 0.0
        self._exchange = 0
        self._of: dict[str, int] = {}  # the exchange of a request, by its id as written
        self._streams: set[int] = set()  # exchanges whose answer is an event stream
        self._answered: set[int] = set()
        self._frames = range(0)

    def read(self, line: str, number: int) -> None:
        before = self._n
        mark, rest = line[:1], line[1:].strip()
        if mark == "@":
            self._directive(rest)
        elif mark in MARKS:
            id, _, part = rest.partition(":")
            self.case.expected.append(Expected(MARKS[mark], id.strip(), part.strip(), self._frames, number))
        elif mark == ".":
            self._event(rest)
        elif mark == "e":
            self._add(Dir.S2C, Kind.STDERR, line[3:].encode())
        elif mark in DIRS:
            self._say(DIRS[mark], line[1], line[3:])
        else:
            raise ValueError(f"line {number}: {line}")
        if self._n > before:
            self._frames = range(before + 1, self._n + 1)

    def _directive(self, text: str) -> None:
        name, _, value = text.partition(" ")
        match name:
            case "http" | "stdio":
                self.case.transport = name
            case "revision":
                self.case.revision = None if value == "none" else value
            case "partial":
                self._n = 100
            case "later":
                self._late += float(value)
            case "exchange":
                self._exchange = self._of.get(value, 0) or int(value)
            case _:
                raise ValueError(f"@{text}")

    def _event(self, text: str) -> None:
        who, _, rest = text.partition(" ")
        name, _, detail = rest.partition(" ")
        exchange = self._exchange if self.case.transport == "http" and name != "exit" else None
        self._add(DIRS[who], Kind.EVENT, event=name, exchange=exchange, detail=json.loads(detail or "{}"))

    def _say(self, dir: Dir, form: str, text: str) -> None:
        match form:
            case ":":
                self._well_formed(dir, text)
            case ">":
                self._raw(dir, text.encode())
            case "$":
                self._raw(dir, text.encode("latin-1").decode("unicode_escape").encode("latin-1"))
            case "]":
                self._add(dir, Kind.LINE, text.encode(), end=b"")
            case _:
                raise ValueError(text)

    # exactly what is written

    def _raw(self, dir: Dir, data: bytes) -> None:
        if self.case.transport != "http":
            self._add(dir, Kind.LINE, data)
            return
        text = data.decode("utf-8", "replace")
        if dir is Dir.C2S and re.match(r"[A-Z]+ /", text):
            first, *rest = text.split(" | ")
            method, path = first.split()
            self._exchange += 1
            self._head(dir, RequestHead(method, path, _headers(rest)))
        elif dir is Dir.S2C and re.match(r"\d{3}\b", text):
            first, *rest = text.split(" | ")
            self._head(dir, ResponseHead(int(first[:3]), first[4:], _headers(rest)))
        elif dir is Dir.S2C and self._exchange in self._streams:
            self._add(dir, Kind.SSE, data.replace(b"\\n", b"\n"), exchange=self._exchange)
        else:
            self._add(dir, Kind.BODY, data, exchange=self._exchange)

    def _head(self, dir: Dir, head: RequestHead | ResponseHead) -> None:
        if isinstance(head, ResponseHead) and ("text/event-stream" in str(head.headers)):
            self._streams.add(self._exchange)
        self._add(dir, Kind.HEAD, exchange=self._exchange, http=head)

    # well-formed messages

    def _well_formed(self, dir: Dir, text: str) -> None:
        text, changes = _changes(text)
        key, _, rest = text.partition(" ")
        verb, _, value = rest.strip().partition(" ")
        http = self.case.transport == "http"
        if dir is Dir.S2C and http and key in self._of:
            self._exchange = self._of[key]
        streamed = verb in {"~", "~>"}
        message = self._message(key, verb, value.strip())
        data = json.dumps(message, ensure_ascii=False).encode()
        if not http:
            self._add(dir, Kind.LINE, data)
        elif dir is Dir.C2S:
            self._post(key, message, data, changes)
        else:
            self._answer(data, changes, streamed, ends="->" in verb or verb in {"~>", "error"})

    def _message(self, key: str, verb: str, value: str) -> dict[str, Any]:
        message: dict[str, Any] = {"jsonrpc": "2.0"}
        if key == "note" or verb == "~":
            message["method"], _, params = (f"{verb} {value}" if key == "note" else value).partition(" ")
            return message | ({"params": json.loads(params)} if params.strip() else {})
        message["id"] = json.loads(key)
        if verb in {"->", "~>"}:
            return message | {"result": self._result(json.loads(value or "{}"))}
        if verb == "error":
            code, _, data = value.partition(" ")
            error: dict[str, Any] = {"code": json.loads(code), "message": "it failed"}
            return message | {"error": error | ({"data": json.loads(data)} if data.strip() else {})}
        members: dict[str, Any] = json.loads(value or "{}")
        if self.case.revision == MODERN:
            members = {"_meta": META | members.pop("_meta", {}), **members}
        return message | {"method": verb} | ({"params": members} if members else {})

    def _result(self, result: Any) -> Any:
        if self.case.revision != MODERN or not isinstance(result, dict):
            return result
        return {"resultType": "complete", **result, "_meta": SERVER | result.get("_meta", {})}

    def _post(self, key: str, message: dict[str, Any], data: bytes, changes: dict[str, str]) -> None:
        self._exchange += 1
        self._of[key] = self._exchange
        if self.case.revision == MODERN:
            headers = mcp_http.request_headers(message)
        else:
            headers = mcp_http.legacy_headers(self.case.revision or "", None, message)
        self._head(Dir.C2S, RequestHead("POST", "/mcp", _changed(headers, changes)))
        self._add(Dir.C2S, Kind.BODY, data, exchange=self._exchange)

    def _answer(self, data: bytes, changes: dict[str, str], streamed: bool, ends: bool) -> None:
        if self._exchange not in self._answered:
            self._answered.add(self._exchange)
            headers = dict(SSE_HEADERS) if streamed else {"Content-Type": "application/json"}
            head = ResponseHead(int(changes.pop("status", "200")), "", _changed(headers, changes))
            self._head(Dir.S2C, head)
        if streamed:
            self._add(Dir.S2C, Kind.SSE, b"data: " + data + b"\n\n", exchange=self._exchange)
        else:
            self._add(Dir.S2C, Kind.BODY, data, exchange=self._exchange)
        if (ends or not streamed) and "open" not in changes:
            self._add(Dir.S2C, Kind.EVENT, event="eof", exchange=self._exchange)

    def _add(self, dir: Dir, kind: Kind, data: bytes = b"", **more: Any) -> None:
        self._n += 1
        self.case.records.append(Record(self._n, self._n / 1000 + self._late, dir, kind, data, **more))


def _headers(parts: list[str]) -> tuple[tuple[str, str], ...]:
    pairs = (part.partition(":") for part in parts)
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)


def _changes(text: str) -> tuple[str, dict[str, str]]:
    """A line without the brackets at its end, and what they hold."""
    match = re.search(r" \[((?:[A-Z][\w-]*: |status |open)[^\]]*)\]$", text)
    if not match:
        return text, {}
    parts = [part.strip() for part in match.group(1).split(" | ")]
    changes = {"open": ""} if "open" in parts else {}
    for part in parts:
        name, _, value = part.partition(" ")
        if name != "open":
            changes[name.rstrip(":")] = value.strip()
    return text[: match.start()], changes


def _changed(headers: dict[str, str], changes: dict[str, str]) -> tuple[tuple[str, str], ...]:
    merged = headers | {name: value for name, value in changes.items() if name not in {"open", "status"}}
    return tuple((name, value) for name, value in merged.items() if value != "-")
