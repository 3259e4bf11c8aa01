"""specs/requirements to a Catalogue: found in the package or in the checkout, and checked while it is read."""

import difflib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from mcpcheck.catalogue.place import specs_root
from mcpcheck.catalogue.requirement import Level, Observe, Requirement
from mcpcheck.errors import UsageError
from mcpcheck.wire.protocol import REVISIONS

ROLES: Final = frozenset({"client", "server", "both", "intermediary", "authorization-server"})
TRANSPORTS: Final = frozenset({"any", "stdio", "http", "sse"})


class CatalogueError(ValueError):
    """The files in specs/ are not as they have to be: a fault of the project, not of a peer or a user."""


class Catalogue(Mapping[str, Requirement]):
    """Every requirement by its id, in the order of the files."""

    def __init__(self, requirements: Iterable[Requirement]) -> None:
        self._by_id: dict[str, Requirement] = {}
        for requirement in requirements:
            if requirement.id in self._by_id:
                raise CatalogueError(f"the id {requirement.id} stands twice in specs/requirements")
            self._by_id[requirement.id] = requirement

    def __getitem__(self, id: str) -> Requirement:
        return self._by_id[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    def find(self, id: str) -> Requirement:
        """One requirement; a UsageError that names the nearest ids where there is none."""
        if id in self._by_id:
            return self._by_id[id]
        raise UsageError(f"there is no requirement {id!r}{self.suggestion(id)}")

    def select(self, prefixes: Iterable[str]) -> frozenset[str]:
        """The ids under any of the prefixes; whole parts only, so http.header does not take http.headers."""
        chosen: set[str] = set()
        for prefix in prefixes:
            under = {id for id in self._by_id if matches(id, prefix)}
            if not under:
                raise UsageError(f"no requirement is under {prefix!r}{self.suggestion(prefix)}")
            chosen |= under
        return frozenset(chosen)

    def suggestion(self, id: str) -> str:
        """Words that name the ids and prefixes nearest to a mistyped one, ready to follow a sentence."""
        parts = id.count(".") + 1
        heads = {".".join(known.split(".")[:parts]) for known in self._by_id}
        near = difflib.get_close_matches(id, sorted(heads | set(self._by_id)), n=3, cutoff=0.5)
        return f"; the nearest are {', '.join(near)}" if near else "; `mcpcheck spec` lists them all"


def matches(id: str, prefix: str) -> bool:
    """Whether an id is the prefix or lies under it; a prefix may end in the middle of its last part."""
    return id == prefix or id.startswith(prefix if prefix.endswith(".") else prefix + ".") or _part(id, prefix)


def _part(id: str, prefix: str) -> bool:
    head = id[: len(prefix)]
    return head == prefix and id[len(prefix) : len(prefix) + 1] in {"-", "s"}


@cache
def load() -> Catalogue:
    """The project's catalogue."""
    folder = specs_root() / "requirements"
    return Catalogue(requirement for path in sorted(folder.glob("*.toml")) for requirement in read(path))


def read(path: Path) -> Iterator[Requirement]:
    """The requirements of one file."""
    with path.open("rb") as file:
        tables = tomllib.load(file).get("requirement", [])
    for table in tables:
        try:
            yield _requirement(table)
        except (KeyError, ValueError, TypeError) as error:
            raise CatalogueError(f"{path.name}: {table.get('id', 'a table without id')}: {error}") from None


def _requirement(table: dict[str, Any]) -> Requirement:
    values = dict(table)
    lists = {key: tuple(values.pop(key, ())) for key in ("transports", "revisions", "official", "see")}
    requirement = Requirement(
        level=Level(values.pop("level")),
        observe=Observe(values.pop("observe")),
        transports=frozenset(lists["transports"]),
        revisions=lists["revisions"],
        official=lists["official"],
        see=lists["see"],
        **values,
    )
    if requirement.role not in ROLES:
        raise ValueError(f"role is {requirement.role!r}")
    if not requirement.transports or not requirement.transports <= TRANSPORTS:
        raise ValueError(f"transports are {sorted(requirement.transports)}")
    if not requirement.revisions or not set(requirement.revisions) <= set(REVISIONS):
        raise ValueError(f"revisions are {requirement.revisions}")
    return requirement
