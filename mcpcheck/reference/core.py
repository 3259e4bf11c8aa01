"""The envelope: how messages are built, addressed and written."""

import json
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from mcpcheck.reference.call import LEVELS, Call, Json, Out, Refusal
from mcpcheck.reference.state import KEY, Seal
from mcpcheck.wire.protocol import LEGACY, MODERN, REVISIONS, SERVER_INFO


def no_time() -> float:
    """The clock of a server that is given none."""
    return 0.0


class World:
    """What the servers of one process share: the things that change, and who is told when they do."""

    def __init__(self) -> None:
        self.servers: list[Core] = []
        self.versions: dict[str, int] = {}
        """How often each resource was changed."""
        self.opened: list[str] = []
        """The handles that were handed out."""
        self.spent: set[str] = set()
        """The states that did what may be done only once."""
        self.steps: dict[str, int] = {}
        """How far each piece of slow work has come."""

    def changed(self, kind: str, uri: str | None = None) -> None:
        """Tell every connection that a list changed (``tools``, ``prompts``, ``resources``) or that a resource did."""
        for server in list(self.servers):
            server.on_change(kind, uri)


class Core:
    """State of one connection, and the seams through which every message goes."""

    IMPLEMENTATION: ClassVar[dict[str, Json]] = {
        "name": "mcpcheck-reference",
        "title": "mcpcheck reference server",
        "version": "1.0.0",
    }
    INSTRUCTIONS = "A server to prove checks against: every tool, prompt and resource is made for a test."

    def __init__(
        self,
        revisions: Sequence[str] = REVISIONS,
        *,
        key: bytes = KEY,
        now: Callable[[], float] = no_time,
        world: World | None = None,
    ) -> None:
        self.revisions = tuple(revisions)
        self.world = world or World()
        self.world.servers.append(self)
        self.seal = Seal(key, now)
        self.principal = ""
        """Who sends the request at hand, by its credentials; on stdio there is one user only."""
        self.open: list[Call] = []
        """The requests that are not answered yet, in order of arrival."""
        self._outbox: list[Out] = []

    @property
    def modern(self) -> bool:
        """Whether the stateless era is spoken."""
        return MODERN in self.revisions

    @property
    def legacy(self) -> tuple[str, ...]:
        """The revisions that are opened with initialize, the oldest first."""
        return tuple(revision for revision in LEGACY if revision in self.revisions)

    # Writing

    def encode(self, message: Json) -> bytes:
        """A message as one line of JSON in UTF-8, without its end."""
        try:
            return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        except UnicodeEncodeError:
            return json.dumps(message, separators=(",", ":"), allow_nan=False).encode()

    def send(self, message: Json, call: Call | None = None, *, final: bool = False) -> None:
        """Put a message on its way: on the stream of a request, or on the connection itself."""
        data = self.encode(message)
        if final and call is not None and call.batch is not None:
            call.batch.answers.append(data)
            call.batch.waiting -= 1
            if call.batch.waiting == 0:
                self._outbox.append(Out(b"[" + b",".join(call.batch.answers) + b"]", call, True))
            return
        self._outbox.append(Out(data, call, final))

    def take(self) -> list[Out]:
        """What is to be written, in order; it is taken out."""
        taken, self._outbox = self._outbox, []
        return taken

    # Answers

    def answer_id(self, call: Call) -> Json:
        """The id of an answer: that of its request."""
        return call.id

    def answer(self, call: Call, result: Json) -> None:
        """Answer a request with a result."""
        self._close(call)
        message = {"jsonrpc": "2.0", "id": self.answer_id(call), "result": self.finished(call, result)}
        self.send(message, call, final=True)

    def refuse(self, call: Call, refusal: Refusal) -> None:
        """Answer a request with an error."""
        self._close(call)
        call.refusal = refusal
        self.send(self.error(self.answer_id(call), refusal), call, final=True)

    def error(self, request_id: Json, refusal: Refusal) -> dict[str, Json]:
        """An error response; without an id where the request's could not be read."""
        error: dict[str, Json] = {"code": refusal.code, "message": refusal.message}
        if refusal.data is not None:
            error["data"] = refusal.data
        if request_id is None:
            return {"jsonrpc": "2.0", "error": error}
        return {"jsonrpc": "2.0", "id": request_id, "error": error}

    def _close(self, call: Call) -> None:
        call.answered = True
        if call in self.open:
            self.open.remove(call)

    # Results

    def finished(self, call: Call, result: dict[str, Json]) -> dict[str, Json]:
        """A result with what every result of its era carries: its type, its hints, who made it."""
        if not call.modern:
            return result
        result = {"resultType": self.result_type(call, result), **result}
        if result["resultType"] == "complete":
            result |= self.cache_hints(call)
        meta = {**self.result_meta(call), **result.get("_meta", {})}
        if meta:
            result["_meta"] = meta
        return result

    def result_type(self, call: Call, result: dict[str, Json]) -> Json:
        """The kind of a result."""
        return result.get("resultType", "complete")

    def result_meta(self, call: Call) -> dict[str, Json]:
        """The _meta of a result: who made it."""
        return {SERVER_INFO: self.server_info(MODERN)}

    def server_info(self, revision: str) -> dict[str, Json]:
        """The Implementation object, without what the revision does not know."""
        known = {"name", "version"} if revision < "2025-06-18" else {"name", "version", "title"}
        return {name: value for name, value in self.IMPLEMENTATION.items() if name in known}

    CACHEABLE = frozenset(
        {
            "server/discover",
            "tools/list",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
            "resources/read",
        }
    )

    def cache_hints(self, call: Call) -> dict[str, Json]:
        """How long and for whom a complete result may be kept."""
        if call.method not in self.CACHEABLE:
            return {}
        return {"ttlMs": self.cache_ttl(call), "cacheScope": self.cache_scope(call)}

    def cache_ttl(self, call: Call) -> Json:
        """The milliseconds for which a result stays fresh."""
        return 0 if call.method == "resources/read" else 60_000

    def cache_scope(self, call: Call) -> Json:
        """Whether a result may be shared between users."""
        return "public"

    # Notifications

    def notify(self, method: str, params: dict[str, Json] | None = None, call: Call | None = None) -> None:
        """Send a notification: on the stream of the request that it is about, or on the connection."""
        message: dict[str, Json] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send(message, call)

    def report_progress(self, call: Call, progress: float, total: float | None = None, message: str = "") -> None:
        """Report progress, if the request wants it and there is more than before."""
        token = call.progress_token
        if token is None or call.answered or (call.progress is not None and progress <= call.progress):
            return
        call.progress = progress
        self.notify("notifications/progress", self.progress_params(call, token, progress, total, message), call)

    def progress_params(
        self, call: Call, token: Json, progress: float, total: float | None, message: str
    ) -> dict[str, Json]:
        """The params of a progress notification."""
        params: dict[str, Json] = {"progressToken": token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message and call.revision != "2024-11-05":
            params["message"] = message
        return params

    def log(self, call: Call, level: str, data: Json, logger: str | None = "mcpcheck") -> None:
        """Send a log message, if the request asked for its level."""
        if self.wants_log(call, level) and not call.answered:
            self.notify("notifications/message", self.log_params(call, level, data, logger), call)

    def wants_log(self, call: Call, level: str) -> bool:
        """Whether a message of this level was asked for."""
        return call.log_level in LEVELS and LEVELS.index(level) >= LEVELS.index(call.log_level)

    def log_params(self, call: Call, level: str, data: Json, logger: str | None) -> dict[str, Json]:
        """The params of a log message."""
        params: dict[str, Json] = {"level": level, "data": data}
        if logger is not None:
            params["logger"] = logger
        return params

    def on_change(self, kind: str, uri: str | None) -> None:
        """Something changed; what is due on this connection is put on its way."""
        raise NotImplementedError

    # What may be asked

    def capabilities_for(self, revision: str) -> dict[str, Any]:
        """The capabilities that a revision is told of."""
        capabilities: dict[str, Any] = {
            "tools": {"listChanged": True},
            "prompts": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "logging": {},
            "completions": {},
        }
        if revision == "2024-11-05":
            del capabilities["completions"]
        return capabilities
