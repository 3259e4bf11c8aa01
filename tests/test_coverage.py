"""Every observable requirement is proved by a mutant, or listed as not proved yet."""

from mcpcheck.catalogue.load import load
from tests.support.proof import UNPROVED, listed, observable, proved


def test_what_no_mutant_proves_is_listed_and_nothing_else_is() -> None:
    assert observable() - proved() == listed(), "run python -m tests.support.proof"


def test_mutants_name_requirements_that_can_be_observed() -> None:
    assert proved() <= observable()


def test_the_list_is_sorted_and_holds_no_id_twice() -> None:
    ids = [line for line in UNPROVED.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert ids == sorted(set(ids))
    assert set(ids) <= set(load())
