"""completion/complete."""

from mcpcheck.reference.call import Call, InternalError, InvalidParams, Json
from mcpcheck.reference.prompts import Prompts
from mcpcheck.reference.resources import Resources

CANDIDATES = [f"value-{number:03}" for number in range(150)]
"""What every argument can be completed to."""
LIMIT = 100
"""How many values an answer holds at most."""


class Completion(Prompts, Resources):
    """Completes the arguments of prompts and templates."""

    def complete(self, call: Call) -> dict[str, Json]:
        """The values that begin with what was typed."""
        reference, argument = call.params.get("ref"), call.params.get("argument")
        if not isinstance(reference, dict) or not isinstance(argument, dict):
            raise InvalidParams("ref or argument is not an object")
        if not isinstance(argument.get("name"), str) or not isinstance(argument.get("value"), str):
            raise InvalidParams("argument needs the strings name and value")
        self.check_context(call)
        self.check_reference(call, reference, argument["name"])
        if reference.get("name") == "test_failing_completion":
            self.completion_failed(call)
        return {"completion": self.completion(call, self.candidates(call, argument["value"]))}

    def check_context(self, call: Call) -> None:
        """Refuse a context whose arguments are not strings."""
        context = call.params.get("context", {})
        arguments = context.get("arguments", {}) if isinstance(context, dict) else None
        if not isinstance(arguments, dict) or not all(isinstance(value, str) for value in arguments.values()):
            raise InvalidParams("context.arguments is not an object of strings")

    def check_reference(self, call: Call, reference: dict[str, Json], argument: str) -> None:
        """Refuse a reference to what does not exist."""
        match reference:
            case {"type": "ref/prompt", "name": str(name)}:
                prompt = self.prompts().get(name)
                if prompt is None:
                    self.unknown_prompt(call, name)
                elif argument not in [known["name"] for known in prompt.definition.get("arguments", [])]:
                    raise InvalidParams(f"The prompt has no argument {argument[:100]}")
            case {"type": "ref/resource", "uri": str(uri)}:
                if uri not in [template["uriTemplate"] for template in self.resource_templates()]:
                    raise InvalidParams(f"Unknown resource template: {uri[:100]}")
            case _:
                raise InvalidParams("ref is neither a ref/prompt with a name nor a ref/resource with a uri")

    def completion_failed(self, call: Call) -> None:
        """What is done about a source of values that is not available: the request is refused."""
        raise InternalError("The source of the values is not available")

    def candidates(self, call: Call, value: str) -> list[str]:
        """Everything that what was typed can be completed to."""
        return [candidate for candidate in CANDIDATES if candidate.startswith(value)]

    def completion(self, call: Call, values: list[str]) -> dict[str, Json]:
        """The first values, and whether there are more."""
        return {"values": values[:LIMIT], "total": len(values), "hasMore": len(values) > LIMIT}
