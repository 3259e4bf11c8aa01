"""Derives ``specs/schema/<revision>.json`` from the models of the ``mcp-types`` package.

Run it by hand from the checkout, after a new release of ``mcp-types``: ``python specs/derive_schemas.py``. The models
carry the wire shapes of 2025-11-25 and 2026-07-28; where they are looser or stricter than the specification, and for
the three older revisions, ``schema/edits.toml`` says what differs and why.

Of a model only the shape is taken: names, types, bounds. Two readings hold throughout: an optional member is absent and
never null, and every object is open.
"""

import copy
import json
import re
import tomllib
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from mcp_types import _v2025_11_25, _v2026_07_28, methods
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typing_extensions import TypeAliasType

Schema = dict[str, Any]

HERE = Path(__file__).resolve().parent
MODELS = {"2026-07-28": _v2026_07_28, "2025-11-25": _v2025_11_25}
OLDER = {"2025-06-18": "2025-11-25", "2025-03-26": "2025-06-18", "2024-11-05": "2025-03-26"}
PRIMITIVES: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    types.NoneType: "null",
}
BOUNDS = {"ge": "minimum", "le": "maximum", "max_length": "maxItems"}
INSTEAD = {"task": "CreateTaskResult", "input_responses": "InputRequiredResult"}
"""What a request that has this among its params may be answered with in place of its own result."""


class Shapes:
    """The types of one module of models as JSON Schema."""

    def __init__(self, module: types.ModuleType, inline: list[str], rename: dict[str, str], leave: list[str]) -> None:
        self.inline = frozenset(inline)
        self.rename = rename
        own = {
            name: value
            for name, value in vars(module).items()
            if name[0].isupper() and name not in leave and _is_type(value, module)
        }
        self.models = {name: value for name, value in own.items() if _is_model(value) and value.__name__ == name}
        self.aliases = {name: value for name, value in own.items() if name not in self.models}
        # Only what no other alias equals can be recognised again inside a member: RequestId and ProgressToken cannot.
        self.known = [(value, name) for name, value in self.aliases.items() if get_args(value) not in ((), (str, int))]

    def defs(self) -> dict[str, Schema]:
        """Every type that has a name in the specification."""
        found = {self.rename.get(n, n): self.model(m) for n, m in self.models.items() if n not in self.inline}
        found |= {name: self.of(value, named=False) for name, value in self.aliases.items()}
        return found

    def model(self, model: type[BaseModel]) -> Schema:
        """An open object with the members of a model."""
        properties: dict[str, Schema] = {}
        required: list[str] = []
        for attribute, field in model.model_fields.items():
            name = field.alias or attribute
            properties[name] = self.member(field)
            if field.is_required():
                required.append(name)
        schema: Schema = {"type": "object"}
        if properties:
            schema["properties"] = properties
        if required:
            schema["required"] = sorted(required)
        return schema

    def member(self, field: FieldInfo) -> Schema:
        """A member's value: without the null that stands for absence in a model."""
        bounds = {
            key: int(value) if float(value).is_integer() else value
            for item in field.metadata
            for attribute, key in BOUNDS.items()
            if (value := getattr(item, attribute, None)) is not None
        }
        return self.of(field.annotation, optional=not field.is_required()) | bounds

    def of(self, annotation: Any, *, optional: bool = False, named: bool = True) -> Schema:
        """Any annotation that occurs in the models."""
        origin, args = get_origin(annotation), get_args(annotation)
        if optional and origin in (Union, types.UnionType):
            args = tuple(arg for arg in args if arg is not types.NoneType)
            return self.of(args[0] if len(args) == 1 else Union[args])  # noqa: UP007
        if annotation is Any or isinstance(annotation, TypeAliasType):
            return {}
        if annotation in PRIMITIVES:
            return {"type": PRIMITIVES[annotation]}
        if _is_model(annotation):
            name = annotation.__name__
            return self.model(annotation) if name in self.inline else _ref(self.rename.get(name, name))
        if named and (name := next((name for value, name in self.known if value == annotation), None)):
            return _ref(name)
        if origin is Literal:
            return {"const": args[0]} if len(args) == 1 else {"enum": sorted(args)}
        if origin is list:
            return _with({"type": "array"}, "items", self.of(args[0]))
        if origin is dict:
            return _with({"type": "object"}, "additionalProperties", self.of(args[1]))
        return self.union(args)

    def union(self, args: tuple[Any, ...]) -> Schema:
        """One of several types; a number may have a fraction as soon as one of them allows it."""
        simple = {PRIMITIVES[arg] for arg in args if arg in PRIMITIVES}
        if "number" in simple:
            simple.discard("integer")
        rest = [self.of(arg) for arg in args if arg not in PRIMITIVES]
        if simple:
            names = sorted(simple)
            rest.append({"type": names[0] if len(names) == 1 else names})
        return rest[0] if len(rest) == 1 else {"anyOf": rest}


