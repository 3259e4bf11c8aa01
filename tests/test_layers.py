"""The import order: a lower room never knows a higher one, and the tap starts without what is heavy."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mcpcheck

PACKAGE = Path(mcpcheck.__file__).parent

CORE = [
    "errors",
    "wire",
    "capture",
    "session",
    "catalogue",
    "verdict",
    "rules",
    "engine",
    "ledger",
    "baseline",
    "report",
]
SHELL = [
    "transports",
    "listening",
    "tap",
    "lint",
    "scenarios.registry",  # the decorator and its exceptions: what peers raise stands below them
    "roles",
    "config",
    "arguments",
    "inputs",
    "reply",
    "overload",
    "peer",
    "client_peer",
    "lab",
    "nobody",
    "survey",
    "scenarios",
    "scope",
    "older",
    "conform",
    "conform_client",
    "live",
    "fuzz",
    "cli",
    "plugin_fixtures",
    "pytest_plugin",
]
BESIDE: dict[str, set[str]] = {"reference": {"wire", "catalogue"}}
"""What stands beside the order, with all that it may import."""
SERVING = {"mcpcheck.reference.serve", "mcpcheck.reference.endpoint"}
"""What puts the reference on a real stream: the only modules beside the order that do I/O."""
NO_IO = {"anyio", "asyncio", "socket", "subprocess", "time", "random"}
HEAVY = {
    "mcp",
    "pydantic",
    "hypothesis",
    "jsonschema",
    "jsonschema_rs",
    "rich",
    "mcpcheck.rules",
    "mcpcheck.report",
    "mcpcheck.catalogue",
}


def room(module: str) -> str:
    """The first part of a module's name inside the package; the package itself belongs to everyone."""
    parts = module.split(".")[1:]
    return ".".join(parts[:2]) if ".".join(parts[:2]) in SHELL else "".join(parts[:1])


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield ".".join(("mcpcheck", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"), path


def imports(name: str, path: Path) -> Iterator[str]:
    """Every module that a file imports, late imports included; what only a type checker reads is left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in [node for top in tree.body if not _for_types(top) for node in ast.walk(top)]:
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, level=0, names=names) if module == "mcpcheck":
                yield from (f"mcpcheck.{alias.name}" for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module
            case ast.ImportFrom():
                raise AssertionError(f"{name}: imports are absolute here")


def _for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


MODULES = dict(modules())
ROOMS = {room(name) for name in MODULES} - {"", "__main__"}


def test_every_room_has_its_place() -> None:
    assert not ROOMS - {*CORE, *SHELL, *BESIDE}


def allowed(of: str) -> set[str]:
    """The rooms that a room may import."""
    if of in BESIDE:
        return BESIDE[of] | {of, "errors"}
    order = [*CORE, *SHELL]
    below = set(order[: order.index(of) + 1])
    return below | (set(BESIDE) if of in SHELL else set())


@pytest.mark.parametrize("name", [name for name in MODULES if room(name) in {*CORE, *SHELL, *BESIDE}])
def test_a_module_imports_nothing_above_it(name: str) -> None:
    found = [other for other in imports(name, MODULES[name]) if not name.startswith(other + ".")]
    ours = {room(other) for other in found if other.split(".")[0] == "mcpcheck"}
    above = {other for other in ours if other in ROOMS} - allowed(room(name))
    assert not above


@pytest.mark.parametrize("name", [name for name in MODULES if room(name) in {*CORE, *BESIDE} and name not in SERVING])
def test_the_judging_core_has_no_socket_no_clock_and_no_dice(name: str) -> None:
    assert not {found.split(".")[0] for found in imports(name, MODULES[name])} & NO_IO


def test_the_tap_starts_without_what_is_heavy(tmp_path: Path) -> None:
    program = "from mcpcheck.cli import main; main()"
    words = ["tap", "-o", str(tmp_path / "session.ndjson"), "--", sys.executable, "-c", ""]
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "mcpcheck.tap.stdio" in loaded
    assert not {name for name in loaded if name in HEAVY or name.partition(".")[0] in HEAVY}
