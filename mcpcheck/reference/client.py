"""A good client of every revision, without I/O: it finds out the server's era, lists the tools and calls the first.

Feed it what the server sends and carry out the actions that it returns: ``start`` once, then ``receive`` for each line
on stdio, ``http_head``, ``http_data`` and ``http_end`` for each exchange on HTTP, ``timed_out`` when nothing has come
for as long as it has patience, ``lost`` when the server's process ended. ``done`` says that its story is over and
``outcome`` tells it. Each behaviour is a method of its own, so that a mutant breaks one and nothing else.
"""

from collections.abc import Sequence

from mcpcheck.reference.client_answers import ClientAnswers
from mcpcheck.reference.client_input import Unfulfilled
from mcpcheck.reference.client_values import members
from mcpcheck.reference.client_wire import Action, Failure, Json, Restart, Waiting
from mcpcheck.wire.protocol import (
    HEADER_MISMATCH,
    LEGACY,
    METHOD_NOT_FOUND,
    MISSING_CLIENT_CAPABILITY,
    UNSUPPORTED_VERSION,
)

MODERN_ERRORS = (HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION)
TRIES = 3
"""How often a request is repeated for a better version, and a server's process started."""
ROUNDS = 20
"""How many rounds of input one call may take."""
PAGES = 200
"""How many pages of a list are read."""


