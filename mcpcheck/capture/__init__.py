"""The recorded form of a session: NDJSON, format 1. Reader, writer, and what never reaches the disk."""

from mcpcheck.capture.format import Header
from mcpcheck.capture.redact import Redactor
from mcpcheck.capture.store import Capture, Writer, create, open_capture, read, write_capture

__all__ = ["Capture", "Header", "Redactor", "Writer", "create", "open_capture", "read", "write_capture"]
