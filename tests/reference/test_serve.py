"""The reference server as a process: lines, and HTTP with all that real connections do."""

import contextlib
import json
import socket
import sys
from collections.abc import Iterator
from typing import Any

import h11
import pytest

from mcpcheck.wire.protocol import MODERN
from tests.reference.driver import Http, meta
from tests.support.processes import ROOT, ServerProcess, http_process, run, server_process

Json = Any

REFERENCE = (sys.executable, "-m", "mcpcheck.reference")


def request(method: str, id_: Json = 1, **params: Json) -> dict[str, Json]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": {"_meta": meta(), **params}}


def line(message: Json) -> bytes:
    return json.dumps(message).encode() + b"\n"


# stdio


def test_lines_are_answered_and_the_process_goes_when_its_input_ends() -> None:
    with server_process(*REFERENCE) as server:
        server.send(line(request("server/discover", 1)) + line(request("tools/list", "b")))
        assert [json.loads(server.line())["id"] for _ in range(2)] == [1, "b"]
        server.send(line(request("subscriptions/listen", 3, notifications={})))
        server.send(line(request("tools/call", 4, name="count_slowly", arguments={"to": 1000})))
        assert b"acknowledged" in server.line()
        server.close_input()
        assert server.wait() == 0
        assert server.line() == b""
        assert server.stderr.seen == []


def test_a_last_line_without_its_end_is_answered() -> None:
    with server_process(*REFERENCE) as server:
        server.send(line(request("server/discover"))[:-1])
        server.close_input()
        assert json.loads(server.line())["id"] == 1
        assert server.wait() == 0


def test_slow_work_goes_on_beside_other_requests_and_can_be_cancelled() -> None:
    with server_process(*REFERENCE) as server:
        slow = request("tools/call", 1, name="count_slowly", arguments={"to": 1000})
        slow["params"]["_meta"]["progressToken"] = "t"
        server.send(line(slow) + line(request("server/discover", 2)))
        answers = [json.loads(server.line()) for _ in range(4)]
        assert [answer["id"] for answer in answers if "id" in answer] == [2]
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        server.send(line(note) + line(request("server/discover", 3)))
        while "id" not in (answer := json.loads(server.line())):
            assert answer["method"] == "notifications/progress"
        assert answer["id"] == 3
        server.send(line(request("tools/call", 5, name="count_slowly", arguments={"to": 2})))
        assert json.loads(server.line())["id"] == 5


def test_separators_of_other_kinds_do_not_cut_a_line() -> None:
    text = "a\u2028b\u2029c\u0085d"
    message = json.dumps(request("tools/call", name="echo", arguments={"text": text}), ensure_ascii=False)
    with server_process(*REFERENCE) as server:
        server.send(message.encode() + b"\r\n")
        assert json.loads(server.line())["result"]["content"][0]["text"] == text


def test_the_end_of_input_is_noticed_in_the_middle_of_slow_work() -> None:
    with server_process(*REFERENCE) as server:
        server.send(line(request("server/discover")))
        server.line()
        server.send(line(request("tools/call", 2, name="count_slowly", arguments={"to": 1000})))
        server.close_input()
        assert server.wait() == 0


def test_revisions_can_be_chosen() -> None:
    with server_process(*REFERENCE, "--spec", MODERN) as server:
        server.send(line(request("server/discover")))
        assert json.loads(server.line())["result"]["supportedVersions"] == [MODERN]
    assert run(*REFERENCE, "--spec", "1900-01-01").returncode == 2


# HTTP


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ServerProcess]:
    with http_process(*REFERENCE, "--http", "0") as server:
        yield server


class Wire:
    """One connection, byte by byte."""

    def __init__(self, url: str) -> None:
        host, _, port = url.split("/")[2].partition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=20)
        self.http = h11.Connection(h11.CLIENT)

    def raw(self, message: Json, **headers: str) -> bytes:
        """A POST as bytes; the answers are read one after another."""
        body = json.dumps(message).encode()
        sent = {name: value for name, value in Http().headers(message).items() if value is not None} | headers
        head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        return f"POST /mcp HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def answer(self) -> tuple[int, bytes]:
        """The status and the whole body of the next answer."""
        if self.http.our_state is h11.DONE:
            self.http.start_next_cycle()
        # The client side of h11 wants to have sent a request of its own before it reads an answer.
        self.http.send(h11.Request(method="POST", target="/mcp", headers=[("Host", "x")]))
        self.http.send(h11.EndOfMessage())
        status, body = 0, b""
        while not isinstance(event := self.next(), h11.EndOfMessage):
            if isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                body += event.data
        return status, body

    def until(self, wanted: bytes) -> bytes:
        """Everything up to the first piece that holds these bytes."""
        said = b""
        while wanted not in said:
            piece = self.socket.recv(65536)
            assert piece, said
            said += piece
        return said

    def next(self) -> Any:
        while (event := self.http.next_event()) is h11.NEED_DATA:
            self.http.receive_data(self.socket.recv(65536))
        assert not isinstance(event, h11.ConnectionClosed)
        return event


@pytest.fixture
def wire(endpoint: ServerProcess) -> Iterator[Wire]:
    connection = Wire(endpoint.url)
    with contextlib.closing(connection.socket):
        yield connection


