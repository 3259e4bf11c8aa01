"""The curl line of a finding: it sends that very request again, but for what may be secret."""

import shlex
import socket
import sys

from mcpcheck.report.curl import curl
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead
from tests.support.processes import ROOT, http_process

BODY = b'{"jsonrpc": "2.0", "id": "it\'s", "method": "server/discover"}'


def records(*headers: tuple[str, str], path: str = "/mcp", body: bytes = BODY) -> dict[int, Record]:
    head = RequestHead("POST", path, headers)
    return {
        1: Record(1, 0.0, Dir.C2S, Kind.HEAD, exchange=1, http=head),
        2: Record(2, 0.0, Dir.C2S, Kind.BODY, body, exchange=1),
    }


def test_headers_and_body_are_those_that_were_sent() -> None:
    line = curl([2], records(("Mcp-Method", "server/discover"), ("Content-Length", "61")), "http://127.0.0.1:1")
    words = shlex.split(line)
    assert words[:6] == ["curl", "-i", "-N", "-X", "POST", "http://127.0.0.1:1/mcp"]
    assert words[6:8] == ["-H", "Mcp-Method: server/discover"]
    assert words[8:] == ["--data-binary", BODY.decode()]


def test_secrets_are_not_in_it() -> None:
    line = curl([2], records(("Authorization", "Bearer hunter2-hunter2")), "http://127.0.0.1:1")
    assert "hunter2" not in line
    assert "Authorization" in line


def test_an_empty_header_is_sent_as_such() -> None:
    assert "-H 'Mcp-Name;'" in curl([2], records(("Mcp-Name", "")), "http://127.0.0.1:1")


def test_what_a_shell_cannot_hold_has_no_line() -> None:
    base = "http://127.0.0.1:1"
    assert curl([2], records(("X", "a\x01b")), base) == ""
    assert curl([2], records(body=b"\xff\xfe"), base) == ""
    assert curl([2], records(path="/mcp?key=secret"), base) == ""
    assert curl([2], records(body=b'"' + b"a" * 5000 + b'"'), base) == ""


def test_frames_without_an_exchange_have_no_line() -> None:
    line = Record(1, 0.0, Dir.C2S, Kind.LINE, BODY)
    assert curl([1], {1: line}, "http://127.0.0.1:1") == ""
    assert curl([], {}, "http://127.0.0.1:1") == ""


def test_a_real_server_answers_what_it_sends() -> None:
    with http_process(sys.executable, "-m", "mcpcheck.reference", "--http", "0", cwd=ROOT) as server:
        base, _, _ = server.url.rpartition("/")
        words = shlex.split(curl([2], records(("Content-Type", "application/json")), base))
        host, port = base.removeprefix("http://").split(":")
        body = words[words.index("--data-binary") + 1].encode()
        headers = [words[at + 1] for at, word in enumerate(words) if word == "-H"]
        lines = [f"POST /mcp HTTP/1.1\r\nHost: {host}", *headers, f"Content-Length: {len(body)}", "Connection: close"]
        with socket.create_connection((host, int(port)), timeout=10) as wire:
            wire.sendall("\r\n".join([*lines, "", ""]).encode() + body)
            answer = b"".join(iter(lambda: wire.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"Missing MCP-Session-Id header" in answer
