"""What a server asks of a client: elicitation, sampling and roots, and what it makes of odd answers."""

from typing import Any

from mcpcheck.arguments import departing
from mcpcheck.inputs import responses_to
from mcpcheck.peer import ALL_CAPABILITIES, Peer
from mcpcheck.reply import Reply
from mcpcheck.roles import Fixture
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.capability import offered
from mcpcheck.scenarios.server.mrtr import ELICITING, asking, first_round, judge_copes, retry
from mcpcheck.wire.protocol import MISSING_CLIENT_CAPABILITY

ROUNDS = 50
"""After so many rounds of tool uses a loop has no end."""
FORM_ONLY: dict[str, Any] = {"elicitation": {}}


def requests(reply: Reply) -> dict[str, dict[str, Any]]:
    """The input requests of a result, by key."""
    wanted = (reply.result or {}).get("inputRequests") if reply.needs_input else None
    wanted = wanted if isinstance(wanted, dict) else {}
    return {key: request for key, request in wanted.items() if isinstance(request, dict)}


def params(request: dict[str, Any]) -> dict[str, Any]:
    """The params of an input request."""
    found = request.get("params")
    return found if isinstance(found, dict) else {}


@scenario(
    exercises=["elicit.capability.empty-is-form-only", "elicit.mode.only-declared-modes"],
    needs=["tool.elicits", "tool.elicits-url"],
)
async def empty_capability_is_for_forms(peer: Peer) -> None:
    """Declares elicitation without a mode: forms are asked for, pages are not."""
    id = "elicit.capability.empty-is-form-only"
    fixture = peer.lab.fixture("tool.elicits")
    reply = await peer.ask(fixture.method, fixture.params, capabilities=FORM_ONLY)
    if reply.needs_input or reply.code == MISSING_CLIENT_CAPABILITY:
        peer.check(id, reply.needs_input, reply, "a form is asked for, since an empty capability stands for forms")
    fixture = peer.lab.fixture("tool.elicits-url")
    reply = await peer.ask(fixture.method, fixture.params, capabilities=FORM_ONLY)
    pages = [request for request in requests(reply).values() if params(request).get("mode") == "url"]
    peer.check(id, not pages, reply, "no page is to be visited, since an empty capability stands for forms alone")


QUESTIONS = (
    "tool.elicits",
    "tool.elicits-with-message",
    "tool.elicits-with-defaults",
    "tool.elicits-with-choices",
    "tool.elicits-url",
    "tool.samples-with-prompt",
)


@scenario(
    exercises=[
        "elicit.request.message-present",
        "elicit.mode.valid-value",
        "elicit.form.requested-schema-present",
        "elicit.form.schema-flat",
        "elicit.form.default-fits-type",
        "elicit.url.url-present",
        "elicit.url.url-valid",
        "sampling.request.shape",
    ],
    any_of=QUESTIONS,
)
async def questions_of_every_kind(peer: Peer) -> None:
    """Has the server ask with forms that have defaults and choices, for a visit to a page, and for a sample."""
    peer.voice.capabilities = ALL_CAPABILITIES
    for fixture in offered(peer, *QUESTIONS):
        await peer.ask(fixture.method, fixture.params)


@scenario(exercises=["elicit.form.content-validated-by-server"], any_of=ELICITING)
async def form_that_breaks_its_schema(peer: Peer) -> None:
    """Accepts a form with content that breaks its schema: refused or asked for again, not taken as good."""
    fixture = asking(peer)
    asked = await first_round(peer, fixture)
    bad: dict[str, Any] = {}
    for key, request in requests(asked).items():
        content = departing(params(request).get("requestedSchema"))
        if content is not None:
            bad[key] = {"action": "accept", "content": content}
    if not bad:
        raise Untestable(f"{fixture.name} asks with a schema that takes anything")
    with peer.deviating("elicit", "mrtr"):
        reply = await retry(peer, fixture, asked, inputResponses=responses_to(requests(asked)) | bad)
    judge_taken(peer, "elicit.form.content-validated-by-server", fixture, reply, "content that breaks its schema")


