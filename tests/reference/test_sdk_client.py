"""The official SDK's client against the reference server: both transports, both eras."""

import os
import sys
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.context import ClientRequestContext
from mcp.client.sse import sse_client
from mcp_types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    ListRootsResult,
    LoggingMessageNotificationParams,
    Root,
    TextContent,
)

from mcpcheck.reference.prompts import PROMPTS
from mcpcheck.reference.resources import RESOURCES
from mcpcheck.reference.toolbox import TOOLS
from tests.support.processes import http_process

REFERENCE = (sys.executable, "-m", "mcpcheck.reference")
REVISIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
ANSWERS = {"name": "Alice", "color": "blue", "ok": True, "response": "yes", "value": "v", "context": "c"}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with http_process(*REFERENCE, "--http", "0") as server:
        yield server.url


async def elicited(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    """Fill in the fields that a form asks for."""
    wanted = getattr(params, "requested_schema", {}).get("properties", {})
    return ElicitResult(action="accept", content={name: value for name, value in ANSWERS.items() if name in wanted})


async def sampled(context: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
    return CreateMessageResult(role="assistant", model="m", content=TextContent(type="text", text="Paris"))


async def rooted(context: ClientRequestContext) -> ListRootsResult:
    return ListRootsResult(roots=[Root(uri="file:///home")])


async def walk(fetch: Any, member: str) -> list[Any]:
    """Every item of a list, page by page."""
    items: list[Any] = []
    cursor = None
    while True:
        page = await fetch(cursor=cursor)
        items += getattr(page, member)
        cursor = page.next_cursor
        if cursor is None:
            return items


async def visit(client: Client, mode: str, logged: list[LoggingMessageNotificationParams]) -> None:
    """Use everything that the server offers."""
    async with client:
        assert client.protocol_version == REVISIONS[mode]
        assert len(await walk(client.list_tools, "tools")) == len(TOOLS)
        assert len(await walk(client.list_resources, "resources")) == len(RESOURCES)
        assert len(await walk(client.list_prompts, "prompts")) == len(PROMPTS)
        assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == {"sum": 3}
        assert (await client.call_tool("test_error_handling")).is_error
        assert (await client.call_tool("add", {"a": 1})).is_error
        said = await client.call_tool("test_input_required_result_multi_round", {})
        assert said.content == [TextContent(type="text", text="Two rounds: Alice likes blue")]
        said = await client.call_tool("test_input_required_result_multiple_inputs", {})
        assert said.content == [TextContent(type="text", text="Name: Alice; Greeting: Paris; Roots: 1")]
        said = await client.call_tool("test_input_required_result_state_only", {})
        assert not said.is_error
        said = await client.call_tool("test_x_mcp_header", {"region": "Grüße", "count": 3, "target": {"tenant": "a"}})
        assert not said.is_error
        await client.call_tool("test_logging_tool", {})
        # In the handshake era a level holds for the session, and this client sets none: all from info on comes.
        assert [note.level for note in logged][-4:] == ["error", "critical", "alert", "emergency"]
        assert len(logged) == (4 if mode == "auto" else 7)
        progress: list[float] = []

        async def progressed(done: float, total: float | None, message: str | None) -> None:
            progress.append(done)

        await client.call_tool("count_slowly", {"to": 3}, progress_callback=progressed)
        assert progress == [0, 1, 2]
        assert (await client.read_resource("test://static-binary")).contents
        assert (await client.get_prompt("test_input_required_result_prompt")).messages


@pytest.mark.parametrize(
    ("transport", "mode"),
    [("stdio", "auto"), ("stdio", "legacy"), ("http", "auto"), ("http", "legacy"), ("sse", "legacy")],
)
def test_the_official_client_gets_everything_done(transport: str, mode: Any, url: str) -> None:
    async def session() -> None:
        logged: list[LoggingMessageNotificationParams] = []

        async def log(params: LoggingMessageNotificationParams) -> None:
            logged.append(params)

        targets: dict[str, Any] = {
            "stdio": StdioServerParameters(command=REFERENCE[0], args=list(REFERENCE[1:]), env=dict(os.environ)),
            "http": url,
            "sse": sse_client(url.replace("/mcp", "/sse")),
        }
        client = Client(
            targets[transport],
            mode=mode,
            read_timeout_seconds=20,
            elicitation_callback=elicited,
            sampling_callback=sampled,
            list_roots_callback=rooted,
            logging_callback=log,
            log_level="error",
        )
        await visit(client, mode, logged)

    anyio.run(session)
