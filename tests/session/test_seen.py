"""Seen says of ids what a set would say, in little room."""

from hypothesis import given
from hypothesis import strategies as st

from mcpcheck.session import ids
from mcpcheck.session.seen import Seen

IDS = st.one_of(st.integers(-5, 12), st.sampled_from(["1", "a", "", 1.0, True, None]))


@given(st.lists(st.tuples(st.booleans(), IDS)), st.lists(IDS))
def test_it_holds_what_a_set_holds(steps: list[tuple[bool, object]], asked: list[object]) -> None:
    seen, plain = Seen(), set()
    for puts, id in steps:
        key = ids.key(id)
        (seen.add if puts else seen.discard)(key)
        (plain.add if puts else plain.discard)(key)
    assert all((ids.key(id) in seen) == (ids.key(id) in plain) for id in [*asked, *(id for _, id in steps)])
    assert not seen.forgetful


@given(st.permutations(range(12)))
def test_numbers_without_a_gap_are_one_range_in_whatever_order_they_come(order: list[int]) -> None:
    seen = Seen()
    for id in order:
        seen.add(ids.key(id))
    assert list(seen) == [(0, 12)]


def test_past_its_room_it_forgets_the_oldest_and_says_so() -> None:
    seen = Seen(most=2)
    for id in ("a", "b", "c"):
        seen.add(ids.key(id))
    assert seen.forgetful
    assert ids.key("a") not in seen
    assert ids.key("c") in seen


def test_numbers_that_are_far_apart_are_forgotten_too() -> None:
    seen = Seen(most=2)
    for id in (1, 3, 5):
        seen.add(ids.key(id))
    assert seen.forgetful
    assert list(seen) == [(3, 4), (5, 6)]
