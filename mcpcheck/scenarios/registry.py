"""How a scenario is written and found.

A scenario is an asynchronous function of a peer that reads top to bottom; its docstring tells the story and is what
``explain`` prints::

    @scenario(exercises=["base.notification.no-response"])
    async def notification_draws_no_answer(peer: Peer) -> None:
        \"\"\"Sends an unknown notification, then a fence: nothing may come before the fence's answer.\"\"\"

The registry finds scenarios by walking ``scenarios/server`` and ``scenarios/client``. An id in ``exercises`` that gets
no verdict from the scenario itself is one that a rule judges on the traffic which the scenario causes.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from mcpcheck.catalogue.load import load

T = TypeVar("T", bound=Callable[[Any], Awaitable[None]])


class Untestable(Exception):
    """Raised by a scenario: what it takes is not there. The text names the missing piece."""


class Unreadable(Untestable):
    """Raised by a peer: what came in place of an answer cannot be read, and the rules have judged that."""


class Abandoned(Exception):
    """Raised by a peer: the other side no longer answers, and the verdict on that has been given."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A script and what it exercises.

    ``fresh``: it needs a connection (on stdio: a process) of its own. ``needs``: the fixtures, by role, without which
    it tests nothing; ``any_of``: at least one of these; ``also``: what it uses where that is there. ``when`` raises
    Untestable where the server is not of a kind that it can speak of. ``ends``: it ends the connection, and so is
    played on a shared one as the last.
    """

    name: str
    role: str
    exercises: tuple[str, ...]
    transports: tuple[str, ...]
    fresh: bool
    doc: str
    run: Callable[[Any], Awaitable[None]]
    needs: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    when: Callable[[Any], None] = lambda lab: None
    ends: bool = False

    @property
    def area(self) -> str:
        return self.name.partition(".")[0]


_SCENARIOS: dict[str, Scenario] = {}


def scenario(
    exercises: Collection[str],
    *,
    transports: Collection[str] = ("stdio", "http"),
    fresh: bool = False,
    role: str | None = None,
    needs: Collection[str] = (),
    any_of: Collection[str] = (),
    also: Collection[str] = (),
    when: Callable[[Any], None] = lambda lab: None,
    ends: bool = False,
) -> Callable[[T], T]:
    """Register a function; its name is the module's and its own, ``discover.first_request``."""

    def register(function: T) -> T:
        module = function.__module__.split(".")
        name = f"{module[-1]}.{function.__name__}"
        side = role or ("client" if "client" in module else "server")
        if name in _SCENARIOS:
            raise ValueError(f"two scenarios are called {name}")
        unknown = [id for id in exercises if id not in load()]
        if unknown or not exercises:
            raise ValueError(f"{name} exercises {unknown or 'nothing'}: not in the catalogue")
        doc = inspect.getdoc(function) or ""
        _SCENARIOS[name] = Scenario(
            name,
            side,
            tuple(exercises),
            tuple(transports),
            fresh,
            doc,
            function,
            tuple(needs),
            tuple(any_of),
            tuple(also),
            when,
            ends,
        )
        return function

    return register


@cache
def _discover(role: str) -> None:
    package = importlib.import_module(f"mcpcheck.scenarios.{role}")
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)


def scenarios(role: str | None = None) -> list[Scenario]:
    """Every scenario, or those against one side ("server" or "client"), by name."""
    for side in [role] if role else ["server", "client"]:
        _discover(side)
    return [found for _, found in sorted(_SCENARIOS.items()) if role in {None, found.role}]
