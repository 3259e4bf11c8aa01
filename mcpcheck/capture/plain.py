"""The lines of a capture that need no record to be made of: the first one, events, and messages that are plain.

It imports next to nothing: a tap that has just been started needs no more than this.
"""

import json
from collections.abc import Mapping
from typing import Any

FORMAT = 1
NAME = f"capture/{FORMAT}"

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _refuse(name: str) -> Any:
    raise ValueError(name)


_read = json.JSONDecoder(parse_constant=_refuse).raw_decode


def is_plain(text: str) -> bool:
    """Whether the text is one strict JSON value on one line, with nothing before or after it. The common case, fast."""
    try:
        whole = _read(text)[1] == len(text)
    except (ValueError, RecursionError):
        return False
    # One character is found many times as fast as two.
    return whole and ("\\" not in text or "\\u" not in text) and "\n" not in text and "\r" not in text


def first_line(started: str, transport: str, target: Mapping[str, Any], by: str) -> bytes:
    """The first line of a capture."""
    members = {"mcpcheck": NAME, "started": started, "transport": transport, "target": target, "by": by}
    return to_bytes(encode(members)) + b"\n"


def event_line(
    n: int, t: float, dir_: str, event: str, detail: Mapping[str, Any], exchange: int | None = None
) -> bytes:
    """The line of what is not a payload."""
    x = "" if exchange is None else f',"x":{exchange}'
    more = "".join(f",{encode(key)}:{encode(value)}" for key, value in detail.items())
    return to_bytes(f'{{"n":{n},"t":{t:.6f},"dir":"{dir_}"{x},"event":{encode(event)}{more}}}\n')


def message_line(n: int, t: str, dir_: str, text: str) -> str:
    """The line of a stdio message that is plain."""
    return f'{{"n":{n},"t":{t},"dir":"{dir_}","msg":{text}}}\n'


def to_bytes(line: str) -> bytes:
    """UTF-8; a lone surrogate that someone put into a header or a detail is escaped, so that the line stays text."""
    try:
        return line.encode("utf-8")
    except UnicodeEncodeError:
        return line.encode("utf-8", "backslashreplace")
