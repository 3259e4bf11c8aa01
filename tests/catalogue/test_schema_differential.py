"""Our shapes of messages against the published ones, where those are at hand."""

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from mcpcheck.catalogue.place import specs_root
from mcpcheck.catalogue.schemas import Schemas
from mcpcheck.wire.protocol import REVISIONS
from tests.catalogue.instances import Instances

PUBLISHED = Path(__file__).parents[2] / "../shared/spec/schema"

pytestmark = pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published schemas are not beside the checkout")


@dataclass(frozen=True)
class Difference:
    """A place where a published schema.json does not say what the specification means."""

    revisions: tuple[str, ...]
    places: tuple[str, ...]
    meant: dict[str, Any]
    why: str


LATE = ("2025-11-25", "2026-07-28")
EARLY = ("2024-11-05", "2025-03-26", "2025-06-18")
GENERATOR = "The generator writes integer for TypeScript's number; the prose calls none of these an integer."

DIFFERENCES = (
    Difference(REVISIONS, ("CompleteResult > completion > total", "Resource > size"), {"type": "number"}, GENERATOR),
    Difference(("2025-06-18", *LATE), ("ResourceLink > size",), {"type": "number"}, GENERATOR),
    Difference(EARLY, ("CreateMessageRequest > params > maxTokens",), {"type": "number"}, GENERATOR),
    Difference(LATE, ("CreateMessageRequestParams > maxTokens",), {"type": "number"}, GENERATOR),
    Difference(
        ("2025-06-18", *LATE),
        ("StringSchema > maxLength", "StringSchema > minLength"),
        {"type": "number"},
        GENERATOR,
    ),
    Difference(
        LATE,
        (
            "TitledMultiSelectEnumSchema > maxItems",
            "TitledMultiSelectEnumSchema > minItems",
            "UntitledMultiSelectEnumSchema > maxItems",
            "UntitledMultiSelectEnumSchema > minItems",
        ),
        {"type": "number"},
        GENERATOR,
    ),
    Difference(("2025-11-25",), ("Task > pollInterval", "TaskMetadata > ttl"), {"type": "number"}, GENERATOR),
    Difference(("2025-11-25",), ("Task > ttl",), {"type": ["number", "null"]}, GENERATOR),
    Difference(
        LATE,
        ("ElicitResult > content > {}",),
        {"anyOf": [{"type": ["string", "number", "boolean"]}, {"type": "array", "items": {"type": "string"}}]},
        GENERATOR,
    ),
    Difference(("2025-06-18",), ("ElicitResult > content > {}",), {"type": ["string", "number", "boolean"]}, GENERATOR),
    Difference(
        ("2026-07-28",),
        ("JSONValue",),
        {},
        "The generator lost null and every number with a fraction; any JSON value is meant.",
    ),
    Difference(
        (*EARLY, "2025-11-25"),
        ("Tool > inputSchema > properties > {}",),
        {"type": ["object", "boolean"]},
        "In a JSON Schema a property's schema may be true or false, and the prose asks for a JSON Schema.",
    ),
    Difference(
        ("2025-06-18", "2025-11-25"),
        ("Tool > outputSchema > properties > {}",),
        {"type": ["object", "boolean"]},
        "As for inputSchema.",
    ),
)

OLD_NAMES = {
    "JSONRPCResultResponse": "JSONRPCResponse",
    "JSONRPCErrorResponse": "JSONRPCError",
    "ResourceTemplateReference": "ResourceReference",
}
"""What we call a type, and what 2024-11-05 and 2025-03-26 called it; 2025-06-18 has the first two."""


class Published:
    """The published schema of a revision, with what it means in place of what it says."""

    def __init__(self, revision: str) -> None:
        self.revision = revision
        document = json.loads((PUBLISHED / revision / "schema.json").read_text(encoding="utf-8"))
        self.holder = "$defs" if "$defs" in document else "definitions"
        self.defs: dict[str, Any] = document[self.holder]
        self.dialect = jsonschema_rs.Draft202012Validator if self.holder == "$defs" else jsonschema_rs.Draft7Validator
        self.told: list[tuple[str, Any, Any]] = []
        for difference in DIFFERENCES:
            if revision in difference.revisions:
                for place in difference.places:
                    self.told.append((place, self._put(place, copy.deepcopy(difference.meant)), difference.meant))
        self._validators: dict[str, Any] = {}

    def name_of(self, ours: str) -> str | None:
        """The published name of a type of ours."""
        if self.revision in EARLY:
            if ours == "JSONRPCResponse":
                return None
            old = OLD_NAMES.get(ours, ours)
            return old if old in self.defs else ours if ours in self.defs else None
        return ours if ours in self.defs else None

    def valid(self, name: str, value: Any) -> bool:
        """The verdict on a message: up to 2025-06-18 a request's type leaves out what every JSON-RPC request has."""
        verdict = self._is(name, value)
        if self.revision in EARLY and not name.startswith("JSONRPC"):
            for general in ("Request", "Notification"):
                if name.endswith(general) and name != general:
                    verdict = verdict and self._is(f"JSONRPC{general}", value)
        return verdict

    def _is(self, name: str, value: Any) -> bool:
        if name not in self._validators:
            schema = {self.holder: self.defs, "$ref": f"#/{self.holder}/{name}"}
            self._validators[name] = self.dialect(schema, validate_formats=False)
        return bool(self._validators[name].is_valid(value))

    def _put(self, place: str, meant: dict[str, Any]) -> Any:
        holder, key = self.defs, place
        if " > " in place:
            first, *steps = place.split(" > ")
            schema = self.defs[first]
            for step in steps:
                holder, key = (schema, "additionalProperties") if step == "{}" else (schema["properties"], step)
                schema = holder[key]
        said = holder[key]
        said_on = {"description": said["description"]} if "description" in said else {}
        holder[key] = meant | said_on
        return said


@pytest.fixture(scope="module", params=REVISIONS)
def published(request: pytest.FixtureRequest) -> Published:
    return Published(request.param)


@pytest.mark.parametrize(
    "path", sorted(PUBLISHED.glob("*/examples/*/*.json")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_every_published_example_is_valid(path: Path) -> None:
    schemas = Schemas.for_revision(path.parts[-4])
    value = json.loads(path.read_text(encoding="utf-8"))
    assert schemas.explain(path.parent.name, value) == ""
    assert schemas.valid(path.parent.name, value)


def test_every_published_type_has_its_shape(published: Published) -> None:
    ours = {published.name_of(name) for name in Schemas.for_revision(published.revision).types()}
    lacking = set(published.defs) - ours
    assert lacking == ({"Annotated"} if published.revision == "2024-11-05" else set())


def test_no_difference_is_listed_that_is_none(published: Published) -> None:
    for place, said, meant in published.told:
        assert {key: value for key, value in said.items() if key != "description"} != meant, place


def test_instances_and_mutated_instances_get_the_published_verdict(published: Published) -> None:
    schemas = Schemas.for_revision(published.revision)
    defs = json.loads((specs_root() / "schema" / f"{published.revision}.json").read_text(encoding="utf-8"))["$defs"]
    verdicts = {True: 0, False: 0}
    for name in sorted(schemas.types()):
        theirs = published.name_of(name)
        if theirs is None:
            continue
        values = [*Instances(defs, 1).of(name, 300), *Instances(published.defs, 2).of(theirs, 300)]
        for value in values:
            verdict = schemas.valid(name, value)
            verdicts[verdict] += 1
            assert verdict is published.valid(theirs, value), (name, json.dumps(value), schemas.explain(name, value))
    assert min(verdicts.values()) > 10_000
