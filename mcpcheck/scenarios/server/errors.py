"""Errors: what fails in a tool is a result with isError, what is wrong with the request is a JSON-RPC error."""

from typing import Any

from mcpcheck.arguments import departing
from mcpcheck.peer import Peer
from mcpcheck.roles import Fixture
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.wire.protocol import HEADER_MISMATCH

NO_SUCH_TOOL = "mcpcheck-no-such-tool"


def needs(peer: Peer, capability: str) -> None:
    """Untestable where the server does not declare a capability."""
    if not peer.lab.declares(capability):
        raise Untestable(f"the server does not declare {capability}")


def needs_discovery(peer: Peer) -> None:
    """Untestable where server/discover, which the script asks for since every server has it, is not served."""
    if not peer.lab.inventory.discovered:
        raise Untestable("the server does not serve server/discover, by which this is tested")


@scenario(exercises=["tools.error.unknown-tool", "tools.security.validates-inputs"])
async def unknown_tool(peer: Peer) -> None:
    """Calls a tool that does not exist: a JSON-RPC error -32602, and no tool result."""
    needs(peer, "tools")
    reply = await peer.ask("tools/call", {"name": NO_SUCH_TOOL, "arguments": {}})
    id, expected = "tools.error.unknown-tool", "a JSON-RPC error -32602"
    if reply.complete and (reply.result or {}).get("isError") is not True:
        peer.broken("tools.security.validates-inputs", reply, "an unknown tool is refused")
    else:
        peer.check(id, reply.code == -32602, reply, expected)


@scenario(exercises=["tools.error.malformed-request", "base.error.invalid-params"])
async def malformed_call(peer: Peer) -> None:
    """Calls a tool with arguments that are no object, and without a name: a JSON-RPC error."""
    needs(peer, "tools")
    shapes: list[dict[str, Any]] = [
        {"name": NO_SUCH_TOOL, "arguments": "text"},
        {"name": NO_SUCH_TOOL, "arguments": []},
        {"arguments": {}},
    ]
    for params in shapes:
        with peer.deviating("tools", "http"):
            reply = await peer.ask("tools/call", params)
        right = reply.code in {-32602, -32600} or (peer.kind == "http" and reply.code == HEADER_MISMATCH)
        if right:
            peer.holds("tools.error.malformed-request", reply)
        elif reply.complete and (reply.result or {}).get("isError") is not True:
            peer.broken("base.error.invalid-params", reply, "a JSON-RPC error -32602")
        elif reply.is_error:
            peer.suspect("tools.error.malformed-request", reply, "a JSON-RPC error -32602 or -32600")
        else:
            peer.broken("tools.error.malformed-request", reply, "a JSON-RPC error -32602 or -32600")


WRONG_TYPES: dict[str, tuple[str, dict[str, Any]]] = {
    "tools/call": ("tools", {"name": 5}),
    "prompts/get": ("prompts", {"name": 5}),
    "resources/read": ("resources", {"uri": 5}),
    "completion/complete": ("completions", {"ref": 5, "argument": {"name": "a", "value": ""}}),
}


@scenario(exercises=["base.error.invalid-params"])
async def params_of_the_wrong_type(peer: Peer) -> None:
    """Sends each method that the server serves one parameter of the wrong type: error -32602."""
    id, expected = "base.error.invalid-params", "error -32602"
    tried = False
    for method, (capability, params) in WRONG_TYPES.items():
        if not peer.lab.declares(capability):
            continue
        tried = True
        with peer.deviating("tools", "prompts", "resources", "completion", "http"):
            reply = await peer.ask(method, params)
        if reply.code == -32601:
            continue  # discover.result.capabilities-true and the duty to answer lists have it
        if reply.code == -32602 or (peer.kind == "http" and reply.code == HEADER_MISMATCH):
            peer.holds(id, reply)
        elif reply.is_error or (reply.result or {}).get("isError") is True:
            peer.suspect(id, reply, expected)
        else:
            peer.broken(id, reply, expected)
    if not tried:
        raise Untestable("the server declares no tools, prompts, resources or completions")


@scenario(exercises=["tools.error.execution-in-result", "tools.call.result-shape"], needs=["tool.fails"])
async def failing_tool(peer: Peer) -> None:
    """Calls a tool that fails while it runs: a result with isError true and content that says why."""
    needs(peer, "tools")
    fixture = peer.lab.fixture("tool.fails")
    reply = await peer.ask_through(fixture)
    result = reply.result or {}
    if fixture.shown and reply.complete and result.get("isError") is not True:
        raise Untestable(f"{fixture.name} failed once, but not again")
    told = reply.told() if result.get("content") else f"{reply.told()} without content"
    right = reply.complete and result.get("isError") is True and bool(result.get("content"))
    peer.check("tools.error.execution-in-result", right, reply, "a result with isError true that says why", told)


@scenario(exercises=["tools.security.validates-inputs"])
async def arguments_that_do_not_fit(peer: Peer) -> None:
    """Calls tools with arguments that break their inputSchema: an error of either kind, and no plain success."""
    needs(peer, "tools")
    departures = [(tool, departing(tool.get("inputSchema"))) for tool in peer.lab.prompt_tools()]
    tried = [(tool, bad) for tool, bad in departures if bad is not None][:10]
    for tool, bad in tried:
        fixture = Fixture("tool.plain", str(tool.get("name")), bad)
        with peer.deviating("http"):
            reply = await peer.ask("tools/call", fixture.params)
        refused = reply.is_error or (reply.result or {}).get("isError") is True
        if refused or reply.needs_input:
            peer.holds("tools.security.validates-inputs", reply)
        else:
            expected = f"{tool.get('name')}: an error, since the arguments break its inputSchema"
            peer.broken("tools.security.validates-inputs", reply, expected)
    if not tried:
        raise Untestable(
            "no tool that may be called takes arguments that can be wrong; --tools NAME or all allows more"
        )


@scenario(
    exercises=[
        "resources.read.not-found-error",
        "resources.read.not-found-no-empty-contents",
        "base.error.no-32002",
    ]
)
async def unknown_resource(peer: Peer) -> None:
    """Reads a resource that does not exist: error -32602, and no empty contents."""
    needs(peer, "resources")
    reply = await peer.ask("resources/read", {"uri": "x-mcpcheck-none://no/such/resource"})
    contents = (reply.result or {}).get("contents")
    if contents == []:
        expected = "an error: a resource that does not exist is never an empty contents array"
        peer.broken("resources.read.not-found-no-empty-contents", reply, expected)
    elif reply.is_error:
        peer.holds("resources.read.not-found-no-empty-contents", reply)
        if reply.code == -32603 and not await reads_something(peer):
            expected = "error -32602, unless the server could not find out that there is no such resource"
            peer.suspect("resources.read.not-found-error", reply, expected)
        else:
            peer.check("resources.read.not-found-error", reply.code == -32602, reply, "error -32602")


async def reads_something(peer: Peer) -> bool:
    """Whether any of the first listed resources can be read, so that an internal error is no passing trouble."""
    for resource in peer.lab.inventory.resources[:3]:
        if (await peer.ask("resources/read", {"uri": str(resource.get("uri"))})).result is not None:
            return True
    return False


@scenario(exercises=["prompts.error.unknown-name"])
async def unknown_prompt(peer: Peer) -> None:
    """Gets a prompt that does not exist: error -32602."""
    needs(peer, "prompts")
    reply = await peer.ask("prompts/get", {"name": "mcpcheck-no-such-prompt"})
    peer.check("prompts.error.unknown-name", reply.code == -32602, reply, "error -32602")
