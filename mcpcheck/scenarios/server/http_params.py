"""Custom headers: what a tool mirrors from its arguments has to agree with the body, as far as there is a value."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcpcheck.arguments import fitting
from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.http_headers import sentinel
from mcpcheck.wire.protocol import HEADER_MISMATCH

TEXT = "us-west1"


@dataclass(frozen=True, slots=True)
class Mirrored:
    """A tool's parameter with an x-mcp-header, and arguments that are valid with a value for it."""

    tool: str
    header: str
    path: tuple[str, ...]
    schema: Mapping[str, Any]
    arguments: Mapping[str, Any]

    @property
    def value(self) -> Any:
        return at(self.arguments, self.path)

    def arguments_with(self, value: Any) -> dict[str, Any]:
        """The arguments with another value for the parameter."""
        return put(self.arguments, self.path, value)

    def arguments_without(self) -> dict[str, Any]:
        """The arguments without the parameter."""
        return put(self.arguments, self.path, ABSENT)


ABSENT = object()


def at(value: Any, path: tuple[str, ...]) -> Any:
    """What stands at a path of member names; None where nothing does."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def put(arguments: Mapping[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Arguments with a value at a path, or with nothing there."""
    name, *rest = path
    changed = dict(arguments)
    if rest:
        inner = arguments.get(name)
        changed[name] = put(inner if isinstance(inner, Mapping) else {}, tuple(rest), value)
    elif value is ABSENT:
        changed.pop(name, None)
    else:
        changed[name] = value
    return changed


