"""What is proved: a requirement is, once a mutant has broken it and the check has seen that.

``python -m tests.support.proof`` writes ``tests/unproved.txt`` anew.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from mcpcheck.catalogue.load import load
from mcpcheck.catalogue.unproved import read
from mcpcheck.reference.http import HttpServer
from mcpcheck.reference.server import Server
from mcpcheck.wire.protocol import REVISIONS

ROOT = Path(__file__).resolve().parent.parent.parent
UNPROVED = ROOT / "tests" / "unproved.txt"
HEAD = """\
# Requirements that can be observed and that no mutant has broken yet, one a line. What a recording alone seems to show,
# and what a stimulus does of a server, has the reason behind it why it cannot be decided after all.
# Written by `python -m tests.support.proof`; tests/test_coverage.py holds the list to the truth.
"""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mutant of the reference server: what it breaks, what it makes look odd, and where that shows.

    ``breaks_legacy`` and ``suspects_legacy`` are the same in a session of 2025-11-25.
    """

    name: str
    server: type[Server] | type[HttpServer]
    breaks: frozenset[str]
    suspects: frozenset[str]
    breaks_legacy: frozenset[str]
    suspects_legacy: frozenset[str]
    transports: tuple[str, ...]
    revisions: tuple[str, ...]
    doc: str


def file_name(id: str) -> str:
    """The name of a requirement's mutant."""
    return id.replace(".", "_").replace("-", "_")


def modules(package: str) -> Iterator[ModuleType]:
    """The modules of a package, if there is one, by name."""
    if not (ROOT / package.replace(".", "/")).is_dir():
        return
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__):
        yield importlib.import_module(f"{package}.{found.name}")


@cache
def mutants() -> tuple[Mutant, ...]:
    """Every mutant of the server, by name."""
    return tuple(map(_mutant, modules("fixtures.mutants")))


def _mutant(module: ModuleType) -> Mutant:
    server = module.Mutant
    over_http = ("http",) if issubclass(server, HttpServer) else ("stdio", "http")
    return Mutant(
        module.__name__.rpartition(".")[2],
        server,
        frozenset(getattr(module, "BREAKS", ())),
        frozenset(getattr(module, "SUSPECTS", ())),
        frozenset(getattr(module, "BREAKS_LEGACY", ())),
        frozenset(getattr(module, "SUSPECTS_LEGACY", ())),
        tuple(getattr(module, "TRANSPORTS", over_http)),
        tuple(getattr(module, "REVISIONS", REVISIONS)),
        module.__doc__ or "",
    )


def proved() -> set[str]:
    """The ids that some mutant breaks, or makes suspect where no check may say more."""
    found: set[str] = set()
    for package in ("fixtures.mutants", "fixtures.client_mutants", "fixtures.story_mutants"):
        for module in modules(package):
            for said in ("BREAKS", "SUSPECTS", "BREAKS_LEGACY", "SUSPECTS_LEGACY"):
                found |= set(getattr(module, said, ()))
    return found


def observable() -> set[str]:
    """The ids of the requirements whose breach can be seen from outside at all."""
    return {requirement.id for requirement in load().values() if requirement.observable}


def main() -> None:
    """Write the list of what is not proved, and keep the reasons."""
    reasons = read(UNPROVED)
    lines = ((id, reasons.get(id, "")) for id in sorted(observable() - proved()))
    text = "".join(f"{id}: {reason}\n" if reason else f"{id}\n" for id, reason in lines)
    UNPROVED.write_text(HEAD + text, encoding="utf-8")


if __name__ == "__main__":
    main()
