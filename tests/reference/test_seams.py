"""The seams that mutants override: those that the modules promise are there, and one method is enough to break one."""

import json
import re

import pytest

import mcpcheck.reference.http as http_module
import mcpcheck.reference.server as server_module
from mcpcheck.reference.call import Call, Json
from mcpcheck.reference.http import HttpServer
from mcpcheck.reference.server import Server
from mcpcheck.wire.event import Notification
from tests.reference.driver import Http


def promised(doc: str | None) -> list[str]:
    """The names in the table of a module's docstring: what stands from its second column on."""
    table = re.split(r"^=+  =+$", doc or "", flags=re.MULTILINE)[1]
    return re.findall(r"\w+", " ".join(row[24:] for row in table.splitlines()))


@pytest.mark.parametrize("name", promised(server_module.__doc__))
def test_the_server_has_what_it_promises(name: str) -> None:
    assert callable(getattr(Server, name))


@pytest.mark.parametrize("name", promised(http_module.__doc__))
def test_the_http_binding_has_what_it_promises(name: str) -> None:
    assert callable(getattr(HttpServer, name))


def test_one_method_answers_a_notification_on_either_transport() -> None:
    class Mutant(Server):
        def on_notification(self, note: Notification) -> list[bytes]:
            return [self.encode({"jsonrpc": "2.0", "id": 0, "result": {}})]

    note = {"jsonrpc": "2.0", "method": "notifications/unheard-of"}
    assert Mutant().receive(b'{"jsonrpc":"2.0","method":"x"}') == [b'{"jsonrpc":"2.0","id":0,"result":{}}']
    reply = Http(HttpServer(Mutant)).post(note, {"MCP-Protocol-Version": "2026-07-28"})
    assert (reply.status, reply.body) == (200, b'{"jsonrpc":"2.0","id":0,"result":{}}')


def test_one_method_breaks_the_form_of_every_message() -> None:
    class Mutant(Server):
        def encode(self, message: Json) -> bytes:
            return super().encode(message).replace(b"{", b"{\n", 1)

    assert b"\n" in Mutant().receive(b"nonsense")[0]
    client = Http(HttpServer(Mutant))
    reply = client.ask("tools/call", {"name": "test_simple_text"}, progressToken=1)
    assert reply.stream is not None
    assert reply.stream.take()[0].count(b"data: ") == 2


def test_one_method_breaks_one_status_of_http() -> None:
    class Mutant(HttpServer):
        def status_for(self, code: int, *, metadata: bool = False) -> int:
            return 200

    assert Http(Mutant()).ask("mcpcheck/no-such-method").status == 200


def test_one_method_makes_the_server_forget_a_hint() -> None:
    class Mutant(Server):
        def cache_hints(self, call: Call) -> dict[str, Json]:
            return {}

    line = json.dumps(Http().request("server/discover")).encode()
    assert b"ttlMs" in Server().receive(line)[0]
    assert b"ttlMs" not in Mutant().receive(line)[0]
