"""Arguments for a stranger's tool: they fit its schema, or there are none; a departure breaks it in one thing."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpcheck.arguments import departing, fitting
from mcpcheck.catalogue.foreign import Foreign

SCHEMAS: dict[str, tuple[dict[str, Any], Any]] = {
    "nothing": ({}, {}),
    "required": (
        {"required": ["q"], "properties": {"q": {"type": "string"}, "n": {"type": "integer"}}},
        {"q": "mcpcheck"},
    ),
    "default": ({"required": ["q"], "properties": {"q": {"type": "string", "default": "x"}}}, {"q": "x"}),
    "example": ({"required": ["q"], "properties": {"q": {"examples": ["y", "z"]}}}, {"q": "y"}),
    "enum": ({"required": ["q"], "properties": {"q": {"enum": ["open", "closed"]}}}, {"q": "open"}),
    "bounds": ({"required": ["n"], "properties": {"n": {"type": "integer", "exclusiveMinimum": 4}}}, {"n": 5}),
    "steps": ({"required": ["n"], "properties": {"n": {"type": "integer", "minimum": 7, "multipleOf": 5}}}, {"n": 10}),
    "pattern": ({"required": ["q"], "properties": {"q": {"type": "string", "pattern": "^[0-9]{3}$"}}}, {"q": "123"}),
    "unique": (
        {
            "required": ["a"],
            "properties": {"a": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "uniqueItems": True}},
        },
        {"a": [1, 2]},
    ),
    "pair": (
        {
            "required": ["a"],
            "properties": {
                "a": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 2}
            },
        },
        {"a": ["mcpcheck", 1]},
    ),
    "all of": (
        {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "required": ["a"],
            "allOf": [{"properties": {"b": {"type": "integer"}}, "required": ["b"]}, {"anyOf": [{"required": ["c"]}]}],
        },
        {"a": "mcpcheck", "c": "mcpcheck", "b": 1},
    ),
    "reference": (
        {
            "$defs": {"place": {"$anchor": "p", "type": "object", "required": ["city"], "properties": {}}},
            "required": ["at"],
            "properties": {"at": {"$ref": "#/$defs/place"}},
        },
        {"at": {"city": "mcpcheck"}},
    ),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_tools_ask_for_is_made(name: str) -> None:
    schema, wanted = SCHEMAS[name]
    assert fitting({"type": "object", **schema}) == wanted


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "array", "minItems": 10**12}}},
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "minLength": 10**12}}},
        {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/properties/a"}}},
        {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "https://example.invalid/schema"}}},
        {"type": "object", "required": ["a"], "properties": {"a": False}},
    ],
)
def test_what_cannot_be_made_is_given_up_soon(schema: dict[str, Any]) -> None:
    assert fitting(schema) is None
    assert departing(schema) is None


def test_a_departure_breaks_one_thing() -> None:
    schema = {"type": "object", "required": ["q"], "properties": {"q": {"type": "string"}}}
    assert departing(schema) == {"q": {"mcpcheck": "an object where none is allowed"}}
    assert departing({"type": "object", "additionalProperties": False}) is None
    assert departing({"type": "object"}) is None


_KEYS = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "minimum",
        "minItems",
        "allOf",
        "$ref",
        "pattern",
        "multipleOf",
        "a",
    ]
)
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats()
    | st.sampled_from(["object", "string", "array", "#/a", "("]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(_JSON)
def test_whatever_a_schema_is_arguments_fit_it_or_there_are_none(schema: Any) -> None:
    made, bad = fitting(schema), departing(schema)
    if made is not None:
        assert Foreign(schema).fault(made) in {"", None}
    if bad is not None:
        assert Foreign(schema).fault(bad) != ""
