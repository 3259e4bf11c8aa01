"""Statelessness: what belongs together need not come over one connection, and is named where it spans requests."""

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.survey import LISTS


@scenario(exercises=["base.stateless.no-affinity"])
async def pages_over_several_connections(peer: Peer) -> None:
    """Fetches the second page of a list on another connection (on stdio: from another process) than the first."""
    for capability, method, _ in LISTS.values():
        if not peer.lab.declares(capability):
            continue
        first = await peer.ask(method)
        cursor = (first.result or {}).get("nextCursor")
        if isinstance(cursor, str):
            break
    else:
        raise Untestable("no list of the server has a second page")
    async with peer.lab.connect(f"{peer.name}-other", peer.scenario) as other:
        await other.fence()
        second = await other.ask(method, {"cursor": cursor})
        id, expected = "base.stateless.no-affinity", f"{method}: the cursor is good on another connection, too"
        if second.complete:
            other.holds(id, second)
        else:
            other.suspect(id, second, expected)


def handle_of(reply: Reply) -> str:
    """The handle that a tool returned."""
    structured = (reply.result or {}).get("structuredContent")
    handle = structured.get("handle") if isinstance(structured, dict) else None
    if not isinstance(handle, str):
        raise Untestable("the tool that opens something returned no handle in structuredContent")
    return handle


@scenario(exercises=["base.stateless.explicit-handle"])
async def state_goes_by_its_name(peer: Peer) -> None:
    """Opens something and uses it by its handle, then without: a connection stands for nothing."""
    opens, uses = peer.lab.fixture("tool.opens"), peer.lab.fixture("tool.uses")
    handle = handle_of(await peer.ask(opens.method, opens.params))
    named = await peer.ask(uses.method, {"name": uses.name, "arguments": {**uses.arguments, "handle": handle}})
    id = "base.stateless.explicit-handle"
    works = named.complete and (named.result or {}).get("isError") is not True
    peer.check(id, works, named, f"{uses.name} works with the handle that {opens.name} returned")
    bare = await peer.ask(uses.method, {"name": uses.name, "arguments": dict(uses.arguments)})
    refused = bare.is_error or (bare.result or {}).get("isError") is True
    peer.check(id, refused, bare, f"{uses.name} fails without a handle, whatever was opened before")
