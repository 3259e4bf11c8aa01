"""Lab: opens connections to the server under test, and knows what it offers."""

import shlex
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio

from mcpcheck.arguments import fitting
from mcpcheck.engine import Engine
from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.roles import Fixture, ToolPolicy, known_arguments, missing, roles
from mcpcheck.scenarios.registry import Scenario, Untestable
from mcpcheck.transports.base import Limits, Log, Transport
from mcpcheck.wire.protocol import MODERN, is_modern

Open = Callable[[Log, Limits], Transport]


@dataclass(frozen=True, slots=True)
class Target:
    """What is tested: how a connection to it is opened, and how a user names it on the command line."""

    kind: str
    name: str
    open: Open
    words: str
    endpoint: str | None = None


def command(words: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None) -> Target:
    """A server that is started as a process and spoken to on its standard streams."""
    from mcpcheck.transports.stdio import StdioTransport

    line = shlex.join(words)

    def opened(log: Log, limits: Limits) -> Transport:
        return StdioTransport(words, log, limits, env=env, cwd=cwd)

    return Target("stdio", line, opened, f"-- {line}")


def url(address: str, *, tls: ssl.SSLContext | None = None) -> Target:
    """A server behind a Streamable HTTP address."""
    from mcpcheck.transports.http import Address, HttpTransport

    endpoint = Address.of(address).path.partition("?")[0]

    def opened(log: Log, limits: Limits) -> Transport:
        return HttpTransport(address, log, limits, tls=tls)

    return Target("http", address, opened, shlex.quote(address), endpoint)


@dataclass(slots=True)
class Inventory:
    """What the survey found: versions, capabilities, and what the server lists. Every list as it came, all pages."""

    discovered: bool = False  # server/discover was answered with a result
    versions: tuple[str, ...] = ()
    capabilities: dict[str, Any] = field(default_factory=dict)
    tools: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[dict[str, Any]] = field(default_factory=list)
    resources: list[dict[str, Any]] = field(default_factory=list)
    templates: list[dict[str, Any]] = field(default_factory=list)
    roles: dict[str, Fixture] = field(default_factory=dict)
    slow: set[str] = field(default_factory=set)  # the names of what left the survey waiting
    drops: bool = False  # what is no valid message is left without an answer
    legacy: str | None = None  # the revision that initialize gave on a connection of its own, if it did
    legacy_told: str = ""  # what initialize was answered with, in a phrase

    @property
    def legacy_versions(self) -> list[str]:
        return [version for version in self.versions if not is_modern(version)]


@dataclass(slots=True)
class Lab:
    """One server under test."""

    target: Target
    limits: Limits = field(default_factory=Limits)
    policy: ToolPolicy = field(default_factory=ToolPolicy)
    headers: tuple[tuple[str, str], ...] = ()
    other_headers: tuple[tuple[str, str], ...] = ()  # those of a second user
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fixtures: Mapping[str, Fixture] = field(default_factory=dict)  # the user's own, by role
    revision: str = MODERN
    inventory: Inventory = field(default_factory=Inventory)
    opening: tuple[Peer, Reply] | None = None  # the first request of the survey's connection, server/discover
    finished: list[Peer] = field(default_factory=list)
    insists: bool = False  # what is put off because of the load is sent again
    exhausted: bool = False  # that was of no use: the server wants to be left alone
    hung: bool = False  # an answer that cannot take long did not come, however long that was
    counting: anyio.Lock = field(default_factory=anyio.Lock)  # held by who has the server count, as it has one count

    @asynccontextmanager
    async def connect(self, name: str, scenario: str = "", *, as_other: bool = False) -> AsyncIterator[Peer]:
        """Open a connection; at its end the rules have their last word, and the peer is kept in ``finished``.

        ``as_other``: with the headers of the second user in place of the first one's; Untestable where there is none.
        """
        if as_other and not self.other_headers:
            raise Untestable(
                "it takes a second user; name the headers of one, as in --other-header 'Authorization: Bearer ...'"
            )
        log = Log()
        transport = self.target.open(log, self.limits)
        engine = Engine(transport.kind, endpoint=transport.endpoint, default=self.revision, counting=True)
        peer = Peer(transport, engine, name=name, answer_within=self.limits.answer)
        peer.lab = self
        peer.scenario = scenario
        peer.voice.headers = (*self.headers, *self.other_headers) if as_other else self.headers
        peer.tool_schemas = {str(tool.get("name")): tool.get("inputSchema") for tool in self.inventory.tools}
        try:
            async with transport:
                yield peer
        finally:
            peer.finish()
            self.finished.append(peer)

    # what the server offers

    def declares(self, capability: str) -> bool:
        """Whether server/discover named a capability."""
        return capability in self.inventory.capabilities

    def allowed_tools(self) -> list[dict[str, Any]]:
        return [tool for tool in self.inventory.tools if self.policy.allows(tool)]

    def prompt_tools(self) -> list[dict[str, Any]]:
        """The allowed tools, but for those that left the survey waiting."""
        return [tool for tool in self.allowed_tools() if str(tool.get("name")) not in self.inventory.slow]

    def arguments_for(self, tool: Mapping[str, Any]) -> dict[str, Any] | None:
        """Valid arguments for a tool: the user's, else made from its inputSchema; None where none were found."""
        name = str(tool.get("name"))
        if name in self.arguments:
            return dict(self.arguments[name])
        return fitting(tool.get("inputSchema"))

    def known_arguments(self, kind: str, name: str) -> dict[str, Any]:
        """The arguments for a prompt, or the variables of a template, that are known: the user's, or a fixture's."""
        return dict(self.arguments.get(name) or known_arguments(kind, name))

    def ready(self, scenario: Scenario) -> None:
        """Untestable where a scenario would find nothing to test, which it need not open a connection for."""
        scenario.when(self)
        for role in scenario.needs:
            self.fixture(role)
        if scenario.any_of and not any(self._offers(role) for role in scenario.any_of):
            self.fixture(scenario.any_of[0])

    def _offers(self, role: str) -> bool:
        try:
            self.fixture(role)
        except Untestable:
            return False
        return True

    def fixture(self, role: str) -> Fixture:
        """Where a role is found: as the user says, by a known name, or by what it showed; Untestable if nowhere."""
        found = self._given(role) or self._by_name(role) or self.inventory.roles.get(role)
        if found is None:
            raise missing(role, self.inventory.slow)
        return found

    def _given(self, role: str) -> Fixture | None:
        given = self.fixtures.get(role)
        if given is None:
            return None
        offered, key = self._offered(role)
        if key == "name" and not any(item.get(key) == given.name for item in offered):
            raise Untestable(f"{given.name!r}, which the settings name for the role {role}, is not listed")
        if role.startswith("tool.") and self.policy.mode == "none":
            raise Untestable(self.policy.hint(given.name))
        return given

    def _offered(self, role: str) -> tuple[list[dict[str, Any]], str]:
        """What the server lists of a role's kind, and the member that names one."""
        kind = role.partition(".")[0]
        offered: list[dict[str, Any]] = getattr(self.inventory, f"{kind}s")
        return offered, {"resource": "uri", "template": "uriTemplate"}.get(kind, "name")

    def _by_name(self, role: str) -> Fixture | None:
        kind = role.partition(".")[0]
        offered, key = self._offered(role)
        for item in offered:
            if item.get(key) in roles()[role].names:
                if kind == "tool" and not self.policy.allows(item):
                    raise Untestable(self.policy.hint(str(item[key])))
                return Fixture(role, str(item[key]), self.arguments.get(str(item[key]), roles()[role].arguments))
        return None
