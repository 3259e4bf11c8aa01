"""Versions that are no released revision: what names one has no revision, and the rest keeps its own."""

import json
from typing import Any

from mcpcheck.session.session import Session
from mcpcheck.wire.decode import Decoder
from mcpcheck.wire.protocol import MODERN, PROTOCOL_VERSION
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead

FUTURE = "2027-01-01"
C, S = Dir.C2S, Dir.S2C


class Talk:
    """A session, and the revision that governs each thing that is said in it."""

    def __init__(self) -> None:
        self.session = Session("stdio")
        self.decoder = Decoder()
        self.n = 0

    def hear(self, dir: Dir, **message: Any) -> str | None:
        return self._see(dir, Kind.LINE, json.dumps({"jsonrpc": "2.0", **message}).encode())

    def head(self, exchange: int, head: RequestHead | ResponseHead) -> str | None:
        dir = C if isinstance(head, RequestHead) else S
        return self._see(dir, Kind.HEAD, exchange=exchange, http=head)

    def body(self, dir: Dir, exchange: int, **message: Any) -> str | None:
        return self._see(dir, Kind.BODY, json.dumps({"jsonrpc": "2.0", **message}).encode(), exchange=exchange)

    def _see(self, dir: Dir, kind: Kind, data: bytes = b"", **more: Any) -> str | None:
        self.n += 1
        for event in self.decoder.decode(Record(self.n, 0.0, dir, kind, data, **more)):
            self.session.see(event)
        return self.session.revision


def asking(id: int, version: str, method: str = "tools/list") -> dict[str, Any]:
    return {"id": id, "method": method, "params": {"_meta": {PROTOCOL_VERSION: version}}}


def test_a_request_of_an_unknown_version_and_all_that_belongs_to_it_have_no_revision() -> None:
    talk = Talk()
    assert talk.hear(C, **asking(1, FUTURE)) is None
    assert talk.hear(S, method="notifications/message", params={}) is None
    assert talk.hear(S, id=1, result={"resultType": "complete"}) is None
    assert talk.session.unknown_revisions == (FUTURE,)


def test_the_next_request_of_a_known_version_has_its_own() -> None:
    talk = Talk()
    talk.hear(C, **asking(1, FUTURE))
    assert talk.hear(C, **asking(2, MODERN)) == MODERN
    assert talk.hear(S, method="notifications/message", params={}) == MODERN


def test_a_version_that_is_refused_is_not_spoken() -> None:
    talk = Talk()
    talk.hear(C, **asking(1, FUTURE))
    error = {"code": -32022, "message": "no", "data": {"supported": [MODERN], "requested": FUTURE}}
    assert talk.hear(S, id=1, error=error) == MODERN
    assert talk.session.unknown_revisions == ()


def test_a_handshake_that_settles_on_an_unknown_version_settles_on_no_revision() -> None:
    talk = Talk()
    assert talk.hear(C, id=1, method="initialize", params={"protocolVersion": FUTURE}) is None
    assert talk.hear(S, id=1, result={"protocolVersion": FUTURE}) is None
    assert talk.hear(C, id=2, method="tools/list") is None
    assert talk.session.unknown_revisions == (FUTURE,)


def test_a_handshake_that_comes_down_to_a_known_version_has_that() -> None:
    talk = Talk()
    talk.hear(C, id=1, method="initialize", params={"protocolVersion": FUTURE})
    assert talk.hear(S, id=1, result={"protocolVersion": "2025-11-25"}) == "2025-11-25"
    assert talk.hear(C, id=2, method="tools/list") == "2025-11-25"
    assert talk.session.unknown_revisions == ()


def test_on_http_a_session_of_an_unknown_version_has_no_revision_and_others_keep_theirs() -> None:
    talk = Talk()
    for exchange, (name, version) in enumerate((("a", FUTURE), ("b", "2025-11-25")), 1):
        talk.head(exchange, RequestHead("POST", "/mcp"))
        talk.body(C, exchange, id=1, method="initialize", params={"protocolVersion": version})
        talk.head(exchange, ResponseHead(200, "", (("Mcp-Session-Id", name), ("Content-Type", "application/json"))))
        talk.body(S, exchange, id=1, result={"protocolVersion": version})
    for exchange, (name, revision) in enumerate((("a", None), ("b", "2025-11-25"), ("a", None)), 3):
        assert talk.head(exchange, RequestHead("GET", "/mcp", (("Mcp-Session-Id", name),))) == revision
    header = (("MCP-Protocol-Version", FUTURE),)
    assert talk.head(9, RequestHead("GET", "/mcp", header)) is None


def test_the_names_of_unknown_versions_are_few() -> None:
    talk = Talk()
    for id in range(100):
        talk.hear(C, **asking(id, f"x{id}" * 100))
    assert len(talk.session.unknown_revisions) == 8
    assert all(len(version) <= 40 for version in talk.session.unknown_revisions)
