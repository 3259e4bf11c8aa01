"""How a capture begins: where it goes, and its first line."""

import os
import time
from typing import Any

from mcpcheck import __version__
from mcpcheck.capture.place import default_path, name_of
from mcpcheck.capture.plain import first_line

_SUSPECTS = (
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "cred",
    "jwt",
    "auth",
    "cookie",
    "assert",
    "sess",
    "code",
    "sig",
    "@",
)


def head(started: float, transport: str, target: dict[str, Any]) -> bytes:
    """The first line of a capture that began at a time of the system's clock, without the secrets of the target."""
    seconds, micros = divmod(round(started * 1e6), 10**6)
    stamp = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{micros:06d}Z"
    by = f"mcpcheck {__version__}"
    if any(suspect in str(target).lower() for suspect in _SUSPECTS):  # else spare the start what it would cost
        from mcpcheck.capture.format import Header, header_line
        from mcpcheck.capture.redact import Redactor, redact_target

        return header_line(redact_target(Header(stamp, transport, target, by), Redactor()))
    return first_line(stamp, transport, target, by)


def place(out: str | None, started: float, label: str) -> str:
    """The file that was named, a new one in the folder that was named, or a new one in the default place."""
    name = name_of(time.strftime("%Y%m%d-%H%M%S", time.gmtime(started)), label, os.getpid())
    if out is None:
        path = default_path(name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return path
    return os.path.join(out, name) if os.path.isdir(out) else out
