"""What of a payload can stand in a capture as JSON, byte for byte, without a reader losing any of it."""

from mcpcheck.capture.plain import is_plain
from mcpcheck.wire import jsontext

_SPACE = " \t\r\n"


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
