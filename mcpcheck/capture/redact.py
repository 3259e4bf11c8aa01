"""What never reaches the disk. A salted digest stands for each secret, so that two equal ones still show as equal.

Only the secret's own bytes are replaced; the rest of a payload stays as it was sent. ``Record.redacted`` names the
places.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from mcpcheck.capture import secret
from mcpcheck.capture.format import Header
from mcpcheck.capture.secret import Secret
from mcpcheck.wire.record import Kind, Record, RequestHead, ResponseHead

_DONE = re.compile(rb"(?:[A-Za-z]+ +)?redacted-[0-9a-f]{12}")
_SCHEME = re.compile(rb"([A-Za-z]+ +)(\S.*)", re.DOTALL)
_USERINFO = re.compile(r"(?<=://)[^/@\s]*:[^/@\s]*(?=@)")
_DATA_LINE = re.compile(rb"(?:^|(?<=[\r\n]))data(?:: ?|(?=[\r\n]|\Z))([^\r\n]*)")
_ADDRESSES = frozenset({"location", "referer", "content-location", "link"})


class Redactor:
    """Replaces secrets by digests under one salt: share one between captures whose secrets are to be compared."""

    def __init__(self, salt: bytes | None = None) -> None:
        self._salt = os.urandom(16) if salt is None else salt

    def digest(self, value: bytes) -> bytes:
        """What stands for a secret. Plain ASCII letters, digits and a hyphen, so that it can stand anywhere."""
        from hashlib import blake2b  # late: the tap has to start fast

        return b"redacted-" + blake2b(value, key=self._salt, digest_size=6).hexdigest().encode()

    def record(self, record: Record) -> Record:
        """The record without its secrets; the very same one where it holds none."""
        if record.kind is Kind.EVENT:
            return record
        if record.kind is Kind.HEAD:
            return self._head(record)
        if _looks_like_json(record) and not secret.may_stand_in(record.data):
            return record
        return self._payload(record)

    def _payload(self, record: Record) -> Record:
        data = record.data
        json_or_event = _looks_like_json(record) or record.kind is Kind.SSE
        found = _members(record) if json_or_event else []
        found += _placed("raw", secret.parameters(data))
        found += _placed("raw", secret.mentions(data, settings=not json_or_event))
        cleaned, places = self._replaced(data, found)
        return replace(record, data=cleaned, redacted=(*record.redacted, *places)) if places else record

    def _replaced(self, data: bytes, found: list[Secret]) -> tuple[bytes, list[str]]:
        out: list[bytes] = []
        places: list[str] = []
        at = 0
        for one in sorted(found, key=lambda each: each.start):
            if one.start < at or _DONE.fullmatch(one.value):
                continue
            new = self._stand_in(one.place, one.value)
            out += [data[at : one.start], b'"%b"' % new if one.quoted else new]
            at = one.end
            if one.place not in places:
                places.append(one.place)
        return b"".join((*out, data[at:])), places

    def _stand_in(self, place: str, value: bytes) -> bytes:
        """The digest; before it the authentication scheme, which is no secret and has its own rules."""
        if place.lower().endswith("authorization") and (match := _SCHEME.fullmatch(value)):
            return match.group(1) + self.digest(match.group(2))
        return self.digest(value)

    def _head(self, record: Record) -> Record:
        head = record.http
        if head is None:
            return record
        places: list[str] = []
        headers = tuple((name, self._header(name, value, places)) for name, value in head.headers)
        clean: RequestHead | ResponseHead
        if isinstance(head, RequestHead):
            path = self.address(head.path, "http.path", places)
            clean = RequestHead(head.method, path, headers)
        else:
            clean = ResponseHead(head.status, head.reason, headers)
        return replace(record, http=clean, redacted=(*record.redacted, *places)) if places else record

    def _header(self, name: str, value: str, places: list[str]) -> str:
        place = f"http.headers.{name}"
        if secret.is_secret_name(name) and value:
            spelled = value.encode("utf-8", "surrogatepass")
            if not _DONE.fullmatch(spelled):
                places.append(place)
                return self._stand_in(name, spelled).decode("utf-8", "replace")
        elif name.lower() in _ADDRESSES:
            return self.address(value, place, places)
        return value

    def address(self, url: str, place: str, places: list[str]) -> str:
        """A URL or a path without the secrets of its query, and without its password."""
        if _USERINFO.search(url):
            url = _USERINFO.sub(lambda m: self.digest(m.group().encode("utf-8", "replace")).decode(), url)
            places.append(f"{place}.userinfo")
        spelled = url.encode("utf-8", "surrogatepass")
        found = [one for one in secret.parameters(spelled) if one.start and spelled[: one.start].count(b"?")]
        cleaned, more = self._replaced(spelled, list(_placed(place, found)))
        places += more
        return cleaned.decode("utf-8", "surrogatepass")

    def command(self, words: Iterable[str]) -> list[str]:
        """A command line without the secrets in it: ``--token X``, ``--token=X``, ``TOKEN=X``."""
        out: list[str] = []
        follows = False
        for word in words:
            name, equals, value = word.partition("=")
            if follows and not word.startswith("-"):
                word = self.digest(word.encode("utf-8", "surrogateescape")).decode()
            elif equals and value and secret.is_secret_name(name):
                word = f"{name}={self.digest(value.encode('utf-8', 'surrogateescape')).decode()}"
            follows = word.startswith("-") and not equals and secret.is_secret_name(name)
            out.append(word)
        return out


def redact_target(header: Header, redactor: Redactor) -> Header:
    """The header of a capture without the secrets of its command line or address."""
    target: dict[str, Any] = dict(header.target)
    if isinstance(command := target.get("command"), list):
        target["command"] = redactor.command(command)
    if isinstance(url := target.get("url"), str):
        target["url"] = redactor.address(url, "target.url", [])
    return replace(header, target=target)


def _looks_like_json(record: Record) -> bool:
    return record.kind is not Kind.STDERR and record.data[:64].lstrip()[:1] in (b"{", b"[")


def _members(record: Record) -> list[Secret]:
    if record.kind is not Kind.SSE:
        return _placed("msg", secret.members(record.data))
    # The data of an event may be spread over lines: look at it as one text, and lead each place back to its line.
    data, starts = bytearray(), []
    for match in _DATA_LINE.finditer(record.data):
        starts.append((len(data), match.start(1)))
        data += match.group(1) + b"\n"
    found = []
    for one in _placed("msg", secret.members(bytes(data))):
        line, raw = max(start for start in starts if start[0] <= one.start)
        found.append(replace(one, start=one.start - line + raw, end=one.end - line + raw))
    return found


def _placed(before: str, found: Iterable[Secret]) -> list[Secret]:
    return [replace(one, place=f"{before}.{one.place}") for one in found]