def messages(module: types.ModuleType, shapes: Shapes, revision: str) -> Schema:
    """Which type a message of a method has, who sends it and what answers it."""

    def methods_of(union: str) -> list[str]:
        value = getattr(module, union, None)
        return [_method(model) for model in (get_args(value) or (value,)) if model is not None]

    by_method = {_method(model): name for name, model in shapes.models.items() if _method(model)}
    by_method = dict(sorted(by_method.items()))
    table: Schema = {"requests": {}, "inputs": {}, "notifications": {}, "errors": {}}
    for method, name in by_method.items():
        senders = [side for side in ("client", "server") if method in methods_of(f"{side.title()}Request")]
        if name.endswith("Notification"):
            senders = [side for side in ("client", "server") if method in methods_of(f"{side.title()}Notification")]
            table["notifications"][method] = {"from": senders, "type": name}
        elif senders:
            table["requests"][method] = {"from": senders} | _answers(name, shapes)
        else:
            table["inputs"][method] = _answers(name, shapes)
    for name, model in shapes.models.items():
        if code := _error_code(model):
            table["errors"][code] = name
    _agree(table, revision)
    return table


def _answers(request: str, shapes: Shapes) -> Schema:
    """The result of a request by the naming habit of the specification, and what may come in its place."""
    result = request.removesuffix("Request") + "Result"
    entry: Schema = {"type": request, "result": result if result in shapes.models else "EmptyResult"}
    params = shapes.models[request].model_fields["params"].annotation
    members = {name for model in (get_args(params) or (params,)) for name in getattr(model, "model_fields", ())}
    others = [name for member, name in INSTEAD.items() if member in members]
    return entry | ({"instead": others} if others else {})


def _agree(table: Schema, revision: str) -> None:
    """Hold the naming habit against the tables of the package."""
    for results in (methods.SERVER_RESULTS, methods.CLIENT_RESULTS):
        for (method, version), model in results.items():
            if version == revision:
                names = {arm.__name__ for arm in get_args(model) or (model,)}
                entry = table["requests"][method]
                ours = {entry["result"], *entry.get("instead", ())}
                assert names <= ours | {"Result"}, (method, names, ours)


def edit(defs: dict[str, Schema], at: str, how: Schema) -> None:
    """Carry out one edit at one place."""
    *owners, last = at.split(" > ")
    if not owners:
        if how.get("drop"):
            del defs[last]
        else:
            defs[last] = how["set"]
        return
    holder = defs[owners[0]]
    for step in owners[1:]:
        holder = holder["properties"][step]
    slots, key = _slot(holder, last)
    required = set(holder.pop("required", ()))
    if how.get("drop"):
        del slots[key]
        required.discard(last)
    elif how.get("require"):
        required.add(last)
    elif "type" in how:
        slots[key]["type"] = how["type"]
    else:
        slots[key] = how["set"]
    if required:
        holder["required"] = sorted(required)


def _slot(holder: Schema, step: str) -> tuple[Schema, str]:
    """Where the schema that a step names is held."""
    if step == "[]":
        return holder, "items"
    if step == "{}":
        return holder, "additionalProperties"
    return holder["properties"], step


def _method(model: Any) -> str:
    field = getattr(model, "model_fields", {}).get("method")
    args = get_args(field.annotation) if field else ()
    return str(args[0]) if args else ""


def _error_code(model: type[BaseModel]) -> str:
    """The code of an error response that has a type of its own."""
    error = model.model_fields.get("error")
    code = getattr(error.annotation, "model_fields", {}).get("code") if error else None
    args = get_args(code.annotation) if code else ()
    return str(args[0]) if args else ""


def _is_model(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseModel)


def _is_type(value: Any, module: types.ModuleType) -> bool:
    if _is_model(value):
        return bool(value.__module__ == module.__name__)
    return value is str or isinstance(value, TypeAliasType) or get_origin(value) is not None


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _with(schema: Schema, key: str, value: Schema) -> Schema:
    return schema | {key: value} if value else schema


def derive(revision: str, edits: Schema) -> Schema:
    """One revision's schema: from its models, or from the next newer revision and what was different before it."""
    if revision in MODELS:
        module = MODELS[revision]
        shapes = Shapes(module, edits["inline"], edits["rename"], edits["leave"])
        schema = {"$defs": shapes.defs(), "x-messages": messages(module, shapes, revision)}
    else:
        schema = derive(OLDER[revision], edits)
    for entry in edits["edit"]:
        if revision in entry["revisions"]:
            for at in [entry["at"]] if isinstance(entry["at"], str) else entry["at"]:
                edit(schema["$defs"], at, copy.deepcopy(entry))
    _forget_lost_types(schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


def _forget_lost_types(schema: Schema) -> None:
    """Drop the messages whose types an edit has dropped, and see that no reference points nowhere."""
    defs, table = schema["$defs"], schema["x-messages"]
    for kind in ("requests", "inputs", "notifications"):
        table[kind] = {method: entry for method, entry in table[kind].items() if entry["type"] in defs}
        for entry in table[kind].values():
            kept = [name for name in entry.pop("instead", ()) if name in defs]
            entry |= {"instead": kept} if kept else {}
    table["errors"] = {code: name for code, name in table["errors"].items() if name in defs}
    for name, shape in defs.items():
        if "anyOf" in shape:
            shape["anyOf"] = [arm for arm in shape["anyOf"] if arm.get("$ref", "#/$defs/" + name)[8:] in defs]
    lost = {ref for ref in re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema)) if ref not in defs}
    assert not lost, lost


def main() -> None:
    """Write every revision's file anew."""
    with (HERE / "schema" / "edits.toml").open("rb") as file:
        edits = tomllib.load(file)
    for revision in (*MODELS, *OLDER):
        text = json.dumps(derive(revision, edits), indent=1, sort_keys=True, ensure_ascii=False)
        (HERE / "schema" / f"{revision}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
