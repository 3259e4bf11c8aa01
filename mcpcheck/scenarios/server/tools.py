"""Tools: their names, and the schemas by which their arguments are checked."""

from typing import Any

from mcpcheck.peer import Peer
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.errors import needs


@scenario(exercises=["tools.name.case-sensitive"])
async def name_in_the_other_case(peer: Peer) -> None:
    """Calls a tool by its name with small letters for capitals and the other way round: there is no such tool."""
    needs(peer, "tools")
    names = {str(tool.get("name")) for tool in peer.lab.inventory.tools}
    for tool in peer.lab.prompt_tools():
        name, arguments = str(tool.get("name")), peer.lab.arguments_for(tool)
        if arguments is not None and name.swapcase() not in names:
            break
    else:
        raise Untestable("no tool that may be called has a name with letters; --tools names or all allows more")
    reply = await peer.ask("tools/call", {"name": name.swapcase(), "arguments": arguments})
    served = reply.needs_input or (reply.complete and (reply.result or {}).get("isError") is not True)
    expected = f"an error: {name} is a tool, {name.swapcase()} is none"
    peer.check("tools.name.case-sensitive", not served, reply, expected)


async def judge_dialect(peer: Peer, id: str, role: str, good: dict[str, Any], bad: dict[str, Any]) -> None:
    """A tool takes what its schema allows and refuses what it forbids, which in another dialect is otherwise.

    How strictly a server looks at arguments is another matter (tools.security.validates-inputs): a suspicion at most.
    """
    fixture = peer.lab.fixture(role)
    for arguments, right in ((good, True), (bad, False)):
        reply = await peer.ask("tools/call", {"name": fixture.name, "arguments": arguments})
        taken = reply.needs_input or (reply.complete and (reply.result or {}).get("isError") is not True)
        if taken == right:
            peer.holds(id, reply)
        else:
            word = "allows" if right else "forbids"
            peer.suspect(id, reply, f"{fixture.name}: the schema {word} {arguments!r}")


@scenario(exercises=["base.schema.support-2020-12"], needs=["tool.schema-2020-12"])
async def schema_of_2020_12(peer: Peer) -> None:
    """Calls a tool whose schema uses if, then, allOf and $defs with arguments that fit, and with some that do not."""
    good = {"name": "mcpcheck", "contactMethod": "phone", "phone": "1"}
    bad = {"name": "mcpcheck", "contactMethod": "phone", "email": "mcpcheck@example.com"}
    await judge_dialect(peer, "base.schema.support-2020-12", "tool.schema-2020-12", good, bad)


@scenario(exercises=["base.schema.default-dialect"], needs=["tool.schema-default"])
async def schema_without_a_dialect(peer: Peer) -> None:
    """Calls a tool whose schema names no dialect and means a pair by prefixItems: two items fit, three do not."""
    good, bad = {"pair": ["a", 1]}, {"pair": ["a", 1, 2]}
    await judge_dialect(peer, "base.schema.default-dialect", "tool.schema-default", good, bad)
