"""Pagination: lists in pages, with cursors that any process of the server understands."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any, ClassVar

from mcpcheck.reference.call import Call, InvalidParams, Json
from mcpcheck.reference.core import Core


class Paging(Core):
    """Cuts lists into pages."""

    PAGE_SIZES: ClassVar[dict[str, int]] = {
        "tools/list": 50,
        "prompts/list": 6,
        "resources/list": 6,
        "resources/templates/list": 1,
    }
    """How many items a page holds, by method."""

    def page(self, call: Call, name: str, items: Sequence[Json]) -> dict[str, Json]:
        """The page that a request's cursor stands for, as the member ``name`` of a result."""
        start = self.read_cursor(call, len(items))
        end = start + self.page_size(call)
        result: dict[str, Any] = {name: list(items[start:end])}
        if end < len(items):
            result["nextCursor"] = self.next_cursor(call, end)
        return result

    def page_size(self, call: Call) -> int:
        """How many items a page of this list holds."""
        return self.PAGE_SIZES[call.method]

    def next_cursor(self, call: Call, position: int) -> Json:
        """An opaque string for a position in a list."""
        return base64.urlsafe_b64encode(f"{call.method}:{position}".encode()).decode()

    def read_cursor(self, call: Call, length: int) -> int:
        """The position that a request's cursor stands for; 0 without one."""
        if "cursor" not in call.params:
            return 0
        position = self.position(call, call.params["cursor"], length)
        return self.invalid_cursor(call) if position is None else position

    def position(self, call: Call, cursor: Json, length: int) -> int | None:
        """The position in a cursor of this very list; None for anything else."""
        if not isinstance(cursor, str):
            return None
        try:
            method, _, position = base64.b64decode(cursor, b"-_", validate=True).decode().rpartition(":")
        except (binascii.Error, ValueError):
            return None
        if method != call.method or not (position.isascii() and position.isdigit()) or len(position) > 9:
            return None
        start = int(position)
        known = self.next_cursor(call, start) == cursor and start in range(0, length, self.page_size(call))
        return start if known and start > 0 else None

    def invalid_cursor(self, call: Call) -> int:
        """What is done about a cursor that was never handed out: the request is refused."""
        raise InvalidParams("Invalid cursor")
