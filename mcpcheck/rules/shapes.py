"""Judging by the shapes of specs/schema: the verdict at once, the words only where something is wrong."""

from collections.abc import Iterable
from typing import Any

from mcpcheck.catalogue.schemas import Schemas
from mcpcheck.rules.places import Found
from mcpcheck.rules.registry import Verdicts, broken, holds
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Event, Notification, Request
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, MODERN, PROTOCOL_VERSION, REVISIONS

_schemas: dict[str | None, Schemas | None] = {}


def schemas_of(session: Session) -> Schemas | None:
    """The shapes of the revision that governs; None where none does."""
    revision = session.revision
    if revision not in _schemas:
        _schemas[revision] = Schemas.for_revision(revision) if revision in REVISIONS else None
    return _schemas[revision]


def judge(event: Event, session: Session, type: str, value: Any, at: str) -> Verdicts:
    """Hold a value against a type of the revision that governs."""
    schemas = schemas_of(session)
    if schemas is None or type not in schemas.types():
        return
    if schemas.valid(type, value):
        yield holds(event)
    else:
        yield broken(event, f"the shape of {type}", schemas.explain(type, value, at))


def judge_all(event: Event, session: Session, type: str, found: Iterable[Found]) -> Verdicts:
    """Hold each of several values against a type; one verdict if all hold."""
    schemas = schemas_of(session)
    if schemas is None or type not in schemas.types():
        return
    any_there, all_hold = False, True
    for at, value in found:
        any_there = True
        if not schemas.valid(type, value):
            all_hold = False
            yield broken(event, f"the shape of {type}", schemas.explain(type, value, at))
    if any_there and all_hold:
        yield holds(event)


def without(value: Any, **given: Any) -> Any:
    """A value with some members as given, so that another rule's fault in them is not reported twice.

    ``...`` takes a member away. What is no object stays as it is.
    """
    if not isinstance(value, dict):
        return value
    merged = value | given
    if ... not in given.values():
        return merged
    return {name: member for name, member in merged.items() if member is not ...}


def emptied(value: Any, *names: str) -> Any:
    """A value whose array members of these names are empty: their elements are judged by rules of their own."""
    if not isinstance(value, dict):
        return value
    return value | {name: [] for name in names if isinstance(value.get(name), list)}


_META = {PROTOCOL_VERSION: MODERN, CLIENT_CAPABILITIES: {}}


def params(request: Request, session: Session, method: str, type: str, **given: Any) -> Verdicts:
    """Hold the params of a method against their type. _meta, and what is given, have rules of their own.

    Params that are missing altogether are base.meta.request-required in the stateless era.
    """
    if request.method != method or ("params" in request.obj and not isinstance(request.params, dict)):
        return
    if request.params is None and session.stateless:
        return
    value = without(request.params or {}, _meta=_META, **given)
    yield from judge(request, session, type, value, "params")


def notified(note: Notification, session: Session, method: str, type: str, **given: Any) -> Verdicts:
    """Hold the params of a notification against their type. _meta, and what is given, have rules of their own."""
    if note.method != method or ("params" in note.obj and not isinstance(note.params, dict)):
        return
    yield from judge(note, session, type, without(note.params or {}, _meta=..., **given), "params")
