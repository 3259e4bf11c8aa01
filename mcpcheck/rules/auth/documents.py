"""Documents: what a server's origin publishes of authorization, and what its endpoint says with a refusal.

A document counts as the MCP server's own where its address names the endpoint, or a refusal by the endpoint named it.
That of an authorization server counts where the server's own document names its issuer.
"""

import re
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from mcpcheck.rules.auth.traffic import Seen, document, member, path, split, strings
from mcpcheck.session.session import Session
from mcpcheck.wire.event import HttpBody, HttpRequest, HttpResponse, Message
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir, ResponseHead, header, header_values

MOST = 100

RESOURCE = "/.well-known/oauth-protected-resource"
OAUTH = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"

_BEARER = re.compile(r"(?:\A|,)\s*bearer(?:\s+|\Z)", re.IGNORECASE)
_PARAMETER = re.compile(r'([A-Za-z_-]{1,64})\s{0,8}=\s{0,8}("[^"\\]*+(?:\\.[^"\\]*+)*+"|[^\s,"]++)')
_LONGEST = 8192


@dataclass(slots=True, eq=False)
class Published:
    """A document. ``own``: it is the MCP server's for sure; ``agent`` is who fetched it."""

    event: HttpBody
    said: dict[str, Any]
    path: str
    agent: str
    host: str
    own: bool = False

    @property
    def issuer(self) -> str:
        return member(self.said, "issuer")

    @property
    def tells_issuer(self) -> bool:
        """Whether the authorization server says that its responses name the issuer."""
        return self.said.get("authorization_response_iss_parameter_supported") is True

    @property
    def knows_pkce(self) -> bool:
        return self.said.get("code_challenge_methods_supported") is not None

    @property
    def openid(self) -> bool:
        return OPENID in self.path


@dataclass(slots=True, eq=False)
class Documents:
    """Those of one session."""

    servers: Recent[int, Published] = field(default_factory=lambda: Recent(MOST))  # of authorization, by their frame
    issuers: Recent[str, None] = field(default_factory=lambda: Recent(MOST))  # that the server's own documents name
    published: bool = False  # the server has such a document
    _endpoints: Recent[str, None] = field(default_factory=lambda: Recent(MOST))  # paths of the MCP endpoint
    _named: Recent[str, None] = field(default_factory=lambda: Recent(MOST))  # paths that a refusal named

    def take(self, event: Seen, session: Session) -> Published | None:
        """Learn from an event; a document, where it is one."""
        if isinstance(event, HttpRequest):
            if event.to_endpoint:
                self._endpoints[path(event.head)] = None
        elif isinstance(event, HttpResponse):
            if event.head.status == 401 and session.exchange is not None and session.exchange.to_endpoint:
                url = split((challenge(event.head) or {}).get("resource_metadata", ""))
                if url is not None and url.path:
                    self._named[url.path] = None
        elif isinstance(event, HttpBody) and event.dir is Dir.S2C:
            return self._read(event, session)
        return None

    def at(self, path: str, agent: str | None, before: int) -> list[Published]:
        """The documents by which one authorizes at a path, as somebody has read them before a frame.

        ``agent`` None: whoever it was. Empty where some documents are forgotten.
        """
        if self.servers.forgetful:
            return []
        return [
            one
            for one in self.servers.values()
            if one.event.record.n < before
            and agent in {None, one.agent}
            and (url := split(member(one.said, "authorization_endpoint"))) is not None
            and url.path == path
        ]

    def knows(self, issuer: str) -> bool:
        """Whether the server's own document names this issuer; a slash at the end is no matter here."""
        return issuer.rstrip("/") in {one.rstrip("/") for one in self.issuers}

    def asked_for(self, found: Published) -> str | None:
        """The issuer for which a document was asked, if the server's own document names just one that fits."""
        fitting = [issuer for issuer in self.issuers if found.host and _is_place_of(issuer, found)]
        return fitting[0] if len(fitting) == 1 and not self.issuers.forgetful else None

    def _read(self, event: HttpBody, session: Session) -> Published | None:
        exchange = session.exchange
        if exchange is None or exchange.request is None or exchange.status != 200 or exchange.request.method != "GET":
            return None
        where = path(exchange.request)
        if exchange.to_endpoint or ("/.well-known/" not in where and where not in self._named):
            return None
        agent, host = (header(exchange.request, name) or "" for name in ("user-agent", "host"))
        found = Published(event, document(event), where, agent, host)
        if where in self._named or where.startswith(RESOURCE):
            if not found.said.keys() & {"resource", "authorization_servers"}:
                return None
            found.own = where in self._named or self._is_own(found)
            self._describes(found)
            return found
        if (where.startswith(OAUTH) or found.openid) and found.issuer:
            self.servers[event.record.n] = found
            return found
        return None

    def _is_own(self, found: Published) -> bool:
        url = split(member(found.said, "resource"))
        about = found.path.removeprefix(RESOURCE) or (url.path if url is not None else "") or "/"
        return about in self._endpoints

    def _describes(self, found: Published) -> None:
        self.published = True
        for issuer in strings(found.said, "authorization_servers"):
            self.issuers[issuer] = None


def _is_place_of(issuer: str, found: Published) -> bool:
    """Whether the document of an issuer has its place where this one was found."""
    url = split(issuer)
    if url is None or url.netloc.lower() != found.host.lower():
        return False
    path = url.path.rstrip("/")
    return found.path in (OAUTH + path, OPENID + path, path + OPENID)


def challenge(head: ResponseHead) -> dict[str, str] | None:
    """The parameters of the first challenge for a bearer token, names in lower case; None where there is none."""
    for value in header_values(head, "www-authenticate"):
        found = _BEARER.search(value[:_LONGEST])
        if found:
            pairs = _PARAMETER.findall(value[found.end() : _LONGEST])
            return {name.lower(): _unquoted(spelled) for name, spelled in reversed(pairs)}
    return None


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value[:1] == '"' else value


_DOCUMENTS: WeakKeyDictionary[Session, Documents] = WeakKeyDictionary()


def documents(session: Session) -> Documents:
    """What a session has shown so far."""
    found = _DOCUMENTS.get(session)
    if found is None:
        found = _DOCUMENTS[session] = Documents()
    return found


def read(event: Seen, session: Session) -> Published | None:
    """The document that an event is, worked out once for all rules. Each has to ask, for each event that it sees."""
    if isinstance(event, Message):
        return None
    if "auth.document" not in session.memo:
        session.memo["auth.document"] = documents(session).take(event, session)
    found = session.memo["auth.document"]
    return found if isinstance(found, Published) else None
