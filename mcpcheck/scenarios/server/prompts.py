"""Prompts: their arguments are looked at before they are used, and a failure inside says so."""

from typing import Any

from mcpcheck.peer import Peer
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.errors import needs
from mcpcheck.wire.protocol import INTERNAL_ERROR, INVALID_PARAMS


def arguments(prompt: dict[str, Any]) -> list[dict[str, Any]]:
    """The declared arguments of a prompt."""
    listed = prompt.get("arguments")
    return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []


def prompt_with(peer: Peer, *, required: bool) -> str:
    """The name of a listed prompt that takes an argument, or that requires one."""
    needs(peer, "prompts")
    for prompt in peer.lab.inventory.prompts:
        fits = [entry for entry in arguments(prompt) if entry.get("required") is True or not required]
        if fits and isinstance(prompt.get("name"), str):
            return str(prompt["name"])
    raise Untestable(f"the server lists no prompt with {'a required argument' if required else 'arguments'}")


@scenario(exercises=["prompts.get.validates-arguments"])
async def arguments_of_the_wrong_form(peer: Peer) -> None:
    """Gets a prompt with an array for its arguments, then with a number for one: refused, not taken as they are."""
    name = prompt_with(peer, required=False)
    prompt = next(p for p in peer.lab.inventory.prompts if p.get("name") == name)
    names = [str(entry.get("name")) for entry in arguments(prompt)]
    shapes: list[Any] = [[], dict.fromkeys(names, 5)]
    for bad in shapes:
        with peer.deviating("prompts"):
            reply = await peer.ask("prompts/get", {"name": name, "arguments": bad})
        peer.check(
            "prompts.get.validates-arguments",
            not reply.complete,
            reply,
            f"{name}: an error, since {bad!r} are no arguments: they are an object of strings",
        )


@scenario(exercises=["prompts.error.missing-argument"])
async def required_argument_is_missing(peer: Peer) -> None:
    """Gets a prompt without its required argument: error -32602, or a request for the value."""
    name = prompt_with(peer, required=True)
    reply = await peer.ask("prompts/get", {"name": name})
    right = reply.code == INVALID_PARAMS or reply.needs_input
    peer.check("prompts.error.missing-argument", right, reply, f"{name}: error -32602, since an argument is missing")


@scenario(exercises=["prompts.error.internal"], needs=["prompt.fails"])
async def prompt_fails(peer: Peer) -> None:
    """Gets a prompt that fails inside: error -32603."""
    fixture = peer.lab.fixture("prompt.fails")
    reply = await peer.ask(fixture.method, fixture.params)
    peer.check("prompts.error.internal", reply.code == INTERNAL_ERROR, reply, "error -32603")


AT_MOST = 10
"""How many prompts are got."""


@scenario(
    exercises=[
        "prompts.get.result-shape",
        "prompts.content.embedded-uri",
        "prompts.content.embedded-mime-type",
        "prompts.content.embedded-data",
    ],
    also=["prompt.plain", "prompt.arguments", "prompt.embeds", "prompt.image"],
)
async def listed_prompts_are_got(peer: Peer) -> None:
    """Gets the listed prompts with a value for every argument: the rules judge the messages."""
    needs(peer, "prompts")
    resources = [str(resource.get("uri")) for resource in peer.lab.inventory.resources]
    uri = (resources or ["https://example.com/mcpcheck"])[0]
    for prompt in peer.lab.inventory.prompts[:AT_MOST]:
        name = str(prompt.get("name"))
        names = [str(entry.get("name")) for entry in arguments(prompt)]
        made = {each: uri if "uri" in each.lower() else "mcpcheck" for each in names}
        known = peer.lab.known_arguments("prompt", name)
        given = made | {each: str(known[each]) for each in names if each in known}
        await peer.ask("prompts/get", {"name": name, "arguments": given})
