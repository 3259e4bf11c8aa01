"""The curl command that sends a request over HTTP again, as it was sent, but for its secrets."""

import shlex
from collections.abc import Iterable, Mapping
from typing import Final

from mcpcheck.report.frames import without_secrets
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead

LONGEST: Final = 4_000
"""Longer commands are not for copying."""

_OWN: Final = frozenset({"content-length", "connection", "host"})
"""What curl sets by itself, and rightly."""


def curl(frames: Iterable[int], records: Mapping[int, Record], base: str) -> str:
    """The command for the last request that some frames speak of; empty where there is none that a shell can hold.

    ``records`` are those of the session, by number; ``base`` is the address up to the path, such as
    ``http://127.0.0.1:8000``. Secrets are replaced as in every report.
    """
    named = [records[n].exchange for n in frames if n in records and records[n].exchange is not None]
    if not named:
        return ""
    return _command([record for record in records.values() if record.exchange == named[-1]], base)


def _command(records: Iterable[Record], base: str) -> str:
    own = [without_secrets(record) for record in records if record.dir is Dir.C2S]
    heads = [record for record in own if record.kind is Kind.HEAD and isinstance(record.http, RequestHead)]
    head = heads[0].http if heads else None
    if not isinstance(head, RequestHead) or "?" in head.path:
        return ""
    body = next((record.data for record in own if record.kind is Kind.BODY), b"")
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return ""
    words = ["curl", "-i", "-N", "-X", head.method, base + head.path]
    for name, value in head.headers:
        if name.lower() not in _OWN:
            words += ["-H", f"{name}: {value}" if value else f"{name};"]
    if text:
        words += ["--data-binary", text]
    line = shlex.join(words)
    plain = all(character.isprintable() for character in line)
    return line if plain and len(line) <= LONGEST else ""
