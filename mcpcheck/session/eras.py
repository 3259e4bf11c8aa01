"""Eras: which revision governs a message. It is a property of each message, not of the connection."""

from mcpcheck.session.call import Call
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.protocol import (
    HEADER_MISMATCH,
    LEGACY,
    MISSING_CLIENT_CAPABILITY,
    MODERN,
    PROTOCOL_VERSION,
    REVISIONS,
    UNSUPPORTED_VERSION,
)
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import RequestHead, header

MODERN_ERRORS = (HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION)
"""Codes that only a server of the stateless era answers with."""

MOST_UNKNOWN = 8
"""How many versions that are no released revision are kept by name."""


class Eras:
    """What initialize has settled, and what the messages have shown. ``default`` is for those that tell nothing.

    A message of a version that is no released revision has none: only what holds in every revision is held against it.
    """

    def __init__(self, default: str | None) -> None:
        self.modern_seen = False
        self.negotiated: str | None = None  # the legacy revision that initialize settled on
        self.sessions: Recent[str, str] = Recent()  # legacy HTTP: session id to negotiated revision
        self._default = default
        self.unknown: dict[str, None] = {}  # versions in use that are no released revision
        self._beyond = False  # initialize settled on no released revision
        self._just_beyond = False  # the last message that told its version told such a one
        self._doubtful = default is None  # nothing that the server said shows that it is of the stateless era

    def negotiate(self, version: str, session_id: str | None) -> None:
        """A result of initialize names a version, for an HTTP session or for the connection."""
        if session_id is not None:
            self.sessions[session_id] = version
        elif version in LEGACY:
            self.negotiated = version
        elif version != MODERN:
            self._beyond = True
        self._released(version)

    def of_request(self, request: Request, head: RequestHead | None) -> str | None:
        """The revision of a request; ``head`` is that of the POST that carries it."""
        if PROTOCOL_VERSION in request.meta:
            return MODERN if self._released(request.meta[PROTOCOL_VERSION]) else None
        if request.method == "initialize":
            wanted = request.param("protocolVersion")
            if not self._released(wanted):
                return None
            return wanted if wanted in LEGACY else LEGACY[-1]
        version = self.of_head(head) if head else None
        if version:
            return version
        if head is None:
            self._just_beyond = False
        return MODERN if request.method == "server/discover" else self.ambient

    def of_head(self, head: RequestHead) -> str | None:
        """The revision that the headers of an HTTP request tell."""
        session_id = header(head, "mcp-session-id")
        version = header(head, "mcp-protocol-version")
        if session_id is not None and session_id in self.sessions:
            version = self.sessions[session_id]
        if version is None or not self._released(version):
            return None
        return version if version in LEGACY else MODERN

    def _released(self, version: object) -> bool:
        """Whether a version is no revision that nobody here knows; what is no version at all isn't one, either."""
        self._just_beyond = isinstance(version, str) and version.strip() not in REVISIONS
        if self._just_beyond and len(self.unknown) < MOST_UNKNOWN:
            self.unknown[str(version)[:40]] = None
        return not self._just_beyond

    @property
    def ambient(self) -> str | None:
        """The revision of what does not tell its own: once initialize has settled one, that one."""
        if self._just_beyond:
            return None
        if self.negotiated:
            return self.negotiated
        if self._beyond:
            return None
        if self.modern_seen:
            return MODERN
        if self.sessions:
            return next(reversed(self.sessions.values()))
        return self._default

    def after(self, call: Call, answer: Answer) -> str | None:
        """An answer goes by its request's revision; to initialize, by the one that the result names.

        An error to initialize, or to a probe, may come from a server of either era: no revision's own rules apply to
        it, unless it is one that only the stateless era has or the revision was told beforehand. Nor do they to what
        a server answers that has shown no sign of the stateless era yet: the handshake era serves requests of some
        methods whatever their _meta.
        """
        method = call.request.method
        asked = call.request.meta.get(PROTOCOL_VERSION)
        if call.revision is None and _code(answer) == UNSUPPORTED_VERSION and isinstance(asked, str):
            self._just_beyond = False
            self._forget(asked)
            return MODERN
        shown = _code(answer) in MODERN_ERRORS or _is_modern(answer.result, method)
        if method == "server/discover" and answer.has_error and self._default is None:
            self._doubtful = not shown
            return MODERN if shown else None
        if method != "initialize":
            self._doubtful = self._doubtful and not shown
            return None if self._doubtful and call.revision == MODERN else call.revision
        version = answer.result.get("protocolVersion") if isinstance(answer.result, dict) else None
        if version not in LEGACY:
            return None
        if call.revision is None:
            self._forget(call.request.param("protocolVersion"))
        return str(version)

    def _forget(self, version: object) -> None:
        """A version was refused: it is not the one that is spoken."""
        self.unknown.pop(str(version)[:40], None)


def _is_modern(result: object, method: str) -> bool:
    return isinstance(result, dict) and ("resultType" in result or method == "server/discover")


def _code(answer: Answer) -> object:
    return answer.error.get("code") if isinstance(answer.error, dict) else None
