"""The three sample reports that every format renders: clean, findings of each kind, troubles."""

from typing import Any, Final

from mcpcheck.catalogue.requirement import Level, Observe, Requirement
from mcpcheck.report.curl import curl
from mcpcheck.verdict import Finding, Report, Result, SessionInfo, Severity, Status, Trouble
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead

MODERN: Final = ("2026-07-28",)


def requirement(id: str, level: Level = Level.MUST, **more: Any) -> Requirement:
    """A requirement of the samples: its text is not the catalogue's, so that goldens stay."""
    values: dict[str, Any] = {
        "role": "server",
        "transports": frozenset({"any"}),
        "revisions": MODERN,
        "page": "basic/index",
        "anchor": "samples",
        "summary": f"The sample requirement {id} holds for every message that a peer sends, whatever it is about.",
        "observe": Observe.WIRE,
    }
    return Requirement(id=id, level=level, **(values | more))


def line(n: int, dir: Dir, text: str | bytes) -> Record:
    data = text.encode() if isinstance(text, str) else text
    return Record(n, n / 1000, dir, Kind.LINE, data)


def finding(of: Requirement, **more: Any) -> Finding:
    values: dict[str, Any] = {
        "severity": Severity.FAIL if of.level.fails else Severity.WARN,
        "suspect": False,
        "blames": "server",
        "session": "stdio-1",
        "frames": (4, 5),
        "expected": "a string",
        "actual": "null",
        "reproduce": f"mcpcheck conform --only {of.id} -- python server.py",
    }
    return Finding(of, **(values | more))


def report(**more: Any) -> Report:
    values: dict[str, Any] = {
        "title": "conform",
        "target": "python server.py",
        "run": "20261130-212400-5f3a",
        "started": "2026-11-30T21:24:00Z",
        "tool": "mcpcheck 0.1.0",
        "seconds": 4.25,
        "sessions": (
            SessionInfo("stdio-1", "stdio", 120, revisions=MODERN),
            SessionInfo("stdio-2", "stdio", 14, revisions=("2025-11-25",)),
        ),
        "results": (),
    }
    return Report(**(values | more))


META: Final = (
    '{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name":"é"}}'
)
REQUEST: Final = line(4, Dir.C2S, '{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":' + META + "}}")
ANSWER: Final = line(5, Dir.S2C, '{"jsonrpc":"2.0","id":7,"result":{"tools":[' + '{"name":"lookup"},' * 60 + '"end"]}}')
HEAD: Final = Record(
    7,
    0.007,
    Dir.C2S,
    Kind.HEAD,
    exchange=3,
    http=RequestHead(
        "POST",
        "/mcp?key=123",
        (
            ("Host", "127.0.0.1:8000"),
            ("Content-Type", "application/json"),
            ("Mcp-Method", "tools/call"),
            ("Authorization", "Bearer very-secret"),
            ("User-Agent", "probe"),
        ),
    ),
)
REFUSED: Final = Record(
    8,
    0.008,
    Dir.S2C,
    Kind.HEAD,
    exchange=3,
    http=ResponseHead(400, "Bad Request", (("Content-Type", "text/event-stream"), ("Set-Cookie", "a=very-secret"))),
)
STREAM: Final = Record(
    9,
    0.009,
    Dir.S2C,
    Kind.SSE,
    b'id: 1\r\nevent: message\r\ndata: {"jsonrpc":"2.0","id":8,"result":{"access_token":"very-secret"}}\r\n\r\n',
    exchange=3,
)
CALL: Final = Record(
    10, 0.0075, Dir.C2S, Kind.BODY, b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{}}', exchange=3
)
HOSTILE: Final = line(11, Dir.S2C, b"\x1b[2J\x1b]0;owned\x07[red]markup[/red] \xe2\x80\xae gnol \xff \xc2\x9b31m")
TIMEOUT: Final = Record(12, 5.0, Dir.S2C, Kind.EVENT, event="timeout", detail={"waited": 5})

