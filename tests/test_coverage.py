"""Every observable requirement is proved by a mutant, or listed as not proved yet."""

from mcpcheck.catalogue.load import load
from mcpcheck.catalogue.requirement import Observe
from mcpcheck.catalogue.unproved import place, read
from mcpcheck.wire.protocol import MODERN
from tests.support.proof import UNPROVED, observable, proved


def test_what_no_mutant_proves_is_listed_and_nothing_else_is() -> None:
    assert observable() - proved() == read(UNPROVED).keys(), "run python -m tests.support.proof"


def test_what_a_recording_shows_is_proved_or_has_a_reason() -> None:
    reasons = read(UNPROVED)
    on_the_wire = {id for id in observable() if load()[id].observe is Observe.WIRE}
    assert on_the_wire - proved() == {id for id, reason in reasons.items() if reason and id in on_the_wire}


def by_stimulus() -> set[str]:
    """What a server of the current revision owes in answer to a stimulus, extensions and authorization aside."""
    elsewhere = {"auth", "authext", "apps", "ext", "tasks"}
    found = (load()[id] for id in observable())
    return {
        one.id
        for one in found
        if one.observe is not Observe.WIRE
        and one.role in {"server", "both"}
        and MODERN in one.revisions
        and one.area not in elsewhere
    }


def test_what_a_stimulus_shows_of_a_server_is_proved_or_has_a_reason() -> None:
    reasons = read(UNPROVED)
    assert {id for id in by_stimulus() - proved() if not reasons.get(id)} == set()


def test_nine_in_ten_of_what_a_stimulus_shows_of_a_server_are_proved() -> None:
    assert len(by_stimulus() & proved()) >= 0.9 * len(by_stimulus())


def test_nine_in_ten_of_what_a_recording_shows_are_proved() -> None:
    on_the_wire = {id for id in observable() if load()[id].observe is Observe.WIRE}
    assert len(on_the_wire & proved()) >= 0.9 * len(on_the_wire)


def test_mutants_name_requirements_that_can_be_observed() -> None:
    assert proved() <= observable()


def test_the_list_is_sorted_and_holds_no_id_twice() -> None:
    lines = UNPROVED.read_text(encoding="utf-8").splitlines()
    ids = [line.partition(":")[0] for line in lines if not line.startswith("#")]
    assert ids == sorted(set(ids))
    assert place() == UNPROVED
