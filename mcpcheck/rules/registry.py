"""How a rule is written and found.

A rule is a function of one event and the session; the type of its first parameter says which events it sees::

    @rule("base.request.id-not-null")
    def request_id_not_null(request: Request, session: Session) -> Verdicts:
        \"\"\"Looks at every request, from either side.\"\"\"
        if request.id is None:
            yield broken(request, "a string or an integer", "null")
        else:
            yield holds(request)

It yields nothing where the requirement says nothing of the event. ``on`` names the methods that a rule is about, so
that it is asked of no other: the method of a request or notification, and for an answer that of its request. ``near``
names members without one of which a message is nothing to the rule, ``wakes`` those without one of which the session
has been nothing to it so far, and ``sender`` the only side whose
messages it looks at: most rules then cost a message nothing. A rule that must remember is a class with ``see`` and, if
it needs the end of the session, ``end``; one instance serves one session. ``see`` has the typed parameter. What it
remembers has a bound, however long the session is.
The registry finds rules by walking the package and refuses an id that the catalogue does not hold, or holds twice.
"""

import importlib
import inspect
import pkgutil
import types
import typing
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from mcpcheck.session.session import Session
from mcpcheck.verdict import Outcome
from mcpcheck.wire.event import Event
from mcpcheck.wire.record import Dir


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a rule says of an event. ``also`` are the frames, beside the event's own, that it takes to see it.

    ``blames`` is who is at fault, where it is not the one whom the requirement binds or who sent the event.
    """

    outcome: Outcome
    event: Event | None
    expected: str = ""
    actual: str = ""
    also: tuple[int, ...] = ()
    blames: str = ""


Verdicts = Iterator[Judgement]


_last = Judgement(Outcome.HOLDS, None)


def holds(event: Event) -> Judgement:
    """The requirement was exercised by this event and held."""
    global _last  # most messages hold to some twenty requirements, which all say the same
    if _last.event is not event:
        _last = Judgement(Outcome.HOLDS, event)
    return _last


def broken(event: Event | None, expected: str, actual: str, *also: int, blames: str = "") -> Judgement:
    """The event breaks the requirement, beyond doubt."""
    return Judgement(Outcome.BROKEN, event, expected, actual, also, blames)


def suspect(event: Event | None, expected: str, actual: str, *also: int, blames: str = "") -> Judgement:
    """The event looks wrong, but the text is unclear, or this is a heuristic: at most a warning."""
    return Judgement(Outcome.SUSPECT, event, expected, actual, also, blames)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as registered. ``make`` gives ``see`` and ``end`` for one session."""

    id: str
    sees: tuple[type[Event], ...]
    doc: str
    target: Any
    on: frozenset[str] | None = None
    near: tuple[str, ...] = ()
    wakes: tuple[str, ...] = ()
    sender: Dir | None = None
    early: bool = False

    def make(self) -> tuple[Callable[[Any, Session], Verdicts], Callable[[Session], Verdicts] | None]:
        if not inspect.isclass(self.target):
            return self.target, None
        instance: Any = self.target()
        return instance.see, getattr(instance, "end", None)


_RULES: dict[str, Rule] = {}


T = TypeVar("T")


def rule(
    id: str,
    *,
    on: str | Collection[str] | None = None,
    near: str | Collection[str] = (),
    wakes: str | Collection[str] = (),
    sender: Dir | None = None,
    early: bool = False,
) -> Callable[[T], T]:
    """Register a function or class as the rule of a requirement.

    ``near``: names of members, on whatever level, and methods that a message names. Of one that has none of them the
    rule is not asked. ``wakes``: such names that one message of the session has to have before the rule is asked at
    all; that message is the first that it sees. ``early``: it is shown events also while their revision is unknown, to
    remember, and must say nothing of them until it knows.
    """
    methods = None if on is None else frozenset([on] if isinstance(on, str) else on)

    def register(target: T) -> T:
        if id in _RULES:
            raise ValueError(f"two rules for {id}")
        names, first = ((one,) if isinstance(one, str) else tuple(one) for one in (near, wakes))
        _RULES[id] = Rule(id, _sees(target), inspect.getdoc(target) or "", target, methods, names, first, sender, early)
        return target

    return register


def _sees(target: Any) -> tuple[type[Event], ...]:
    """The event types of the first parameter's annotation; a union means any of them."""
    function = getattr(target, "see", target)
    names = [name for name in inspect.signature(function).parameters if name != "self"]
    hint = typing.get_type_hints(function)[names[0]]
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return typing.get_args(hint)
    return (hint,)


@cache
def rules() -> dict[str, Rule]:
    """Every rule by its id, found by importing each module of the package."""
    import mcpcheck.rules as package

    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
    return dict(sorted(_RULES.items()))
