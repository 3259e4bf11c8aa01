"""Completion: the values for an argument of a prompt, or of a resource template, that the server lists."""

import re
from typing import Any

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.errors import needs, needs_discovery
from mcpcheck.wire.protocol import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND

_VARIABLE = re.compile(r"\{[+#./;?&]?([A-Za-z0-9_.%]+)")


@scenario(exercises=["completion.complete.result-shape", "completion.values.max-100"])
async def listed_references_are_completed(peer: Peer) -> None:
    """Asks for the completion of an empty value, for a listed prompt and for a listed template: the rules judge it."""
    needs(peer, "completions")
    wanted = references(peer)
    if not wanted:
        raise Untestable("the server lists no prompt with arguments and no resource template with variables")
    for reference, argument in wanted:
        await peer.ask("completion/complete", {"ref": reference, "argument": {"name": argument, "value": ""}})


def references(peer: Peer) -> list[tuple[dict[str, Any], str]]:
    """The first prompt that takes an argument, and the first template that has a variable."""
    found: list[tuple[dict[str, Any], str]] = []
    for prompt in peer.lab.inventory.prompts:
        names = [a.get("name") for a in prompt.get("arguments") or [] if isinstance(a, dict)]
        if isinstance(prompt.get("name"), str) and names and isinstance(names[0], str):
            found.append(({"type": "ref/prompt", "name": prompt["name"]}, names[0]))
            break
    for template in peer.lab.inventory.templates:
        variable = _VARIABLE.search(str(template.get("uriTemplate")))
        if variable:
            found.append(({"type": "ref/resource", "uri": template["uriTemplate"]}, variable[1]))
            break
    return found


UNKNOWN: dict[str, Any] = {"type": "ref/prompt", "name": "mcpcheck-no-such-prompt"}
ARGUMENT: dict[str, Any] = {"name": "mcpcheck", "value": ""}


def values(reply: Reply) -> list[Any] | None:
    """The values of a completion; None where there is none."""
    completion = (reply.result or {}).get("completion")
    listed = completion.get("values") if isinstance(completion, dict) else None
    return listed if isinstance(listed, list) else None


def served(reply: Reply) -> Reply:
    """The same; Untestable where the method is not served, which discover.result.capabilities-true judges."""
    if reply.code == METHOD_NOT_FOUND:
        raise Untestable("completion/complete is not served, although the server declares completions")
    return reply


@scenario(exercises=["completion.capability.declared", "completion.error.method-not-found"])
async def completion_without_its_capability(peer: Peer) -> None:
    """Asks a server that declares no completions for some: error -32601; one that completes declares it."""
    needs_discovery(peer)
    wanted = references(peer) or [(UNKNOWN, "mcpcheck")]
    for reference, argument in wanted:
        reply = await peer.ask("completion/complete", {"ref": reference, "argument": {**ARGUMENT, "name": argument}})
        if peer.lab.declares("completions"):
            peer.holds("completion.capability.declared", reply)
            continue
        id, expected = (
            "completion.capability.declared",
            "completions is declared, since there are values",
        )
        if values(reply) == []:
            peer.suspect(id, reply, "no completion without the capability", "a completion without values")
        else:
            peer.check(id, not values(reply), reply, expected)
        peer.check("completion.error.method-not-found", reply.code == METHOD_NOT_FOUND, reply, "error -32601")


@scenario(exercises=["completion.error.unknown-prompt"])
async def completion_for_an_unknown_prompt(peer: Peer) -> None:
    """Asks for the completion of an argument of a prompt that does not exist: error -32602."""
    needs(peer, "completions")
    reply = served(await peer.ask("completion/complete", {"ref": UNKNOWN, "argument": ARGUMENT}))
    peer.check("completion.error.unknown-prompt", reply.code == INVALID_PARAMS, reply, "error -32602")


@scenario(exercises=["completion.error.missing-argument"])
async def completion_without_what_it_takes(peer: Peer) -> None:
    """Asks for a completion without argument, without ref, and without a value: error -32602 each time."""
    needs(peer, "completions")
    reference = (references(peer) or [(UNKNOWN, "mcpcheck")])[0][0]
    for params in ({"ref": reference}, {"argument": ARGUMENT}, {"ref": reference, "argument": {"name": "mcpcheck"}}):
        with peer.deviating("completion"):
            reply = served(await peer.ask("completion/complete", params))
        right = reply.code in {INVALID_PARAMS, INVALID_REQUEST}
        peer.check("completion.error.missing-argument", right, reply, f"error -32602 for {sorted(params)} alone")


@scenario(exercises=["completion.error.internal"], needs=["prompt.completion-fails"])
async def completion_fails(peer: Peer) -> None:
    """Asks for a completion that fails inside: error -32603, or no values."""
    needs(peer, "completions")
    fixture = peer.lab.fixture("prompt.completion-fails")
    reference = {"type": "ref/prompt", "name": fixture.name}
    params = {"ref": reference, "argument": {"name": "source", "value": ""}}
    reply = served(await peer.ask("completion/complete", params))
    right = reply.code == INTERNAL_ERROR or values(reply) == []
    peer.check("completion.error.internal", right, reply, "error -32603")


@scenario(exercises=["completion.security.validates-inputs"])
async def odd_completions(peer: Peer) -> None:
    """Asks for completions with a reference of no known kind, a text for one, a number for a value: no values come."""
    needs(peer, "completions")
    reference, argument = (references(peer) or [(UNKNOWN, "mcpcheck")])[0]
    good = {"name": argument, "value": ""}
    bad: list[dict[str, Any]] = [
        {"ref": {"type": "ref/mcpcheck", "name": "mcpcheck"}, "argument": good},
        {"ref": "mcpcheck", "argument": good},
        {"ref": reference, "argument": {"name": argument, "value": 5}},
        {"ref": reference, "argument": good, "context": {"arguments": []}},
    ]
    id, expected = "completion.security.validates-inputs", "a JSON-RPC error"
    for params in bad:
        with peer.deviating("completion"):
            reply = served(await peer.ask("completion/complete", params))
        if reply.is_error:
            peer.holds(id, reply)
        elif values(reply) and params["ref"] is not reference:
            peer.broken(id, reply, expected)
        else:
            peer.suspect(id, reply, expected)
