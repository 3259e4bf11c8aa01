"""A whole session of the handshake era with a server in this process, for the rules of that era."""

from dataclasses import dataclass
from typing import Any

import anyio

from mcpcheck.arguments import fitting
from mcpcheck.lab import Lab, Target
from mcpcheck.peer import Peer
from mcpcheck.survey import initialize_params
from mcpcheck.transports.base import Limits
from mcpcheck.verdict import Outcome, Verdict
from mcpcheck.wire.event import HttpResponse
from mcpcheck.wire.record import header

PAGES = 10


@dataclass(frozen=True, slots=True)
class Judged:
    """The ids that rules call broken, and those that are merely suspect."""

    broken: frozenset[str]
    suspects: frozenset[str]


def judged_in_a_session(target: Target, revision: str) -> Judged:
    """What the rules say of a server in a session that initialize opens."""
    verdicts: list[Verdict] = []
    anyio.run(_hold, target, revision, verdicts)
    broken = frozenset(verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.BROKEN)
    suspects = frozenset(verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.SUSPECT)
    return Judged(broken, suspects - broken)


async def _hold(target: Target, revision: str, verdicts: list[Verdict]) -> None:
    lab = Lab(target, Limits(answer=1, start=1))
    async with lab.connect("handshake") as peer:
        peer.voice.era, peer.voice.version = "legacy", revision
        opened = await peer.try_ask("initialize", initialize_params(revision))
        for head in (event.head for event in opened.events if isinstance(event, HttpResponse)):
            peer.voice.session_id = header(head, "mcp-session-id")
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await peer.send(peer.encode(note), note)
        if target.kind == "http":
            await peer.send(b"", headers={"Accept": "text/event-stream", "Content-Type": None}, http_method="GET")
        await peer.try_ask("ping")
        with peer.deviating("legacy.lifecycle.operation"):  # whatever the server has declared
            await peer.try_ask("logging/setLevel", {"level": "debug"})
            await peer.try_ask("resources/subscribe", {"uri": "test://watched-resource"})
        await _use_everything(peer)
        if "tasks" in ((opened.result or {}).get("capabilities") or {}):
            await peer.try_ask("tasks/list")
    verdicts += peer.verdicts
    assert not peer.own_faults, peer.own_faults
    assert not peer.crashes, peer.crashes


async def _use_everything(peer: Peer) -> None:
    for number, tool in enumerate(await _listed(peer, "tools/list", "tools")):
        arguments = fitting(tool.get("inputSchema"))
        if arguments is not None:
            meta = {"progressToken": f"mcpcheck-{number}"}
            params = {"name": str(tool.get("name")), "arguments": arguments, "_meta": meta}
            await peer.try_ask("tools/call", params)
    for resource in await _listed(peer, "resources/list", "resources"):
        await peer.try_ask("resources/read", {"uri": str(resource.get("uri"))})
    await _listed(peer, "resources/templates/list", "resourceTemplates")
    for prompt in await _listed(peer, "prompts/list", "prompts"):
        if not prompt.get("arguments"):
            await peer.try_ask("prompts/get", {"name": str(prompt.get("name"))})
    reference = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
    await peer.try_ask("completion/complete", {"ref": reference, "argument": {"name": "arg1", "value": ""}})


async def _listed(peer: Peer, method: str, member: str) -> list[dict[str, Any]]:
    """Every item of a list, over all its pages."""
    items: list[dict[str, Any]] = []
    cursor: dict[str, Any] = {}
    for _ in range(PAGES):
        result = (await peer.try_ask(method, cursor)).result or {}
        page = result.get(member)
        items += [item for item in page if isinstance(item, dict)] if isinstance(page, list) else []
        if not isinstance(result.get("nextCursor"), str):
            break
        cursor = {"cursor": result["nextCursor"]}
    return items
