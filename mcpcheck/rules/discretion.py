"""elicit: what a server may not ask in a form, nor put into a form or an address."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from mcpcheck.rules.elicit import ELICITING, forms, urls
from mcpcheck.rules.labels import personal_named, secret_asked, secret_demanded, secret_named
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, holds, rule, suspect
from mcpcheck.rules.secrets import secret_in
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Request

_LINK = re.compile(r"https?://[^\s\"'<>{}()\[\]]{3}", re.IGNORECASE)
_EXAMPLE = re.compile(
    r"(?:\be\.?g\.?|\bex\.|\bexamples?|\bsuch as|\blike|\bstarts? with|\bstarting with|\bbegins? with|\bform|\bformat)"
    r"[\s,:(\"'`“‘]{0,4}(?:is\s|of\s)?[\"'`“‘]?$",
    re.IGNORECASE,
)
_JWT = re.compile(r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+")
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_DIGITS = re.compile(r"\d")
_HOLDS_TOKEN = frozenset({"token", "jwt", "bearer", "auth", "authorization", "session"})
_MOST_PARAMETERS = 1000
_LONGEST = 8000


def _fields(params: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    schema = params.get("requestedSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, field in properties.items() if isinstance(properties, dict) else ():
        if isinstance(field, dict):
            yield name, field


def _is_free(field: dict[str, Any]) -> bool:
    """Whether a person types what they like into a field: no choice, no yes or no, no date or address."""
    return field.get("type") in ("string", "number", "integer") and not field.keys() & {
        "enum", "oneOf", "anyOf", "const", "format"
    }  # fmt: skip


@rule("elicit.form.no-sensitive-information", on=ELICITING, near="elicitation/create")
def form_no_sensitive_information(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the name, title and description of each field of a form, and at what its message demands.

    What plainly asks for a password, an API key, a token that gives access or the secrets of a payment card is suspect.
    Fields that are a choice, a yes or no, a date or an address are left alone.
    """
    for at, params in forms(event, session):
        free = [(name, field) for name, field in _fields(params) if _is_free(field)]
        found = [
            f"{at}.requestedSchema.properties.{name} asks for: {secret}"
            for name, field in free
            if (secret := _asked(name, field))
        ]
        message = params.get("message")
        if not found and free and isinstance(message, str) and (secret := secret_demanded(message)):
            found = [f"{at}.message asks for: {secret}"]
        if found:
            yield suspect(event, "a secret is asked for in URL mode only", found[0])
        else:
            yield holds(event)


def _asked(name: str, field: dict[str, Any]) -> str | None:
    labels = [label for label in (field.get("title"), field.get("description")) if isinstance(label, str)]
    return secret_named(name) or next((secret for label in labels if (secret := secret_asked(label))), None)


@rule("elicit.form.no-clickable-urls", on=ELICITING, near="elicitation/create")
def form_no_clickable_urls(event: Request | Answer, session: Session) -> Verdicts:
    """Looks for http and https addresses in what a form shows: message, titles, descriptions. Suspect only.

    Left alone are examples ("such as https://..."), fields that ask for an address, and values: default, enum, const.
    """
    for at, params in forms(event, session):
        found = [f"{at}.{place} has {shown(link)}" for place, text in _texts(params) if (link := _link(text))]
        if found:
            yield suspect(event, "no link in a form", found[0])
        else:
            yield holds(event)


def _texts(params: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts of a form that a person reads."""
    schema = params.get("requestedSchema")
    shown_at = [("message", params.get("message"))]
    if isinstance(schema, dict):
        shown_at += [(f"requestedSchema.{name}", schema.get(name)) for name in ("title", "description")]
    for name, field in _fields(params):
        if field.get("format") in ("uri", "url", "uri-reference", "iri"):
            continue
        place = f"requestedSchema.properties.{name}"
        shown_at += [(f"{place}.{key}", field.get(key)) for key in ("title", "description")]
        shown_at += [(f"{place} has a choice which", title) for title in _choices(field)]
    yield from ((place, text) for place, text in shown_at if isinstance(text, str))


def _choices(field: dict[str, Any]) -> Iterator[Any]:
    items = field.get("items")
    for options in (field.get("oneOf"), items.get("anyOf") if isinstance(items, dict) else None):
        for option in options if isinstance(options, list) else ():
            if isinstance(option, dict):
                yield option.get("title")
    names = field.get("enumNames")
    yield from names if isinstance(names, list) else ()


def _link(text: str) -> str | None:
    for match in _LINK.finditer(text):
        if not _EXAMPLE.search(text[max(0, match.start() - 30) : match.start()]):
            return text[match.start() : match.start() + 60].split()[0]
    return None


@rule("elicit.url.no-sensitive-in-url", on=ELICITING, near="elicitation/create")
def url_no_sensitive_in_url(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the url of every elicitation: a password in it, parameters that name a secret or a person's address.

    Suspect only. Opaque values (state, nonce, code_challenge, a bare token) and signed requests are left alone.
    """
    for at, params in urls(event, session):
        url = params.get("url")
        if not isinstance(url, str):
            continue
        try:
            said = _sensitive(url)
        except ValueError:
            continue
        if said:
            yield suspect(event, "a URL without credentials or personal data", f"{at}.url has {said}")
        else:
            yield holds(event)


def _sensitive(url: str) -> str | None:
    parts = urlsplit(url)
    if parts.password:
        return "a user name with a password"
    if parts.username and parts.username.startswith("redacted-"):
        return "a password"
    for text in (parts.query, parts.fragment.rpartition("?")[2]):
        for name, value in parse_qsl(text)[:_MOST_PARAMETERS]:
            kind = _kind(name, value)
            if kind:
                return f"the parameter {shown(name, 40)}: {kind}"
    kind = secret_in(unquote(parts._replace(query="").geturl()))
    return kind if kind and "web token" not in kind else None


def _kind(name: str, value: str) -> str | None:
    """What a parameter tells that it should not."""
    if not 4 <= len(value) <= _LONGEST or value.lower() in ("true", "false", "none", "null") or value[0] in "{<$[":
        return None
    secret = secret_named(name)
    if secret:
        return secret
    person = personal_named(name)
    if person and (_ADDRESS.fullmatch(value[:320]) or ("number" in person and len(_DIGITS.findall(value)) >= 7)):
        return person
    if _HOLDS_TOKEN & {*name.lower().replace("-", "_").split("_")} and _JWT.match(value):
        return "a signed token"
    kind = None if name.lower().startswith("x-amz-") else secret_in(value)
    return kind if kind and "web token" not in kind else None
