"""What of a payload can stand in a capture as JSON, byte for byte, without a reader losing any of it."""

import json
from typing import Any

from mcpcheck.wire import jsontext

_SPACE = " \t\r\n"


def _refuse(name: str) -> Any:
    raise ValueError(name)


_read = json.JSONDecoder(parse_constant=_refuse).raw_decode


def is_plain(text: str) -> bool:
    """Whether the text is one strict JSON value on one line, with nothing before or after it. The common case, fast."""
    try:
        whole = _read(text)[1] == len(text)
    except (ValueError, RecursionError):
        return False
    return whole and "\\u" not in text and "\n" not in text and "\r" not in text


def as_one_line(data: bytes) -> str | None:
    """The JSON text of a payload without the space around it and the line breaks between its tokens.

    None where the payload is not JSON that any reader takes: NaN, a byte order mark, a lone surrogate, not UTF-8.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if is_plain(text):
        return text
    if not jsontext.strict(data):
        return None
    return text.strip(_SPACE).replace("\r", "").replace("\n", "")
