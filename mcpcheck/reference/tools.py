"""tools/list and tools/call."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

from mcpcheck.reference.call import Call, InvalidParams, Json, ToolFailed
from mcpcheck.reference.inputs import Inputs, Work, schema_fault
from mcpcheck.reference.paging import Paging

Steps = Generator[None, None, dict[str, Json]]
"""Work that takes its time: each step is one ``next``, and its return value is the result."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its definition, and what it does with its arguments."""

    definition: Mapping[str, Json]
    run: Callable[[Work, dict[str, Json]], "dict[str, Json] | Steps"]

    @property
    def name(self) -> str:
        name: str = self.definition["name"]
        return name


class Tools(Inputs, Paging):
    """The tools of the server."""

    def tools(self) -> Mapping[str, Tool]:
        """Every tool by name, in the order in which they are listed."""
        from mcpcheck.reference.toolbox import TOOLS

        return TOOLS

    # tools/list

    def list_tools(self, call: Call) -> dict[str, Json]:
        """One page of the tools."""
        return self.page(call, "tools", self.tool_definitions(call))

    def tool_definitions(self, call: Call) -> list[Json]:
        """The definition of every tool, as the request's revision knows it."""
        return [self.tool_definition(call, tool) for tool in self.tools().values()]

    def tool_definition(self, call: Call, tool: Tool) -> dict[str, Json]:
        """One tool's definition."""
        later = set()
        if call.revision < "2025-03-26":
            later |= {"annotations"}
        if call.revision < "2025-06-18":
            later |= {"title", "outputSchema", "_meta"}
        if call.revision < "2025-11-25":
            later |= {"icons"}
        definition = {name: value for name, value in tool.definition.items() if name not in later}
        if not call.modern and definition.get("outputSchema", {}).get("type", "object") != "object":
            del definition["outputSchema"]
        return definition

    # tools/call

    def call_tool(self, call: Call, work: Work) -> "dict[str, Json] | Steps":
        """Run a tool."""
        name = call.params.get("name")
        if not isinstance(name, str):
            raise InvalidParams("name is not a string")
        arguments = call.params.get("arguments", {})
        if not isinstance(arguments, dict):
            raise InvalidParams("arguments is not an object")
        tool = self.find_tool(name)
        if tool is None:
            return self.unknown_tool(call, name)
        fault = self.argument_fault(tool, arguments)
        if fault is not None:
            return self.invalid_arguments(call, fault)
        try:
            return self.run_tool(call, work, tool, arguments)
        except ToolFailed as failure:
            return self.tool_failed(call, str(failure))

    def find_tool(self, name: str) -> Tool | None:
        """The tool of that very name."""
        return self.tools().get(name)

    def run_tool(self, call: Call, work: Work, tool: Tool, arguments: dict[str, Json]) -> "dict[str, Json] | Steps":
        """What a tool answers to valid arguments."""
        outcome = tool.run(work, arguments)
        if isinstance(outcome, dict):
            return self.tool_result(call, tool, outcome)
        return self.in_steps(call, tool, outcome)

    def in_steps(self, call: Call, tool: Tool, steps: Steps) -> Steps:
        """The steps of a tool that takes its time."""
        try:
            result = yield from steps
        except ToolFailed as failure:
            return self.tool_failed(call, str(failure))
        return self.tool_result(call, tool, result)

    def tool_result(self, call: Call, tool: Tool, result: dict[str, Json]) -> dict[str, Json]:
        """The result of a tool, as the request's revision knows it."""
        result = {**result, "content": [self.content_block(call, block) for block in result["content"]]}
        if "structuredContent" in result and not self.knows_structured(call, result["structuredContent"]):
            del result["structuredContent"]
        return result

    def knows_structured(self, call: Call, value: Json) -> bool:
        """Whether a revision knows structured content of this kind."""
        return call.modern or (call.revision >= "2025-06-18" and isinstance(value, dict))

    def content_block(self, call: Call, block: dict[str, Json]) -> dict[str, Json]:
        """A content block, replaced by text where the revision does not know its type."""
        since = {"audio": "2025-03-26", "resource_link": "2025-06-18"}.get(block["type"], "")
        if call.revision < since:
            return {"type": "text", "text": f"({block['type']}: not known to {call.revision})"}
        return block

    def argument_fault(self, tool: Tool, arguments: dict[str, Json]) -> str | None:
        """What a tool's inputSchema has against arguments."""
        return schema_fault(tool.definition["inputSchema"], arguments)

    def invalid_arguments(self, call: Call, fault: str) -> dict[str, Json]:
        """The answer to arguments that break the tool's inputSchema: a result that the model can learn from."""
        return self.tool_failed(call, f"Invalid arguments: {fault}")

    def unknown_tool(self, call: Call, name: str) -> dict[str, Json]:
        """The answer to a call of a tool that does not exist."""
        raise InvalidParams(f"Unknown tool: {name[:100]}")

    def tool_failed(self, call: Call, reason: str) -> dict[str, Json]:
        """The result of a tool that failed."""
        return {"content": [{"type": "text", "text": reason}], "isError": True}


def text(content: str, **members: Any) -> dict[str, Json]:
    """A tool's result with one text block."""
    return {"content": [{"type": "text", "text": content}], **members}
