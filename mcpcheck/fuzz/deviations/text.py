"""Departures in the text of a message: what is no JSON, no UTF-8, no line, and what is all three but unusual."""

import json
import re
from typing import Any

from hypothesis import strategies as st

from mcpcheck.fuzz.registry import Draft, Owes, deviation
from mcpcheck.fuzz.values import one_of

JSON = "base.message.json"
UTF8 = "base.message.utf8"
PARSE = "base.error.parse"
PURE = "stdio.client.stdin-pure"
FRAMING = "stdio.framing.no-embedded-newline"
NOTE = b'{"jsonrpc":"2.0","method":"notifications/mcpcheck-unknown"}'
BOTH = ("request", "notification")


def inside_a_string(draft: Draft, data: bytes) -> None:
    """Put bytes into a string of params."""
    draft.params["mcpcheck"] = "(here)"
    draft.data = draft.text.replace(b"(here)", data)


@deviation(
    breaks=(JSON, FRAMING, PURE),
    owes=Owes.ERROR_OR_NOTHING,
    under=PARSE,
    sound=False,
    of=BOTH,
    values=one_of(0.5, 0.99, 0.1, 0.0),
)
def cut_short(draft: Draft, value: Any) -> None:
    """The text breaks off."""
    draft.data = draft.text[: 1 + int(value * (len(draft.text) - 2))]


@deviation(
    breaks=(JSON, FRAMING, PURE),
    owes=Owes.ERROR_OR_NOTHING,
    under=PARSE,
    sound=False,
    of=BOTH,
    values=one_of(b" trailing", b"}", b",", b"]", b"\x00", NOTE, b" 5", b";"),
)
def text_behind(draft: Draft, value: Any) -> None:
    """Something stands behind the message."""
    draft.data = draft.text + value


@deviation(
    breaks=(JSON, FRAMING, PURE),
    owes=Owes.ERROR_OR_NOTHING,
    under=PARSE,
    sound=False,
    of=BOTH,
    values=one_of(b"data: ", b"Content-Length: 100 ", b"0x", b"/* */ ", b",", b"\x00"),
)
def text_before(draft: Draft, value: Any) -> None:
    """Something stands before the message."""
    draft.data = value + draft.text


@deviation(breaks=(JSON, PURE), owes=Owes.ERROR_OR_NOTHING, under=PARSE, sound=False)
def single_quotes(draft: Draft, value: Any) -> None:
    """Strings in single quotes."""
    draft.data = draft.text.replace(b'"', b"'")


@deviation(breaks=JSON, owes=Owes.ERROR_OR_NOTHING, under=PARSE, sound=False)
def trailing_comma(draft: Draft, value: Any) -> None:
    """A comma behind the last member."""
    draft.data = draft.text[:-1] + b",}"


@deviation(
    breaks=JSON, owes=Owes.ANYTHING, sound=False, values=one_of(b"NaN", b"Infinity", b"-Infinity", b"01", b"1.", b"+1")
)
def number_that_is_none(draft: Draft, value: Any) -> None:
    """A number that JSON does not have."""
    inside_a_string(draft, b"(here)")
    draft.data = draft.text.replace(b'"(here)"', value)


@deviation(
    breaks=JSON, owes=Owes.ANYTHING, sound=False, values=one_of(b"\x00", b"\x01", b"\t", b"\x1f", b"\\x41", b"\\u12")
)
def raw_control_character(draft: Draft, value: Any) -> None:
    """A control character in a string, or an escape that JSON does not have."""
    inside_a_string(draft, value)