def annotated(schema: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...], Mapping[str, Any]]]:
    """The parameters that are mirrored: header name, path, schema. Only ``properties`` leads to one."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    for name, inner in (properties if isinstance(properties, Mapping) else {}).items():
        if isinstance(inner, Mapping):
            label = inner.get("x-mcp-header")
            if isinstance(label, str) and label:
                yield f"Mcp-Param-{label}", (*path, name), inner
            yield from annotated(inner, (*path, name))


def mirrored(peer: Peer, kind: str) -> list[Mirrored]:
    """The mirrored parameters of a JSON Schema type, of the tools that may be called."""
    found = []
    for tool in peer.lab.prompt_tools():
        base = peer.lab.arguments_for(tool)
        for header, path, schema in annotated(tool.get("inputSchema")) if base is not None else ():
            if schema.get("type") != kind:
                continue
            value = at(base, path)
            if value is None:
                made = fitting({"type": "object", "properties": {"value": schema}, "required": ["value"]})
                value = made["value"] if made else None
            if kind == "string" and not {"enum", "const", "pattern", "format"} & set(schema):
                value = TEXT
            if value is not None:
                found.append(Mirrored(str(tool.get("name")), header, path, schema, put(base or {}, path, value)))
    return found


def first(peer: Peer, kind: str) -> Mirrored:
    """One of them; Untestable where there is none."""
    found = mirrored(peer, kind)
    if not found:
        raise Untestable(
            f"no tool that may be called mirrors a parameter of type {kind} into a header (x-mcp-header); "
            "--tools names or all allows more (mcpcheck explain fixture.tool.mirrors)"
        )
    return found[0]


async def call(peer: Peer, one: Mirrored, arguments: Mapping[str, Any], **how: Any) -> Reply:
    """Call the tool of a mirrored parameter; ``how`` are headers and the like."""
    return await peer.ask("tools/call", {"name": one.tool, "arguments": dict(arguments)}, **how)


async def works(peer: Peer, one: Mirrored) -> None:
    """The control: with all headers right the tool is served, so that a refusal speaks of the headers."""
    reply = await call(peer, one, one.arguments)
    if reply.result is None:
        raise Untestable(f"{one.tool} is refused with matching headers, too: {reply.told()}")


def judge_refused(peer: Peer, id: str, reply: Reply, why: str) -> None:
    """A call whose header and argument disagree is refused with 400 and -32020, and the tool does not run."""
    if not peer.check(id, reply.result is None, reply, f"the call is refused, since {why}"):
        return
    right = reply.status == 400 and reply.code == HEADER_MISMATCH
    peer.check("http.param.mismatch-error", right, reply, "HTTP status 400 and error -32020")


@scenario(
    exercises=["http.param.match-validated", "http.param.mismatch-error"], transports=["http"], also=["tool.mirrors"]
)
async def header_differs_from_argument(peer: Peer) -> None:
    """Calls a tool with one value in the argument and another in the header that mirrors it."""
    kinds = {"string": "eu-east9", "integer": "424242", "boolean": None}
    tried = [(kind, other, mirrored(peer, kind)) for kind, other in kinds.items()]
    if not any(found for _, _, found in tried):
        first(peer, "string")
    for _, other, found in tried:
        for one in found[:2]:
            await works(peer, one)
            sent = other or ("false" if one.value is True else "true")
            with peer.deviating("http.param"):
                reply = await call(peer, one, one.arguments, headers={one.header: sent})
            judge_refused(peer, "http.param.match-validated", reply, f"{one.header} differs from the argument")


@scenario(
    exercises=["http.param.missing-rejected", "http.param.mismatch-error"], transports=["http"], also=["tool.mirrors"]
)
async def header_is_missing(peer: Peer) -> None:
    """Calls a tool with a value for a mirrored parameter, and leaves its header out."""
    one = first(peer, "string")
    await works(peer, one)
    with peer.deviating("http.param"):
        reply = await call(peer, one, one.arguments, headers={one.header: None})
    judge_refused(peer, "http.param.missing-rejected", reply, f"{one.header} is missing")


@scenario(
    exercises=["http.param.null-not-expected", "http.param.absent-not-expected"],
    transports=["http"],
    also=["tool.mirrors"],
)
async def no_value_needs_no_header(peer: Peer) -> None:
    """Calls a tool with null for a mirrored parameter, then without it, and without the header each time."""
    one = first(peer, "string")
    await works(peer, one)
    for id, arguments in (
        ("http.param.null-not-expected", one.arguments_with(None)),
        ("http.param.absent-not-expected", one.arguments_without()),
    ):
        with peer.deviating("tools"):
            reply = await call(peer, one, arguments)
        peer.check(id, reply.code != HEADER_MISMATCH, reply, "no header is expected where there is no value")


@scenario(exercises=["http.headers.server-decodes-param"], transports=["http"], also=["tool.mirrors"])
async def argument_in_base64(peer: Peer) -> None:
    """Mirrors an argument in the Base64 form although plain ASCII would do, then what looks like Base64 as it is."""
    one = first(peer, "string")
    await works(peer, one)
    id, expected = "http.headers.server-decodes-param", "no header mismatch: the decoded value equals the argument"
    reply = await call(peer, one, one.arguments, headers={one.header: sentinel(str(one.value))})
    peer.check(id, reply.code != HEADER_MISMATCH, reply, expected)
    if one.value == TEXT:
        reply = await call(peer, one, one.arguments_with("SGVsbG8="))
        peer.check(id, reply.code != HEADER_MISMATCH, reply, "no header mismatch: without markers it is a literal")


@scenario(exercises=["http.param.invalid-chars-rejected"], transports=["http"], also=["tool.mirrors"])
async def argument_with_invalid_characters(peer: Peer) -> None:
    """Mirrors an argument with a control character in the header; an HTTP parser may refuse it, too."""
    one = first(peer, "string")
    await works(peer, one)
    id, expected = "http.param.invalid-chars-rejected", "the call is refused, since a header has an invalid character"
    odd = f"{one.value}\x01"
    arguments = one.arguments_with(odd) if one.value == TEXT else one.arguments
    with peer.deviating("http", "tools"):
        reply = await peer.try_ask(
            "tools/call", {"name": one.tool, "arguments": dict(arguments)}, headers={one.header: odd}
        )
    if reply.answer is None and reply.status is None and not reply.ended:
        raise Untestable(f"neither an answer nor a closed connection: {reply.told()}")
    peer.check(id, reply.result is None, reply, expected)


@scenario(exercises=["http.headers.integer-numeric-compare"], transports=["http"], also=["tool.mirrors"])
async def integer_spelled_otherwise(peer: Peer) -> None:
    """Mirrors an integer as a number with a fraction of zero: 42.0 and 42 are equal."""
    one = first(peer, "integer")
    await works(peer, one)
    with peer.deviating("http.param"):
        reply = await call(peer, one, one.arguments, headers={one.header: f"{one.value}.0"})
    id, expected = "http.headers.integer-numeric-compare", "integers are compared as numbers, not as spelled"
    peer.check(id, reply.code != HEADER_MISMATCH, reply, expected)
