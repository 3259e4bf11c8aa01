"""Fixtures by role: what a scenario may ask a server for, and where it is found (specs/fixtures.toml)."""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final
from urllib.parse import quote

from mcpcheck.catalogue.place import specs_root
from mcpcheck.scenarios.registry import Untestable

METHODS: Final = {
    "tool": "tools/call",
    "prompt": "prompts/get",
    "resource": "resources/read",
    "template": "resources/read",
}
MADE_FOR_TESTS: Final = ("test_", "json_schema_2020_12_")
"""How the names of tools begin that nobody has by chance."""
_VARIABLE = re.compile(r"\{([A-Za-z0-9_]+)\}")


def expand(template: str, arguments: Mapping[str, Any]) -> str:
    """The URI that a template of simple variables makes of their values."""
    return _VARIABLE.sub(lambda match: quote(str(arguments.get(match[1], "")), safe=""), template)


@dataclass(frozen=True, slots=True)
class Role:
    """Something that a server may offer, the names by which it is known, and how to describe it to an author.

    ``arguments`` are what it is used with.
    """

    name: str
    names: tuple[str, ...]
    says: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return self.name.partition(".")[0]


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
            return {"uri": expand(self.name, self.arguments) if self.role.startswith("template.") else self.name}
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

    Tools that bear the names of fixtures are made to be called, and always may be, but for ``none``.
    """

    mode: str = "read-only"
    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str) -> "ToolPolicy":
        """Read the value of ``--tools``."""
        if text in {"none", "read-only", "all"}:
            return cls(text)
        return cls("names", frozenset(name.strip() for name in text.split(",") if name.strip()))

    def with_names(self, names: Iterable[str]) -> "ToolPolicy":
        """The policy that allows these tools, too, unless it allows none: who names a fixture wants it used."""
        return replace(self, names=self.names | set(names))

    def allows(self, tool: Mapping[str, Any]) -> bool:
        name = tool.get("name")
        if self.mode == "none":
            return False
        if self.mode == "all" or name in self.names or name in _made_for_tests():
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
def _made_for_tests() -> Collection[str]:
    names = frozenset(name for role in roles().values() for name in role.names)
    return frozenset(name for name in names if name.startswith(MADE_FOR_TESTS))


@cache
def is_known(kind: str, name: str) -> bool:
    """Whether a name is that of a fixture, whose role needs no finding."""
    return any(role.kind == kind and name in role.names for role in roles().values())


@cache
def known_arguments(kind: str, name: str) -> Mapping[str, Any]:
    """What a prompt or template that bears the name of a fixture is used with; nothing where it bears none."""
    return next((role.arguments for role in roles().values() if role.kind == kind and name in role.names), {})


def missing(role: str, slow: Collection[str] = ()) -> Untestable:
    """The verdict for a role that a server does not offer, or that is one of those that were too slow to show it."""
    perhaps = f"; {', '.join(sorted(slow))} may be that, but took too long to answer" if slow else ""
    return Untestable(
        f"the server offers nothing in the role {role}: {roles()[role].says}{perhaps} (mcpcheck explain fixture.{role})"
    )
