"""What no mutant has broken yet: tests/unproved.txt, which the wheel brings along."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from mcpcheck.catalogue.place import specs_root


def place() -> Path:
    """Where the list is: in the wheel beside the catalogue, in a checkout among the tests."""
    inside = specs_root() / "unproved.txt"
    return inside if inside.is_file() else specs_root().parent / "tests" / "unproved.txt"


def read(path: Path) -> dict[str, str]:
    """The ids of a list, each with the reason that stands behind it, where one does."""
    lines = (
        line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and not line.startswith("#")
    )
    parts = (line.partition(":") for line in lines)
    return {id.strip(): reason.strip() for id, _, reason in parts}


@cache
def unproved() -> Mapping[str, str]:
    """The observable requirements that no mutant proves. A reason says why a recording alone cannot decide it."""
    return read(place())
