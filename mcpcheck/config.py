"""Settings that a team keeps: ``mcpcheck.toml``, or ``[tool.mcpcheck]`` of ``pyproject.toml``::

tools = "read-only"
baseline = "known.toml"

[arguments.search]
query = "login"

[fixtures]
"tool.elicits" = "ask_for_name"
"tool.slow" = { name = "count", arguments = { to = 500 } }
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from mcpcheck.errors import UsageError
from mcpcheck.roles import Fixture, roles

NAME = "mcpcheck.toml"
KEYS = ("tools", "baseline", "arguments", "fixtures")


@dataclass(frozen=True, slots=True)
class Config:
    """What a file settles; the command line wins over it."""

    tools: str | None = None
    baseline: Path | None = None
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fixtures: Mapping[str, Fixture] = field(default_factory=dict)


def find(folder: Path) -> Config:
    """The settings of a folder: of its mcpcheck.toml, else of its pyproject.toml; empty ones where it has none."""
    own, project = folder / NAME, folder / "pyproject.toml"
    if own.is_file():
        return load(own)
    if project.is_file():
        tables = _read(project).get("tool")
        if isinstance(tables, dict) and "mcpcheck" in tables:
            return of(tables["mcpcheck"], "pyproject.toml, [tool.mcpcheck]", folder)
    return Config()


def load(path: Path) -> Config:
    """The settings of one file; UsageError says what is wrong with it."""
    return of(_read(path), str(path), path.parent)


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from None


def of(table: Any, where: str, folder: Path) -> Config:
    """The settings in a table; ``folder`` is what paths in it start from."""
    settings = _table(table, where)
    for key in settings:
        _known(key, KEYS, f"{where}: there is no setting")
    tools, baseline = (_text(settings, key, where) for key in ("tools", "baseline"))
    arguments = _table(settings.get("arguments", {}), f"{where}: arguments")
    fixtures = _table(settings.get("fixtures", {}), f"{where}: fixtures")
    return Config(
        tools,
        folder / baseline if baseline else None,
        {name: _table(given, f"{where}: arguments.{name}") for name, given in arguments.items()},
        {role: _fixture(role, value, f"{where}: fixtures") for role, value in fixtures.items()},
    )


def _fixture(role: str, value: Any, where: str) -> Fixture:
    """One fixture: a name or URI, or a table of that and of arguments."""
    _known(role, roles(), f"{where}: there is no role")
    if isinstance(value, str):
        return Fixture(role, value, roles()[role].arguments)
    settings = _table(value, f"{where}: {role!r}")
    for key in settings:
        _known(key, ("name", "arguments"), f"{where}: {role!r} takes no")
    name = _text(settings, "name", f"{where}: {role!r}")
    if not name:
        raise UsageError(f'{where}: {role!r} needs a name, as in {{ name = "my_tool" }}')
    return Fixture(role, name, _table(settings.get("arguments", {}), f"{where}: {role!r}: arguments"))


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{where} has to be a table, and is {value!r}")
    return value


def _text(settings: Mapping[str, Any], key: str, where: str) -> str | None:
    value = settings.get(key)
    if value is None or isinstance(value, str):
        return value
    raise UsageError(f"{where}: {key} has to be a text in quotes, and is {value!r}")


def _known(key: str, known: Any, what: str) -> None:
    if key not in known:
        near = get_close_matches(key, list(known), n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
        raise UsageError(f"{what} {key!r}; {hint}")
