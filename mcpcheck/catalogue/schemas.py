"""The shapes of messages, by revision: one verdict that is fast, and one explanation that a person can use.

jsonschema-rs judges, since every message of a session passes here. jsonschema explains, once something is wrong. Both
read the same ``specs/schema/<revision>.json``, and a test holds that they agree.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from mcpcheck.catalogue.place import specs_root
from mcpcheck.catalogue.problems import Problem
from mcpcheck.errors import UsageError

_DEEPEST: Final = 64
"""No shape looks further into a value than this, so that what lies deeper may be cut off."""


@dataclass(frozen=True, slots=True)
class Message:
    """What the revision says of a method: its type, who sends it, and what answers it.

    ``instead`` names what may come in place of ``result``: an InputRequiredResult, or a CreateTaskResult where the
    request asked for a task. Both are empty for a notification.
    """

    method: str
    type: str
    senders: frozenset[str] = frozenset()
    result: str | None = None
    instead: tuple[str, ...] = ()


class Schemas:
    """The message types of one revision. Use ``Schemas.for_revision``."""

    def __init__(self, revision: str, document: dict[str, Any]) -> None:
        self.revision = revision
        self._document = {key: value for key, value in document.items() if key != "x-messages"}
        self._types = frozenset(document["$defs"])
        self._validators: dict[str, Any] = {}
        tables = document["x-messages"]
        self.requests: Mapping[str, Message] = _messages(tables["requests"])
        self.inputs: Mapping[str, Message] = _messages(tables["inputs"])
        self.notifications: Mapping[str, Message] = _messages(tables["notifications"])
        self._errors: dict[int, str] = {int(code): name for code, name in tables["errors"].items()}

    @staticmethod
    def for_revision(revision: str) -> "Schemas":
        """The shapes of a released revision; a UsageError for any other."""
        return _load(revision)

    def types(self) -> frozenset[str]:
        """The name of every type, as the specification writes it."""
        return self._types

    def valid(self, type_name: str, value: Any) -> bool:
        """Whether a value has the shape of a type."""
        validator = self._validators.get(type_name) or self._compile(type_name)
        try:
            if validator.is_valid(value):
                return True
        except UnicodeEncodeError:
            pass
        return bool(validator.is_valid(_plain(value)))

    def problems(self, type_name: str, value: Any) -> tuple[Problem, ...]:
        """What is wrong with a value, the outermost first; nothing where it is valid. At most fifty."""
        from mcpcheck.catalogue.problems import find

        return find(self._schema(type_name), _plain(value))

    def explain(self, type_name: str, value: Any, at: str = "") -> str:
        """What is wrong with a value, in one sentence; ``at`` is the place of the value itself, "result" say."""
        found = self.problems(type_name, value)
        if not found:
            return ""
        others = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return found[0].text(at) + others

    def request_type(self, method: str) -> str | None:
        """The type of a request that is sent by itself."""
        return message.type if (message := self.requests.get(method)) else None

    def result_type(self, method: str) -> str | None:
        """The type of the result that answers a request when it is done."""
        return message.result if (message := self.requests.get(method)) else None

    def instead_types(self, method: str) -> tuple[str, ...]:
        """The types that may come in place of a request's own result."""
        return message.instead if (message := self.requests.get(method)) else ()

    def input_type(self, method: str) -> str | None:
        """The type of a request inside an InputRequiredResult."""
        return message.type if (message := self.inputs.get(method)) else None

    def input_result_type(self, method: str) -> str | None:
        """The type of the entry of inputResponses that answers such a request."""
        return message.result if (message := self.inputs.get(method)) else None

    def notification_type(self, method: str) -> str | None:
        """The type of a notification."""
        return message.type if (message := self.notifications.get(method)) else None

    def error_type(self, code: object) -> str | None:
        """The type of a whole error response whose code demands more than every error response has."""
        return self._errors.get(code) if type(code) is int else None

    def _schema(self, type_name: str) -> dict[str, Any]:
        if type_name not in self._types:
            raise KeyError(f"{self.revision} has no type {type_name}")
        return self._document | {"$ref": f"#/$defs/{type_name}"}

    def _compile(self, type_name: str) -> Any:
        import jsonschema_rs

        validator = jsonschema_rs.Draft202012Validator(self._schema(type_name), validate_formats=False)
        self._validators[type_name] = validator
        return validator


@cache
def _load(revision: str) -> Schemas:
    folder = specs_root() / "schema"
    known = sorted(path.stem for path in folder.glob("*.json"))
    if revision not in known:
        raise UsageError(f"there are no message shapes of {revision!r}; there are those of {', '.join(known)}")
    return Schemas(revision, json.loads((folder / f"{revision}.json").read_text(encoding="utf-8")))


def _messages(table: dict[str, dict[str, Any]]) -> dict[str, Message]:
    return {
        method: Message(
            method,
            entry["type"],
            frozenset(entry.get("from", ())),
            entry.get("result"),
            tuple(entry.get("instead", ())),
        )
        for method, entry in table.items()
    }


def _plain(value: Any, depth: int = 0) -> Any:
    """The value without what a validator cannot hold: lone surrogates, numbers past a float's range, endless depth.

    1e400 is a number in JSON and an infinity in Python, which jsonschema-rs takes for null; a NaN is no JSON at all.
    """
    match value:
        case str():
            return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
        case float() if not math.isfinite(value):
            return None if math.isnan(value) else math.copysign(1.5e308, value)
        case int() if value.bit_length() > 1024:
            return 10**308 if value > 0 else -(10**308)
        case dict():
            if depth == _DEEPEST:
                return {}
            return {_plain(key): _plain(item, depth + 1) for key, item in value.items()}
        case list():
            return [] if depth == _DEEPEST else [_plain(item, depth + 1) for item in value]
    return value
