"""However long a session is, whatever it holds: the work grows with its length, and the memory does not.

Each pattern is a few lines of a session that come again and again, with a number of their own each time. Work is
counted in steps of the interpreter and memory in objects, so that the machine's speed plays no part.
"""

import gc
import sys
import types
from types import FrameType
from typing import Any

import pytest

from mcpcheck.engine import Engine
from mcpcheck.rules.registry import Rule
from mcpcheck.session import open_calls, seen, strays
from mcpcheck.wire import recent
from tests.support import sessions

ROUNDS = 40
FEW = 20
"""How many entries the session's bounded memories have here."""

HEAD = {
    "2026-07-28": "",
    "2025-11-25": """\
c: 0 initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}
s: 0 -> {"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}
c: note notifications/initialized
""",
    "2025-03-26": "",
    "2024-11-05": "",
}
NOW = '"createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:00Z"'
TASK = f'{{"taskId":"t@","status":"working",{NOW},"ttl":1}}'
PATTERNS = {
    "calls": ('c: @ tools/call {"name":"x"}', 's: @ -> {"content":[]}'),
    "calls without an answer": ('c: @ tools/call {"name":"x","_meta":{"progressToken":@}}',),
    "calls by string ids": ('c: "a@" tools/call {"name":"x"}', 's: "a@" -> {"content":[]}'),
    "ids far apart": ("c: @00 tools/list", 's: @00 -> {"tools":[]}'),
    "one id": ("c: 1 tools/list",),
    "one token": ('c: @ tools/call {"name":"x","_meta":{"progressToken":"same"}}',),
    "ids that are objects": ('c> {"jsonrpc":"2.0","id":{"a":@},"method":"tools/list"}',),
    "answers twice": ("c: @ tools/list", 's: @ -> {"tools":[]}', 's: @ -> {"tools":[]}'),
    "answers that nobody asked for": ("s: @ -> {}",),
    "errors without an id": ('s> {"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}',),
    "notifications": ("c: note notifications/unheard-of-@", "s: note notifications/unheard-of-@"),
    "methods that nobody knows": ("c: @ x/m@", "s: @ error -32601"),
    "methods that are served": ("c: @ x/m@", "s: @ -> {}"),
    "no JSON": ("c> nonsense @", "s> {nope @"),
    "open braces": ('s> {"a":',),
    "open brackets and a message": ("s> [", "c: @ tools/list"),
    "half messages": ('c> {"jsonrpc":"2.0","id":@}',),
    "empty lines": ("c> ", "s> "),
    "batches": ('c> [{"jsonrpc":"2.0","id":@,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"}]',),
    "progress": (
        'c: @ tools/call {"name":"x","_meta":{"progressToken":"t@"}}',
        's: note notifications/progress {"progressToken":"t@","progress":1}',
        's: note notifications/progress {"progressToken":"t@","progress":2}',
        's: @ -> {"content":[]}',
    ),
    "progress for nobody": ('s: note notifications/progress {"progressToken":@,"progress":1}',),
    "cancellations": ("c: @ tools/list", 'c: note notifications/cancelled {"requestId":@}'),
    "log messages": (
        'c: @ tools/call {"name":"x","_meta":{"io.modelcontextprotocol/logLevel":"info"}}',
        's: note notifications/message {"level":"info","data":"x"}',
    ),
    "subscriptions": (
        'c: @ subscriptions/listen {"notifications":{"resourceSubscriptions":["a:@"]}}',
        's: note notifications/subscriptions/acknowledged {"notifications":{},'
        '"_meta":{"io.modelcontextprotocol/subscriptionId":@}}',
        's: note notifications/resources/updated {"uri":"a:@","_meta":{"io.modelcontextprotocol/subscriptionId":@}}',
    ),
    "pages": (
        'c: @ tools/list {"cursor":"c@"}',
        's: @ -> {"tools":[],"nextCursor":"n@","ttlMs":1,"cacheScope":"public"}',
    ),
    "tools": (
        "c: @ tools/list",
        's: @ -> {"tools":[{"name":"t@","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}],"ttlMs":1,'
        '"cacheScope":"public"}',
    ),
    "rounds of input": (
        'c: @ tools/call {"name":"x","_meta":{"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}',
        's: @ -> {"resultType":"input_required","inputRequests":{"k@":{"method":"roots/list"}},"requestState":"s@"}',
        'c: 1@ tools/call {"name":"x","inputResponses":{"k@":{"roots":[]}},"requestState":"s@",'
        '"_meta":{"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}',
    ),
    "versions": ('c: @ tools/list {"_meta":{"io.modelcontextprotocol/protocolVersion":"v@"}}', "s: @ error -32022"),
    "extensions": (
        'c: @ tools/call {"name":"x","_meta":{"io.modelcontextprotocol/clientCapabilities":'
        '{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}',
        's: @ -> {"resultType":"task","taskId":"t@","status":"working","createdAt":"2026-07-28T00:00:00Z"}',
        'c: 1@ tasks/get {"taskId":"t@"}',
    ),
}
LEGACY = {
    "handshakes": (
        'c: 1@ initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}',
        's: 1@ -> {"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}',
    ),
    "pings": ("c: 1@ ping", "s: 1@ -> {}", "s: @ ping", "c: @ -> {}"),
    "questions": (
        's: @ elicitation/create {"message":"m","requestedSchema":{"type":"object","properties":{}}}',
        'c: @ -> {"action":"decline"}',
        's: 1@ sampling/createMessage {"messages":[],"maxTokens":1}',
        "s: 2@ roots/list",
    ),
    "updates": (
        'c: 1@ resources/subscribe {"uri":"a:@"}',
        "s: 1@ -> {}",
        's: note notifications/resources/updated {"uri":"a:@"}',
        's: note notifications/resources/updated {"uri":"b:@"}',
    ),
    "levels": ('c: 1@ logging/setLevel {"level":"info"}', 's: note notifications/message {"level":"debug","data":"@"}'),
    "tasks": (
        'c: 1@ tools/call {"name":"x","task":{"ttl":1},"_meta":{"progressToken":"p@"}}',
        f's: 1@ -> {{"task":{TASK}}}',
        f"s: note notifications/tasks/status {TASK}",
        'c: 2@ tasks/get {"taskId":"t@"}',
        f"s: 2@ -> {TASK}",
    ),
    "pages": ('c: 1@ tools/list {"cursor":"c@"}', 's: 1@ -> {"tools":[],"nextCursor":"n@"}'),
}
HTTP = {
    "streams": (
        'c: @ tools/call {"name":"x","_meta":{"progressToken":"t@"}}',
        's: @ ~ notifications/progress {"progressToken":"t@","progress":1}',
        's: @ ~> {"content":[]}',
    ),
    "streams that stay open": ('c: @ tools/call {"name":"x"}', 's: @ ~> {"content":[]} [open]'),
    "other paths": ("c> GET /.well-known/x@", "s> 404 Not Found", ". s eof"),
    "tokens": (
        "c> POST /token | Content-Type: application/x-www-form-urlencoded",
        "c> grant_type=authorization_code&code=c@&code_verifier=v",
        "s> 200 OK | Content-Type: application/json",
        's> {"access_token":"a@","token_type":"Bearer"}',
        ". s eof",
    ),
    "requests without an end": ("c> POST /mcp | Content-Type: application/json",),
}
LEGACY_HTTP = {
    "sessions": (
        "c> POST /mcp | Content-Type: application/json | Accept: application/json, text/event-stream",
        'c> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
        '"clientInfo":{"name":"c","version":"1"}}}',
        "s> 200 OK | Content-Type: application/json | Mcp-Session-Id: s@",
        's> {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},'
        '"serverInfo":{"name":"s","version":"1"}}}',
        ". s eof",
        "c> DELETE /mcp | Mcp-Session-Id: s@ | MCP-Protocol-Version: 2025-11-25",
        "s> 200 OK",
        ". s eof",
    ),
    "listening": (
        "c> GET /mcp | Accept: text/event-stream | MCP-Protocol-Version: 2025-11-25",
        "s> 200 OK | Content-Type: text/event-stream",
        's> id: @\\ndata: {"jsonrpc":"2.0","id":@,"method":"ping"}\\n\\n',
    ),
}
OLD_HTTP = {
    "endpoints": (
        "c> GET /sse | Accept: text/event-stream",
        "s> 200 OK | Content-Type: text/event-stream",
        "s> event: endpoint\\ndata: /messages?id=@\\n\\n",
        "c> POST /messages?id=@ | Content-Type: application/json",
        'c> {"jsonrpc":"2.0","id":@,"method":"ping"}',
        "s> 202 Accepted",
        ". s eof",
    ),
}
SETS = (
    ("stdio", "2026-07-28", PATTERNS),
    ("stdio", "2025-11-25", {name: lines for name, lines in PATTERNS.items() if "_meta" not in str(lines)}),
    ("stdio", "2025-11-25", {f"{name}, older": lines for name, lines in LEGACY.items()}),
    ("stdio", "2025-03-26", {"batches": PATTERNS["batches"]}),
    ("http", "2026-07-28", HTTP | {name: PATTERNS[name] for name in ("calls", "calls without an answer", "one id")}),
    ("http", "2025-11-25", LEGACY_HTTP),
    ("http", "2024-11-05", OLD_HTTP),
)
CASES = [
    pytest.param(transport, revision, lines, id=f"{transport} {revision} {name}")
    for transport, revision, patterns in SETS
    for name, lines in patterns.items()
]


