"""Subscriptions: changes are told to who listens, a subscription ends in good order, and none outlives its stream."""

from collections.abc import Mapping
from typing import Any

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.roles import Fixture
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.cancellation import cancel
from mcpcheck.wire.event import Aborted, Notification
from mcpcheck.wire.protocol import SUBSCRIPTION_ID

URIS = 100
"""How many resources are subscribed to at most."""
SUBSCRIPTIONS = 3
"""How many subscriptions are opened where the server ends them before they are of use."""

LISTS = {
    "tools": ("tool.changes-tools", "toolsListChanged", "notifications/tools/list_changed"),
    "prompts": ("tool.changes-prompts", "promptsListChanged", "notifications/prompts/list_changed"),
    "resources": ("tool.changes-resources", "resourcesListChanged", "notifications/resources/list_changed"),
}
"""By capability: the role that changes the list, the member of the filter, and what is told."""


async def listen(peer: Peer, wanted: Mapping[str, Any]) -> tuple[Reply, dict[str, Any]]:
    """An open subscription, and the filter that was acknowledged; Untestable where none opens."""
    request = peer.request("subscriptions/listen", {"notifications": dict(wanted)})
    reply = await peer.send(peer.encode(request), request)

    def acknowledged() -> list[Notification]:
        return [note for note in told(peer, reply) if note.method == "notifications/subscriptions/acknowledged"]

    await peer.until(lambda: bool(acknowledged() or (reply.call and reply.call.answers)))
    if not acknowledged():
        await peer.hear(reply, 0)
        raise Untestable(f"the server opens no subscription: {reply.told()}")
    granted = acknowledged()[0].param("notifications")
    return reply, granted if isinstance(granted, dict) else {}


def told(peer: Peer, subscription: Reply) -> list[Notification]:
    """What came on a subscription so far."""
    wanted = subscription.call.request.id if subscription.call else None
    heard = [event for event in peer.heard_since(subscription.frame) if isinstance(event, Notification)]
    return [note for note in heard if note.meta.get(SUBSCRIPTION_ID) == wanted]


async def end(peer: Peer, subscription: Reply) -> None:
    """Give up a subscription that is still open."""
    if subscription.call and not subscription.call.answers:
        await cancel(peer, subscription, requestId=subscription.call.request.id)


def promises(peer: Peer, capability: str, flag: str) -> None:
    """Untestable where nothing is owed, since the server does not declare it."""
    declared = peer.lab.inventory.capabilities.get(capability)
    if not isinstance(declared, dict) or declared.get(flag) is not True:
        raise Untestable(f"the server does not declare {capability}.{flag}")


async def judge_told(peer: Peer, id: str, wanted: Mapping[str, Any], fixture: Fixture, method: str) -> None:
    """After a fixture was used, its change is told on a subscription; one that the server ends before owes nothing."""
    for _ in range(SUBSCRIPTIONS):
        subscription, granted = await listen(peer, wanted)
        member = next(iter(wanted))
        if granted.get(member) is not True and not _is_filled(granted.get(member)):
            raise Untestable(f"the server did not agree to tell {member}")
        changed = await peer.ask(fixture.method, fixture.params)
        if not changed.complete or (changed.result or {}).get("isError") is True:
            raise Untestable(f"{fixture.name} changed nothing: {changed.told()}")
        heard = await told_or_over(peer, subscription, method)
        if heard or not _ended(subscription):
            expected = f"{method} on the subscription, after {fixture.name}"
            peer.check(id, heard, [subscription, changed], expected, f"nothing within {peer.answer_within:g} s")
            await end(peer, subscription)
            return
    raise Untestable("the server ended every subscription before anything was told on it")


async def told_or_over(peer: Peer, subscription: Reply, method: str) -> bool:
    """Wait for a notification on a subscription as long as that is open; whether it came."""

    def heard() -> bool:
        return any(note.method == method for note in told(peer, subscription))

    await peer.until(lambda: heard() or _ended(subscription))
    return heard()


