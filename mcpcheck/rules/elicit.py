"""elicit: asking a human, by form or by URL, and the answer."""

import ipaddress
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from mcpcheck.rules import shapes
from mcpcheck.rules.answers import brought
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import Found, asked
from mcpcheck.rules.registry import Judgement, Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.shapes import without
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Message, Request
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, INPUT_METHODS
from mcpcheck.wire.record import Dir

_METHOD = "elicitation/create"
ELICITING = INPUT_METHODS | {_METHOD}
_PRIVATE = (".localhost", ".local", ".internal", ".lan", ".test", ".home.arpa")


@rule("elicit.capability.shape", near="elicitation", sender=Dir.C2S)
def capability_shape(request: Request, session: Session) -> Verdicts:
    """Looks at elicitation in a client's capabilities, of a request or of initialize."""
    for at, value in capability(request, "elicitation"):
        given = {"elicitation": value}
        yield from shapes.judge(request, session, "ClientCapabilities", given, at)


def capability(request: Request, name: str) -> Iterator[Found]:
    """A client's capability, wherever the revision has it declared."""
    if request.dir is Dir.S2C:
        return
    places = [("clientCapabilities", request.meta.get(CLIENT_CAPABILITIES))]
    if request.method == "initialize":
        places = [("capabilities", request.param("capabilities"))]
    for at, declared in places:
        if isinstance(declared, dict) and name in declared:
            yield at, declared[name]


def _requests(event: Message, session: Session) -> Iterator[tuple[str, dict[str, Any]]]:
    for at, params in asked(event, session, _METHOD):
        if isinstance(params, dict):
            yield at, params


def _is_url(params: dict[str, Any]) -> bool:
    return params.get("mode") == "url" or ("url" in params and "requestedSchema" not in params)


def forms(event: Message, session: Session) -> Iterator[tuple[str, dict[str, Any]]]:
    """The params of every elicitation by form, with their place. A mode that nobody knows tells of none."""
    for at, params in _requests(event, session):
        if not _is_url(params) and (params.get("mode", "form") == "form" or "requestedSchema" in params):
            yield at, params


def urls(event: Message, session: Session) -> Iterator[tuple[str, dict[str, Any]]]:
    """The params of every elicitation by URL, with their place."""
    return ((at, params) for at, params in _requests(event, session) if _is_url(params))


@rule("elicit.request.shape", on=ELICITING, near="elicitation/create")
def request_shape(event: Request | Answer, session: Session) -> Verdicts:
    """Looks for the params of every elicitation: an object. What stands in it has rules of its own.

    Params of a request that are no object have a rule of their own, too.
    """
    for at, params in asked(event, session, _METHOD):
        if isinstance(params, dict):
            yield holds(event)
        elif isinstance(event, Answer) or "params" not in event.obj:
            said = shown(params) if params is not None else "absent"
            yield broken(event, "params of a form or of a URL", f"{at} is {said}")