class Client(ClientAnswers):
    """The whole story, and every decision in it."""

    def __init__(self, *args: Json, **options: Json) -> None:
        super().__init__(*args, **options)
        self.done = False
        self.failed = False
        self.outcome: list[str] = []
        self.tools: list[dict[str, Json]] = []
        self._starts = 1
        self._refusals = 0
        self._rounds = 0
        self._listings = 0
        self._pages = 0

    # Opening

    def start(self) -> list[Action]:
        """The first message to a server of unknown era: a probe, for a client with a modern version."""
        return self.probe(self.preferred_version()) if self.modern else self.initialize()

    def preferred_version(self) -> str:
        """The version that the first request names."""
        return self.modern[-1]

    def probe(self, version: str) -> list[Action]:
        """Ask the server what it speaks."""
        message = self.request("server/discover", {}, version)
        return self.ask(Waiting(message, self.on_discovered, self.on_probe_failed), version)

    def on_discovered(self, result: dict[str, Json]) -> list[Action]:
        """A discover result means a modern server: go on with a version that it lists."""
        supported = result.get("supportedVersions")
        if not isinstance(supported, list):
            return self.fall_back(Failure(None, "no list of versions in the result"))
        return self.settle(self.choose_version(supported), supported)

    def on_probe_failed(self, failure: Failure) -> list[Action]:
        """A modern error means a modern server; anything else a legacy one, unless the server was not reached."""
        if self.is_modern_error(failure):
            return self.on_modern_error(failure)
        if failure.status in (401, 403) or (failure.status or 0) >= 500:
            return self.give_up(f"the server refused: {failure.message}")
        return self.fall_back(failure)

    def is_modern_error(self, failure: Failure) -> bool:
        """Whether only a server of the stateless era says so; over HTTP an unknown method with 404 is one, too."""
        return failure.code in MODERN_ERRORS or (failure.code == METHOD_NOT_FOUND and failure.status == 404)

    def on_modern_error(self, failure: Failure) -> list[Action]:
        """The server is modern and refused: try a version that it names, or report."""
        if failure.code == UNSUPPORTED_VERSION:
            return self.on_version_refused(self.supported_in(failure))
        if failure.code == METHOD_NOT_FOUND:
            return self.settle(self.preferred_version(), [])
        return self.give_up(f"the server refused with {failure.code}: {failure.message}")

    def supported_in(self, failure: Failure) -> list[Json]:
        """The versions that a refusal names."""
        supported = failure.data.get("supported") if isinstance(failure.data, dict) else None
        return supported if isinstance(supported, list) else []

    def on_version_refused(self, supported: list[Json]) -> list[Action]:
        """The probe again with a version of both sides; the handshake, if that is the only one left."""
        self._refusals += 1
        version = self.choose_version(supported)
        if version in LEGACY or version is None or self._refusals >= TRIES:
            return self.settle(version if version in LEGACY else None, supported)
        return self.probe(version)

    def choose_version(self, supported: Sequence[Json]) -> str | None:
        """The newest version of both sides; a modern one before any that wants a handshake."""
        common = [version for version in (*self.legacy, *self.modern) if version in supported]
        return common[-1] if common else None

    def settle(self, version: str | None, supported: list[Json]) -> list[Action]:
        """Begin to work in the version that was chosen, if there is one."""
        if version is None:
            return self.give_up(f"no version in common: the server has {supported}, this client {self.revisions}")
        if version in LEGACY:
            return self.initialize(version)
        self.version = version
        return self.list_tools()

    # The handshake of the legacy era

    def fall_back(self, failure: Failure) -> list[Action]:
        """Open a legacy session, where one of its versions is spoken."""
        if not self.legacy:
            return self.give_up(f"not a server of {', '.join(self.modern)}: {failure.message}")
        return self.initialize()

    def initialize(self, version: str | None = None) -> list[Action]:
        """The handshake's request."""
        version = version or self.legacy[-1]
        params = {
            "protocolVersion": version,
            "capabilities": self.capabilities_for(version),
            "clientInfo": self.client_info(),
        }
        message = self.request("initialize", params, version)
        return self.ask(Waiting(message, self.on_initialized, self.on_not_initialized), version)

    def on_initialized(self, result: dict[str, Json]) -> list[Action]:
        """The server has named the version of the session: go on if it is spoken here, else leave."""
        version = result.get("protocolVersion")
        if version not in self.legacy:
            return self.give_up(f"the server wants version {version}, this client has {self.revisions}")
        self.version = version
        return self.confirm(version) + self.list_tools()

    def confirm(self, version: str) -> list[Action]:
        """The notification that ends the handshake."""
        return self.tell("notifications/initialized", version)

    def on_not_initialized(self, failure: Failure) -> list[Action]:
        """The handshake was refused: there is nothing left to try."""
        return self.give_up(f"initialize was refused: {failure.message}")

    # Work

    def speaking(self) -> str:
        """The version of the next request."""
        return self.version or self.preferred_version()

    def call(self, method: str, params: dict[str, Json], waiting: Waiting | None = None) -> list[Action]:
        """Send a request of the session; ``waiting`` says what comes of it, where it is not merely reported."""
        version = self.speaking()
        message = self.request(method, params, version)
        if waiting is None:
            waiting = Waiting(message, lambda result: self.finish(), self.on_failed)
        waiting.message = message
        return self.ask(waiting, version)

    def list_tools(self, cursor: str | None = None) -> list[Action]:
        """Ask for the tools, or for a further page of them."""
        if cursor is None:
            self.tools.clear()
            self._pages = 0
        self._pages += 1
        params = {} if cursor is None else {"cursor": cursor}
        return self.call("tools/list", params, Waiting({}, self.on_tools, self.on_failed))

    def on_tools(self, result: dict[str, Json]) -> list[Action]:
        """A page of tools: go on to the next, or call the first one."""
        if self.result_type(result) != "complete":
            return self.give_up(f"tools/list was answered with {result.get('resultType')!r}")
        tools = result.get("tools")
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(tool.get("name"), str) and self.learn_tool(tool):
                self.tools.append(tool)
        cursor = result.get("nextCursor")
        if cursor is not None and self._pages < PAGES:
            return self.list_tools(cursor)
        self.outcome.append(f"listed {len(self.tools)} tools")
        return self.call_tool(self.tools[0]) if self.tools else self.finish()

    def result_type(self, result: dict[str, Json]) -> Json:
        """The kind of a result; one that does not say is complete."""
        return "complete" if self.in_legacy else result.get("resultType", "complete")

    def call_tool(self, tool: dict[str, Json]) -> list[Action]:
        """Call a tool with arguments that fit its schema."""
        return self.attempt({"name": tool["name"], "arguments": self.arguments(tool)})

    def arguments(self, tool: dict[str, Json]) -> dict[str, Json]:
        """Arguments that fit a tool's schema."""
        return members(tool.get("inputSchema"))

    def attempt(self, params: dict[str, Json]) -> list[Action]:
        """One round of a call."""
        waiting = Waiting(
            {}, lambda result: self.on_called(params, result), lambda failure: self.on_call_failed(failure)
        )
        return self.call("tools/call", params, waiting)

    def on_called(self, params: dict[str, Json], result: dict[str, Json]) -> list[Action]:
        """The result of a call: done, or to be tried again with what the server wants to know."""
        kind = self.result_type(result)
        if kind == "input_required":
            return self.on_input_required(params, result)
        if kind != "complete":
            return self.give_up(f"{params['name']} was answered with {kind!r}")
        self.outcome.append(f"called {params['name']}: {text_of(result)}")
        return self.finish()

    def on_input_required(self, params: dict[str, Json], result: dict[str, Json]) -> list[Action]:
        """Gather what the server wants and repeat the call with it."""
        self._rounds += 1
        if self._rounds > ROUNDS:
            return self.give_up("the server asks without end")
        try:
            return self.attempt(self.retry_params(params, result))
        except Unfulfilled as refusal:
            return self.give_up(f"the server wants what this client does not give: {refusal}")

    def on_call_failed(self, failure: Failure) -> list[Action]:
        """A call was refused; because of its headers: look at the list of tools again, once."""
        if failure.code == HEADER_MISMATCH and self.over_http and self._listings == 0:
            self._listings += 1
            return self.list_tools()
        return self.on_failed(failure)

    def on_failed(self, failure: Failure) -> list[Action]:
        """A request of the session was refused: report it. The era of the server is settled and stays."""
        return self.give_up(f"refused with {failure.code}: {failure.message}")

    # Ends

    def noise(self, text: bytes) -> list[Action]:
        """The server wrote to its standard error: that says nothing about the session."""
        return []

    def farewell(self) -> tuple[str, ...]:
        """The steps by which a server's process is ended; the later ones only while it still lives."""
        return ("close input", "wait", "terminate", "wait", "kill")

    def finish(self) -> list[Action]:
        """The story is over: a session over HTTP is ended, too."""
        self.done = True
        return self.end_session() if self.session_id is not None and self.version is not None else []

    def give_up(self, reason: str) -> list[Action]:
        """The story is over, without success."""
        self.failed = True
        self.outcome.append(f"error: {reason}")
        return self.finish()

    def timed_out(self) -> list[Action]:
        """Nothing has come for a while: silence to the probe means a legacy server on stdio, else it is an error."""
        if not self.waiting:
            return self.finish()
        waiting = next(iter(self.waiting.values()))
        actions = self.abandon(waiting)
        if waiting.method == "server/discover" and not self.over_http:
            return actions + self.on_probe_silence()
        return actions + self.give_up(f"no answer to {waiting.method}")

    def on_probe_silence(self) -> list[Action]:
        """The probe was not answered in time."""
        return self.fall_back(Failure(None, "no answer to server/discover"))

    def lost(self) -> list[Action]:
        """The server's process ended: start it again; one that the probe ended was a legacy server."""
        probing = any(waiting.method == "server/discover" for waiting in self.waiting.values())
        self.waiting.clear()
        if self.done:
            return []
        if self._starts >= TRIES:
            return self.give_up("the server ends again and again")
        self._starts += 1
        restart: list[Action] = [Restart()]
        if self.in_legacy or (probing and self.legacy):
            return restart + self.initialize()
        return restart + (self.list_tools() if self.version else self.start())


def text_of(result: dict[str, Json]) -> str:
    """The text in a tool's result."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    return " ".join(str(block["text"]) for block in blocks if isinstance(block, dict) and "text" in block)
