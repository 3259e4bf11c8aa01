"""HTTP headers: what a request's headers say has to agree with its body, or the request is refused with -32020."""

import base64

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.roles import Fixture
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.errors import needs_discovery
from mcpcheck.wire.protocol import HEADER_MISMATCH, UNSUPPORTED_VERSION, is_modern

REFUSALS = ["http.headers.mismatch-status", "http.headers.mismatch-code"]


def judge_refusal(peer: Peer, id: str, reply: Reply, why: str, *, by_parser: bool = False) -> None:
    """A request that its headers make wrong is refused, with status 400 and error -32020.

    ``by_parser``: bytes that an HTTP parser may refuse before the server sees them.
    """
    if reply.status == 401:
        return
    if not peer.check(id, reply.result is None, reply, f"the request is refused, since {why}"):
        return
    if reply.status is None or (by_parser and reply.answer is None):
        return
    peer.check("http.headers.mismatch-status", reply.status == 400, reply, "HTTP status 400")
    peer.check("http.headers.mismatch-code", reply.code == HEADER_MISMATCH, reply, "error -32020")


@scenario(exercises=["http.version.mismatch-rejected", *REFUSALS], transports=["http"])
async def version_differs_from_body(peer: Peer) -> None:
    """Names one version in the header and another in _meta."""
    needs_discovery(peer)
    second = next((v for v in peer.lab.inventory.versions if is_modern(v) and v != peer.voice.version), None)
    with peer.deviating("http.version.header-matches-meta"):
        reply = await peer.ask(
            "server/discover", version=second or "1900-01-01", headers={"MCP-Protocol-Version": peer.voice.version}
        )
    id = "http.version.mismatch-rejected"
    why = "MCP-Protocol-Version differs from _meta"
    if second is None and reply.code == UNSUPPORTED_VERSION and reply.status == 400:
        peer.suspect(id, reply, "error -32020; two rules meet here, and -32022 is the other")
    else:
        judge_refusal(peer, id, reply, why)


@scenario(exercises=["http.version.missing-rejected", *REFUSALS], transports=["http"])
async def version_is_missing(peer: Peer) -> None:
    """Leaves MCP-Protocol-Version out, where the server does not serve clients older than that header."""
    needs_discovery(peer)
    if peer.lab.inventory.legacy or set(peer.lab.inventory.versions) & {"2025-03-26", "2024-11-05"}:
        raise Untestable("the server also serves clients of older revisions, which had no such header")
    with peer.deviating("http.version.header-present"):
        reply = await peer.ask("server/discover", headers={"MCP-Protocol-Version": None})
    judge_refusal(peer, "http.version.missing-rejected", reply, "MCP-Protocol-Version is missing")


@scenario(exercises=["http.headers.method-mismatch-rejected", *REFUSALS], transports=["http"])
async def method_differs_from_body(peer: Peer) -> None:
    """Says Mcp-Method: tools/list above a body that asks for server/discover."""
    needs_discovery(peer)
    with peer.deviating("http.headers.mcp-method"):
        reply = await peer.ask("server/discover", headers={"Mcp-Method": "tools/list"})
    judge_refusal(peer, "http.headers.method-mismatch-rejected", reply, "Mcp-Method differs from the body's method")


@scenario(exercises=["http.headers.missing-method-rejected", *REFUSALS], transports=["http"])
async def method_is_missing(peer: Peer) -> None:
    """Leaves Mcp-Method out."""
    needs_discovery(peer)
    with peer.deviating("http.headers.mcp-method"):
        reply = await peer.ask("server/discover", headers={"Mcp-Method": None})
    judge_refusal(peer, "http.headers.missing-method-rejected", reply, "Mcp-Method is missing")


@scenario(exercises=["http.headers.value-case-sensitive", *REFUSALS], transports=["http"])
async def method_in_wrong_case(peer: Peer) -> None:
    """Spells the value of Mcp-Method in capitals."""
    needs_discovery(peer)
    with peer.deviating("http.headers.mcp-method"):
        reply = await peer.ask("server/discover", headers={"Mcp-Method": "SERVER/DISCOVER"})
    judge_refusal(peer, "http.headers.value-case-sensitive", reply, "header values are compared with regard to case")


