"""The streams of a stdio session: any bytes in any chunks, and what a capture says that they were."""

import itertools
from collections.abc import Iterable

from hypothesis import strategies as st

from mcpcheck.wire.record import Dir, Kind, Record

_PIECES = [
    b"\n",
    b"\r\n",
    b"\r",
    b"\n\n",
    b"",
    b" ",
    b'{"jsonrpc":"2.0","id":1,"method":"m"}',
    b'{"jsonrpc":"2.0","id":1,"method":"m"}\n',
    b'{"jsonrpc":"2.0","id":1,"method":"m"}\r\n',
    b'{ "a" : [ 1.0 , 2e0 ],\t"a":3 } \n',
    b'{"s":"\\u00e9\\/","u":"\xc3\xa9\xf0\x9f\x98\x80"}\n',
    b'{"s":"\xff\xfe"}\n',
    b'{"x":NaN}\n',
    b'{"lone":"\\ud800"}\n',
    b'\xef\xbb\xbf{"a":1}\n',
    b"Listening on port 3000\n",
    b"[" * 3000,
    b"9" * 5000,
    b'"',
    b"\x00",
]

streams = st.lists(st.sampled_from(_PIECES) | st.binary(max_size=12), max_size=12).map(b"".join)
"""Any bytes: messages and what is none, whole lines and parts of them."""


@st.composite
def chunked(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """The same bytes in chunks, none of them empty."""
    cuts = draw(st.lists(st.integers(0, len(data)), max_size=8)) if data else []
    edges = sorted({0, *cuts, len(data)})
    return [data[start:end] for start, end in itertools.pairwise(edges)]


chunkings = streams.flatmap(chunked)


def rebuilt(records: Iterable[Record]) -> dict[str, bytes]:
    """The three byte streams that a capture holds."""
    found = {"c2s": b"", "s2c": b"", "stderr": b""}
    parts: dict[str, list[bytes]] = {name: [] for name in found}
    for record in records:
        if record.kind is Kind.STDERR:
            parts["stderr"] += [record.data, record.end]
        elif record.kind is Kind.LINE:
            parts[record.dir.value] += [record.data, record.end]
    return {name: b"".join(some) for name, some in parts.items()}


def events(records: Iterable[Record], dir_: Dir | None = None) -> list[tuple[str, dict[str, object]]]:
    """What happened beside the payload, in order."""
    found = [record for record in records if record.kind is Kind.EVENT and dir_ in (None, record.dir)]
    return [(record.event or "", record.detail) for record in found]
