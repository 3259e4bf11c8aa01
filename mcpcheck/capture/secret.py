"""Where secrets stand in a payload: members, parameters of a query or a form, credentials in plain text.

``Secret`` names a stretch of the bytes; nothing is changed here. The bytes need not be JSON, nor UTF-8, nor whole.
Every pattern is bounded, so that no text takes more than linear time.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_WORDS = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "jwt",
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "assertion",
]
_PAIRS = [
    "api key",
    "access key",
    "secret key",
    "private key",
    "signing key",
    "session id",
    "code verifier",
    "device code",
]
_NAMES = [*_WORDS, *(pair.replace(" ", "") for pair in _PAIRS), *(pair.replace(" ", "[-_. ]") for pair in _PAIRS)]
"""How the name of a secret ends, in lower case."""

_PARAMETERS = ["code", "key", "sig", "signature"]
"""What is a secret as a parameter of a query or a form, and an ordinary member elsewhere."""

_SECRET = f"(?:{'|'.join(_NAMES)})"
_NAME = re.compile(_SECRET + r"\Z", re.IGNORECASE)
_NO_SECRET = re.compile(r"(?:progress|page|continuation)[-_. ]?token\Z", re.IGNORECASE)


def _ends_with(names: list[str], mark: str) -> str:
    """A pattern that looks back: the search runs from mark to mark, which is several times as fast as for the names."""
    return "|".join(f"(?<={name}{mark})" for name in names)


_IN_A_NAME = (
    b"pass",
    b"pwd",
    b"secret",
    b"token",
    b"jwt",
    b"auth",
    b"cookie",
    b"cred",
    b"assert",
    b"key",
    b"sess",
    b"code",
)
"""One of these stands in every name: several times as fast to look for in a long text."""

_LAST_TWO = "|".join(sorted({name[-2:] for name in _NAMES}))
_SOME_MEMBER = re.compile(
    f'"(?=[ \t\r\n]*+:[ \t\r\n]*+")(?<=(?:{_LAST_TWO})")(?:{_ends_with(_NAMES, chr(34))})'.encode()
)
_SOME_PARAMETER = re.compile(f"=(?:{_ends_with([*_NAMES, *_PARAMETERS], '=')})".encode())

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}\[\],]', re.DOTALL)
_COLON = re.compile(rb"[ \t\r\n]*:")
_PARAMETER = re.compile(rb"(?:^|(?<=[?&]))([\w.~%+-]{1,64}+)=([^&#\s\"'\\<>]+)")
_BEARER = re.compile(rb"(?i)\bbearer\s+((?=[\w.~+/-]{0,200}\d)[\w.~+/-]{12,}=*)")
_SETTING = re.compile(rb"[=:][ \t]{0,4}[\"']?([^\s\"',;&]{8,}+)")
_SET = re.compile(rb"([\w.-]{1,60})[\"']?[ \t]{0,4}\Z")
_DIGIT = re.compile(rb"\d")


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret at ``start`` to ``end``: what it is called, its bare value, and whether quotes belong to the stretch."""

    start: int
    end: int
    place: str
    value: bytes
    quoted: bool = False


@lru_cache(1024)  # a session's headers have the same few names
def is_secret_name(name: str) -> bool:
    """Whether a header or a member of this name holds a secret."""
    return bool(_NAME.search(name)) and not _NO_SECRET.search(name)


def is_secret_parameter(name: str) -> bool:
    """Whether a parameter of this name, in a query or a form, holds a secret."""
    return name.lower() in _PARAMETERS or is_secret_name(name)


def may_stand_in(data: bytes) -> bool:
    """False only where a text of JSON has no secret. One call serves for any number of lines; it has to be fast."""
    low = data.lower()
    return (
        _SOME_MEMBER.search(low) is not None
        or _SOME_PARAMETER.search(low) is not None
        or b"bearer " in low
        or (b"\\" in low and b"\\u00" in low)  # a name may be spelled with escapes
    )


def members(data: bytes) -> Iterator[Secret]:
    """The string members of a JSON text whose names are those of secrets, each with the path that leads to it."""
    path: list[str | int] = []
    for token in _TOKEN.finditer(data):
        match token.group()[:1]:
            case b"{":
                path.append("")
            case b"[":
                path.append(0)
            case b"}" | b"]":
                del path[-1:]
            case b",":
                if path and isinstance(at := path[-1], int):
                    path[-1] = at + 1
            case _ if path and isinstance(name := path[-1], str):
                if _COLON.match(data, token.end()):
                    path[-1] = _string(token.group()).decode("utf-8", "replace")
                elif is_secret_name(name) and len(value := _string(token.group())):
                    place = ".".join(str(part) for part in path)
                    yield Secret(token.start(), token.end(), place, value, quoted=True)


def parameters(data: bytes) -> Iterator[Secret]:
    """The secret parameters of a form, of a query, or of any address in a text."""
    if b"=" not in data:
        return
    for match in _PARAMETER.finditer(data):
        name = match.group(1).decode("ascii", "replace")
        if is_secret_parameter(name):
            yield Secret(match.start(2), match.end(2), name, _unquote(match.group(2)))


def mentions(data: bytes, *, settings: bool) -> Iterator[Secret]:
    """Bearer tokens in a text; with ``settings`` also what stands as ``NAME=value``, as in the log of a server."""
    low = data.lower()
    if b"bearer" in low:
        for match in _BEARER.finditer(data):
            yield Secret(match.start(1), match.end(1), "bearer", match.group(1))
    if settings and any(word in low for word in _IN_A_NAME):
        for match in _SETTING.finditer(data):
            name = _SET.search(data[max(0, match.start() - 70) : match.start()])
            if name is None or not _DIGIT.search(match.group(1), 0, 200):  # "token: expected" says nothing
                continue
            if is_secret_name(spelled := name.group(1).decode("utf-8", "replace")):
                yield Secret(match.start(1), match.end(1), spelled, match.group(1))


def _string(token: bytes) -> bytes:
    """What a JSON string says, its escapes resolved, so that one secret has one digest however it is spelled."""
    if b"\\" in token:
        try:
            value: str = json.loads(token, strict=False)
            return value.encode("utf-8", "surrogatepass")
        except ValueError:
            pass
    return token.strip(b'"')


def _unquote(value: bytes) -> bytes:
    if b"%" not in value and b"+" not in value:
        return value
    from urllib.parse import unquote_to_bytes

    return unquote_to_bytes(value.replace(b"+", b" "))
