"""Two users of one server: what was begun for the one is not gone on with by the other, and nobody is who he claims."""

from mcpcheck.inputs import responses_to
from mcpcheck.peer import ALL_CAPABILITIES, Peer
from mcpcheck.reply import Reply
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.cancellation import first_text
from mcpcheck.scenarios.server.capability import offered
from mcpcheck.scenarios.server.lists import canonical, whole
from mcpcheck.scenarios.server.mrtr import first_round
from mcpcheck.survey import LISTS


@scenario(
    exercises=[
        "mrtr.state.bind-principal",
        "elicit.state.bound-to-user",
        "elicit.state.request-bound-to-client-and-user",
    ],
    transports=["http"],
    any_of=("tool.tampered", "tool.state"),
)
async def state_of_another_user(peer: Peer) -> None:
    """Begins as one user what asks for input with a requestState, and brings it back as another: it is not taken.

    Whether the result speaks of the first user's business does not show, so this is a suspicion at most, but for a
    tool that says that its state is protected.
    """
    protected = offered(peer, "tool.tampered")
    fixture = protected[0] if protected else peer.lab.fixture("tool.state")
    asked = await first_round(peer, fixture)
    state = (asked.result or {}).get("requestState")
    if not isinstance(state, str):
        raise Untestable(f"{fixture.name} issued no requestState")
    async with peer.lab.connect(f"{peer.name}-other", peer.scenario, as_other=True) as other:
        other.voice.capabilities = ALL_CAPABILITIES
        if not (await other.ask(fixture.method, fixture.params)).needs_input:
            raise Untestable(f"{fixture.name} does not ask the second user for input")
        answers = responses_to((asked.result or {}).get("inputRequests"))
        with other.deviating("mrtr"):
            taken = {**fixture.params, "inputResponses": answers, "requestState": state}
            reply = await other.ask(fixture.method, taken)
        for id in (
            "mrtr.state.bind-principal",
            "elicit.state.bound-to-user",
            "elicit.state.request-bound-to-client-and-user",
        ):
            judge_other(other, id, reply, certain=bool(protected) and id.startswith("mrtr"))


def judge_other(peer: Peer, id: str, reply: Reply, *, certain: bool) -> None:
    """What one user began is refused to another, or begun anew."""
    expected = "what another user was asked for is refused, or asked for anew"
    plain = reply.complete and (reply.result or {}).get("isError") is not True
    if plain and not certain:
        peer.suspect(id, reply, expected)
    else:
        peer.check(id, not plain, reply, expected)


@scenario(
    exercises=["elicit.state.user-from-credentials", "elicit.identity.no-client-claims"],
    transports=["http"],
    needs=["tool.whoami"],
)
async def claims_are_not_believed(peer: Peer) -> None:
    """Asks as the second user, with the first one's name as clientInfo, for whom the server works: for the second."""
    fixture = peer.lab.fixture("tool.whoami")
    first = first_text(await peer.ask(fixture.method, fixture.params))
    async with peer.lab.connect(f"{peer.name}-other", peer.scenario, as_other=True) as other:
        second = first_text(await other.ask(fixture.method, fixture.params))
        if first == second:
            raise Untestable(f"{fixture.name} tells both users the same: {first[:100]!r}")
        claim = {"client_info": {"name": first or "mcpcheck", "version": "1"}}
        reply = await other.ask(fixture.method, fixture.params, **claim, extra={"user": first})
        for id in ("elicit.state.user-from-credentials", "elicit.identity.no-client-claims"):
            told = f"with the other's name in clientInfo it works for {first_text(reply)[:100]!r}"
            other.check(id, first_text(reply) != first, reply, "the user is who the credentials say", told)


@scenario(exercises=["caching.scope.reflects-visibility"], transports=["http"])
async def what_users_see_is_not_public(peer: Peer) -> None:
    """Fetches the lists as two users: where they differ, they are not called public."""
    id = "caching.scope.reflects-visibility"
    async with peer.lab.connect(f"{peer.name}-other", peer.scenario, as_other=True) as other:
        for name in ("tools", "prompts", "resources"):
            if not peer.lab.declares(LISTS[name][0]):
                continue
            mine, replies = await whole(peer, name)
            theirs, more = await whole(other, name)
            again, _ = await whole(peer, name)
            if canonical(mine) != canonical(again):
                continue  # it changes by itself
            scopes = [(reply.result or {}).get("cacheScope") for reply in (*replies, *more)]
            if canonical(mine) != canonical(theirs) and "public" in scopes:
                other.suspect(id, more[-1], f"the {name} that only one user sees are not called public")
            else:
                other.holds(id, more[-1])