def judge_taken(peer: Peer, id: str, fixture: Fixture, reply: Reply, what: str) -> None:
    """Bad input is not turned into a plain success; a tool that was found by chance may not need what it asked for."""
    plain = reply.complete and (reply.result or {}).get("isError") is not True
    expected = f"{fixture.name}: {what} is refused or asked for again"
    if plain and fixture.shown:
        peer.suspect(id, reply, f"{expected}, unless it makes no difference")
    else:
        peer.check(id, not plain, reply, expected)


@scenario(exercises=["sampling.content.validated"], needs=["tool.samples"])
async def malformed_sample(peer: Peer) -> None:
    """Answers a sampling request without content, then with a block of no known type: not taken as good."""
    fixture = peer.lab.fixture("tool.samples")
    for bad in (
        {"role": "assistant"},
        {"role": "assistant", "model": "mcpcheck", "content": {"type": "mcpcheck-unknown", "text": "Paris"}},
    ):
        asked = await first_round(peer, fixture)
        with peer.deviating("sampling", "mrtr"):
            reply = await retry(peer, fixture, asked, inputResponses=dict.fromkeys(requests(asked), bad))
        judge_taken(peer, "sampling.content.validated", fixture, reply, "a sample that is none")


@scenario(exercises=["sampling.tool-loop.iteration-limit"], needs=["tool.samples-in-loop"])
async def endless_tool_use(peer: Peer) -> None:
    """Answers every sampling request with one more use of a tool: the loop comes to an end."""
    fixture = peer.lab.fixture("tool.samples-in-loop")
    reply = await first_round(peer, fixture)
    rounds = 0
    while reply.needs_input and rounds < ROUNDS:
        rounds += 1
        answers = {key: tool_use(rounds, params(request)) for key, request in requests(reply).items()}
        reply = await retry(peer, fixture, reply, inputResponses=answers)
    id, told = "sampling.tool-loop.iteration-limit", f"it still asks after {rounds} rounds"
    peer.check(id, not reply.needs_input, reply, "a loop of tool uses ends after some rounds", told)


def tool_use(number: int, asked: dict[str, Any]) -> dict[str, Any]:
    """A sample in which the model uses the first tool that it was offered."""
    tools = asked.get("tools")
    name = tools[0].get("name") if isinstance(tools, list) and tools and isinstance(tools[0], dict) else None
    if not isinstance(name, str):
        raise Untestable("the sampling request offers no tool")
    use = {"type": "tool_use", "id": f"mcpcheck-{number}", "name": name, "input": {"city": "Paris"}}
    return {"role": "assistant", "model": "mcpcheck", "content": [use], "stopReason": "toolUse"}


@scenario(exercises=["roots.server.checks-capability", "roots.server.handles-unavailable"], needs=["tool.roots"])
async def roots_that_are_not_there(peer: Peer) -> None:
    """Uses what asks for roots without declaring them, then names roots that do not exist, then none."""
    fixture = peer.lab.fixture("tool.roots")
    reply = await peer.ask(fixture.method, fixture.params, capabilities={})
    asked = [request for request in requests(reply).values() if request.get("method") == "roots/list"]
    id, expected = "roots.server.checks-capability", "no request for roots: this one declares no roots"
    peer.check(id, not asked, reply, expected)
    peer.voice.capabilities = ALL_CAPABILITIES
    for roots in ([{"uri": "file:///mcpcheck-is-not-there"}], []):
        first = await first_round(peer, fixture)
        answers = {
            key: {"roots": roots} if request.get("method") == "roots/list" else responses_to({key: request})[key]
            for key, request in requests(first).items()
        }
        judge_copes(peer, await retry(peer, fixture, first, inputResponses=answers), "roots.server.handles-unavailable")
