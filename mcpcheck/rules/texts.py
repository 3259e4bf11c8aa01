"""Texts with a form of their own: Base64, URIs, URI templates, MIME types, time stamps."""

import base64
import binascii
import re
from datetime import datetime

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_VARNAME = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*"
_VARSPEC = rf"{_VARNAME}(?::[1-9][0-9]{{0,3}}|\*)?"
_EXPRESSION = re.compile(rf"[+#./;?&]?{_VARSPEC}(?:,{_VARSPEC})*")
_LITERAL = re.compile(r"(?:[^\x00-\x20\"'<>\\^`{|}%\x7f]|%[0-9A-Fa-f]{2})*")
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_MIME = re.compile(rf"{_TOKEN}/{_TOKEN}(?:[ \t]*;[ \t]*{_TOKEN}=(?:{_TOKEN}|\"[^\"]*\"))*[ \t]*;?[ \t]*")
_WEEK_OR_ORDINAL = re.compile(r"\d{4}-?(?:W\d{2}(?:-?\d)?|\d{3})(?:T.*)?")


def is_base64(text: str) -> bool:
    """Whether a text is Base64: the standard alphabet, with padding. Line breaks do not matter here."""
    try:
        base64.b64decode("".join(text.split("\r\n")).replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def is_uri(text: str) -> bool:
    """Whether a text is a URI with a scheme, by the characters that RFC 3986 allows."""
    return bool(_URI.fullmatch(text)) and not ("%" in text and _BAD_ESCAPE.search(text))


def template_fault(text: str) -> str:
    """What keeps a text from being a URI template of RFC 6570; nothing where it is one."""
    at = 0
    while at < len(text):
        opening = text.find("{", at)
        literal = text[at:] if opening < 0 else text[at:opening]
        if not _LITERAL.fullmatch(literal):
            return f"{literal!r} holds a character that a template may not have"
        if opening < 0:
            return ""
        closing = text.find("}", opening)
        if closing < 0:
            return "a brace is not closed"
        expression = text[opening + 1 : closing]
        if not _EXPRESSION.fullmatch(expression):
            return f"{{{expression}}} is no expression"
        at = closing + 1
    return ""


def is_mime(text: str) -> bool:
    """Whether a text has the form type/subtype, parameters allowed."""
    return bool(_MIME.fullmatch(text))


def is_time(text: str) -> bool:
    """Whether a text is an ISO 8601 date, or date and time, in the extended or the basic form."""
    if _WEEK_OR_ORDINAL.fullmatch(text):
        return True
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return bool(re.fullmatch(r"\d{4}-\d{2}", text))
    return True