def case(transport: str, revision: str, lines: tuple[str, ...], rounds: int) -> sessions.Case:
    """A session in which a pattern comes a number of times."""
    head = HEAD[revision] if transport == "stdio" else ""
    repeated = "\n".join(line.replace("@", str(n)) for n in range(1, rounds + 1) for line in lines)
    (found,) = sessions.parse(f"# long\n@{transport}\n@revision {revision}\n{head}{repeated}\n")
    return found


def engine(made: sessions.Case) -> Engine:
    """An engine that has judged it, but for its end."""
    judging = Engine(made.transport, endpoint="/mcp", default=made.revision, counting=True)
    for record in made.records:
        judging.feed(record)
    return judging


def steps(made: sessions.Case) -> int:
    """How many steps of the interpreter it takes to judge a session."""
    count = 0

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        engine(made).finish()
    finally:
        sys.settrace(before)
    return count


def kept(root: object) -> int:
    """How many objects something holds on to."""
    found: dict[int, object] = {}
    waiting = [root]
    shared = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, Rule)
    while waiting:
        one = waiting.pop()
        if id(one) not in found and not isinstance(one, shared):
            found[id(one)] = one
            waiting += gc.get_referents(one)
    return len(found)


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "MOST", FEW)
    monkeypatch.setattr(seen, "MOST", FEW)
    monkeypatch.setattr(open_calls, "MOST_OPEN", FEW)
    monkeypatch.setattr(strays, "MOST_LINES", FEW)


@pytest.mark.parametrize(("transport", "revision", "lines"), CASES)
def test_twice_the_length_is_at_most_twice_the_work(transport: str, revision: str, lines: tuple[str, ...]) -> None:
    short, long = (case(transport, revision, lines, rounds) for rounds in (ROUNDS, 2 * ROUNDS))
    steps(short)  # so that what is compiled and cached is there already
    assert steps(long) <= 2.3 * steps(short)


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize(("transport", "revision", "lines"), CASES)
def test_what_is_remembered_does_not_grow(transport: str, revision: str, lines: tuple[str, ...]) -> None:
    short, long = (case(transport, revision, lines, rounds) for rounds in (4 * ROUNDS, 8 * ROUNDS))
    engine(short)
    assert kept(engine(long)) <= 1.2 * kept(engine(short))
