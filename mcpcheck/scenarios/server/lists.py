"""Lists: the same for every connection, in the same order, whole over all pages."""

import json
from typing import Any

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.errors import needs
from mcpcheck.survey import LISTS, PAGES, page_through


async def whole(peer: Peer, capability: str) -> tuple[list[dict[str, Any]], list[Reply]]:
    """A list over all its pages, and the replies that brought it."""
    _, method, member = LISTS[capability]
    found: list[dict[str, Any]] = []
    replies: list[Reply] = []
    async for reply in page_through(peer, method):
        listed = (reply.result or {}).get(member)
        if not isinstance(listed, list):
            raise Untestable(f"{method} is not answered with a list: {reply.told()}")
        found += [item for item in listed if isinstance(item, dict)]
        replies.append(reply)
    return found, replies


def names(items: list[dict[str, Any]]) -> list[str]:
    return [str(item.get("uri") if "uri" in item else item.get("name")) for item in items]


def canonical(items: list[dict[str, Any]]) -> list[str]:
    """Definitions in a form that can be compared, order aside."""
    return sorted(json.dumps(item, sort_keys=True) for item in items)


@scenario(exercises=["tools.list.deterministic-order"])
async def tools_keep_their_order(peer: Peer) -> None:
    """Lists the tools three times, with other requests between: the order stays."""
    needs(peer, "tools")
    first, replies = await whole(peer, "tools")
    await peer.ask("tools/call", {"name": "mcpcheck-no-such-tool", "arguments": {}})
    second, more = await whole(peer, "tools")
    judge_order(peer, first, second, [replies[-1], more[-1]])
    third, more = await whole(peer, "tools")
    judge_order(peer, first, third, [replies[-1], more[-1]])


def judge_order(peer: Peer, one: list[dict[str, Any]], other: list[dict[str, Any]], replies: list[Reply]) -> None:
    if sorted(names(one)) != sorted(names(other)):
        return  # the set changed, which a server may do
    told = f"first {names(one)[:6]}, then {names(other)[:6]}"
    same = names(one) == names(other)
    peer.check("tools.list.deterministic-order", same, replies, "the same tools in the same order", told)


@scenario(
    exercises=[
        "tools.list.not-per-connection",
        "prompts.list.not-per-connection",
        "resources.list.not-per-connection",
        "tools.list.deterministic-order",
    ],
    fresh=True,
)
async def lists_are_the_same_on_every_connection(peer: Peer) -> None:
    """Fetches each list on two connections in turn, twice: both show the same."""
    async with peer.lab.connect(f"{peer.name}-other", peer.scenario) as other:
        for capability in ("tools", "prompts", "resources"):
            id = f"{capability}.list.not-per-connection"
            if not peer.lab.declares(capability):
                peer.untestable(id, f"the server does not declare {capability}")
                continue
            found = [await whole(each, capability) for each in (peer, other, peer, other)]
            if capability == "tools":
                judge_order(other, found[0][0], found[1][0], [found[1][1][-1]])
            walks = [canonical(items) for items, _ in found]
            if walks[0] != walks[2] or walks[1] != walks[3]:
                continue  # it changes by itself
            fence = await peer.fence()
            differ = sorted(set(walks[0]) ^ set(walks[1]))
            told = f"they differ in {differ[0][:200]}" if differ else "they differ in number"
            peer.check(id, walks[0] == walks[1], fence, f"the same {capability} on both connections", told)


@scenario(
    exercises=[
        "tools.list.no-side-effect-variation",
        "prompts.list.no-side-effect-variation",
        "resources.list.no-side-effect-variation",
    ],
    fresh=True,
)
async def other_requests_do_not_change_lists(peer: Peer) -> None:
    """Fetches each list, makes other requests, and fetches it again: no change that is bound to this connection."""
    before = {}
    for capability in ("tools", "prompts", "resources"):
        if peer.lab.declares(capability):
            before[capability] = canonical((await whole(peer, capability))[0])
        else:
            peer.untestable(f"{capability}.list.no-side-effect-variation", f"the server does not declare {capability}")
    await peer.ask("server/discover")
    await peer.ask("tools/call", {"name": "mcpcheck-no-such-tool", "arguments": {}})
    await peer.ask("resources/read", {"uri": "x-mcpcheck-none://no/such/resource"})
    await peer.ask("prompts/get", {"name": "mcpcheck-no-such-prompt"})
    for capability, known in before.items():
        await judge_variation(peer, capability, known)


async def judge_variation(peer: Peer, capability: str, before: list[str]) -> None:
    """A list that changed since has to have changed for everyone."""
    id = f"{capability}.list.no-side-effect-variation"
    items, replies = await whole(peer, capability)
    if canonical(items) == before:
        peer.holds(id, replies[-1])
        return
    async with peer.lab.connect(f"{peer.name}-{capability}", peer.scenario) as fresh:
        elsewhere = canonical((await whole(fresh, capability))[0])
    if elsewhere == before:
        peer.broken(id, replies[-1], f"the same {capability} as before", "another list, on this connection alone")


@scenario(
    exercises=[
        "pagination.cursor.resumes-after",
        "pagination.server.stable-cursors",
        "caching.pages.same-scope",
    ]
)
async def pages_follow_each_other(peer: Peer) -> None:
    """Walks each list of several pages: it ends, no item comes twice, a cursor leads to the same page again."""
    paged = False
    for name, (capability, method, member) in LISTS.items():
        if not peer.lab.declares(capability):
            continue
        replies = [reply async for reply in page_through(peer, method)]
        if len(replies) < 2:
            continue
        paged = True
        await judge_pages(peer, method, member, replies, name)
    if not paged:
        raise Untestable("no list of the server has a second page")


async def judge_pages(peer: Peer, method: str, member: str, replies: list[Reply], name: str) -> None:
    id = "pagination.cursor.resumes-after"
    last = replies[-1]
    if len(replies) >= PAGES and (last.result or {}).get("nextCursor") is not None:
        peer.broken(id, last, f"{method} comes to an end", f"still a nextCursor after {PAGES} pages")
        return
    listed = [item for reply in replies for item in (reply.result or {}).get(member) or [] if isinstance(item, dict)]
    key = "uriTemplate" if name == "templates" else "uri" if name == "resources" else "name"
    seen = [str(item.get(key)) for item in listed]
    twice = sorted({item for item in seen if seen.count(item) > 1})
    peer.check(id, not twice, last, "no item on two pages", f"{twice[:3]} come twice")
    cursor = (replies[0].result or {}).get("nextCursor")
    again = await peer.ask(method, {"cursor": cursor})
    same = (again.result or {}).get(member) == (replies[1].result or {}).get(member)
    peer.check("pagination.server.stable-cursors", same, [replies[1], again], "the same page for the same cursor")


@scenario(exercises=["pagination.error.invalid-cursor"])
async def invalid_cursor(peer: Peer) -> None:
    """Asks for a page by a cursor that nobody issued: error -32602, and the server goes on."""
    tried = False
    for capability, method, _ in LISTS.values():
        if not peer.lab.declares(capability):
            continue
        reply = await peer.ask(method, {"cursor": "mcpcheck-invalid-cursor"})
        if reply.code == -32602:
            tried = True
            peer.holds("pagination.error.invalid-cursor", reply)
        elif reply.answer is not None and (await peer.ask(method)).result is not None:
            tried = True
            peer.broken("pagination.error.invalid-cursor", reply, "error -32602")
    if not tried:
        raise Untestable("the server lists no tools, prompts or resources")