def test_a_connection_is_kept_and_pipelined_requests_are_answered_in_order(wire: Wire) -> None:
    wire.send(b"".join(wire.raw(request("server/discover", number)) for number in range(3)))
    for number in range(3):
        status, body = wire.answer()
        assert status == 200
        assert json.loads(body)["id"] == number
    wire.send(wire.raw(request("tools/list", "later")))
    assert json.loads(wire.answer()[1])["id"] == "later"


def test_a_stream_is_followed_by_the_next_answer_on_the_same_connection(wire: Wire) -> None:
    slow = request("tools/call", 1, name="count_slowly", arguments={"to": 2})
    wire.send(wire.raw(slow) + wire.raw(request("server/discover", 2)))
    status, body = wire.answer()
    assert status == 200
    assert body.startswith(b"event: message\ndata: ")
    assert json.loads(wire.answer()[1])["id"] == 2


def test_a_chunked_body_is_read(wire: Wire) -> None:
    message = request("server/discover")
    head, _, body = wire.raw(message).partition(b"\r\n\r\n")
    head = head.replace(b"Content-Length: %d" % len(body), b"Transfer-Encoding: chunked")
    wire.send(head + b"\r\n\r\n")
    for part in (body[:10], body[10:]):
        wire.send(b"%x\r\n%s\r\n" % (len(part), part))
    wire.send(b"0\r\n\r\n")
    assert json.loads(wire.answer()[1])["id"] == 1


def test_a_body_may_wait_for_a_hundred(wire: Wire) -> None:
    head, _, body = wire.raw(request("server/discover"), Expect="100-continue").partition(b"\r\n\r\n")
    wire.send(head + b"\r\n\r\n")
    assert wire.socket.recv(100).startswith(b"HTTP/1.1 100")
    wire.send(body)
    assert json.loads(wire.answer()[1])["id"] == 1


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nMcp-Method: a\x01b\r\nContent-Length: 0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n" + b"x" * 17_000_000,
    ],
)
def test_what_is_not_http_is_refused_and_the_server_lives(endpoint: ServerProcess, wire: Wire, data: bytes) -> None:
    with contextlib.suppress(ConnectionError):
        wire.send(data)
    with contextlib.suppress(ConnectionError):
        assert wire.socket.recv(100).startswith(b"HTTP/1.1 4")
    other = Wire(endpoint.url)
    with contextlib.closing(other.socket):
        other.send(other.raw(request("server/discover")))
        assert other.answer()[0] == 200


def test_a_head_or_get_is_answered_and_unencoded_text_in_a_header_is_refused(wire: Wire) -> None:
    wire.send(wire.raw(request("tools/call", name="Grüße"), **{"Mcp-Name": "Grüße"}))
    status, body = wire.answer()
    assert (status, json.loads(body)["error"]["code"]) == (400, -32020)


def test_a_client_that_leaves_cancels_its_request(endpoint: ServerProcess) -> None:
    def counted() -> str:
        wire = Wire(endpoint.url)
        with contextlib.closing(wire.socket):
            wire.send(wire.raw(request("tools/call", name="counted", arguments={"counter": "left"})))
            text: str = json.loads(wire.answer()[1])["result"]["content"][0]["text"]
            return text

    wire = Wire(endpoint.url)
    slow = request("tools/call", name="count_slowly", arguments={"to": 1000, "counter": "left"})
    slow["params"]["_meta"]["progressToken"] = 1
    wire.send(wire.raw(slow))
    wire.until(b'"progress":2,')
    wire.socket.close()
    reached = [counted() for _ in range(2)]
    fence = Wire(endpoint.url)
    with contextlib.closing(fence.socket):
        fence.send(fence.raw(request("tools/call", name="count_slowly", arguments={"to": 4})))
        assert fence.answer()[0] == 200
    assert int(counted()) - int(reached[1]) <= 1


def test_a_listening_stream_leaves_the_server_free_for_others(endpoint: ServerProcess, wire: Wire) -> None:
    wire.send(wire.raw(request("subscriptions/listen", "s", notifications={"toolsListChanged": True})))
    wire.until(b"acknowledged")
    others = [Wire(endpoint.url) for _ in range(3)]
    for number, other in enumerate(others):
        other.send(other.raw(request("tools/list", number)))
    for number, other in enumerate(others):
        assert json.loads(other.answer()[1])["id"] == number
    others[0].send(others[0].raw(request("tools/call", 9, name="test_trigger_tool_change")))
    assert others[0].answer()[0] == 200
    wire.until(b"notifications/tools/list_changed")
    for other in others:
        other.socket.close()


def test_the_end_of_the_process_ends_subscriptions_in_good_order() -> None:
    with http_process(*REFERENCE, "--http", "0") as server:
        wire = Wire(server.url)
        with contextlib.closing(wire.socket):
            wire.send(wire.raw(request("subscriptions/listen", "s", notifications={})))
            said = wire.until(b"acknowledged")
            server.process.terminate()
            while data := wire.socket.recv(65536):
                said += data
            assert said.count(b"data: ") == 2
            assert said.endswith(b"0\r\n\r\n")
        assert server.wait() == 0


def test_a_mutant_is_served_by_its_name() -> None:
    serve = (sys.executable, str(ROOT / "fixtures" / "serve.py"))
    with server_process(*serve, "reference") as server:
        server.send(line(request("server/discover")))
        assert json.loads(server.line())["id"] == 1
    with http_process(*serve, "reference", "--http", "0") as server:
        wire = Wire(server.url)
        with contextlib.closing(wire.socket):
            wire.send(wire.raw(request("server/discover")))
            assert wire.answer()[0] == 200
