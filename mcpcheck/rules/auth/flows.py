"""Flows: the OAuth traffic of a session, put together from the token that it ends with.

A token request is known by its grant, an authorization request by ``response_type=code`` and a client id. The two
belong together by the client id, or by the redirect URI where the token request does not tell the client. Nothing is
judged before the protocol uses the token: only then is it known that the flow was for this server, and in what
revision the client speaks. Tokens are compared as they stand in the recording, which for redacted ones are digests.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakKeyDictionary

from mcpcheck.rules.auth.traffic import Fields, Seen, bearer, document, first, form, member, path, query, split, strings
from mcpcheck.rules.registry import Judgement, Verdicts
from mcpcheck.session.session import Session
from mcpcheck.verdict import Outcome
from mcpcheck.wire.event import HttpBody, HttpRequest, HttpResponse, Notification, Request
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir, header, header_values

MOST = 200
"""How many requests, registrations and documents are remembered of each kind."""

OPENING: Final = frozenset({"initialize", "server/discover"})
"""Requests that do not show yet in what revision the two ends speak."""


@dataclass(slots=True, eq=False)
class Asked:
    """An authorization request."""

    event: HttpRequest
    fields: Fields
    path: str


@dataclass(slots=True, eq=False)
class Registration:
    """A client as it registered. ``uris`` are its redirect URIs: those it asked for, and those it was given."""

    event: HttpBody
    uris: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Grant:
    """A token request that was granted, with what led to it. ``asked`` are the authorization requests, if seen."""

    event: HttpBody
    fields: Fields
    agent: str  # the User-Agent that asked for the token
    asked: tuple[Asked, ...] = ()
    registration: Registration | None = None
    scheme: str = ""  # what kind of token it is, in lower case
    use: Request | Notification | None = None  # the message that shows the token first

    @property
    def type(self) -> str:
        return first(self.fields, "grant_type")

    @property
    def open(self) -> bool:
        """Whether what was asked is to be seen: neither pushed beforehand nor in a signed object."""
        return bool(self.asked) and not any(first(a.fields, n) for a in self.asked for n in ("request_uri", "request"))

    def told(self, name: str) -> Asked | None:
        """The first authorization request that has a parameter: a later one may be a step of the server's own."""
        return next((one for one in self.asked if first(one.fields, name)), None)


@dataclass(frozen=True, slots=True)
class Look:
    """What an event brings: grants whose token is used for the first time, or a document on this resource."""

    grants: tuple[Grant, ...] = ()
    resource: str = ""


_NOTHING = Look()


