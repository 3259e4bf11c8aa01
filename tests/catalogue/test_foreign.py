"""Schemas of strangers are judged where that has a bound, and left alone where it has none."""

from typing import Any

import pytest

from mcpcheck.catalogue.foreign import Foreign

POINT = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
LISTS = {"$defs": {"p": POINT}, "type": "array", "items": {"$ref": "#/$defs/p"}}


@pytest.mark.parametrize(
    ("schema", "value", "fault"),
    [
        (POINT, {"x": 1}, ""),
        (POINT, {"x": 1.0}, ""),
        (POINT, {"x": "1"}, ".x: "),
        (POINT, {}, "x"),
        (POINT, None, "null"),
        (LISTS, [{"x": 1}], ""),
        (LISTS, [{"x": 1}, {"x": "a"}], "[1].x: "),
        ({"type": "string", "format": "email"}, "nobody", ""),
        ({"type": "string", "pattern": "^a+$"}, "b", "b"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}, [1], "[0]: "),
        ({}, {"anything": [1, None]}, ""),
        ({"properties": {"id": {"default": {"id": "a", "$ref": "b"}}}}, {"id": 1}, ""),
    ],
)
def test_a_value_is_held_against_the_schema(schema: dict[str, Any], value: Any, fault: str) -> None:
    said = Foreign(schema).fault(value)
    assert said is not None
    assert (said == "") == (fault == "")
    assert fault in said


def doubling(levels: int) -> dict[str, Any]:
    defs: dict[str, Any] = {"a0": {"type": "string"}}
    for level in range(1, levels):
        defs[f"a{level}"] = {"allOf": [{"$ref": f"#/$defs/a{level - 1}"}] * 2}
    return {"$defs": defs, "$ref": f"#/$defs/a{levels - 1}"}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://127.0.0.1:9/never-fetched"},
        {"$ref": "other.json"},
        {"$ref": "#"},
        {"$ref": "#/$defs/gone"},
        {"$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"$dynamicRef": "#x", "properties": {"a": {"$dynamicAnchor": "x"}}},
        doubling(40),
        nested(5000),
        {"anyOf": [{"type": "string"}] * 30_000},
        {"type": "string", "pattern": "(?=look)ahead"},
        {"type": "string", "pattern": "("},
        {"type": "nonsense"},
        {"$schema": "https://example.com/a-dialect-of-ones-own", "type": "string"},
        "no schema",
        True,
    ],
    ids=range(16),
)
def test_no_verdict_is_given_where_the_work_has_no_bound_or_the_meaning_is_unknown(schema: Any) -> None:
    assert Foreign(schema).fault("x") is None


def test_a_pattern_that_backtracks_elsewhere_is_judged_at_once() -> None:
    fault = Foreign({"type": "string", "pattern": "^(a+)+$"}).fault("a" * 100_000 + "b")
    assert fault


def test_what_no_validator_can_hold_draws_no_complaint() -> None:
    value: Any = "x"
    for _ in range(2000):
        value = [value]
    assert not Foreign({"items": {"uniqueItems": True}}).fault(value)
    assert Foreign({"type": "string"}).fault("\ud800") is None
