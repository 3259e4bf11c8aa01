"""What a run against a server speaks of, and why nothing came of some of it."""

from collections import Counter
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from functools import cache

from mcpcheck.catalogue.load import load
from mcpcheck.catalogue.requirement import Level, Observe, Requirement
from mcpcheck.catalogue.unproved import unproved
from mcpcheck.engine import judgeable
from mcpcheck.errors import UsageError
from mcpcheck.scenarios.registry import scenarios
from mcpcheck.wire.protocol import MODERN

_ON = {"stdio": "stdio", "http": "HTTP", "sse": "HTTP with SSE"}


def in_scope(only: Collection[str], skip: Collection[str], transport: str) -> frozenset[str]:
    """The ids that a run speaks of: all that a server owes and that shows from outside, or those selected of them.

    UsageError where no check covers anything that is selected.
    """
    catalogue = load()
    owed = frozenset(id for id, one in catalogue.items() if _owed(one, transport))
    chosen = catalogue.select(only) & owed if only else owed
    if only and not chosen & covered():
        raise UsageError(_nothing(only, catalogue.select(only), owed & covered(), transport))
    left = chosen - (catalogue.select(skip) if skip else frozenset())
    if not left:
        raise UsageError("nothing is left to test: --skip leaves out all that --only selects")
    return left


@cache
def covered() -> frozenset[str]:
    """The ids that some rule judges or some scenario against a server exercises."""
    return judgeable() | {id for found in scenarios("server") for id in found.exercises}


def why_not(id: str, transport: str) -> str:
    """Why a requirement was not exercised, where nothing came of it."""
    if id not in covered():
        return unproved().get(id) or "no check of this version covers it"
    able = [found.name for found in scenarios("server") if id in found.exercises and transport in found.transports]
    told = f"; {', '.join(able)} found nothing that does" if able else ""
    return f"nothing in this run speaks of it{told}"


def _owed(one: Requirement, transport: str) -> bool:
    mine = one.role in {"server", "both"} and MODERN in one.revisions and one.holds_on(transport)
    return mine and one.observable


def _nothing(only: Iterable[str], chosen: Collection[str], able: Collection[str], transport: str) -> str:
    """What is said where nothing that was selected can be tested: why, and what is near and can be."""
    reasons = Counter(_reason(load()[id], transport) for id in sorted(chosen))
    near = dict.fromkeys(id for one in only for id in _near(one, able))
    hint = f"; the nearest that are checked are {', '.join(list(near)[:3])}" if near else ""
    named, why = ", ".join(only), reasons.most_common(1)[0][0]
    return f"nothing under {named} is checked on a server over {_ON[transport]}: {why}{hint}"


def _reason(one: Requirement, transport: str) -> str:
    if one.role not in {"server", "both"}:
        whose = {"client": "a client", "intermediary": "an intermediary"}.get(one.role, "an authorization server")
        return f"it is {whose} that has to obey it" + ("; see mcpcheck conform-client" if one.role == "client" else "")
    if MODERN not in one.revisions:
        return f"it is not of {MODERN}; `mcpcheck lint` judges older revisions"
    if not one.holds_on(transport):
        return f"it is about {' and '.join(sorted(_ON[name] for name in one.transports))}"
    if one.level is Level.MAY:
        return "either way is fine"
    if one.observe is Observe.INTERNAL:
        return "nothing on the wire shows it"
    return unproved().get(one.id) or "no check of this version covers it"


def _near(id: str, able: Collection[str]) -> list[str]:
    """Ids that are checked and stand beside one that is not: those of its closest kin, the likest first."""
    for depth in range(id.count("."), 0, -1):
        parent = ".".join(id.split(".")[:depth]) + "."
        beside = sorted(one for one in able if one.startswith(parent))
        if beside:
            return get_close_matches(id, beside, n=3, cutoff=0 if depth > 1 else 0.5)
    return []
