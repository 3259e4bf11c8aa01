"""Fixtures by role: what a scenario may ask a server for, and where it is found (specs/fixtures.toml)."""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from mcpcheck.catalogue.place import specs_root
from mcpcheck.scenarios.registry import Untestable

METHODS: Final = {"tool": "tools/call", "prompt": "prompts/get", "resource": "resources/read"}


@dataclass(frozen=True, slots=True)
class Role:
    """Something that a server may offer, the official suite's names for it, and how to describe it to an author.

    ``arguments`` are what it is used with.
    """

    name: str
    names: tuple[str, ...]
    says: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fixture:
    """Where a role is found on a server: a request that uses it.

    ``shown``: found by what it once answered, so that it need not keep to what the role says.
    """

    role: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    shown: bool = False

    @property
    def method(self) -> str:
        return METHODS[self.role.partition(".")[0]]

    @property
    def params(self) -> dict[str, Any]:
        """The params of the request, without _meta."""
        if self.method == "resources/read":
            return {"uri": self.name}
        return {"name": self.name, "arguments": dict(self.arguments)}


@cache
def roles() -> dict[str, Role]:
    """Every role by its name, such as ``tool.elicits``."""
    with (specs_root() / "fixtures.toml").open("rb") as file:
        tables = tomllib.load(file)
    return {
        f"{kind}.{name}": Role(f"{kind}.{name}", tuple(role["names"]), role["says"], role.get("arguments", {}))
        for kind, group in tables.items()
        for name, role in group.items()
    }


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """Which tools may be called: ``none``, ``read-only`` (those that say readOnlyHint), ``all``, or these names.

    Tools whose names are the official suite's fixtures are made to be called, and always may be, but for ``none``.
    """

    mode: str = "read-only"
    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str) -> "ToolPolicy":
        """Read the value of ``--tools``."""
        if text in {"none", "read-only", "all"}:
            return cls(text)
        return cls("names", frozenset(name.strip() for name in text.split(",") if name.strip()))

    def allows(self, tool: Mapping[str, Any]) -> bool:
        name = tool.get("name")
        if self.mode == "none":
            return False
        if self.mode == "all" or name in self.names or name in _official_names():
            return True
        annotations = tool.get("annotations")
        read_only = isinstance(annotations, dict) and annotations.get("readOnlyHint") is True
        return self.mode == "read-only" and read_only

    def hint(self, name: str) -> str:
        """What a user can do so that a forbidden tool is tested."""
        return (
            f"the tool {name!r} may not be called by --tools {self.mode}; allow it with --tools {name} or --tools all"
        )


@cache
def _official_names() -> Collection[str]:
    return frozenset(name for role in roles().values() for name in role.names)


def missing(role: str, slow: Collection[str] = ()) -> Untestable:
    """The verdict for a role that a server does not offer, or that is one of those that were too slow to show it."""
    perhaps = f"; {', '.join(sorted(slow))} may be that, but took too long to answer" if slow else ""
    return Untestable(
        f"the server offers nothing in the role {role}: {roles()[role].says}{perhaps} (mcpcheck explain fixture.{role})"
    )
