"""Client capabilities: a request is judged by those that it declares itself; -32021 says which are missing."""

from typing import Any

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.roles import Fixture
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.wire.protocol import MISSING_CLIENT_CAPABILITY

ASKING = {
    "tool.elicits": "elicitation",
    "tool.samples": "sampling",
    "tool.roots": "roots",
    "prompt.elicits": "elicitation",
    "resource.elicits": "elicitation",
}
"""Roles that ask for input, and the capability that it takes."""


def offered(peer: Peer, *roles: str) -> list[Fixture]:
    """The fixtures that this server has for some roles."""
    found = []
    for role in roles:
        try:
            found.append(peer.lab.fixture(role))
        except Untestable:
            continue
    return found


@scenario(
    exercises=[
        "base.meta.capability-missing-error",
        "base.meta.capability-http-400",
        "base.error.missing-capability-shape",
    ],
    needs=["tool.needs-capability"],
)
async def cannot_do_without(peer: Peer) -> None:
    """Uses what cannot work without a client capability, declaring none: error -32021 that names it."""
    fixture = peer.lab.fixture("tool.needs-capability")
    reply = await peer.ask(fixture.method, fixture.params, capabilities={})
    id, expected = "base.meta.capability-missing-error", "error -32021 that names the missing capability"
    if reply.complete and (reply.result or {}).get("isError") is not True:
        raise Untestable(f"{fixture.name} did its work without any client capability")
    if peer.check(id, reply.code == MISSING_CLIENT_CAPABILITY, reply, expected):
        judge_status(peer, reply)


def judge_status(peer: Peer, reply: Reply) -> None:
    if peer.kind != "http" or reply.code != MISSING_CLIENT_CAPABILITY:
        return
    id, expected = "base.meta.capability-http-400", "HTTP status 400"
    if reply.status == 200 and reply.streamed:
        peer.suspect(id, reply, f"{expected}; the stream was open already")
    else:
        peer.check(id, reply.status == 400, reply, expected)


@scenario(
    exercises=["base.meta.capability-not-relied", "mrtr.result.declared-capability"],
    any_of=(*ASKING, "tool.multiple", "tool.capabilities"),
)
async def undeclared_is_not_asked_for(peer: Peer) -> None:
    """Uses all that asks for input, declaring no capability: refused with -32021 or done without, never asked."""
    fixtures = offered(peer, *ASKING, "tool.multiple", "tool.capabilities")
    if not fixtures:
        peer.lab.fixture("tool.elicits")
    for fixture in fixtures:
        reply = await peer.ask(fixture.method, fixture.params, capabilities={})
        wanted = (reply.result or {}).get("inputRequests") if reply.needs_input else None
        expected = f"{fixture.name}: error -32021, or a result that does without the client's help"
        peer.check("base.meta.capability-not-relied", not wanted, reply, expected)
        if reply.code == MISSING_CLIENT_CAPABILITY:
            peer.holds("base.meta.capability-missing-error", reply)
        judge_status(peer, reply)


@scenario(exercises=["base.stateless.capabilities-per-request"], fresh=True, needs=["tool.elicits"])
async def capabilities_do_not_carry_over(peer: Peer) -> None:
    """Declares nothing, then elicitation, nothing again, and elicitation again: each request is judged by its own."""
    fixture = peer.lab.fixture("tool.elicits")
    if (await peer.ask(fixture.method, fixture.params, capabilities={})).needs_input:
        raise Untestable(f"{fixture.name} asks for input whatever is declared")
    declared: dict[str, Any] = {"elicitation": {"form": {}}}
    asked = await peer.ask(fixture.method, fixture.params, capabilities=declared)
    if not asked.needs_input:
        raise Untestable(f"{fixture.name} asked for nothing although elicitation was declared: {asked.told()}")
    bare = await peer.ask(fixture.method, fixture.params, capabilities={})
    id = "base.stateless.capabilities-per-request"
    peer.check(id, not bare.needs_input, [asked, bare], "no elicitation: this request declares no capability")
    again = await peer.ask(fixture.method, fixture.params, capabilities=declared)
    peer.check(id, again.needs_input, [bare, again], "an elicitation again: this request declares the capability")
