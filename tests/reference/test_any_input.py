"""Whatever a client sends, the reference answers with well-formed messages and never breaks inside."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mcpcheck.reference.admission import LEGACY_HANDLERS, MODERN_HANDLERS
from mcpcheck.reference.http import HttpServer
from mcpcheck.reference.prompts import PROMPTS
from mcpcheck.reference.resources import RESOURCES
from mcpcheck.reference.server import Server
from mcpcheck.reference.toolbox import TOOLS
from mcpcheck.wire.record import RequestHead
from tests.reference.driver import ALL, Http, meta, strict

Json = Any

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)
METHODS = st.sampled_from(sorted({*MODERN_HANDLERS, *LEGACY_HANDLERS, "notifications/cancelled", "odd"}))
NAMES = st.sampled_from([*TOOLS, *PROMPTS, *RESOURCES, "odd"])


def either(good: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Mostly what belongs there, sometimes anything."""
    return st.one_of(good, good, good, VALUES)


METAS = st.sampled_from([meta(), meta({}), meta(ALL, progressToken=1), {}])
PARAMS = st.fixed_dictionaries(
    {"_meta": either(METAS)},
    optional={
        "name": either(NAMES),
        "uri": either(NAMES),
        "arguments": either(st.dictionaries(st.sampled_from(["a", "b", "to", "text", "region", "arg1"]), VALUES)),
        "cursor": VALUES,
        "inputResponses": either(st.dictionaries(st.sampled_from(["user_name", "confirm", "client_roots"]), VALUES)),
        "requestState": VALUES,
        "notifications": either(
            st.dictionaries(st.sampled_from(["toolsListChanged", "resourceSubscriptions"]), VALUES)
        ),
        "requestId": VALUES,
        "ref": either(st.fixed_dictionaries({"type": st.sampled_from(["ref/prompt", "ref/resource"]), "name": NAMES})),
        "argument": either(st.fixed_dictionaries({"name": st.text(max_size=3), "value": VALUES})),
        "level": VALUES,
        "protocolVersion": either(st.sampled_from(["2025-11-25", "2025-03-26"])),
        "capabilities": either(st.just(ALL)),
        "clientInfo": either(st.just({"name": "t", "version": "1"})),
    },
)
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": either(st.just("2.0")), "method": either(METHODS), "params": either(PARAMS)},
    optional={"id": either(st.integers() | st.text(max_size=3)), "result": VALUES},
)
OPENING = {"protocolVersion": "2025-11-25", "capabilities": ALL, "clientInfo": {"name": "t", "version": "1"}}


def check(line: bytes) -> None:
    message = strict(line)
    expected = message.get("params", {}).get("name") == "test_failing_prompt"
    assert message.get("error", {}).get("code") != -32603 or expected or "not available" in message["error"]["message"]


@settings(max_examples=300, deadline=None)
@given(st.lists(MESSAGES, max_size=6), st.booleans())
def test_lines(sent: list[Json], legacy: bool) -> None:
    server = Server()
    if legacy:
        opening = {"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": OPENING}
        server.receive(json.dumps(opening).encode())
        server.receive(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    for message in sent:
        for line in server.receive(json.dumps(message).encode()):
            check(line)
    for line in server.step():
        check(line)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=40))
def test_bytes(data: bytes) -> None:
    for line in Server().receive(data):
        strict(line)


@settings(max_examples=200, deadline=None)
@given(MESSAGES, st.dictionaries(st.sampled_from(["Mcp-Method", "Mcp-Name", "Accept", "MCP-Session-Id"]), st.text()))
def test_exchanges(message: Json, headers: dict[str, str]) -> None:
    http = Http(HttpServer())
    try:
        sent = http.headers(message)
    except (TypeError, KeyError, AttributeError):
        sent = {"Content-Type": "application/json"}
    pairs = tuple((name, value) for name, value in (sent | headers).items() if isinstance(value, str))
    reply = http.server.handle(RequestHead("POST", "/mcp", pairs), json.dumps(message).encode())
    assert 200 <= reply.status < 500
    if reply.body and ("Content-Type", "application/json") in reply.headers:
        check(reply.body)
