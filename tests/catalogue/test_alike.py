"""No two requirements say the same: one that holds in several revisions stands once, with all of them."""

import re
from itertools import combinations

from mcpcheck.catalogue.load import load
from mcpcheck.catalogue.requirement import Requirement

SMALL = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "in", "is", "it", "its"}
)
ALIKE = 0.8
"""The share of words in common from which on two statements are looked at."""


def words(one: Requirement) -> frozenset[str]:
    """The words of a summary that carry its meaning, in the singular."""
    return frozenset(word.rstrip("s") for word in re.findall(r"[a-z0-9/_-]+", one.summary.lower()) if word not in SMALL)


def alike(one: Requirement, other: Requirement) -> bool:
    """Whether two statements may be the same, made for different revisions or twice for one."""
    same = (one.level, one.role) == (other.level, other.role) and one.transports & other.transports
    eras = one.id.startswith("legacy.") != other.id.startswith("legacy.")
    mine, its = words(one), words(other)
    common = len(mine & its) / len(mine | its)
    return bool(same) and (common == 1 if not eras else common >= ALIKE)


def test_no_two_requirements_say_the_same() -> None:
    pairs = combinations(load().values(), 2)
    assert not [(one.id, other.id) for one, other in pairs if alike(one, other)]
