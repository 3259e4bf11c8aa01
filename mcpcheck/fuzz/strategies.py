"""What is generated: sessions of a few stimuli, each a valid message, most of them bent in one thing.

A stimulus is drawn as plain data and becomes a message when it is played, so that it can be played again: ids are
chosen then, as no two open requests may have the same one.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hypothesis import strategies as st

from mcpcheck.fuzz.registry import Deviation, Draft, Owes, deviations
from mcpcheck.lab import Lab
from mcpcheck.peer import ALL_CAPABILITIES, Peer
from mcpcheck.session import ids

LONGEST = 4
"""How many stimuli a session has at most."""

MOST = 8
"""How many tools, resources and prompts of a server are used."""

ID_KINDS = ("integer", "string", "text", "zero", "empty", "negative", "largest", "unicode", "long")
CAPABILITIES: tuple[dict[str, Any], ...] = ({}, ALL_CAPABILITIES, {"elicitation": {}}, {"experimental": {"x": {}}})


@dataclass(frozen=True, slots=True, repr=False)
class Template:
    """A valid message without its id. ``quick``: a server that answers at all answers it at once."""

    method: str
    params: dict[str, Any] = field(default_factory=dict)
    kind: str = "request"
    quick: bool = True
    breaks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.method} {self.params.get('name', self.params.get('uri', ''))}".strip()


@dataclass(frozen=True)
class Stimulus:
    """One message to send: a template, how its id looks, what the client can do, and what is bent about it."""

    template: Template
    id_kind: str = "integer"
    capabilities: int = 0
    deviation: Deviation | None = None
    value: Any = None

    @cached_property
    def key(self) -> str:
        """The same for the same stimulus."""
        bent = f" {self.deviation.name} {self.value!r}" if self.deviation else ""
        return f"{self.template.name} {self.id_kind} {self.capabilities}{bent}"

    @property
    def name(self) -> str:
        """What it is called in a report: its deviation, else its method."""
        return self.deviation.name if self.deviation else f"valid {self.template.method}"

    @property
    def owes(self) -> Owes:
        """What the server owes to it."""
        if self.deviation:
            return self.deviation.owes
        return Owes.ANSWER if self.template.kind == "request" else Owes.NOTHING

    @property
    def sound(self) -> bool:
        return self.deviation is None or self.deviation.sound

    @property
    def breaks(self) -> tuple[str, ...]:
        """What it breaks on our side, on purpose."""
        return self.template.breaks + (self.deviation.breaks if self.deviation else ())

    def valid(self, peer: Peer) -> dict[str, Any]:
        """The valid message that it starts from."""
        template, capabilities = self.template, deepcopy(CAPABILITIES[self.capabilities])
        message = peer.request(
            template.method, deepcopy(template.params), id=self.new_id(peer), capabilities=capabilities
        )
        if template.kind == "notification":
            del message["id"]
        return message

    def draft(self, message: dict[str, Any]) -> Draft:
        """What is sent in place of the valid message."""
        draft = Draft(deepcopy(message))
        if self.deviation:
            self.deviation.bend(draft, deepcopy(self.value))
        return draft

    def new_id(self, peer: Peer) -> Any:
        """An id of the kind that was drawn, which no open request has."""
        n = peer.new_id()
        taken = {ids.key(call.request.id) for call in peer.engine.session.open_calls()}
        made: dict[str, Any] = {
            "string": str(n),
            "text": f"mcpcheck-{n}",
            "zero": 0,
            "empty": "",
            "negative": -n,
            "largest": 2**53 - 1 - n,
            "unicode": f"Grüße-世界-\U0001f600-{n}",
            "long": "x" * 300 + str(n),
        }
        wanted = made.get(self.id_kind, n) if self.sound else n  # an answer that comes too late must be told apart
        return n if ids.key(wanted) in taken else wanted


Play = tuple[Stimulus, ...]
"""One session: what is sent in it, in order."""


def key(play: Play) -> str:
    """The same for the same session."""
    return json.dumps([stimulus.key for stimulus in play])


def templates(lab: Lab) -> Iterator[Template]:
    """The valid messages that this server is sent, the simplest first; only tools that may be called are."""
    yield Template("server/discover")
    for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        yield Template(method)
    yield Template("mcpcheck/no-such-method")
    yield Template("tools/call", {"name": "mcpcheck-no-such-tool", "arguments": {}})
    yield Template("resources/read", {"uri": "x-mcpcheck-none://no/such/resource"})
    yield Template("prompts/get", {"name": "mcpcheck-no-such-prompt"})
    for tool in lab.allowed_tools()[:MOST]:
        arguments = lab.arguments_for(tool)
        if arguments is not None:
            yield Template("tools/call", {"name": tool.get("name"), "arguments": arguments}, quick=False)
    for resource in lab.inventory.resources[:MOST]:
        yield Template("resources/read", {"uri": resource.get("uri")}, quick=False)
    for prompt in lab.inventory.prompts[:MOST]:
        if not any(isinstance(a, dict) and a.get("required") for a in prompt.get("arguments") or []):
            yield Template("prompts/get", {"name": prompt.get("name")}, quick=False)
    yield Template("notifications/mcpcheck-unknown", kind="notification")
    cancelled = ("cancel.client.own-request", "cancel.client.in-progress")
    params = {"requestId": "mcpcheck-no-such-request"}
    yield Template("notifications/cancelled", params, kind="notification", breaks=cancelled)


@dataclass(frozen=True, slots=True, repr=False)
class Choice:
    """A deviation with the messages of a server that it can bend; None for the messages as they are."""

    deviation: Deviation | None
    templates: tuple[Template, ...]

    def by_method(self) -> list[tuple[Template, ...]]:
        """The templates, those of one method together: a server may have many tools."""
        methods = dict.fromkeys(template.method for template in self.templates)
        return [tuple(one for one in self.templates if one.method == method) for method in methods]


def choices(lab: Lab) -> list[Choice]:
    """Everything that this server can be sent; the first is what is valid."""
    found = tuple(templates(lab))
    able = ((bent, tuple(t for t in found if bent.fits(t.method, t.kind))) for bent in deviations(lab.target.kind))
    return [Choice(None, found), *(Choice(bent, fitting) for bent, fitting in able if fitting)]


def sessions(lead: Choice, among: list[Choice]) -> st.SearchStrategy[Play]:
    """Sessions around one stimulus of a certain kind, which shrink to that one alone."""
    others = st.one_of(_stimuli(st.just(among[0])), _stimuli(st.sampled_from(among)), _stimuli(st.sampled_from(among)))
    before = st.lists(others, max_size=(LONGEST - 1) // 2)
    after = st.lists(others, max_size=LONGEST - 1 - (LONGEST - 1) // 2)
    return st.tuples(before, _stimuli(st.just(lead)), after).map(lambda parts: (*parts[0], parts[1], *parts[2]))


@st.composite
def _stimuli(draw: st.DrawFn, among: st.SearchStrategy[Choice]) -> Stimulus:
    choice = draw(among)
    bent = choice.deviation
    template = draw(st.sampled_from(draw(st.sampled_from(choice.by_method()))))
    return Stimulus(
        template=template,
        id_kind=draw(st.sampled_from(ID_KINDS)) if template.kind == "request" else ID_KINDS[0],
        capabilities=draw(st.sampled_from(range(len(CAPABILITIES)))),
        deviation=bent,
        value=draw(bent.values) if bent else None,
    )
