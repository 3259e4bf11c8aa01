"""The curl command that sends a request over HTTP again, as it was sent, but for its secrets."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from urllib.parse import urlsplit

from mcpcheck.report.frames import SHOWN, without_secrets
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead

LONGEST: Final = 6_000
"""Longer commands are not for copying."""

PATIENT: Final = 1_000
"""Before a longer body some releases of curl ask whether it is wanted."""

_BY_ITSELF: Final = ("Accept", "Content-Type")
"""What curl adds where a request has none of it, unless told not to; its own name is left out by ``-A ''``."""

_OPEN: Final = SHOWN | {"connection", "content-length", "user-agent"}
"""Headers that hold no secret, as do those that begin with Mcp-, but for what was taken out of them."""

_HIDDEN: Final = "redacted"
_LEFT: Final = re.compile(f"[A-Za-z]+ {_HIDDEN}")  # what is left of a credential: its scheme

_PLAIN: Final = frozenset(range(0x20, 0x7F)) - frozenset(b"%\\")
"""What printf takes as it stands."""


def curl(frames: Iterable[int], records: Mapping[int, Record], base: str, *, insecure: bool = False) -> str:
    """The command for the last request that some frames speak of; empty where there is none that a shell can hold.

    ``records`` are those of the session, by number; ``base`` is the address up to the path, such as
    ``http://127.0.0.1:8000``. Secrets are replaced as in every report.
    """
    named = [records[n].exchange for n in frames if n in records and records[n].exchange is not None]
    if not named:
        return ""
    sent = [each for each in records.values() if each.exchange == named[-1] and each.dir is Dir.C2S]
    head = next((each for each in sent if isinstance(each.http, RequestHead)), None)
    body = next((each for each in sent if each.kind is Kind.BODY), None)
    line = _line(head, body, base, insecure) if head else ""
    return line if line.isprintable() and len(line) <= LONGEST else ""


def folded(line: str) -> list[str]:
    """The same command over several lines, one for each header and one for the body; a shell joins them again."""
    words = shlex.split(line)
    breaks = [at for at, word in enumerate(words) if word in {"-H", "--data-binary"}]
    if not breaks or "|" in words:
        return [line]
    parts = [words[start:end] for start, end in zip([0, *breaks], [*breaks, len(words)], strict=True)]
    return [shlex.join(part) + " \\" for part in parts[:-1]] + [shlex.join(parts[-1])]


def hides(line: str) -> bool:
    """Whether a secret is left out of the command, so that it takes the user's own in its place."""
    return _HIDDEN in line


def _line(head: Record, body: Record | None, base: str, insecure: bool) -> str:
    request = without_secrets(head).http
    if not isinstance(request, RequestHead):
        return ""
    sent = body.data if body else b""
    data = without_secrets(body).data if body else b""
    words = ["curl", "-i", "-N", *(["-k"] if insecure else []), *(["--http1.1"] if base.startswith("https") else [])]
    words += ["-A", ""] if not _has(request, "User-Agent") else []
    words += ["--head"] if request.method == "HEAD" else ["-X", request.method]
    path, question, _ = request.path.partition("?")
    where = f"{base}{path}?{_HIDDEN}" if question else base + path
    words += ["--globoff", where] if set("[]{}") & set(path) else [where]
    words += _headers(request, urlsplit(base).netloc, len(sent), bool(data))
    if not data:
        return shlex.join(words)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if text.isprintable() and not text.startswith("@"):
        return shlex.join([*words, "--data-binary", text])
    return f"printf {shlex.quote(_octal(data))} | {shlex.join([*words, '--data-binary', '@-'])}"


def _has(request: RequestHead, name: str) -> bool:
    return any(own.lower() == name.lower() for own, _ in request.headers)


def _headers(request: RequestHead, authority: str, length: int, posts: bool) -> Iterator[str]:
    """The headers as they were sent; those that curl sets as it should are left to it."""
    left = {"connection": "close", "content-length": str(length), "host": authority}
    for name, value in request.headers:
        if left.get(name.lower()) != value:
            shown = value if _is_open(name) or _LEFT.fullmatch(value) else _HIDDEN
            yield from ("-H", f"{name}: {shown}" if value else f"{name};")
    for name in _BY_ITSELF if posts else _BY_ITSELF[:1]:
        if not _has(request, name):
            yield from ("-H", f"{name}:")
    if length > PATIENT:
        yield from ("-H", "Expect:")


def _is_open(name: str) -> bool:
    return name.lower() in _OPEN or name.lower().startswith("mcp-")


def _octal(data: bytes) -> str:
    return "".join(chr(byte) if byte in _PLAIN else f"\\{byte:03o}" for byte in data)