@scenario(exercises=["http.headers.invalid-chars-rejected"], transports=["http"])
async def method_with_a_control_character(peer: Peer) -> None:
    """Puts a control character behind the value of Mcp-Method; an HTTP parser may refuse it, too."""
    with peer.deviating("http.headers"):
        reply = await peer.try_ask("server/discover", headers={"Mcp-Method": "server/discover\x01"})
    id = "http.headers.invalid-chars-rejected"
    peer.check(id, reply.result is None, reply, "the request is refused, since a header has an invalid character")


@scenario(exercises=["http.headers.name-case-insensitive"], transports=["http"])
async def header_names_in_odd_case(peer: Peer) -> None:
    """Spells the names of the headers in odd case, which changes nothing."""
    needs_discovery(peer)
    message = peer.request("server/discover")
    odd = {
        "MCP-Protocol-Version": None,
        "Mcp-Method": None,
        "Content-Type": None,
    }
    spelled = {
        "mcp-PROTOCOL-version": peer.voice.version,
        "MCP-METHOD": "server/discover",
        "content-TYPE": "application/json",
    }
    reply = await peer.hear(await peer.send(peer.encode(message), message, headers=odd, more_headers=spelled))
    peer.check(
        "http.headers.name-case-insensitive", reply.result is not None, reply, "a result, as with the usual case"
    )


def listed_item(peer: Peer) -> Fixture:
    """Something listed that can be asked for without harm: a resource, a prompt, or a tool that may be called."""
    inventory = peer.lab.inventory
    for resource in inventory.resources:
        return Fixture("resource.static", str(resource.get("uri")))
    for prompt in inventory.prompts:
        if not any(isinstance(a, dict) and a.get("required") for a in prompt.get("arguments") or []):
            return Fixture("prompt.plain", str(prompt.get("name")))
    for tool in peer.lab.prompt_tools():
        arguments = peer.lab.arguments_for(tool)
        if arguments is not None:
            return Fixture("tool.plain", str(tool.get("name")), arguments)
    raise Untestable(
        "the server lists no resource, no prompt without required arguments and no tool that may be called; "
        "--tools names or all allows more"
    )


@scenario(exercises=["http.headers.name-mismatch-rejected", *REFUSALS], transports=["http"])
async def name_differs_from_body(peer: Peer) -> None:
    """Asks for a listed item under another name in Mcp-Name."""
    item = listed_item(peer)
    with peer.deviating("http.headers.mcp-name"):
        reply = await peer.ask(item.method, item.params, headers={"Mcp-Name": "mcpcheck-wrong"})
    judge_refusal(peer, "http.headers.name-mismatch-rejected", reply, "Mcp-Name differs from the body")


@scenario(exercises=["http.headers.missing-name-rejected", *REFUSALS], transports=["http"])
async def name_is_missing(peer: Peer) -> None:
    """Asks for a listed item without Mcp-Name."""
    item = listed_item(peer)
    with peer.deviating("http.headers.mcp-name"):
        reply = await peer.ask(item.method, item.params, headers={"Mcp-Name": None})
    judge_refusal(peer, "http.headers.missing-name-rejected", reply, "Mcp-Name is missing")


@scenario(exercises=["http.headers.server-decodes-name"], transports=["http"])
async def name_in_base64(peer: Peer) -> None:
    """Sends Mcp-Name in the Base64 form although plain ASCII would do: the server decodes it before it compares."""
    item = listed_item(peer)
    reply = await peer.ask(item.method, item.params, headers={"Mcp-Name": sentinel(item.name)})
    id = "http.headers.server-decodes-name"
    peer.check(id, reply.code != HEADER_MISMATCH, reply, "no header mismatch: the decoded name equals the body's")


def sentinel(value: str) -> str:
    """A value in the Base64 form, needed or not."""
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="
