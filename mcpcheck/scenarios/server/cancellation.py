"""Cancellation: work that nobody waits for stops, and a cancellation that comes too late or is odd does no harm."""

from typing import Any

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.roles import Fixture
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.errors import needs_discovery
from mcpcheck.wire.event import Answer, Notification

TIMES = 20
"""How many answers and cancellations are made to cross."""
GRACE = 0.4
"""Seconds in which a cancellation has to show."""
LOOKS = 5
"""How often a server that is slow to stop is looked at again."""


async def cancel(peer: Peer, reply: Reply, **params: Any) -> None:
    """Give up a request: by a notification on stdio, by closing its stream on HTTP."""
    if peer.kind == "http":
        await peer.leave(reply)
        return
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    await peer.send(peer.encode(note), note)


def first_text(reply: Reply) -> str:
    """The first text of a tool's result."""
    content = (reply.result or {}).get("content")
    blocks = content if isinstance(content, list) else []
    return next((str(block.get("text")) for block in blocks if isinstance(block, dict) and "text" in block), "")


def progress(peer: Peer, token: str, frame: int = 0) -> list[Notification]:
    """What was reported for a progress token after a frame."""
    heard = [event for event in peer.heard_since(frame) if isinstance(event, Notification)]
    return [n for n in heard if n.method == "notifications/progress" and n.param("progressToken") == token]


async def started(peer: Peer, slow: Fixture, token: str) -> Reply:
    """A call of slow work that has reported its first progress."""
    request = peer.request(slow.method, slow.params, extra={"progressToken": token})
    reply = await peer.send(peer.encode(request), request)

    def moving() -> bool:
        return bool(progress(peer, token) or (reply.call and reply.call.answers))

    if not await peer.until(moving) or (reply.call and reply.call.answers):
        raise Untestable(f"{slow.name} reports no progress while it works")
    return reply


async def steps(peer: Peer, counter: Fixture) -> tuple[str, Reply]:
    """How far the slow work has come."""
    reply = await peer.ask(counter.method, counter.params)
    return first_text(reply), reply


@scenario(
    exercises=["cancel.server.stop", "cancel.server.no-response"],
    transports=["stdio"],
    fresh=True,
    needs=["tool.slow", "tool.slow-count"],
)
async def cancelled_work_stops(peer: Peer) -> None:
    """Starts slow work, cancels it, and looks how far it has come until it stands still."""
    await judge_stops(peer, "cancel.server.stop")


@scenario(exercises=["http.cancel.disconnect-cancels"], transports=["http"], needs=["tool.slow", "tool.slow-count"])
async def work_stops_with_its_stream(peer: Peer) -> None:
    """Starts slow work, closes its stream, and looks how far it has come until it stands still."""
    async with peer.lab.counting:
        await judge_stops(peer, "http.cancel.disconnect-cancels")


async def judge_stops(peer: Peer, id: str) -> None:
    """Work that was cancelled far from its end stands still soon after."""
    slow, counter = peer.lab.fixture("tool.slow"), peer.lab.fixture("tool.slow-count")
    reply = await started(peer, slow, "mcpcheck-slow")
    await cancel(peer, reply, requestId=reply.call.request.id if reply.call else None)
    await peer.until(lambda: False, GRACE)
    after, later = await steps(peer, counter)
    for _ in range(LOOKS):
        before, earlier = after, later
        await peer.until(lambda: False, GRACE)
        after, later = await steps(peer, counter)
        if after == before:
            break
    total = str(progress(peer, "mcpcheck-slow")[0].param("total"))
    told = f"{slow.name} had done {before} steps, and then {after}"
    peer.check(id, before == after != total, [earlier, later], "the work stops when it is cancelled", told)


@scenario(exercises=["http.cancel.no-further-messages"], transports=["http"], needs=["tool.slow"])
async def nothing_more_for_what_was_left(peer: Peer) -> None:
    """Closes the stream of slow work beside a subscription and other slow work: nothing of it comes on those."""
    async with peer.lab.counting:
        await judge_silence(peer)


async def judge_silence(peer: Peer) -> None:
    """What was left is not continued on the streams beside it."""
    slow = peer.lab.fixture("tool.slow")
    listen = peer.request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    held = await peer.hear_head(await peer.send(peer.encode(listen), listen))
    beside = await started(peer, slow, "mcpcheck-beside")
    left = await started(peer, slow, "mcpcheck-left")
    await peer.leave(left)
    frame = peer.frame
    await peer.until(lambda: False, GRACE)
    fence = await peer.fence()
    wanted = left.call.request.id if left.call else None
    late = [
        event
        for event in peer.heard_since(frame)
        if isinstance(event, Answer) and event.id == wanted and event is not fence.answer
    ]
    expected = "nothing more is sent for a request whose stream was closed"
    more = len(late) + len(progress(peer, "mcpcheck-left", frame))
    told = f"{more} more messages, on other streams"
    peer.check("http.cancel.no-further-messages", not more, fence, expected, told)
    await peer.leave(beside)
    await peer.leave(held)


@scenario(exercises=["cancel.timing.race"])
async def cancellations_cross_answers(peer: Peer) -> None:
    """Cancels requests at the moment of their answers and after them: the server goes on."""
    needs_discovery(peer)
    for number in range(TIMES):
        request = peer.request("server/discover")
        reply = await peer.send(peer.encode(request), request)
        with peer.deviating("cancel"):
            if number % 2:
                await peer.hear(reply)
            await cancel(peer, reply, requestId=request["id"], reason="mcpcheck no longer waits")
    fence = await peer.try_ask("server/discover")
    expected = "the server goes on after cancellations that crossed its answers"
    peer.check("cancel.timing.race", fence.answer is not None, fence, expected)


ODD: tuple[dict[str, Any], ...] = (
    {"params": {"requestId": "mcpcheck-unknown"}},
    {"params": {}},
    {"params": {"requestId": None}},
    {"params": {"requestId": {"a": 1}}},
    {},
)


@scenario(exercises=["cancel.notification.invalid-ignored"], transports=["stdio"])
async def odd_cancellations_are_ignored(peer: Peer) -> None:
    """Cancels what is unknown or answered, and sends malformed cancellations, then a fence: nothing comes of them."""
    first = await peer.fence()
    before = peer.frame
    answered = first.call.request.id if first.call else None
    with peer.deviating("cancel", "base.notification", "base.message"):
        for odd in (*ODD, {"params": {"requestId": answered}}):
            note = {"jsonrpc": "2.0", "method": "notifications/cancelled", **odd}
            await peer.send(peer.encode(note), note)
    fence = await peer.fence()
    others = [event for event in peer.heard_since(before) if isinstance(event, Answer) and event is not fence.answer]
    told = f"{len(others)} messages before the fence's answer"
    expected = "invalid cancellations are ignored"
    peer.check("cancel.notification.invalid-ignored", not others, fence, expected, told)
