"""Where the tools of the demo server are put: each is a function, and its docstring is the description."""

from collections.abc import Callable, Mapping
from typing import Any

from mcpcheck.reference.call import Json
from mcpcheck.reference.inputs import Work
from mcpcheck.reference.tools import Steps, Tool

Run = Callable[[Work, dict[str, Json]], "dict[str, Json] | Steps"]

NO_ARGUMENTS: dict[str, Json] = {"type": "object", "additionalProperties": False}


class Shelf(dict[str, Tool]):
    """Tools by name."""

    def tool(
        self, schema: Mapping[str, Json] = NO_ARGUMENTS, *, read_only: bool = True, **members: Any
    ) -> Callable[[Run], Run]:
        """Put a function here as the tool of its name."""

        def enter(run: Run) -> Run:
            name = run.__name__
            definition = {
                "name": name,
                "title": name.removeprefix("test_").replace("_", " ").capitalize(),
                "description": run.__doc__ or name,
                "inputSchema": dict(schema),
                **members,
                "annotations": {"readOnlyHint": read_only, "openWorldHint": False},
            }
            self[name] = Tool(definition, run)
            return run

        return enter
