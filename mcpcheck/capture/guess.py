"""Guess: who sent a message that a recording does not say it of, by what the message is and what came before it.

None where it could have been either side: a message of which that is unknown is better left out than judged wrong.
"""

import json
from collections import OrderedDict
from typing import Any, Final

from mcpcheck.wire.event import Message, Notification, Request
from mcpcheck.wire.protocol import MODERN_METHODS, PROTOCOL_VERSION, SUBSCRIPTION_ID
from mcpcheck.wire.record import Dir

FROM_CLIENT: Final = MODERN_METHODS | {
    "initialize",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "notifications/initialized",
    "notifications/roots/list_changed",
}
FROM_SERVER: Final = frozenset(
    {
        "sampling/createMessage",
        "roots/list",
        "elicitation/create",
        "notifications/message",
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
        "notifications/subscriptions/acknowledged",
        "notifications/elicitation/complete",
    }
)
_MARKS: Final = {
    "initialize": {"protocolVersion", "serverInfo"},
    "server/discover": {"supportedVersions"},
    "tools/list": {"tools"},
    "tools/call": {"content", "structuredContent", "task"},
    "prompts/list": {"prompts"},
    "prompts/get": {"messages"},
    "resources/list": {"resources"},
    "resources/templates/list": {"resourceTemplates"},
    "resources/read": {"contents"},
    "completion/complete": {"completion"},
    "sampling/createMessage": {"role", "model"},
    "roots/list": {"roots"},
    "elicitation/create": {"action"},
}
"""What the result of a method has, and that of no other."""

_MOST: Final = 10_000
"""How many open requests, and how many tokens, of one side are kept."""

Key = tuple[str, Any]


def is_known(method: str) -> bool:
    """Whether a method is the protocol's own, and says which side sent it."""
    return method in FROM_CLIENT or method in FROM_SERVER


def key(id: Any) -> Key:
    """A hashable form of an id of any JSON type."""
    if id is None or isinstance(id, str | int | float):
        return type(id).__name__, id
    return "other", json.dumps(id, sort_keys=True, default=str)


