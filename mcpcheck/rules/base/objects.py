"""base.implementation, base.capabilities, base.icon, base.schema: objects that stand in many places."""

import base64
import binascii
import re
from typing import Any
from urllib.parse import unquote, urlsplit

from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import icons, implementations, json_schemas
from mcpcheck.rules.registry import Judgement, Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.shapes import emptied, judge, schemas_of, without
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Message, Request
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, CLIENT_INFO, SERVER_INFO
from mcpcheck.wire.record import Dir

_SIZE = re.compile(r"[0-9]+x[0-9]+|any")
_SCHEMES = frozenset({"https", "http", "data"})
_WITH_WEBSITE = frozenset({"2025-11-25", "2026-07-28"})
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


@rule("base.implementation.shape", near=("clientInfo", "serverInfo", CLIENT_INFO, SERVER_INFO))
def implementation_shape(event: Message, session: Session) -> Verdicts:
    """Looks at clientInfo and serverInfo, wherever the revision puts them. Their icons are base.icon.shape.

    A websiteUrl that is no absolute URI is suspect; members that the revision does not define are free.
    """
    for at, value in implementations(event, session):
        schemas = schemas_of(session)
        if schemas is None:
            continue
        bare = emptied(value, "icons")
        if not schemas.valid("Implementation", bare):
            yield broken(event, "the shape of Implementation", schemas.explain("Implementation", bare, at))
            continue
        url = value.get("websiteUrl")
        if isinstance(url, str) and not _scheme(url) and session.revision in _WITH_WEBSITE:
            yield suspect(event, "websiteUrl is an absolute URI", f"{at}.websiteUrl is {shown(url)}")
        else:
            yield holds(event)


@rule("base.capabilities.client-shape")
def client_shape(request: Request, session: Session) -> Verdicts:
    """Looks at clientCapabilities in a request's _meta, and at experimental in it.

    The members that pages describe have rules of their own; what is not known may be anything.
    """
    if request.dir is Dir.S2C or CLIENT_CAPABILITIES not in request.meta:
        return
    value = request.meta[CLIENT_CAPABILITIES]
    known = dict.fromkeys(("roots", "sampling", "elicitation", "extensions"), ...)
    yield from judge(request, session, "ClientCapabilities", without(value, **known), "clientCapabilities")


@rule("base.icon.shape", near="icons")
def icon_shape(event: Message, session: Session) -> Verdicts:
    """Looks at every icon, of whatever it is.

    Suspect are a scheme that consumers have to refuse, a data URI that is not Base64, and an odd size.
    """
    for at, icon in icons(event, session):
        schemas = schemas_of(session)
        if schemas is None or "Icon" not in schemas.types():
            continue
        if not schemas.valid("Icon", icon):
            yield broken(event, "the shape of Icon", schemas.explain("Icon", icon, at))
        else:
            yield _icon(event, at, icon)


def _icon(event: Message, at: str, icon: dict[str, Any]) -> Judgement:
    scheme = _scheme(icon["src"])
    if not scheme:
        return broken(event, "src is a URI", f"{at}.src is {shown(icon['src'])}")
    if scheme not in _SCHEMES:
        return suspect(event, "an https or data URI", f"{at}.src has the scheme {scheme}")
    if scheme == "data" and not _is_base64(icon["src"].partition(";base64,")):
        return suspect(event, "Base64 in the data URI", f"{at}.src does not decode")
    odd = [size for size in icon.get("sizes", ()) if not _SIZE.fullmatch(size)]
    if odd:
        return suspect(event, "sizes such as 48x48, or any", f"{at}.sizes has {shown(odd[0])}")
    return holds(event)


def _scheme(uri: str) -> str:
    """The scheme of an absolute URI in lower case; nothing where it has none."""
    try:
        scheme = urlsplit(uri).scheme
    except ValueError:
        return ""
    return scheme.lower() if " " not in uri else ""


def _is_base64(parts: tuple[str, str, str]) -> bool:
    _, mark, data = parts
    if not mark:
        return True  # a data URI need not be Base64
    try:
        base64.b64decode(unquote(data), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


@rule("base.schema.valid", near=("inputSchema", "outputSchema", "requestedSchema"))
def schema_valid(event: Message, session: Session) -> Verdicts:
    """Holds every JSON Schema that is sent against the meta-schema of its dialect, 2020-12 where it names none.

    Unknown keywords and formats are valid, a dialect that is not known here is left alone, and nothing is fetched. What
    is no object at all is a matter of the shape of its owner.
    """
    for at, schema in json_schemas(event, session):
        if not isinstance(schema, dict):
            continue
        dialect = schema.get("$schema", _DIALECT)
        if not isinstance(dialect, str):
            yield broken(event, "$schema is a URI", f"{at}.$schema is {shown(dialect)}")
            continue
        verdict = _is_schema(schema, dialect)
        if verdict is True:
            yield holds(event)
        elif verdict is False:
            yield broken(event, "a schema that is valid in its dialect", f"{at}{_explained(schema)}")


@rule("base.schema.prefer-2020-12", near=("inputSchema", "outputSchema", "requestedSchema"))
def schema_prefer_2020_12(event: Message, session: Session) -> Verdicts:
    """Looks at the dialect that schemas name. Another one than 2020-12 is suspect: it is allowed, though not preferred.

    A schema that names none is in 2020-12. The first one of a message that names another is told.
    """
    found = [(at, schema.get("$schema", _DIALECT)) for at, schema in json_schemas(event, session) if _is_object(schema)]
    other = [(at, name) for at, name in found if isinstance(name, str) and not _is_preferred(name)]
    if other:
        at, name = other[0]
        more = f", and {len(other) - 1} more" if len(other) > 1 else ""
        yield suspect(event, "a schema in JSON Schema 2020-12", f"{at}.$schema is {shown(name)}{more}")
    elif found:
        yield holds(event)


def _is_object(schema: Any) -> bool:
    return isinstance(schema, dict)


def _is_preferred(dialect: str) -> bool:
    return dialect.strip().rstrip("#").replace("http://", "https://", 1) == _DIALECT


def _dialect_of(name: str) -> Any:
    """The validator class of a dialect; None for a dialect that is not known."""
    from jsonschema.validators import validator_for

    nobody: Any = None
    return validator_for({"$schema": name}, default=nobody)


def _is_schema(schema: Any, dialect: str) -> bool | None:
    """Whether a schema is valid in its dialect; None where that cannot be told here."""
    import jsonschema_rs

    if _dialect_of(dialect) is None:
        return None
    try:
        return bool(jsonschema_rs.meta.is_valid(schema))
    except (ValueError, jsonschema_rs.ReferencingError):
        return None  # nested too deep, or text that is no Unicode


def _explained(schema: Any) -> str:
    """What is wrong with a schema, in words. Whatever its size, by the validator that has found it."""
    import jsonschema_rs

    try:
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as error:
        path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
        return f"{path[-120:]}: {str(error.message)[:160]}"
    except ValueError:
        pass  # it cannot be written down
    return " is no valid schema"