def _is_filled(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _ended(subscription: Reply) -> bool:
    return bool(subscription.call and subscription.call.answers)


async def list_change(peer: Peer, capability: str) -> None:
    """Subscribe to the changes of a list, have it changed, and wait for the notice."""
    role, member, method = LISTS[capability]
    promises(peer, capability, "listChanged")
    fixture = peer.lab.fixture(role)
    await judge_told(peer, f"{capability}.list-changed.notifies", {member: True}, fixture, method)


@scenario(exercises=["tools.list-changed.notifies"], needs=["tool.changes-tools"])
async def changes_of_tools_are_told(peer: Peer) -> None:
    """Subscribes to changes of the tools and has one made: it is told."""
    await list_change(peer, "tools")


@scenario(exercises=["prompts.list-changed.notifies"], needs=["tool.changes-prompts"])
async def changes_of_prompts_are_told(peer: Peer) -> None:
    """Subscribes to changes of the prompts and has one made: it is told."""
    await list_change(peer, "prompts")


@scenario(exercises=["resources.list-changed.notifies"], needs=["tool.changes-resources"])
async def changes_of_resources_are_told(peer: Peer) -> None:
    """Subscribes to changes of the list of resources and has one made: it is told."""
    await list_change(peer, "resources")


@scenario(exercises=["resources.updated.delivered"], needs=["tool.changes-resource"])
async def updates_are_told(peer: Peer) -> None:
    """Subscribes to the listed resources and has one changed: its update is told."""
    promises(peer, "resources", "subscribe")
    fixture = peer.lab.fixture("tool.changes-resource")
    uris = [str(resource.get("uri")) for resource in peer.lab.inventory.resources][:URIS]
    wanted, method = {"resourceSubscriptions": uris}, "notifications/resources/updated"
    await judge_told(peer, "resources.updated.delivered", wanted, fixture, method)


@scenario(
    exercises=["subscribe.end.graceful-result", "cancel.server.teardown-notice"], needs=["tool.ends-subscriptions"]
)
async def server_ends_a_subscription(peer: Peer) -> None:
    """Has the server end a subscription: it answers the request with a result, and on stdio says that it is over."""
    fixture = peer.lab.fixture("tool.ends-subscriptions")
    subscription, _ = await listen(peer, {"toolsListChanged": True})
    used = await peer.ask(fixture.method, fixture.params)
    wanted = subscription.call.request.id if subscription.call else None

    def answered() -> bool:
        return bool(subscription.call and subscription.call.answers)

    def noticed() -> bool:
        notes = [event for event in peer.heard_since(subscription.frame) if isinstance(event, Notification)]
        given_up = [note.param("requestId") for note in notes if note.method == "notifications/cancelled"]
        return any(type(id) is type(wanted) and id == wanted for id in given_up)

    def broke() -> bool:
        events = [event for event in peer.events if event.record.exchange == subscription.exchange]
        return peer.kind == "http" and any(
            isinstance(event, Aborted) or event.record.event == "eof" for event in events
        )

    await peer.until(lambda: answered() or noticed() or broke())
    await peer.fence()
    await peer.hear(subscription, 0)
    replies = [subscription, used]
    if peer.kind == "stdio":
        id, expected = "cancel.server.teardown-notice", "notifications/cancelled with the id of the subscription"
        if noticed():
            peer.holds(id, *replies)
        elif answered():
            peer.suspect(id, replies, f"{expected}, beside its result", "the result alone")
        else:
            peer.broken(id, replies, expected, "neither that nor a result")
    elif not answered() and not broke():
        raise Untestable(f"{fixture.name} ended no subscription")
    expected = "a result for subscriptions/listen, as the server ends it"
    peer.check("subscribe.end.graceful-result", answered() and not subscription.is_error, replies, expected)


@scenario(exercises=["subscribe.server.no-memory"], needs=["tool.changes-tools"])
async def a_subscription_ends_with_its_connection(peer: Peer) -> None:
    """Opens a subscription, ends its connection, and has a change made on another: nobody is told there."""
    fixture = peer.lab.fixture("tool.changes-tools")
    async with peer.lab.connect(f"{peer.name}-gone", peer.scenario) as gone:
        await gone.fence()
        await listen(gone, {"toolsListChanged": True})
    async with peer.lab.connect(f"{peer.name}-anew", peer.scenario) as anew:
        await anew.fence()
        changed = await anew.ask(fixture.method, fixture.params, extra={"progressToken": "mcpcheck-anew"})
        fence = await anew.fence()
        late = [e for e in anew.heard_since(0) if isinstance(e, Notification) and e.method.endswith("/list_changed")]
        expected = "no change is told on a connection that opened no subscription"
        told = f"{len(late)} notifications"
        anew.check("subscribe.server.no-memory", not late, [changed, fence], expected, told)
