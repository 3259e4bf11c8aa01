"""Tools that need nothing from the client: contents, schemas, headers, notifications, changes."""

import json

from mcpcheck.reference import samples
from mcpcheck.reference.call import Json, ToolFailed
from mcpcheck.reference.inputs import Work
from mcpcheck.reference.shelf import Shelf
from mcpcheck.reference.tools import Steps, text

PLAIN = Shelf()

# Content


@PLAIN.tool()
def test_simple_text(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Answers with one text."""
    return text("Some text, as asked for.")


@PLAIN.tool()
def test_image_content(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Answers with an image."""
    return {"content": [{"type": "image", "data": samples.IMAGE, "mimeType": "image/png"}]}


@PLAIN.tool()
def test_audio_content(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Answers with a sound."""
    return {"content": [{"type": "audio", "data": samples.AUDIO, "mimeType": "audio/wav"}]}


@PLAIN.tool()
def test_embedded_resource(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Answers with an embedded resource."""
    resource = {
        "uri": "test://embedded-resource",
        "mimeType": "text/plain",
        "text": "A text that stands inside the result.",
    }
    return {"content": [{"type": "resource", "resource": resource}]}


@PLAIN.tool()
def test_multiple_content_types(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Answers with a text, an image, a link and an embedded resource."""
    resource = {
        "uri": "test://mixed-content-resource",
        "mimeType": "application/json",
        "text": '{"mixed":true}',
    }
    return {
        "content": [
            {"type": "text", "text": "Four blocks, of which this is the first.", "annotations": {"audience": ["user"]}},
            {"type": "image", "data": samples.IMAGE, "mimeType": "image/png", "annotations": {"priority": 0.5}},
            {"type": "resource_link", "uri": "test://static-text", "name": "static-text", "mimeType": "text/plain"},
            {"type": "resource", "resource": resource},
        ]
    }


@PLAIN.tool()
def test_error_handling(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Fails, and says so in its result."""
    raise ToolFailed("This tool fails on purpose")


_SUM = {
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
    "additionalProperties": False,
}


@PLAIN.tool(
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
    outputSchema=_SUM,
)
def add(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Adds two integers."""
    result = {"sum": int(arguments["a"]) + int(arguments["b"])}
    return text(json.dumps(result), structuredContent=result)


@PLAIN.tool(
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": False}
)
def echo(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Echoes a text."""
    return text(arguments["text"])


@PLAIN.tool(outputSchema={"type": "array", "items": {"type": "integer"}})
def squares(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Lists the first square numbers as an array."""
    return text("[0, 1, 4, 9, 16]", structuredContent=[0, 1, 4, 9, 16])


# Schemas and headers


@PLAIN.tool(
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }
)
def json_schema_2020_12_tool(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Takes arguments by a schema that uses the whole of JSON Schema 2020-12."""
    return text(f"Called with {json.dumps(arguments)}")


@PLAIN.tool(
    {
        "type": "object",
        "properties": {
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False}
        },
        "additionalProperties": False,
    }
)
def take_pair(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Takes a pair: a string and then an integer, in a schema that names no dialect."""
    return text(f"Called with {json.dumps(arguments)}")


@PLAIN.tool(
    {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "verbose": {"type": "boolean", "x-mcp-header": "Verbose"},
            "target": {
                "type": "object",
                "properties": {"tenant": {"type": "string", "x-mcp-header": "Tenant"}},
                "additionalProperties": False,
            },
        },
        "additionalProperties": False,
    }
)
def test_x_mcp_header(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Takes arguments that are repeated in HTTP headers."""
    return text(f"Called with {json.dumps(arguments)}")


# Notifications


@PLAIN.tool()
def test_tool_with_logging(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Logs at three points of its work."""
    for message in ("The work has begun", "The work is half done", "The work is done"):
        work.log("info", message)
    return text("Three messages were logged")


@PLAIN.tool()
def test_logging_tool(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Logs once at every level."""
    for level in ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"):
        work.log(level, {"message": f"A message of level {level}"})
    return text("Eight messages were logged")


@PLAIN.tool()
def test_tool_with_progress(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Reports progress three times."""
    for done in (0, 50, 100):
        work.progress(done, 100, f"{done} percent done")
    return text(str(work.call.progress_token))


@PLAIN.tool()
def test_streaming_elicitation(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Reports progress, then asks for the user's consent."""
    work.progress(1, 2, "Before the question")
    answer = work.ask({"confirm": samples.CONFIRM})["confirm"]
    work.progress(2, 2, "After the answer")
    return text(f"The user chose to {answer['action']}")


@PLAIN.tool(
    {
        "type": "object",
        "properties": {"to": {"type": "integer", "minimum": 1, "maximum": 1000}, "counter": {"type": "string"}},
        "additionalProperties": False,
    }
)
def count_slowly(work: Work, arguments: dict[str, Json]) -> Steps:
    """Counts to a number, one step at a time, and can be cancelled."""
    to = int(arguments.get("to", 20))
    steps = work.server.world.steps
    counter = arguments.get("counter", "default")
    steps[counter] = 0
    while steps[counter] < to:
        work.progress(steps[counter], to, f"Counted to {steps[counter]}")
        yield
        steps[counter] += 1
    return text(f"Counted to {to}")


@PLAIN.tool({"type": "object", "properties": {"counter": {"type": "string"}}, "additionalProperties": False})
def counted(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Tells how far count_slowly has come."""
    return text(str(work.server.world.steps.get(arguments.get("counter", "default"), 0)))


@PLAIN.tool()
def test_reconnection(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Answers after the client has come back for the rest of the stream."""
    return text("You came back for the rest.")


# Changes


@PLAIN.tool(read_only=False)
def test_trigger_tool_change(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Adds a tool for a moment: the list of tools changes, and changes back."""
    work.server.world.changed("tools")
    return text("The list changed")


@PLAIN.tool(read_only=False)
def test_trigger_prompt_change(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Adds a prompt for a moment: the list of prompts changes, and changes back."""
    work.server.world.changed("prompts")
    return text("The list changed")


@PLAIN.tool(read_only=False)
def test_trigger_resource_change(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Adds a resource for a moment: the list of resources changes, and changes back."""
    work.server.world.changed("resources")
    return text("The list changed")


@PLAIN.tool(
    {"type": "object", "properties": {"uri": {"type": "string"}}, "additionalProperties": False}, read_only=False
)
def test_update_resource(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Changes a resource, test://watched-resource unless another is named."""
    uri = arguments.get("uri", "test://watched-resource")
    versions = work.server.world.versions
    versions[uri] = versions.get(uri, 0) + 1
    work.server.world.changed("resource", uri)
    return text(f"Updated {uri}")


@PLAIN.tool(read_only=False)
def test_end_subscriptions(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Ends every open subscription from the server's side."""
    work.server.world.changed("end")
    return text("Subscriptions ended")
