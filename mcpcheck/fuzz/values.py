"""What deviations put in the place of something: drawn from short lists, so that a seed means the same everywhere.

Hypothesis mixes constants of the code around it into numbers and texts that it makes up itself, so that what it draws
differs from one environment to the next; what it picks from a list hardly does.
"""

from typing import Any

from hypothesis import strategies as st

LETTERS = ("a", "0", "Z", " ", '"', "\\", "/", "é", "世", "\U0001f600", "\u2028", "\u0000", "\x7f", "\ufeff")


def one_of(*values: Any) -> st.SearchStrategy[Any]:
    """One of these, the first being the simplest."""
    return st.sampled_from(values)


def texts(letters: tuple[str, ...] = LETTERS, longest: int = 8) -> st.SearchStrategy[str]:
    """Short texts with what is easily got wrong."""
    return st.lists(st.sampled_from(letters), max_size=longest).map("".join)


def json_values() -> st.SearchStrategy[Any]:
    """JSON values of every type, nested a little."""
    scalars = one_of(None, True, False, 0, -1, 1.5, 1e300, 2**53, "") | texts()
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(longest=3), inner, max_size=3),
        max_leaves=6,
    )
