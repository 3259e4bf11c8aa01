"""The recorded form of a session: NDJSON, format 1. Reader, writer, what never reaches the disk, and foreign forms."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcpcheck.capture.file import create
    from mcpcheck.capture.format import Header
    from mcpcheck.capture.redact import Redactor
    from mcpcheck.capture.sniff import open_any
    from mcpcheck.capture.store import Capture, Writer, open_capture, read, write_capture

__all__ = ["Capture", "Header", "Redactor", "Writer", "create", "open_any", "open_capture", "read", "write_capture"]

_HOMES = {"Header": "format", "Redactor": "redact", "create": "file", "open_any": "sniff"}


def __getattr__(name: str) -> Any:
    """A public name, from its module, when it is first used: the tap needs few of them, and has to start fast."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'store')}"), name)
