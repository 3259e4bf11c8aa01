"""requestState: what a server hands out between two rounds is an attacker's input when it comes back."""

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.capability import offered
from mcpcheck.scenarios.server.mrtr import first_round, judge_copes, retry


@scenario(exercises=["mrtr.state.untrusted", "mrtr.state.reject-tampered"], any_of=("tool.tampered", "tool.state"))
async def tampered_state(peer: Peer) -> None:
    """Retries with a requestState that was altered or made up: no crash, and no protected operation completes."""
    protected = offered(peer, "tool.tampered")
    fixture = protected[0] if protected else peer.lab.fixture("tool.state")
    asked = await first_round(peer, fixture)
    state = (asked.result or {}).get("requestState")
    if not isinstance(state, str) or len(state) < 4:
        raise Untestable(f"{fixture.name} issued no requestState that could be altered")
    middle = len(state) // 2
    other = "A" if state[middle] != "A" else "B"
    forged = [state[:middle] + other + state[middle + 1 :], state[:middle], "mcpcheck-made-up", ""]
    for number, value in enumerate(forged):
        asked = await first_round(peer, fixture)
        with peer.deviating("mrtr"):
            reply = await retry(peer, fixture, asked, requestState=value)
        judge_copes(peer, reply, "mrtr.state.untrusted")
        if number == 0 and (protected or reply.is_error):
            judge_tampered(peer, reply)
        elif number == 0:
            why = f"{fixture.name} took an altered requestState, which need not be protected where that does no harm"
            peer.untestable("mrtr.state.reject-tampered", why)
    await peer.fence()


def judge_tampered(peer: Peer, reply: Reply) -> None:
    id, expected = "mrtr.state.reject-tampered", "the altered state is rejected"
    if reply.needs_input:
        peer.suspect(id, reply, f"{expected} with an error")
    else:
        failed = reply.is_error or (reply.result or {}).get("isError") is True
        peer.check(id, failed, reply, expected)


@scenario(
    exercises=["mrtr.state.bind-request"], needs=["tool.state"], also=["tool.multiple", "tool.rounds", "tool.tampered"]
)
async def state_on_another_request(peer: Peer) -> None:
    """Presents the state of one request on another: rejected, or asked anew."""
    one = peer.lab.fixture("tool.state")
    others = [f for f in offered(peer, "tool.multiple", "tool.rounds", "tool.tampered") if f.name != one.name]
    if not others:
        raise Untestable("it takes a second tool that issues a requestState")
    other = others[0]
    state = (await first_round(peer, one)).result or {}
    asked = await first_round(peer, other)
    with peer.deviating("mrtr"):
        reply = await retry(peer, other, asked, requestState=state.get("requestState"))
    plain = reply.complete and (reply.result or {}).get("isError") is not True
    peer.check("mrtr.state.bind-request", not plain, reply, f"the state of {one.name} is not accepted by {other.name}")


@scenario(exercises=["mrtr.state.single-use"], needs=["tool.single-use"])
async def state_is_used_twice(peer: Peer) -> None:
    """Brings back the same state twice for what may be done only once: the second time it is refused."""
    fixture = peer.lab.fixture("tool.single-use")
    asked = await first_round(peer, fixture)
    once = await retry(peer, fixture, asked)
    if not once.complete or (once.result or {}).get("isError") is True:
        raise Untestable(f"{fixture.name} did not do its work: {once.told()}")
    with peer.deviating("mrtr"):
        again = await retry(peer, fixture, asked)
    refused = again.is_error or again.needs_input or (again.result or {}).get("isError") is True
    peer.check("mrtr.state.single-use", refused, [once, again], "the same state is refused the second time")