class Guess:
    """Is told of messages in order, each with its kind, and says which way each went."""

    def __init__(self) -> None:
        self._open: dict[Dir, OrderedDict[Key, str]] = {dir: OrderedDict() for dir in Dir}
        self._tokens: dict[Dir, OrderedDict[Key, None]] = {dir: OrderedDict() for dir in Dir}
        self._murky: dict[Dir, OrderedDict[Key, None]] = {dir: OrderedDict() for dir in Dir}
        self._unknown: OrderedDict[Key, None] = OrderedDict()  # open requests that either side may have sent
        self._last: dict[Dir, Any] = {}  # the id of the last request

    def tell(self, value: Any, kind: type[Message] | None) -> Dir | None:
        """Who sent a message, as far as that can be told."""
        if kind is Request:
            return self._asker(value["id"], value["method"], _meta(value))
        if kind is Notification:
            return self._notification(value)
        return self._answer(value) if isinstance(value, dict) and "method" not in value else None

    def is_murky(self, value: Any, kind: type[Message] | None, dir: Dir | None) -> bool:
        """Whether several open requests of one side have this id, so that their answers cannot be told apart.

        That stays so for the id: nobody knows which request its next answer belongs to.
        """
        if dir is None or not isinstance(value, dict) or "id" not in value or kind is Notification:
            return False
        id = key(value["id"])
        if kind is not Request:
            return id in self._murky[dir.other]
        if id in self._open[dir]:
            _keep(self._murky[dir], id, None)
        return id in self._murky[dir]

    def is_stray(self, value: Any, kind: type[Message] | None) -> bool:
        """Whether something is meant as an answer to what was not seen."""
        if kind in (Request, Notification) or not isinstance(value, dict):
            return False
        return "id" not in value or key(value["id"]) not in self._unknown

    def note(self, value: Any, kind: type[Message] | None, dir: Dir | None) -> None:
        """Take a message in, so that others can be told by it; ``dir`` is None where nobody knows."""
        if kind is Request:
            self._asked(value, dir)
        elif kind is not Notification and isinstance(value, dict) and "id" in value:
            self._settle(key(value["id"]), dir)

    def _asked(self, value: dict[str, Any], dir: Dir | None) -> None:
        id, meta = key(value["id"]), _meta(value)
        if dir is None:
            _keep(self._unknown, id, None)
            return
        _keep(self._open[dir], id, value["method"])
        self._last[dir] = value["id"]
        if "progressToken" in meta:
            _keep(self._tokens[dir], key(meta["progressToken"]), None)

    def _asker(self, id: Any, method: str, meta: dict[str, Any]) -> Dir | None:
        if method in FROM_SERVER:
            return Dir.S2C
        if method in FROM_CLIENT or PROTOCOL_VERSION in meta:
            return Dir.C2S
        if method.startswith("tasks/"):
            return None  # in 2025-11-25 either side may ask for the other's tasks
        return _only([dir for dir in Dir if self._is_next(dir, id)])

    def _is_next(self, dir: Dir, id: Any) -> bool:
        """Whether a side that counts would use this id now, and the other side, as far as it is known, would not."""
        own, other = self._last.get(dir), self._last.get(dir.other)
        if type(id) is not int:
            return False
        if type(own) is int:
            return id == own + 1 and (dir.other in self._last or id > 1)
        return dir not in self._last and id in (0, 1) and type(other) is int and id <= other

    def _notification(self, value: dict[str, Any]) -> Dir | None:
        method = value["method"]
        if method in FROM_SERVER or SUBSCRIPTION_ID in _meta(value):
            return Dir.S2C
        if method in FROM_CLIENT:
            return Dir.C2S
        params = value.get("params")
        if not isinstance(params, dict):
            return None
        if method == "notifications/progress":
            token = key(params.get("progressToken"))
            asker = _only([dir for dir in Dir if token in self._tokens[dir]])
            return asker.other if asker else None
        if method == "notifications/cancelled":
            cancelled = key(params.get("requestId"))
            return None if cancelled in self._unknown else _only([dir for dir in Dir if cancelled in self._open[dir]])
        return None

    def _answer(self, value: dict[str, Any]) -> Dir | None:
        if value.get("id") is None:
            return None
        id = key(value["id"])
        askers = [dir for dir in Dir if id in self._open[dir]]
        if len(askers) + (id in self._unknown) > 1:
            fitting = [dir for dir in askers if _fits(self._open[dir][id], value.get("result"))]
            asker = _only(fitting)
        elif not askers and id not in self._unknown:
            asker = self._asker_of_alike(value["id"])
        else:
            asker = _only(askers)
        return asker.other if asker else None

    def _asker_of_alike(self, id: Any) -> Dir | None:
        """Who sent the only open request whose id differs from this one in its type alone."""
        if not isinstance(id, str | int | float):
            return None
        told = str(id).strip()
        return _only([dir for dir in Dir for _, other in self._open[dir] if str(other) == told])

    def _settle(self, id: Key, dir: Dir | None) -> None:
        if dir is not None:
            self._open[dir.other].pop(id, None)
        elif not any(id in side for side in self._open.values()):
            self._unknown.pop(id, None)


def _fits(method: str, result: Any) -> bool:
    return isinstance(result, dict) and bool(_MARKS.get(method, set()) & result.keys())


def _meta(value: dict[str, Any]) -> dict[str, Any]:
    params = value.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _only(dirs: list[Dir]) -> Dir | None:
    return dirs[0] if len(dirs) == 1 else None


def _keep(among: OrderedDict[Key, Any], id: Key, what: Any) -> None:
    among[id] = what
    among.move_to_end(id)
    if len(among) > _MOST:
        among.popitem(last=False)