CLEAN: Final = report(
    results=(
        Result(requirement("base.request.id"), Status.PASSED, held=31),
        Result(requirement("base.result.type", Level.SHOULD), Status.PASSED, held=4),
        Result(requirement("tools.call.is-error"), Status.UNTESTABLE, note="a tool that fails; --tools all calls them"),
        Result(requirement("tools.call.unknown"), Status.UNTESTABLE, note="a tool that fails; --tools all calls them"),
        Result(requirement("prompts.get.input"), Status.UNTESTABLE, note="a prompt"),
        Result(requirement("tasks.get.ttl"), Status.NOT_EXERCISED),
        Result(requirement("tasks.list.order"), Status.NOT_EXERCISED),
        Result(requirement("prompts.list.order"), Status.NOT_EXERCISED),
    ),
    next_steps=("`mcpcheck conform --tools all -- python server.py` tests 2 more",),
)


def _findings() -> Report:
    id_, framing = requirement("base.request.id", repair="Echo the request's id."), requirement("http.status")
    order, title = requirement("tools.list.order", Level.SHOULD), requirement("tools.list.title", Level.MAY)
    cache, several = requirement("base.cache"), requirement("base.several", Level.MUST_NOT, anchor="")
    return report(
        sessions=(
            SessionInfo("stdio-1", "stdio", 120, "kept/stdio-1.ndjson", MODERN),
            SessionInfo("http-1", "http", 50, "", MODERN),
        ),
        results=(
            Result(requirement("base.fine"), Status.PASSED, held=2),
            Result(id_, Status.BROKEN, 30, (finding(id_, evidence=(REQUEST, ANSWER), times=12, scenario="lists_it"),)),
            Result(cache, Status.BROKEN, 0, (finding(cache, known="Fixed in version 3 of the SDK."),)),
            Result(
                several,
                Status.BROKEN,
                0,
                tuple(finding(several, frames=(n,), actual=f"the {n}th way to break it") for n in range(1, 6)),
            ),
            Result(
                framing,
                Status.BROKEN,
                1,
                (
                    finding(
                        framing,
                        session="http-1",
                        frames=(7, 8, 9),
                        evidence=(HEAD, REFUSED, STREAM),
                        expected="200",
                        curl=curl([7], {7: HEAD, 10: CALL}, "http://127.0.0.1:8000"),
                    ),
                ),
            ),
            Result(
                order,
                Status.BROKEN,
                1,
                (finding(order, frames=(11, 12), evidence=(HOSTILE, TIMEOUT), actual="\ud800 \x1b[31m \u202e [b]"),),
            ),
            Result(title, Status.PASSED, 1, (finding(title, suspect=True, frames=(), session="", reproduce=""),)),
            Result(requirement("tools.call.fails"), Status.UNTESTABLE, note="a tool that fails"),
            *(
                Result(
                    requirement(f"elicit.{name}"),
                    Status.UNTESTABLE,
                    note="the server offers nothing in the role tool.elicits: a tool that asks "
                    "(mcpcheck explain fixture.tool.elicits)",
                )
                for name in ("one", "two", "three", "four", "five")
            ),
            Result(requirement("tasks.get"), Status.NOT_EXERCISED),
            *(
                Result(requirement(f"roots.{name}"), Status.NOT_EXERCISED, note=f"{name} is nobody's affair; see there")
                for name in ("one", "two", "three")
            ),
        ),
        stale=("tools.call.old: it passes (reason given: the SDK sends null)",),
    )


FINDINGS: Final = _findings()

TROUBLES: Final = report(
    results=(
        Result(requirement("base.request.id"), Status.PASSED, held=1),
        Result(requirement("base.result.type"), Status.ERROR, note="the scenario broke off: KeyError: 'result'"),
    ),
    troubles=(Trouble("stdio-2", "our own request broke base.request.meta, which the scenario did not declare"),),
    extra={"seed": "42", "seen in": "session \x1b[1m"},
)

SAMPLES: Final = {"clean": CLEAN, "findings": FINDINGS, "troubles": TROUBLES}