@deviation(
    breaks=(UTF8, JSON),
    owes=Owes.ANYTHING,
    sound=False,
    values=one_of(b"\xff", b"\xe9", b"\xc3(", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80"),
)
def not_utf8(draft: Draft, value: Any) -> None:
    """Bytes in a string that are no UTF-8."""
    inside_a_string(draft, value)


@deviation(
    breaks=(UTF8, JSON, PURE, FRAMING),
    owes=Owes.ANYTHING,
    sound=False,
    values=one_of("utf-16-le", "utf-16-be", "utf-32-le", "utf-16"),
)
def other_encoding(draft: Draft, value: Any) -> None:
    """The whole text in another encoding."""
    draft.data = draft.text.decode().encode(value)


@deviation(breaks=(PURE, UTF8), owes=Owes.ANYTHING, sound=False)
def byte_order_mark(draft: Draft, value: Any) -> None:
    """A byte order mark before the text."""
    draft.data = b"\xef\xbb\xbf" + draft.text


@deviation(owes=Owes.ERROR_OR_NOTHING, sound=False, values=one_of(b"", b" ", b"\t  "))
def blank(draft: Draft, value: Any) -> None:
    """A line, or a body, with nothing on it."""
    draft.data = value


@deviation(
    breaks=("base.message.single-object", PURE),
    owes=Owes.ERROR_OR_NOTHING,
    sound=False,
    values=one_of(b"5", b'"text"', b"null", b"true", b"1.5", b'"{}"', b"-0"),
)
def lone_value(draft: Draft, value: Any) -> None:
    """A JSON text that is neither an object nor an array."""
    draft.data = value


@deviation(
    breaks=("base.message.single-object", "base.message.form", PURE),
    owes=Owes.ERROR_OR_NOTHING,
    under="base.error.batch-rejected",
    sound=False,
    values=one_of(b"[%s]", b"[]", b"[1]", b"[[]]", b"[null]", b"[%s," + NOTE + b"]", b"[{}]", b"[[%s]]"),
)
def batch(draft: Draft, value: Any) -> None:
    """An array, which no message of this revision is."""
    draft.data = value.replace(b"%s", draft.text)


@deviation(owes=Owes.ANYTHING, values=one_of("method", "jsonrpc", "id", "params"))
def doubled_key(draft: Draft, value: Any) -> None:
    """A member of the envelope stands twice, with the same value."""
    member = json.dumps({value: draft.message[value]}, ensure_ascii=False).encode()
    draft.data = member[:-1] + b"," + draft.text[1:]


@deviation(
    breaks=(FRAMING, JSON, PURE, "base.message.single-object", "base.message.form"),
    owes=Owes.ANYTHING,
    sound=False,
    transports=("stdio",),
)
def over_several_lines(draft: Draft, value: Any) -> None:
    """One message over several lines."""
    draft.data = json.dumps(draft.message, indent=1, ensure_ascii=False).encode()


@deviation(owes=Owes.ANSWER, transports=("http",))
def indented(draft: Draft, value: Any) -> None:
    """A body with line breaks between its tokens, which JSON allows."""
    draft.data = json.dumps(draft.message, indent=1, ensure_ascii=False).encode()


@deviation(owes=Owes.ANYTHING, transports=("stdio",))
def carriage_return(draft: Draft, value: Any) -> None:
    """A line that ends with CR LF."""
    draft.end = b"\r\n"


@deviation(owes=Owes.ANSWER, values=one_of((b" ", b""), (b"", b" \t "), (b"\t", b"\t")))
def white_space(draft: Draft, value: Any) -> None:
    """White space around the message, which JSON allows."""
    draft.data = value[0] + draft.text + value[1]


@deviation(owes=Owes.ANSWER)
def escaped(draft: Draft, value: Any) -> None:
    """Every letter of every string as an escape, which JSON allows."""
    text = json.dumps(draft.message)
    draft.data = (text if "\\" in text else re.sub(r'"[^"]*"', _letters_escaped, text)).encode()


def _letters_escaped(string: re.Match[str]) -> str:
    return "".join(f"\\u{ord(letter):04x}" if letter.isalpha() else letter for letter in string[0])


@deviation(owes=Owes.ANSWER, values=one_of("\u2028", "\u2029", "\u0085", "\u2028\u2029"))
def line_separator(draft: Draft, value: Any) -> None:
    """A line separator that is no newline, unescaped in a string, which JSON allows."""
    inside_a_string(draft, value.encode())


@deviation(
    breaks=(JSON, UTF8, PURE, FRAMING, "base.message.single-object", "base.message.form"),
    owes=Owes.ANYTHING,
    sound=False,
    values=st.lists(one_of(*b'x{}[]":,5\\ \x00\xff\xc3\x7f'), min_size=1, max_size=24).map(bytes),
)
def noise(draft: Draft, value: Any) -> None:
    """Bytes without sense."""
    draft.data = value
