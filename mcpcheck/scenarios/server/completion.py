"""Completion: the values for an argument of a prompt, or of a resource template, that the server lists."""

import re
from typing import Any

from mcpcheck.peer import Peer
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.errors import needs

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
