"""How rules are written and found."""

import pytest

from mcpcheck.catalogue.load import load
from mcpcheck.rules.registry import Verdicts, holds, rule, rules
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Event, Request


def test_every_rule_is_of_a_requirement_of_the_catalogue() -> None:
    assert set(rules()) <= set(load())


def test_every_rule_says_in_a_sentence_what_it_looks_at() -> None:
    assert not [rule.id for rule in rules().values() if not rule.doc.rstrip().endswith(".")]


def test_the_type_of_the_first_parameter_says_what_a_rule_sees() -> None:
    assert rules()["base.request.id-not-null"].sees == (Request,)
    assert set(rules()["versioning.extension.settings"].sees) == {Request, Answer}


def test_a_rule_that_remembers_has_an_instance_for_each_session() -> None:
    one, end = rules()["base.meta.client-info"].make()
    other, _ = rules()["base.meta.client-info"].make()
    assert end is not None
    assert getattr(one, "__self__", None) is not getattr(other, "__self__", None)


def test_a_second_rule_for_an_id_is_refused() -> None:
    rules()
    with pytest.raises(ValueError, match=r"two rules for base\.message\.json"):

        @rule("base.message.json")
        def json(event: Event, session: Session) -> Verdicts:
            yield holds(event)


def test_a_rule_names_the_methods_it_is_about() -> None:
    assert rules()["tools.call.result-shape"].on == {"tools/call"}
    assert rules()["base.message.form"].on is None
