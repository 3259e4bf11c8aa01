"""Bodies that were compressed on their way, as they were before: what the two ends mean is what is recorded."""

import zlib

CODINGS = frozenset({"gzip", "x-gzip", "deflate"})

MOST = (64 << 20) + 1
"""Bytes that one piece may turn into; it is a bomb that turns into more, and is not kept."""

_EITHER = 32 + zlib.MAX_WBITS  # with the head of gzip or of zlib
_BARE = -zlib.MAX_WBITS  # "deflate" without either, as some servers send it


class Inflate:
    """One compressed body, piece by piece. What turns out not to be compressed is passed on as it is."""

    def __init__(self, coding: str) -> None:
        self._may_be_bare = coding == "deflate"
        self._inner = zlib.decompressobj(_EITHER)
        self._begun = b""
        self._out = False  # whether something has come out
        self._plain = False

    def feed(self, data: bytes) -> bytes:
        """What this piece adds to the body."""
        if self._plain:
            return data
        try:
            out = self._inner.decompress(data, MOST)
        except zlib.error:
            return self._otherwise(data)
        while self._inner.eof and self._inner.unused_data:  # one member of gzip after the other
            rest, self._inner = self._inner.unused_data, zlib.decompressobj(_EITHER)
            try:
                out += self._inner.decompress(rest, MOST)
            except zlib.error:
                break
        self._out = self._out or bool(out)
        self._begun = b"" if self._out else self._begun + data
        return out

    def _otherwise(self, data: bytes) -> bytes:
        if self._out:
            return b""
        whole = self._begun + data
        self._out = True
        self._plain = not self._may_be_bare or whole[:1] in (b"{", b"[")
        if self._plain:
            return whole
        try:
            self._inner = zlib.decompressobj(_BARE)
            return self._inner.decompress(whole, MOST)
        except zlib.error:
            self._plain = True
            return whole
