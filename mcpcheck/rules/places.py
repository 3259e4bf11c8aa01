"""Where in a message its parts stand: metadata, tools, content, icons, schemas. Only where the protocol puts them.

What a tool is given or gives back (arguments, structuredContent, data) belongs to its author and is never looked into.
"""

from collections.abc import Iterator
from typing import Any

from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Message, Request
from mcpcheck.wire.protocol import CLIENT_INFO, SERVER_INFO

Found = tuple[str, Any]
"""The path of a part within the message, and the part."""

LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
"""The member of a list method's result that holds the list."""


def result_of(event: Message, session: Session) -> tuple[str, dict[str, Any]] | None:
    """The method that a message answers, and its result, where both are known and it is an object."""
    if not isinstance(event, Answer):
        return None
    known: tuple[Answer, tuple[str, dict[str, Any]] | None] | None = session.memo.get("result_of")
    if known is None or known[0] is not event:
        call, result = session.call or session.near, event.result
        found = (call.request.method, result) if call and isinstance(result, dict) else None
        known = session.memo["result_of"] = (event, found)
    return known[1]


def complete(event: Message, session: Session, *methods: str) -> dict[str, Any] | None:
    """The result of one of these methods, unless it is a request for input or belongs to an extension."""
    found = result_of(event, session)
    if found is None or found[0] not in methods or found[1].get("resultType", "complete") != "complete":
        return None
    return found[1]


def listed(event: Message, session: Session, *methods: str) -> Iterator[Found]:
    """The entries of a list result."""
    for method in methods:
        result = complete(event, session, method)
        if result is not None:
            yield from entries(result, LISTS[method])


def entries(holder: Any, name: str, at: str = "") -> Iterator[Found]:
    """The elements of an array member, each with its place."""
    values = holder.get(name) if isinstance(holder, dict) else None
    if isinstance(values, list):
        for index, value in enumerate(values):
            yield f"{at}{name}[{index}]", value


def blocks(event: Message, session: Session) -> Iterator[Found]:
    """Content blocks: of tool results and of prompt messages."""
    result = complete(event, session, "tools/call")
    if result is not None:
        yield from entries(result, "content")
    yield from prompt_blocks(event, session)


def prompt_blocks(event: Message, session: Session) -> Iterator[Found]:
    """The content of each message of a prompt."""
    result = complete(event, session, "prompts/get")
    for at, message in entries(result, "messages"):
        if isinstance(message, dict) and "content" in message:
            yield f"{at}.content", message["content"]


def contents(event: Message, session: Session) -> Iterator[Found]:
    """Resource contents: those of resources/read, and those embedded in content blocks."""
    yield from entries(complete(event, session, "resources/read"), "contents")
    for at, block in blocks(event, session):
        if isinstance(block, dict) and block.get("type") == "resource" and "resource" in block:
            yield f"{at}.resource", block["resource"]


def links(event: Message, session: Session) -> Iterator[Found]:
    """Resource links among the content blocks."""
    for at, block in blocks(event, session):
        if isinstance(block, dict) and block.get("type") == "resource_link":
            yield at, block


def inputs(event: Message, session: Session) -> Iterator[Found]:
    """The entries of inputRequests, with their place."""
    found = result_of(event, session)
    asked = found[1].get("inputRequests") if found and found[1].get("resultType") == "input_required" else None
    if isinstance(asked, dict):
        for key, value in asked.items():
            yield f"inputRequests.{key}", value


def asked(event: Message, session: Session, method: str) -> Iterator[Found]:
    """The params with which the server asks the client for something, in a request of its own or in inputRequests."""
    if isinstance(event, Request) and event.method == method and not session.stateless:
        yield "params", event.params
    for at, entry in inputs(event, session):
        if isinstance(entry, dict) and entry.get("method") == method:
            yield f"{at}.params", entry.get("params")


def implementations(event: Message, session: Session) -> Iterator[Found]:
    """clientInfo and serverInfo: in _meta, and in the handshake of the legacy era."""
    for key in (CLIENT_INFO, SERVER_INFO):
        if key in event.meta:
            yield f"_meta[{key}]", event.meta[key]
    if isinstance(event, Request) and event.method == "initialize" and _has(event.params, "clientInfo"):
        yield "params.clientInfo", event.params["clientInfo"]
    found = result_of(event, session)
    if found and found[0] == "initialize" and "serverInfo" in found[1]:
        yield "result.serverInfo", found[1]["serverInfo"]


def _has(holder: Any, name: str) -> bool:
    return isinstance(holder, dict) and name in holder


def metas(event: Message, session: Session) -> Iterator[Found]:
    """Every _meta of a message: its own, and those of the things it lists or holds."""
    if "metas" not in session.memo:
        name = "result" if isinstance(event, Answer) else "params"
        own = event.obj.get(name)
        found = [(f"{name}._meta", own["_meta"])] if isinstance(own, dict) and "_meta" in own else []
        if not found or event.record.data.count(b"_meta") > 1:
            others = _holders(event, session)
            found += [(f"{at}._meta", other["_meta"]) for at, other in others if _has(other, "_meta")]
        session.memo["metas"] = found
    yield from session.memo["metas"]


def _holders(event: Message, session: Session) -> Iterator[Found]:
    yield from listed(event, session, *LISTS)
    yield from blocks(event, session)
    yield from contents(event, session)
    for at, entry in inputs(event, session):
        if isinstance(entry, dict):
            yield f"{at}.params", entry.get("params")


def icons(event: Message, session: Session) -> Iterator[Found]:
    """Every icon: of tools, prompts, resources, templates, resource links, and of either side itself."""
    for at, holder in _with_icons(event, session):
        yield from entries(holder, "icons", f"{at}.")


def _with_icons(event: Message, session: Session) -> Iterator[Found]:
    yield from listed(event, session, *LISTS)
    yield from links(event, session)
    yield from implementations(event, session)


def json_schemas(event: Message, session: Session) -> Iterator[Found]:
    """Every JSON Schema that a server or client sends."""
    for at, tool in listed(event, session, "tools/list"):
        for name in ("inputSchema", "outputSchema"):
            if isinstance(tool, dict) and name in tool:
                yield f"{at}.{name}", tool[name]
    for at, params in asked(event, session, "elicitation/create"):
        if isinstance(params, dict) and "requestedSchema" in params:
            yield f"{at}.requestedSchema", params["requestedSchema"]
    for at, params in asked(event, session, "sampling/createMessage"):
        for place, tool in entries(params, "tools", f"{at}."):
            if isinstance(tool, dict) and "inputSchema" in tool:
                yield f"{place}.inputSchema", tool["inputSchema"]


def annotated(event: Message, session: Session) -> Iterator[Found]:
    """Everything that may have annotations for its reader: resources, templates, content blocks."""
    yield from listed(event, session, "resources/list", "resources/templates/list")
    yield from blocks(event, session)
