"""The tools of the demo server. The names that begin with test_ are those that the official suite asks for."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from mcpcheck.reference import samples
from mcpcheck.reference.call import Json, NeedInput, ToolFailed
from mcpcheck.reference.inputs import Work, declares
from mcpcheck.reference.tools import Steps, Tool, text

Run = Callable[[Work, dict[str, Json]], "dict[str, Json] | Steps"]

NO_ARGUMENTS: dict[str, Json] = {"type": "object", "additionalProperties": False}
ROUNDS = 3
"""After how many rounds a loop of tool uses in sampling ends."""

TOOLS: dict[str, Tool] = {}


def tool(
    description: str, schema: Mapping[str, Json] = NO_ARGUMENTS, *, read_only: bool = True, **members: Any
) -> Callable[[Run], Run]:
    """List a function as the tool of its name."""

    def enter(run: Run) -> Run:
        name = run.__name__
        definition = {
            "name": name,
            "title": name.removeprefix("test_").replace("_", " ").capitalize(),
            "description": description,
            "inputSchema": dict(schema),
            **members,
            "annotations": {"readOnlyHint": read_only, "openWorldHint": False},
        }
        TOOLS[name] = Tool(definition, run)
        return run

    return enter


# Content


@tool("Answers with one text")
def test_simple_text(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    return text("This is a simple text response for testing.")


@tool("Answers with an image")
def test_image_content(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    return {"content": [{"type": "image", "data": samples.IMAGE, "mimeType": "image/png"}]}


@tool("Answers with a sound")
def test_audio_content(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    return {"content": [{"type": "audio", "data": samples.AUDIO, "mimeType": "audio/wav"}]}


@tool("Answers with an embedded resource")
def test_embedded_resource(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    resource = {
        "uri": "test://embedded-resource",
        "mimeType": "text/plain",
        "text": "This is an embedded resource content.",
    }
    return {"content": [{"type": "resource", "resource": resource}]}


@tool("Answers with a text, an image, a link and an embedded resource")
def test_multiple_content_types(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    resource = {
        "uri": "test://mixed-content-resource",
        "mimeType": "application/json",
        "text": '{"test":"data","value":123}',
    }
    return {
        "content": [
            {"type": "text", "text": "Multiple content types test:", "annotations": {"audience": ["user"]}},
            {"type": "image", "data": samples.IMAGE, "mimeType": "image/png", "annotations": {"priority": 0.5}},
            {"type": "resource_link", "uri": "test://static-text", "name": "static-text", "mimeType": "text/plain"},
            {"type": "resource", "resource": resource},
        ]
    }


@tool("Fails, and says so in its result")
def test_error_handling(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    raise ToolFailed("This tool intentionally returns an error for testing")


_SUM = {
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
    "additionalProperties": False,
}


@tool(
    "Adds two integers",
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
    outputSchema=_SUM,
)
def add(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    result = {"sum": int(arguments["a"]) + int(arguments["b"])}
    return text(json.dumps(result), structuredContent=result)


@tool(
    "Echoes a text",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": False},
)
def echo(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    return text(arguments["text"])


@tool("Lists the first square numbers as an array", outputSchema={"type": "array", "items": {"type": "integer"}})
def squares(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    return text("[0, 1, 4, 9, 16]", structuredContent=[0, 1, 4, 9, 16])


# Schemas and headers


@tool(
    "Takes arguments by a schema that uses the whole of JSON Schema 2020-12",
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
    },
)
def json_schema_2020_12_tool(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    return text(f"Called with {json.dumps(arguments)}")


@tool(
    "Takes a pair: a string and then an integer, in a schema that names no dialect",
    {
        "type": "object",
        "properties": {
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False}
        },
        "additionalProperties": False,
    },
)
def take_pair(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    return text(f"Called with {json.dumps(arguments)}")


@tool(
    "Takes arguments that are repeated in HTTP headers",
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
    },
)
def test_x_mcp_header(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    return text(f"Called with {json.dumps(arguments)}")


# Notifications


@tool("Logs at three points of its work")
def test_tool_with_logging(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        work.log("info", message)
    return text("Tool with logging executed successfully")


@tool("Logs once at every level")
def test_logging_tool(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    for level in ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"):
        work.log(level, {"message": f"A message of level {level}"})
    return text("Logging evaluated")


@tool("Reports progress three times")
def test_tool_with_progress(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    for done in (0, 50, 100):
        work.progress(done, 100, f"Completed step {done} of 100")
    return text(str(work.call.progress_token))


@tool("Reports progress, then asks for the user's consent")
def test_streaming_elicitation(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    work.progress(1, 2, "Before the question")
    answer = work.ask({"confirm": samples.CONFIRM})["confirm"]
    work.progress(2, 2, "After the answer")
    return text(f"The user chose to {answer['action']}")


@tool(
    "Counts to a number, one step at a time, and can be cancelled",
    {
        "type": "object",
        "properties": {"to": {"type": "integer", "minimum": 1, "maximum": 1000}, "counter": {"type": "string"}},
        "additionalProperties": False,
    },
)
def count_slowly(work: Work, arguments: dict[str, Json]) -> Steps:
    to = int(arguments.get("to", 20))
    steps = work.server.world.steps
    counter = arguments.get("counter", "default")
    steps[counter] = 0
    while steps[counter] < to:
        work.progress(steps[counter], to, f"Counted to {steps[counter]}")
        yield
        steps[counter] += 1
    return text(f"Counted to {to}")


@tool(
    "Tells how far count_slowly has come",
    {"type": "object", "properties": {"counter": {"type": "string"}}, "additionalProperties": False},
)
def counted(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    return text(str(work.server.world.steps.get(arguments.get("counter", "default"), 0)))


@tool("Answers after the client has come back for the rest of the stream")
def test_reconnection(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    return text("Reconnection test completed successfully.")


# Changes


@tool("Adds a tool for a moment: the list of tools changes, and changes back", read_only=False)
def test_trigger_tool_change(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    work.server.world.changed("tools")
    return text("Mutation triggered")


@tool("Adds a prompt for a moment: the list of prompts changes, and changes back", read_only=False)
def test_trigger_prompt_change(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    work.server.world.changed("prompts")
    return text("Mutation triggered")


@tool("Adds a resource for a moment: the list of resources changes, and changes back", read_only=False)
def test_trigger_resource_change(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    work.server.world.changed("resources")
    return text("Mutation triggered")


@tool(
    "Changes a resource, test://watched-resource unless another is named",
    {"type": "object", "properties": {"uri": {"type": "string"}}, "additionalProperties": False},
    read_only=False,
)
def test_update_resource(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    uri = arguments.get("uri", "test://watched-resource")
    versions = work.server.world.versions
    versions[uri] = versions.get(uri, 0) + 1
    work.server.world.changed("resource", uri)
    return text(f"Updated {uri}")


@tool("Ends every open subscription from the server's side", read_only=False)
def test_end_subscriptions(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    work.server.world.changed("end")
    return text("Subscriptions ended")


# Input by form and by URL


def _told(answer: Json) -> str:
    return f"action={answer['action']}, content={json.dumps(answer.get('content', {}))}"


@tool(
    "Asks the user for something, with a message of your choice",
    {"type": "object", "properties": {"message": {"type": "string"}}, "additionalProperties": False},
)
def test_elicitation(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    field = {"response": {"type": "string", "description": "User's response"}}
    question = samples.form(arguments.get("message", "Please answer"), field)
    return text(f"User response: {_told(work.ask({'response': question})['response'])}")


@tool("Shows a form with a default for every type")
def test_elicitation_sep1034_defaults(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    return text(f"Elicitation completed: {_told(work.ask({'form': samples.DEFAULTS})['form'])}")


@tool("Shows a form with every kind of choice")
def test_elicitation_sep1330_enums(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    return text(f"Elicitation completed: {_told(work.ask({'form': samples.CHOICES})['form'])}")


@tool("Asks the user to visit a page")
def test_elicitation_url(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    page = samples.visit("Please sign in to the example service", "https://example.com/connect?flow=demo")
    return text(f"The user chose to {work.ask({'visit': page})['visit']['action']}")


@tool("Asks for a name and greets")
def test_input_required_result_elicitation(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    answer = work.ask({"user_name": samples.NAME})["user_name"]
    if answer["action"] != "accept":
        return text(f"No name was given ({answer['action']})")
    return text(f"Hello, {answer['content']['name']}!")


# Input from the model and about roots


@tool(
    "Has the client's model answer a prompt",
    {"type": "object", "properties": {"prompt": {"type": "string"}}, "additionalProperties": False},
)
def test_sampling(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    answer = work.ask({"sample": samples.sample(arguments.get("prompt", "Say hello"))})["sample"]
    return text(f"LLM response: {samples.text_of(answer['content'])}")


@tool("Asks the client's model for a capital")
def test_input_required_result_sampling(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    answer = work.ask({"capital_question": samples.sample("What is the capital of France?")})["capital_question"]
    return text(f"Sampling result: {samples.text_of(answer['content'])}")


@tool("Cannot do without sampling")
def test_missing_capability(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    work.server.require(work.call, {"sample": samples.sample("Anything")})
    return text("Success")


@tool("Has the client's model use a tool, for a few rounds at most")
def test_sampling_tool_loop(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    request = samples.sample("What is the weather in Paris?", tools=[samples.WEATHER_TOOL])
    messages = work.state.get("messages", request["params"]["messages"])
    round_ = work.state.get("round", 1)
    while True:
        key = f"round{round_}"
        request = {**request, "params": {**request["params"], "messages": messages}}
        answer = work.ask({key: request}, remember={"round": round_, "messages": messages})[key]
        content = answer["content"] if isinstance(answer["content"], list) else [answer["content"]]
        uses = [block for block in content if block["type"] == "tool_use"]
        if not uses or round_ >= ROUNDS:
            return text(f"The model said: {samples.text_of(content)}")
        results = [_weather(use["id"]) for use in uses]
        messages = [*messages, {"role": "assistant", "content": content}, {"role": "user", "content": results}]
        round_ += 1


def _weather(use: str) -> dict[str, Json]:
    return {"type": "tool_result", "toolUseId": use, "content": [{"type": "text", "text": "Sunny, 21 degrees"}]}


@tool("Counts the client's roots")
def test_input_required_result_list_roots(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    roots = work.ask({"client_roots": samples.ROOTS})["client_roots"]["roots"]
    return text(f"Found {len(roots)} root(s)")


# State and several rounds


@tool("Asks for consent and keeps state")
def test_input_required_result_request_state(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    work.ask({"confirm": samples.CONFIRM}, remember={"kind": "request-state"})
    return text("state-ok: requestState validated")


@tool("Asks for consent and keeps state that must not be altered")
def test_input_required_result_tampered_state(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    work.ask({"confirm": samples.CONFIRM}, remember={"kind": "tamper-test"})
    return text("integrity-ok: state verified")


@tool("Asks the client to come again, for nothing but its state")
def test_input_required_result_state_only(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    if work.call.modern and "later" not in work.state:
        raise NeedInput(None, {"later": True})
    return text("Done at the second try")


@tool("Asks for a name, a greeting and the roots at once")
def test_input_required_result_multiple_inputs(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    requests = {
        "user_name": samples.NAME,
        "greeting": samples.sample("Generate a greeting", 50),
        "client_roots": samples.ROOTS,
    }
    answers = work.ask(requests, remember={"kind": "multiple-inputs"})
    name = answers["user_name"].get("content", {}).get("name", "nobody")
    greeting = samples.text_of(answers["greeting"]["content"])
    return text(f"Name: {name}; Greeting: {greeting}; Roots: {len(answers['client_roots']['roots'])}")


@tool("Asks for a name, and then for a colour")
def test_input_required_result_multi_round(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    first = samples.form("Step 1: What is your name?", {"name": {"type": "string"}})
    second = samples.form("Step 2: What is your favourite color?", {"color": {"type": "string"}})
    name = work.ask({"step1": first}, remember={"round": 1})["step1"].get("content", {}).get("name", "nobody")
    color = work.ask({"step2": second}, remember={"round": 2})["step2"].get("content", {}).get("color", "no color")
    return text(f"Multi-round complete for {name} who likes {color}")


@tool("Asks for whatever the client can answer")
def test_input_required_result_capabilities(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    requests = {}
    if declares(work.capabilities, "elicitation", {"form": {}}):
        requests["elicit_input"] = samples.form("Elicitation input", {"value": {"type": "string"}})
    if declares(work.capabilities, "sampling", {}):
        requests["sample_input"] = samples.sample("Sample request", 50)
    if not requests:
        return text("No supported capabilities declared")
    answers = work.ask(requests, remember={"kind": "capabilities-test"})
    return text(f"capabilities-ok: received {','.join(answers)}")
