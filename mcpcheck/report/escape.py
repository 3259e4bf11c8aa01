"""What a peer sent, made fit to be shown: nothing in it can move a cursor, turn text around or fail to be encoded."""

from typing import Final

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """The text with everything that does not print written as an escape: controls, bidi marks, lone surrogates."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def _escape(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def encodable(text: str) -> str:
    """The text with lone surrogates, and nothing else, written as an escape: what a data format can carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(_escape(char) if "\ud800" <= char <= "\udfff" else char for char in text)
    return text
