"""prompts/list and prompts/get."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mcpcheck.reference import samples
from mcpcheck.reference.call import Call, InternalError, InvalidParams, Json
from mcpcheck.reference.inputs import Inputs, Work
from mcpcheck.reference.paging import Paging
from mcpcheck.reference.resources import valid_uri


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt: its definition, and the messages that it makes of its arguments."""

    definition: Mapping[str, Json]
    messages: Callable[[Work, dict[str, str]], list[Json]]


class Prompts(Inputs, Paging):
    """The prompts of the server."""

    def prompts(self) -> Mapping[str, Prompt]:
        """Every prompt by name, in the order in which they are listed."""
        return PROMPTS

    def list_prompts(self, call: Call) -> dict[str, Json]:
        """One page of the prompts."""
        return self.page(call, "prompts", [self.prompt_definition(call, p) for p in self.prompts().values()])

    def prompt_definition(self, call: Call, prompt: Prompt) -> dict[str, Json]:
        """One prompt's definition, as the request's revision knows it."""
        if call.revision >= "2025-06-18":
            return dict(prompt.definition)
        return {name: value for name, value in prompt.definition.items() if name != "title"}

    def get_prompt(self, call: Call, work: Work) -> dict[str, Json]:
        """The messages of a prompt."""
        name = call.params.get("name")
        if not isinstance(name, str):
            raise InvalidParams("name is not a string")
        arguments = call.params.get("arguments", {})
        prompt = self.prompts().get(name)
        if prompt is None:
            return self.unknown_prompt(call, name)
        self.check_prompt_arguments(call, prompt, arguments)
        messages = [self.prompt_message(call, message) for message in prompt.messages(work, arguments)]
        return {"description": prompt.definition["description"], "messages": messages}

    def unknown_prompt(self, call: Call, name: str) -> dict[str, Json]:
        """The answer to a prompt that does not exist."""
        raise InvalidParams(f"Unknown prompt: {name[:100]}")

    def check_prompt_arguments(self, call: Call, prompt: Prompt, arguments: Json) -> None:
        """Refuse arguments that are not strings, and the lack of a required one."""
        if not isinstance(arguments, dict) or not all(isinstance(value, str) for value in arguments.values()):
            raise InvalidParams("arguments is not an object of strings")
        for argument in prompt.definition.get("arguments", []):
            if argument.get("required") and argument["name"] not in arguments:
                self.missing_prompt_argument(call, argument["name"])

    def missing_prompt_argument(self, call: Call, name: str) -> None:
        """What is done about a required argument that is not there: the request is refused."""
        raise InvalidParams(f"Missing required argument: {name}")

    def prompt_message(self, call: Call, message: dict[str, Json]) -> dict[str, Json]:
        """One message, as the request's revision knows it."""
        return message


def said(text: str, role: str = "user") -> dict[str, Json]:
    """A message of text."""
    return {"role": role, "content": {"type": "text", "text": text}}


def _simple(work: Work, arguments: dict[str, str]) -> list[Json]:
    return [said("Say something.")]


def _with_arguments(work: Work, arguments: dict[str, str]) -> list[Json]:
    return [said(f"First: {arguments['arg1']}. Second: {arguments['arg2']}.")]


def _with_resource(work: Work, arguments: dict[str, str]) -> list[Json]:
    uri = arguments["resourceUri"]
    if not valid_uri(uri):
        raise InvalidParams("resourceUri is not a URI")
    resource = {"uri": uri, "mimeType": "text/plain", "text": "A text that stands inside the prompt."}
    embedded = {"role": "user", "content": {"type": "resource", "resource": resource}}
    return [embedded, said("What does the text say?")]


def _with_image(work: Work, arguments: dict[str, str]) -> list[Json]:
    image = {"role": "user", "content": {"type": "image", "data": samples.IMAGE, "mimeType": "image/png"}}
    return [image, said("What does the image show?"), said("It shows one pixel.", "assistant")]


def _with_input(work: Work, arguments: dict[str, str]) -> list[Json]:
    question = samples.form("What context should the prompt use?", {"context": {"type": "string"}})
    answer = work.ask({"user_context": question})["user_context"]
    return [said(f"In this context: {answer.get('content', {}).get('context', 'none')}")]


def _failing(work: Work, arguments: dict[str, str]) -> list[Json]:
    raise InternalError("The source of this prompt is not available")


def _plain(text: str) -> Callable[[Work, dict[str, str]], list[Json]]:
    return lambda work, arguments: [said(text)]


def _entry(
    name: str, description: str, run: Callable[[Work, dict[str, str]], list[Json]], *arguments: dict[str, Json]
) -> tuple[str, Prompt]:
    title = name.removeprefix("test_").replace("_", " ").capitalize()
    definition: dict[str, Json] = {"name": name, "title": title, "description": description}
    if arguments:
        definition["arguments"] = list(arguments)
    return name, Prompt(definition, run)


def _argument(name: str, description: str, *, required: bool = True) -> dict[str, Json]:
    return {"name": name, "description": description, "required": required}


PROMPTS: dict[str, Prompt] = dict(
    [
        _entry("test_simple_prompt", "A prompt without arguments", _simple),
        _entry(
            "test_prompt_with_arguments",
            "A prompt with two required arguments",
            _with_arguments,
            _argument("arg1", "First test argument"),
            _argument("arg2", "Second test argument"),
        ),
        _entry(
            "test_prompt_with_embedded_resource",
            "A prompt that embeds a resource",
            _with_resource,
            _argument("resourceUri", "URI of the resource to embed"),
        ),
        _entry("test_prompt_with_image", "A prompt with an image", _with_image),
        _entry("test_input_required_result_prompt", "A prompt that asks the user for its context", _with_input),
        _entry("test_failing_prompt", "A prompt whose source is not available", _failing),
        _entry(
            "test_failing_completion",
            "A prompt whose argument cannot be completed",
            _plain("Say something."),
            _argument("source", "Where to look", required=False),
        ),
        _entry("summarize", "Summarize a text", _plain("Please summarize the text.")),
        _entry("translate", "Translate a text", _plain("Please translate the text.")),
    ]
)
