"""The tap over HTTP, as a process between raw sockets: what the peers see is what they would see without it."""

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mcpcheck.capture import open_capture
from mcpcheck.wire.record import Kind, Record, RequestHead, ResponseHead
from tests.support.raw_http import PATIENCE, RawServer, answer, connect, post, read_all, read_body, read_head

EVENT = b"event: message\r\ndata: {}\r\n\r\n"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


@dataclass
class Tapped:
    url: str
    capture: Path
    process: "subprocess.Popen[bytes]"
    said: list[str] = field(default_factory=list)

    def end(self) -> list[Record]:
        """End the tap as a user does, and read what it recorded."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE) == 0
        return list(open_capture(self.capture))


@contextmanager
def tapped(url: str, folder: Path, *options: str) -> Iterator[Tapped]:
    capture = folder / "session.ndjson"
    command = [sys.executable, "-m", "mcpcheck", "tap", "-o", str(capture), *options, url]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert process.stderr
    try:
        line = process.stderr.readline().decode()
        assert " -> " in line, line
        yield Tapped(line.split()[2], capture, process)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
        assert process.stdout
        assert process.stdout.read() == b""
        process.stdout.close()


def bodies(records: list[Record]) -> list[bytes]:
    return [record.data for record in records if record.kind is Kind.BODY]


def test_an_exchange_passes_unchanged_but_for_the_host_and_is_recorded(tmp_path: Path) -> None:
    def script(peer: socket.socket) -> None:
        while True:
            server.take(peer)
            peer.sendall(
                answer(b'{"jsonrpc":"2.0","id":1,"result":{}}', "Set-Cookie: a=1", "Set-Cookie: b=2", "X-oDD: 1")
            )

    with RawServer(script) as server, tapped(server.url, tmp_path) as tap, connect(tap.url) as client:
        for _ in range(2):
            client.sendall(post(b'{"jsonrpc":"2.0","id":1,"method":"ping"}', "x-ODD: 1", "x-odd: 2"))
            head, rest = read_head(client)
            body = read_body(client, head, rest)
        records = tap.end()
    assert head.split(b"\r\n")[2:5] == [b"Set-Cookie: a=1", b"Set-Cookie: b=2", b"X-oDD: 1"]
    assert body == b'{"jsonrpc":"2.0","id":1,"result":{}}'
    target = server.url.removeprefix("http://").removesuffix("/mcp").encode()
    assert b"Host: " + target in server.heads[0]
    assert b"x-ODD: 1\r\nx-odd: 2" in server.heads[0]
    assert [record.exchange for record in records] == [1, 1, 1, 1, 1, 2, 2, 2, 2, 2]
    assert [record.kind.value for record in records[:5]] == ["head", "body", "head", "body", "event"]
    asked, told = records[0].http, records[2].http
    assert isinstance(asked, RequestHead)
    assert isinstance(told, ResponseHead)
    assert ("x-ODD", "1") in asked.headers
    assert [name for name, _ in told.headers] == ["Content-Length", "Set-Cookie", "Set-Cookie", "X-oDD"]
    assert "http.headers.Set-Cookie" in records[2].redacted


def test_events_pass_as_they_come(tmp_path: Path) -> None:
    seen = threading.Event()

    def script(peer: socket.socket) -> None:
        server.take(peer)
        peer.sendall(STREAM + chunk(EVENT))
        assert seen.wait(PATIENCE)
        peer.sendall(chunk(EVENT) + b"0\r\n\r\n")

    with RawServer(script) as server, tapped(server.url, tmp_path) as tap, connect(tap.url) as client:
        client.sendall(post())
        first = b""
        while EVENT not in first:
            first += client.recv(65536)
        seen.set()
        rest = b""
        while not rest.endswith(b"0\r\n\r\n"):
            rest += client.recv(65536)
        records = tap.end()
    assert [record.data for record in records if record.kind is Kind.SSE] == [EVENT, EVENT]
    assert records[-1].event == "eof"


def test_a_client_that_leaves_a_stream_is_told_to_the_server_at_once(tmp_path: Path) -> None:
    def script(peer: socket.socket) -> None:
        server.take(peer)
        peer.sendall(STREAM + chunk(EVENT))
        server.wait_for_leave(peer)

    with RawServer(script) as server, tapped(server.url, tmp_path) as tap:
        with connect(tap.url) as client:
            client.sendall(post())
            while EVENT not in client.recv(65536):
                pass
        assert server.left.wait(PATIENCE)
        records = tap.end()
    assert (records[-1].event, records[-1].dir) == ("abort", "c2s")


def test_an_answer_that_is_cut_short_is_cut_short(tmp_path: Path) -> None:
    def script(peer: socket.socket) -> None:
        server.take(peer)
        peer.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"half":')

    with RawServer(script) as server, tapped(server.url, tmp_path) as tap, connect(tap.url) as client:
        client.sendall(post())
        assert read_all(client).endswith(b'{"half":')
        records = tap.end()
    assert bodies(records) == [b"{}", b'{"half":']
    assert (records[-1].event, records[-1].dir) == ("abort", "s2c")


def test_a_body_that_the_end_of_the_connection_ends_is_whole(tmp_path: Path) -> None:
    def script(peer: socket.socket) -> None:
        server.take(peer)
        peer.sendall(b"HTTP/1.0 200 OK\r\n\r\nall of it")

    with RawServer(script) as server, tapped(server.url, tmp_path) as tap, connect(tap.url) as client:
        client.sendall(post())
        assert read_all(client).endswith(b"all of it")
        records = tap.end()
    assert bodies(records)[-1] == b"all of it"
    assert records[-1].event == "eof"


def test_sixteen_mebibytes_pass_both_ways(tmp_path: Path) -> None:
    big = b'{"big":"' + b"x" * (16 << 20) + b'"}'

    def script(peer: socket.socket) -> None:
        peer.sendall(answer(server.take(peer).partition(b"\r\n\r\n")[2]))

    with RawServer(script) as server, tapped(server.url, tmp_path) as tap, connect(tap.url) as client:
        sender = threading.Thread(target=client.sendall, args=(post(big),))
        sender.start()
        head, rest = read_head(client)
        body = read_body(client, head, rest)
        sender.join(PATIENCE)
        records = tap.end()
    assert body == big
    assert bodies(records) == [big, big]


def test_a_body_in_chunks_passes_in_chunks_and_is_recorded_whole(tmp_path: Path) -> None:
    framed = chunk(b'{"a":') + chunk(b"1}") + b"0\r\nX-Trailer: t\r\n\r\n"

    def script(peer: socket.socket) -> None:
        data = b""
        while not data.endswith(b"t\r\n\r\n"):
            data += peer.recv(65536)
        server.heads.append(data)
        peer.sendall(answer())

    with RawServer(script) as server, tapped(server.url, tmp_path) as tap, connect(tap.url) as client:
        client.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + framed)
        read_head(client)
        records = tap.end()
    assert server.heads[0].endswith(framed)
    assert bodies(records)[0] == b'{"a":1}'


def test_every_method_and_path_passes(tmp_path: Path) -> None:
    def script(peer: socket.socket) -> None:
        while True:
            head = server.take(peer)
            peer.sendall(answer(b"", f"X-Path: {head.split()[1].decode()}", status="401 Unauthorized"))

    with RawServer(script) as server, tapped(server.url, tmp_path) as tap, connect(tap.url) as client:
        for method, path in (("GET", "/.well-known/oauth-protected-resource"), ("DELETE", "/mcp"), ("OPTIONS", "*")):
            client.sendall(post(b"", path=path, method=method))
            head, _ = read_head(client)
            assert b"401 Unauthorized" in head
            assert f"X-Path: {path}".encode() in head
        tap.end()


def test_an_answer_to_head_has_no_body(tmp_path: Path) -> None:
    def script(peer: socket.socket) -> None:
        server.take(peer)
        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
        server.take(peer)
        peer.sendall(answer(b"next"))

    with RawServer(script) as server, tapped(server.url, tmp_path) as tap, connect(tap.url) as client:
        client.sendall(post(b"", method="HEAD"))
        read_head(client)
        client.sendall(post())
        head, rest = read_head(client)
        assert read_body(client, head, rest) == b"next"
        records = tap.end()
    assert [record.event for record in records if record.kind is Kind.EVENT] == ["eof", "eof"]


def test_a_target_that_is_down_is_502_until_it_is_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with tapped(f"http://127.0.0.1:{port}/mcp", tmp_path) as tap:
        with connect(tap.url) as client:
            client.sendall(post())
            said = read_all(client)
        assert said.startswith(b"HTTP/1.1 502 ")
        assert "cannot connect" in json.loads(said.partition(b"\r\n\r\n")[2])["error"]
        with socket.create_server(("127.0.0.1", port)) as late, connect(tap.url) as client:
            client.sendall(post())
            peer, _ = late.accept()
            with peer:
                read_head(peer)
                peer.sendall(answer(b"up"))
                assert read_head(client)[0].startswith(b"HTTP/1.1 200")
        records = tap.end()
    assert [record.event for record in records if record.exchange == 1 and record.event] == ["abort"]


@pytest.mark.parametrize(
    ("fields", "host"),
    [(("Origin: http://evil.example",), "127.0.0.1"), (("Origin: null",), "127.0.0.1"), ((), "evil.example")],
)
def test_a_web_page_of_another_origin_is_not_let_in(fields: tuple[str, ...], host: str, tmp_path: Path) -> None:
    def script(peer: socket.socket) -> None:
        server.take(peer)

    with RawServer(script) as server, tapped(server.url, tmp_path) as tap:
        with connect(tap.url) as client:
            client.sendall(post(b"{}", *fields, host=host))
            assert read_all(client).startswith(b"HTTP/1.1 403 ")
        records = tap.end()
    assert server.heads == []
    assert records == []


def test_what_is_no_http_is_refused(tmp_path: Path) -> None:
    def script(peer: socket.socket) -> None:
        server.take(peer)

    with RawServer(script) as server, tapped(server.url, tmp_path) as tap:
        with connect(tap.url) as client:
            client.sendall(b"\x16\x03\x01 hello\r\n\r\n")
            assert read_all(client).startswith(b"HTTP/1.1 400 ")
        tap.end()


def test_many_exchanges_at_once_each_get_their_own_answer(tmp_path: Path) -> None:
    def script(peer: socket.socket) -> None:
        while True:
            peer.sendall(answer(server.take(peer).partition(b"\r\n\r\n")[2]))

    told: dict[int, Any] = {}

    def ask(number: int) -> None:
        with connect(tap.url) as client:
            client.sendall(post(json.dumps({"id": number}).encode()))
            head, rest = read_head(client)
            told[number] = json.loads(read_body(client, head, rest))["id"]

    with RawServer(script) as server, tapped(server.url, tmp_path) as tap:
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        records = tap.end()
    assert told == {number: number for number in range(100)}
    for number in range(1, 101):
        asked, answered = (record.data for record in records if record.exchange == number and record.kind is Kind.BODY)
        assert asked == answered


def test_a_recorder_without_a_place_leaves_the_session_alone(tmp_path: Path) -> None:
    def script(peer: socket.socket) -> None:
        while True:
            server.take(peer)
            peer.sendall(answer(b"fine"))

    with (
        RawServer(script) as server,
        tapped(server.url, tmp_path, "-o", "/dev/full") as tap,
        connect(tap.url) as client,
    ):
        for _ in range(3):
            client.sendall(post())
            head, rest = read_head(client)
            assert read_body(client, head, rest) == b"fine"
        tap.process.send_signal(signal.SIGTERM)
        assert tap.process.wait(PATIENCE) == 0
        assert tap.process.stderr
        assert b"No space left" in tap.process.stderr.read()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--listen", "nonsense", "http://127.0.0.1:1/mcp"], "write --listen 127.0.0.1:8001"),
        (["http://:80/mcp"], "names no host"),
        (["http://127.0.0.1:99999/mcp"], "is no address"),
    ],
)
def test_what_a_user_mistypes_is_one_clear_sentence(words: list[str], says: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mcpcheck", "tap", "-o", str(tmp_path / "c.ndjson"), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        command = [
            sys.executable,
            "-m",
            "mcpcheck",
            "tap",
            "-o",
            str(tmp_path / "c"),
            "--listen",
            where,
            "http://x/mcp",
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert f"cannot listen on {where}" in done.stderr
