"""Tools that ask the client for something, once or in several rounds."""

import json

from mcpcheck.reference import samples
from mcpcheck.reference.call import Json, NeedInput
from mcpcheck.reference.inputs import Work, declares
from mcpcheck.reference.shelf import Shelf
from mcpcheck.reference.tools import text

ASKING = Shelf()
ROUNDS = 3
"""After how many rounds a loop of tool uses in sampling ends."""

# Input by form and by URL


def _told(answer: Json) -> str:
    return f"action={answer['action']}, content={json.dumps(answer.get('content', {}))}"


@ASKING.tool({"type": "object", "properties": {"message": {"type": "string"}}, "additionalProperties": False})
def test_elicitation(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Asks the user for something, with a message of your choice."""
    field = {"response": {"type": "string", "description": "User's response"}}
    question = samples.form(arguments.get("message", "Please answer"), field)
    return text(f"The user said: {_told(work.ask({'response': question})['response'])}")


@ASKING.tool()
def test_elicitation_sep1034_defaults(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Shows a form with a default for every type."""
    return text(f"The form came back: {_told(work.ask({'form': samples.DEFAULTS})['form'])}")


@ASKING.tool()
def test_elicitation_sep1330_enums(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Shows a form with every kind of choice."""
    return text(f"The form came back: {_told(work.ask({'form': samples.CHOICES})['form'])}")


@ASKING.tool()
def test_elicitation_url(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Asks the user to visit a page."""
    page = samples.visit("Please sign in to the example service", "https://example.com/connect?flow=demo")
    return text(f"The user chose to {work.ask({'visit': page})['visit']['action']}")


@ASKING.tool()
def test_input_required_result_elicitation(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Asks for a name and greets."""
    answer = work.ask({"user_name": samples.NAME})["user_name"]
    if answer["action"] != "accept":
        return text(f"No name was given ({answer['action']})")
    return text(f"Hello, {answer['content']['name']}!")


# Input from the model and about roots


@ASKING.tool({"type": "object", "properties": {"prompt": {"type": "string"}}, "additionalProperties": False})
def test_sampling(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Has the client's model answer a prompt."""
    answer = work.ask({"sample": samples.sample(arguments.get("prompt", "Say hello"))})["sample"]
    return text(f"The model said: {samples.text_of(answer['content'])}")


@ASKING.tool()
def test_input_required_result_sampling(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Asks the client's model for a capital."""
    answer = work.ask({"capital_question": samples.sample("What is the capital of France?")})["capital_question"]
    return text(f"The model answered: {samples.text_of(answer['content'])}")


@ASKING.tool()
def test_missing_capability(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Cannot do without sampling."""
    work.server.require(work.call, {"sample": samples.sample("Anything")})
    return text("Success")


@ASKING.tool()
def test_sampling_tool_loop(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Has the client's model use a tool, for a few rounds at most."""
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


@ASKING.tool()
def test_input_required_result_list_roots(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Counts the client's roots."""
    roots = work.ask({"client_roots": samples.ROOTS})["client_roots"]["roots"]
    return text(f"{len(roots)} roots")


# State and several rounds


@ASKING.tool()
def test_input_required_result_request_state(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Asks for consent and keeps state."""
    work.ask({"confirm": samples.CONFIRM}, remember={"kind": "request-state"})
    return text("state-ok: the state came back as it was")


@ASKING.tool()
def test_input_required_result_tampered_state(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Asks for consent and keeps state that must not be altered."""
    work.ask({"confirm": samples.CONFIRM}, remember={"kind": "tamper-test"})
    return text("integrity-ok: the state was not altered")


@ASKING.tool()
def test_input_required_result_state_only(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Asks the client to come again, for nothing but its state."""
    if work.call.modern and "later" not in work.state:
        raise NeedInput(None, {"later": True})
    return text("Done at the second try")


@ASKING.tool()
def test_input_required_result_multiple_inputs(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Asks for a name, a greeting and the roots at once."""
    requests = {
        "user_name": samples.NAME,
        "greeting": samples.sample("Generate a greeting", 50),
        "client_roots": samples.ROOTS,
    }
    answers = work.ask(requests, remember={"kind": "multiple-inputs"})
    name = answers["user_name"].get("content", {}).get("name", "nobody")
    greeting = samples.text_of(answers["greeting"]["content"])
    return text(f"Name: {name}; Greeting: {greeting}; Roots: {len(answers['client_roots']['roots'])}")


@ASKING.tool()
def test_input_required_result_multi_round(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Asks for a name, and then for a colour."""
    first = samples.form("Step 1: What is your name?", {"name": {"type": "string"}})
    second = samples.form("Step 2: What is your favourite color?", {"color": {"type": "string"}})
    name = work.ask({"step1": first}, remember={"round": 1})["step1"].get("content", {}).get("name", "nobody")
    color = work.ask({"step2": second}, remember={"round": 2})["step2"].get("content", {}).get("color", "no color")
    return text(f"Two rounds: {name} likes {color}")


@ASKING.tool()
def test_input_required_result_capabilities(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Asks for whatever the client can answer."""
    requests = {}
    if declares(work.capabilities, "elicitation", {"form": {}}):
        requests["elicit_input"] = samples.form("Elicitation input", {"value": {"type": "string"}})
    if declares(work.capabilities, "sampling", {}):
        requests["sample_input"] = samples.sample("Sample request", 50)
    if not requests:
        return text("There is nothing that this client can be asked for")
    answers = work.ask(requests, remember={"kind": "capabilities-test"})
    return text(f"capabilities-ok: {','.join(answers)}")
