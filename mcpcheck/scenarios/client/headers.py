"""What a client writes into the headers of a call: awkward names, annotated parameters, tools that it has to drop."""

from collections.abc import Iterator
from typing import Any

from mcpcheck.client_peer import Account, ClientPeer, Said
from mcpcheck.scenarios.client.scripted import LENIENT, TOOL, ModernServer
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.wire.mcp_http import decode_value
from mcpcheck.wire.record import RequestHead, header_values

ODD_NAME = "mcpcheck_gr\u00fc\u00df-\u4e16\u754c"

ANNOTATED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region", "default": "us west 1"},
        "greeting": {"type": "string", "x-mcp-header": "Greeting", "default": "Hello, \u4e16\u754c"},
        "padded": {"type": "string", "x-mcp-header": "Padded", "default": " padded "},
        "marked": {"type": "string", "x-mcp-header": "Marked", "default": "=?base64?literal?="},
        "count": {"type": "integer", "x-mcp-header": "Count", "default": -4711},
        "dry_run": {"type": "boolean", "x-mcp-header": "Dry-Run", "default": False},
        "nothing": {"type": ["string", "null"], "default": None, "description": "leave it null"},
        "absent": {"type": "string", "x-mcp-header": "Absent", "description": "leave it out", "default": None},
        "target": {"type": "object", "properties": {"zone": {"type": "string", "x-mcp-header": "Zone"}}},
        "query": {"type": "string", "default": "plain"},
    },
}


def heads(account: Account, said: Said) -> RequestHead:
    """The head of the POST that carried a message."""
    records = account.sessions[said.session].log.records
    exchange = said.message.record.exchange
    heads = (record.http for record in records if record.exchange == exchange)
    return next(head for head in heads if isinstance(head, RequestHead))


def calls_of(account: Account, name: str) -> list[Said]:
    """The calls of one tool."""
    return [call for call in account.of("tools/call") if call.message.param("name") == name]


class Offers(ModernServer):
    """A modern server with these tools."""

    deviates = LENIENT | frozenset({"http.xheader", "tools"})

    def __init__(self, *tools: dict[str, Any]) -> None:
        self.offered = tools

    def tools(self) -> list[Any]:
        return list(self.offered)


@scenario(exercises=["http.headers.mcp-name-base64"], transports=["http"])
async def calls_a_tool_with_an_odd_name(client: ClientPeer) -> None:
    """The only tool has a name beyond ASCII: its call has the name in Mcp-Name as Base64 between the markers."""
    client.needs_listed_calls()
    account = await client.meet(Offers(dict(TOOL, name=ODD_NAME)))
    calls = calls_of(account, ODD_NAME)
    if not calls:
        raise Untestable(f"the client does not call the tool {ODD_NAME!r}, the only one there is")
    for call in calls:
        values = header_values(heads(account, call), "mcp-name")
        decoded = decode_value(values[0]) if len(values) == 1 else None
        if decoded == ODD_NAME and values[0].isascii():
            client.holds("http.headers.mcp-name-base64", account, call)
        else:
            expected = "one Mcp-Name: =?base64?...?= that decodes to the name"
            client.broken("http.headers.mcp-name-base64", account, [call], expected, f"Mcp-Name {values}")


