"""Statelessness: what belongs together need not come over one connection, and is named where it spans requests."""

from typing import Any

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


@scenario(exercises=["base.stateless.explicit-handle"], needs=["tool.opens", "tool.uses"])
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


OTHERS: tuple[dict[str, Any], ...] = (
    {"name": "claude-ai", "version": "0.1.0"},
    {"name": "another-client", "title": "Another client", "version": "9"},
)


@scenario(exercises=["base.meta.info-no-behaviour"])
async def the_client_s_name_changes_nothing(peer: Peer) -> None:
    """Asks for discovery and the lists under other names of the client: the answers are those that mcpcheck gets."""
    methods = [method for capability, method, _ in LISTS.values() if peer.lab.declares(capability)]
    for method in ("server/discover", *methods):
        usual = await peer.ask(method)
        if usual.result is None or shown(usual) != shown(await peer.ask(method)):
            continue  # it changes by itself
        for info in OTHERS:
            reply = await peer.ask(method, client_info=info)
            if reply.result is not None and shown(reply) == shown(usual):
                peer.holds("base.meta.info-no-behaviour", reply)
            else:
                expected = f"{method} answers {info['name']} as it answers mcpcheck"
                peer.suspect("base.meta.info-no-behaviour", [usual, reply], expected)


def shown(reply: Reply) -> Any:
    """What an answer says, without what may differ from one time to the next."""
    result = reply.result or {}
    return {name: value for name, value in result.items() if name not in {"_meta", "ttlMs", "nextCursor"}}