@dataclass(slots=True, eq=False)
class Flows:
    """What the traffic of one session has shown of authorization."""

    resources: Recent[str, int] = field(default_factory=lambda: Recent(MOST))  # as the server names itself: frames
    hosts: Recent[str, None] = field(default_factory=lambda: Recent(MOST))  # under which the endpoint was asked
    methods: set[str] = field(default_factory=set)  # challenge methods that an authorization server knows
    client_documents: bool = False  # an authorization server takes metadata documents as client ids
    challenged: bool = False  # the server asked for a bearer token
    wanted: Recent[str, None] = field(default_factory=lambda: Recent(MOST))  # the versions that initialize asked for
    issued: Recent[str, Grant] = field(default_factory=lambda: Recent(MOST))  # by token
    discoveries: Recent[str, HttpRequest] = field(default_factory=lambda: Recent(MOST))  # the last by User-Agent
    registered: Recent[str, Registration] = field(default_factory=lambda: Recent(50))  # by client id
    _endpoints: Recent[str, None] = field(default_factory=lambda: Recent(MOST))  # paths where one authorizes
    _asked: Recent[int, Asked] = field(default_factory=lambda: Recent(MOST))
    _granting: Recent[int, Grant] = field(default_factory=lambda: Recent(MOST))  # by exchange
    _registering: Recent[int, HttpBody] = field(default_factory=lambda: Recent(MOST))
    _unused: Recent[str, None] = field(default_factory=lambda: Recent(MOST))

    @property
    def protected(self) -> bool:
        """Whether the server has shown that it has the authorization of the protocol."""
        return bool(self.resources or self.issued or self.challenged)

    def take(self, event: Seen, session: Session) -> Look:
        """Learn from an event."""
        if isinstance(event, Request | Notification):
            return self._message(event, session) if event.dir is Dir.C2S else _NOTHING
        if isinstance(event, HttpRequest):
            self._request(event)
        elif isinstance(event, HttpResponse):
            if event.head.status == 401:
                challenges = header_values(event.head, "www-authenticate")
                self.challenged |= any(one.strip().lower().startswith("bearer") for one in challenges)
        elif event.dir is Dir.C2S:
            self._posted(event, session)
        else:
            return self._answered(event, session)
        return _NOTHING

    def _request(self, event: HttpRequest) -> None:
        head, where = event.head, path(event.head)
        if event.to_endpoint:
            host = split("//" + (header(head, "host") or ""))
            if host is not None and host.hostname:
                self.hosts[host.hostname] = None
        elif head.method != "GET":
            return
        elif where.startswith("/.well-known/oauth-authorization-server"):
            self.discoveries[header(head, "user-agent") or ""] = event
        elif "response_type=" in head.path:
            asked = query(head)
            if first(asked, "response_type") == "code" and first(asked, "client_id"):
                self._asked[event.record.n] = Asked(event, asked, where)

    def _posted(self, event: HttpBody, session: Session) -> None:
        exchange = session.exchange
        if exchange is None or exchange.request is None:
            return
        if event.record.data.lstrip()[:1] == b"{":
            if b"redirect_uris" in event.record.data:
                self._registering[exchange.n] = event
        elif exchange.request.method == "POST" and b"grant_type=" in event.record.data:
            asked = form(event)
            if first(asked, "grant_type"):
                agent = header(exchange.request, "user-agent") or ""
                self._granting[exchange.n] = Grant(event, asked, agent)

    def _answered(self, event: HttpBody, session: Session) -> Look:
        exchange = session.exchange
        if exchange is None or not 200 <= (exchange.status or 0) < 300:
            return _NOTHING
        if exchange.n in self._granting:
            self._granted(self._granting.pop(exchange.n), document(event))
        elif exchange.n in self._registering:
            self._known(self._registering.pop(exchange.n), document(event))
        elif b'"authorization_servers"' in event.record.data:
            return self._named(event)
        elif b'"token_endpoint"' in event.record.data:
            self._described(document(event))
        return _NOTHING

    def _named(self, event: HttpBody) -> Look:
        said = document(event)
        resource = member(said, "resource")
        if not resource or not strings(said, "authorization_servers"):
            return _NOTHING
        self.resources[resource] = event.record.n
        return Look(resource=resource)

    def _described(self, said: dict[str, Any]) -> None:
        """An authorization server's document."""
        if not member(said, "issuer"):
            return
        where = split(member(said, "authorization_endpoint"))
        if where is not None and where.path:
            self._endpoints[where.path] = None
        self.methods |= {one for one in strings(said, "code_challenge_methods_supported") if one in ("S256", "plain")}
        self.client_documents |= said.get("client_id_metadata_document_supported") is True

    def _known(self, asked: HttpBody, given: dict[str, Any]) -> None:
        id = member(given, "client_id") or member(document(asked), "client_id")
        if id:
            uris = strings(document(asked), "redirect_uris") + strings(given, "redirect_uris")
            before = self.registered.get(id)
            self.registered[id] = Registration(asked, uris + (before.uris[:10] if before else ()))

    def _granted(self, grant: Grant, given: dict[str, Any]) -> None:
        token = member(given, "access_token")
        if not token:
            return
        grant.scheme = member(given, "token_type").lower()
        if grant.type == "authorization_code":
            grant.asked = self._led_to(grant.fields)
            client = first(grant.fields, "client_id")
            client = client or (first(grant.asked[0].fields, "client_id") if grant.asked else "")
            grant.registration = self.registered.get(client)
        self.issued[token] = grant
        self._unused[token] = None

    def _led_to(self, wanted: Fields) -> tuple[Asked, ...]:
        """The authorization requests of a token request, oldest first; none where they may be of several clients."""
        client, uri = first(wanted, "client_id"), first(wanted, "redirect_uri")
        found = [
            one
            for one in self._asked.values()
            if (not self._endpoints or one.path in self._endpoints)
            and (not client or first(one.fields, "client_id") == client)
            and (not uri or first(one.fields, "redirect_uri") in ({"", uri} if client else {uri}))
        ]
        if not (client or uri) or len({first(one.fields, "client_id") for one in found}) != 1:
            return ()
        for one in found:
            del self._asked[one.event.record.n]
        return tuple(found)

    def _message(self, message: Request | Notification, session: Session) -> Look:
        if message.method == "initialize":
            self.wanted[str(message.param("protocolVersion"))[:40]] = None
        if not self._unused or message.method in OPENING or session.revision is None:
            return _NOTHING
        exchange = session.exchange
        token = bearer(exchange.request) if exchange and exchange.to_endpoint else ""
        if token not in self._unused or (session.stateless and isinstance(message, Notification)):
            return _NOTHING
        del self._unused[token]
        grant = self.issued.get(token)
        if grant is None:
            return _NOTHING
        grant.use = message
        return Look((grant,))


_FLOWS: WeakKeyDictionary[Session, Flows] = WeakKeyDictionary()


def flows(session: Session) -> Flows:
    """What a session has shown so far."""
    found = _FLOWS.get(session)
    if found is None:
        found = _FLOWS[session] = Flows()
    return found


def look(event: Seen, session: Session) -> Look:
    """What an event brings, worked out once for all rules. Each of them has to ask, for each event that it sees."""
    found = session.memo.get("auth")
    if not isinstance(found, Look):
        found = session.memo["auth"] = flows(session).take(event, session)
    return found


def of_grant(judge: Callable[[Grant, Session], Verdicts]) -> Callable[[Seen, Session], Iterable[Judgement]]:
    """The rule of an event that asks a rule of a grant, once the grant is known to be the protocol's.

    In a part of a recording something that led to the grant may be missing: nothing is held against it.
    """

    def see(event: Seen, session: Session) -> Iterable[Judgement]:
        grants = look(event, session).grants
        if not grants:
            return ()
        found = [judgement for grant in grants for judgement in judge(grant, session)]
        return found if session.whole else [one for one in found if one.outcome is Outcome.HOLDS]

    see.__doc__ = judge.__doc__
    return see
