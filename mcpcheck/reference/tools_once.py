"""Tools whose work goes on beyond one request: handles that name what was opened, and what may be done only once."""

from mcpcheck.reference import samples
from mcpcheck.reference.call import Json, ToolFailed
from mcpcheck.reference.inputs import Work
from mcpcheck.reference.shelf import Shelf
from mcpcheck.reference.tools import text

ONCE = Shelf()


@ONCE.tool(outputSchema={"type": "object", "properties": {"handle": {"type": "string"}}, "required": ["handle"]})
def test_open_handle(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Opens something and hands out its name."""
    opened = work.server.world.opened
    handle = f"handle-{len(opened) + 1}"
    opened.append(handle)
    return text(f'{{"handle": "{handle}"}}', structuredContent={"handle": handle})


@ONCE.tool({"type": "object", "properties": {"handle": {"type": "string"}}, "additionalProperties": False})
def test_use_handle(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Uses what was opened, by its name."""
    handle = work.server.opened_as(work.call, arguments.get("handle"))
    if handle not in work.server.world.opened:
        raise ToolFailed("Open something first, and say which by its handle")
    return text(f"Used {handle}")


@ONCE.tool()
def test_single_use(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Asks for consent, and then does what may be done only once."""
    work.ask({"confirm": samples.CONFIRM}, remember={"number": len(work.server.world.spent)})
    work.server.spend(work.call)
    return text("Done, and never again with this state")