def annotations(schema: dict[str, Any], arguments: Any) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Each annotated parameter: its header, its schema, and its value in a call (None where it has none)."""
    for name, inner in schema.get("properties", {}).items():
        value = arguments.get(name) if isinstance(arguments, dict) else None
        if "x-mcp-header" in inner:
            yield f"Mcp-Param-{inner['x-mcp-header']}", inner, value
        yield from annotations(inner, value)


@scenario(
    exercises=[
        "http.param.mirrored",
        "http.param.omit-null",
        "http.param.integer-decimal",
        "http.param.boolean-lowercase",
        "http.param.base64-unsafe",
        "http.param.base64-literal-sentinel",
    ],
    transports=["http"],
)
async def calls_a_tool_with_annotated_parameters(client: ClientPeer) -> None:
    """A tool has parameters to be mirrored, awkward values as their defaults: the headers repeat the body."""
    client.needs_listed_calls()
    tool = dict(TOOL, name="mcpcheck_annotated", inputSchema=ANNOTATED)
    account = await client.meet(Offers(tool))
    calls = calls_of(account, "mcpcheck_annotated")
    if not calls or not account.of("tools/list"):
        raise Untestable("the client does not list and call the tool with annotated parameters")
    for call in calls:
        head = heads(account, call)
        for name, schema, value in annotations(ANNOTATED, call.message.param("arguments")):
            judge_param(client, account, call, name, schema["type"], value, header_values(head, name))


def judge_param(
    client: ClientPeer, account: Account, call: Said, name: str, kind: str, value: Any, sent: list[str]
) -> None:
    """One annotated parameter: its header against its value in the body."""
    told = f"{name} {sent or 'missing'}"
    if value is None:
        if sent:
            client.broken("http.param.omit-null", account, [call], f"no {name}: the parameter has no value", told)
        else:
            client.holds("http.param.omit-null", account, call)
        return
    id, plain = form(kind, value)
    if not sent:
        client.broken("http.param.mirrored", account, [call], f"{name} for {value!r}", told)
    elif len(sent) == 1 and decode_value(sent[0]) == plain and sent[0].isascii():
        client.holds("http.param.mirrored", account, call)
        client.holds(id, account, call)
    else:
        client.broken(id, account, [call], f"one {name} that stands for {plain!r}", told)


def form(kind: str, value: Any) -> tuple[str, str]:
    """The requirement that governs how a value is written, and what the header has to decode to."""
    if isinstance(value, bool):
        return "http.param.boolean-lowercase", str(value).lower()
    if isinstance(value, int):
        return "http.param.integer-decimal", str(value)
    plain = str(value)
    if plain.startswith("=?base64?") and plain.endswith("?="):
        return "http.param.base64-literal-sentinel", plain
    safe = plain.isascii() and plain.isprintable() and plain == plain.strip()
    return ("http.param.mirrored" if safe else "http.param.base64-unsafe"), plain


def bad(name: str, property: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A tool whose annotations break the rules."""
    return dict(TOOL, name=name, inputSchema={"type": "object", "properties": {"p": property}, **more})


INVALID = (
    bad("mcpcheck_empty", {"type": "string", "x-mcp-header": ""}),
    bad("mcpcheck_blank", {"type": "string", "x-mcp-header": "My Region"}),
    bad("mcpcheck_colon", {"type": "string", "x-mcp-header": "Region:"}),
    bad("mcpcheck_letter", {"type": "string", "x-mcp-header": "R\u00e9gion"}),
    bad("mcpcheck_break", {"type": "string", "x-mcp-header": "A\r\nB"}),
    bad("mcpcheck_number", {"type": "number", "x-mcp-header": "Number"}),
    bad("mcpcheck_array", {"type": "array", "x-mcp-header": "Array"}),
    bad("mcpcheck_items", {"type": "array", "items": {"type": "string", "x-mcp-header": "Item"}}),
    bad("mcpcheck_any_of", {"anyOf": [{"type": "string", "x-mcp-header": "Any"}]}),
    dict(
        TOOL,
        name="mcpcheck_twice",
        inputSchema={
            "type": "object",
            "properties": {
                "a": {"type": "string", "x-mcp-header": "Region"},
                "b": {"type": "string", "x-mcp-header": "region"},
            },
        },
    ),
)
"""Tools with annotations that are invalid (http.xheader.*)."""


@scenario(exercises=["http.xheader.client-excludes-invalid-tool"], transports=["http"])
async def is_offered_tools_with_bad_annotations(client: ClientPeer) -> None:
    """Ten tools have invalid annotations, the last one is good: none of the ten is called."""
    client.needs_listed_calls()
    good = dict(TOOL, name="mcpcheck_good")
    account = await client.meet(Offers(*INVALID, good))
    if not account.of("tools/list"):
        raise Untestable("the client does not list tools")
    names = {tool["name"] for tool in INVALID}
    wrong = [call for call in account.of("tools/call") if call.message.param("name") in names]
    id = "http.xheader.client-excludes-invalid-tool"
    if wrong:
        told = ", ".join(str(call.message.param("name")) for call in wrong)
        client.broken(id, account, wrong, "tools with invalid annotations left out", f"calls of {told}")
    elif calls_of(account, "mcpcheck_good"):
        client.holds(id, account, *calls_of(account, "mcpcheck_good"))
    else:
        client.suspect(id, account, account.of("tools/list"), "a call of the good tool, as of the only one before")