@rule("elicit.request.message-present", on=ELICITING, near="elicitation/create")
def request_message_present(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the message of every elicitation. Blanks alone are suspect."""
    for at, params in _requests(event, session):
        message = params.get("message")
        if not isinstance(message, str):
            yield broken(event, "message is a string", f"{at}.message is {shown(message)}", blames="server")
        elif not message.strip():
            yield suspect(event, "a message for a human", f"{at}.message is {shown(message)}", blames="server")
        else:
            yield holds(event)


@rule("elicit.mode.valid-value", on=ELICITING, near="elicitation/create")
def mode_valid_value(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at mode, where it is present."""
    for at, params in _requests(event, session):
        if "mode" not in params:
            continue
        if params["mode"] in ("form", "url"):
            yield holds(event)
        else:
            yield broken(event, "form or url", f"{at}.mode is {shown(params['mode'])}")


@rule("elicit.mode.form-explicit-or-absent", on=ELICITING, near="elicitation/create")
def mode_form_explicit_or_absent(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the mode of what has a requestedSchema and no url; a mode that nobody knows has a rule of its own."""
    for at, params in _requests(event, session):
        if "requestedSchema" not in params or "url" in params:
            continue
        if params.get("mode") == "url":
            yield broken(event, "mode form, or none", f"{at} has a requestedSchema and the mode url")
        elif params.get("mode", "form") == "form":
            yield holds(event)


@rule("elicit.mode.url-explicit", on=ELICITING, near="elicitation/create")
def mode_url_explicit(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the mode of what has a url and no requestedSchema."""
    for at, params in _requests(event, session):
        if "url" not in params or "requestedSchema" in params:
            continue
        mode = params.get("mode", "form")
        if mode == "url":
            yield holds(event)
        elif mode == "form":
            said = "'form'" if "mode" in params else "absent"
            yield broken(event, "mode url", f"{at}.mode is {said}")


@rule("elicit.form.requested-schema-present", on=ELICITING, near="elicitation/create")
def form_requested_schema_present(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at requestedSchema of every elicitation by form."""
    for at, params in forms(event, session):
        schema = params.get("requestedSchema")
        if isinstance(schema, dict):
            yield holds(event)
        else:
            said = shown(schema) if "requestedSchema" in params else "absent"
            yield broken(event, "requestedSchema is an object", f"{at}.requestedSchema is {said}")


@rule("elicit.form.schema-flat", on=ELICITING, near="elicitation/create")
def form_schema_flat(event: Request | Answer, session: Session) -> Verdicts:
    """Holds every requestedSchema against the few forms that a field may have; defaults have a rule of their own.

    A name in required that is no property, and composition beside a valid field, are suspect.
    """
    for at, params in forms(event, session):
        schema = params.get("requestedSchema")
        if not isinstance(schema, dict):
            continue
        plain = {"message": "", "requestedSchema": _without_defaults(schema)}
        for verdict in shapes.judge(event, session, "ElicitRequestFormParams", plain, at):
            odd = _oddity(schema) if not verdict.actual else ""
            yield suspect(event, "one flat object of simple fields", f"{at}: {odd}") if odd else verdict


def _without_defaults(schema: dict[str, Any]) -> Any:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return schema
    return without(schema, properties={name: without(field, default=...) for name, field in properties.items()})


def _oddity(schema: dict[str, Any]) -> str:
    """What a schema has that its readers will hardly support, though its fields are valid."""
    properties = schema["properties"]
    missing = [name for name in schema.get("required", ()) if name not in properties]
    if missing:
        return f"required names {shown(missing[0])}, which is no property"
    for name, field in properties.items():
        more = sorted(field.keys() & {"allOf", "anyOf", "if", "not"})
        if more:
            return f"{name} has {more[0]}"
        names, values = field.get("enumNames"), field.get("enum", [])
        if isinstance(names, list) and isinstance(values, list) and len(names) != len(values):
            return f"{name} has enumNames for another number of values"
    return ""


@rule("elicit.form.default-fits-type", on=ELICITING, near="elicitation/create")
def form_default_fits_type(event: Request | Answer, session: Session) -> Verdicts:
    """Compares each default with the type of its field. One that is none of the choices is suspect."""
    for at, params in forms(event, session):
        schema = params.get("requestedSchema")
        properties = schema.get("properties") if isinstance(schema, dict) else None
        for name, field in properties.items() if isinstance(properties, dict) else ():
            if isinstance(field, dict) and "default" in field:
                yield from _default(event, f"{at}.requestedSchema.properties.{name}", field)


def _default(event: Message, at: str, field: dict[str, Any]) -> Verdicts:
    value, type = field["default"], field.get("type")
    fits = {
        "string": isinstance(value, str),
        "number": _is_number(value),
        "integer": _is_number(value) and (not _is_finite(value) or value == int(value)),
        "boolean": isinstance(value, bool),
        "array": isinstance(value, list) and all(isinstance(item, str) for item in value),
    }
    if not isinstance(type, str) or type not in fits:
        return
    if not fits[type]:
        yield broken(event, f"a default of type {type}", f"{at}.default is {shown(value)}")
    elif "enum" in field and isinstance(field["enum"], list) and value not in field["enum"]:
        yield suspect(event, "a default among the choices", f"{at}.default is {shown(value)}")
    else:
        yield holds(event)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    return _is_number(value) and abs(value) < float("inf")


@rule("elicit.url.url-present", on=ELICITING, near="elicitation/create")
def url_url_present(event: Request | Answer, session: Session) -> Verdicts:
    """Looks for url in every elicitation of mode url."""
    for at, params in _requests(event, session):
        if params.get("mode") != "url":
            continue
        if isinstance(params.get("url"), str):
            yield holds(event)
        else:
            yield broken(event, "url is a string", f"{at}.url is {shown(params.get('url'))}")


@rule("elicit.url.url-valid", on=ELICITING, near="elicitation/create")
def url_url_valid(event: Request | Answer, session: Session) -> Verdicts:
    """Reads every url: absolute, without blanks, with a host for http. Other schemes, and raw text, are suspect."""
    for at, params in urls(event, session):
        url = params.get("url")
        if isinstance(url, str):
            yield _url(event, f"{at}.url", url)


def _url(event: Message, at: str, url: str) -> Judgement:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return broken(event, "an absolute URL", f"{at} is {shown(url)}")
    if not parts.scheme or any(sign.isspace() or ord(sign) < 0x20 or ord(sign) == 0x7F for sign in url):
        return broken(event, "an absolute URL", f"{at} is {shown(url)}")
    if parts.scheme in ("http", "https") and not host:
        return broken(event, "a URL with a host", f"{at} is {shown(url)}")
    if parts.scheme not in ("http", "https"):
        return suspect(event, "an http or https URL", f"{at} has the scheme {parts.scheme}")
    if not url.isascii():
        return suspect(event, "a URL in ASCII", f"{at} is {shown(url)}")
    return holds(event)


@rule("elicit.url.https", on=ELICITING, near="elicitation/create")
def url_https(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the scheme of every url. On the loopback and in private networks, where one develops, it is free."""
    for at, params in urls(event, session):
        url = params.get("url")
        try:
            parts = urlsplit(url) if isinstance(url, str) else None
            host = (parts.hostname or "") if parts else ""
        except ValueError:
            continue
        if parts is None or parts.scheme not in ("http", "https"):
            continue
        if parts.scheme == "https" or _is_private(host):
            yield holds(event)
        else:
            yield broken(event, "https", f"{at}.url is {shown(url)}")


def _is_private(host: str) -> bool:
    """Whether a host is none that everybody can reach."""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(_PRIVATE)


@rule("elicit.result.shape", on=ELICITING, sender=Dir.C2S, near=("inputResponses", "result"))
def result_shape(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at what a client answers to an elicitation: action, and a flat content."""
    found = [(at, without(value, _meta=...)) for at, value in brought(event, session, _METHOD)]
    yield from shapes.judge_all(event, session, "ElicitResult", found)
