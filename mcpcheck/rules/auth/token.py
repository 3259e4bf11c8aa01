"""auth.token: how a client shows its token to the server."""

from mcpcheck.rules.auth.flows import Flows, flows, look
from mcpcheck.rules.auth.traffic import Seen, bearer, query
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import HttpRequest, HttpResponse
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import RequestHead, header

SHORTEST = 8
"""How long a token has to be to be known where it stands: a shorter one may be an ordinary word."""


@rule("auth.token.not-in-query", early=True)
def not_in_query(event: Seen, session: Session) -> Verdicts:
    """Looks for a token in the address of a request to the endpoint: one that was issued, or shown in a header.

    A parameter that is only named access_token is broken where the server has the authorization of the protocol, and
    suspect elsewhere. Keys of other names are a matter between client and server, and left alone.
    """
    look(event, session)
    if not isinstance(event, HttpRequest) or not event.to_endpoint or session.revision is None:
        return
    known = flows(session)
    token = bearer(event.head)
    for name, values in query(event.head).items():
        if any(len(value) >= SHORTEST and (value in known.issued or value == token) for value in values):
            yield broken(event, "no token in the query", f"the token stands in {shown(name)}")
        elif name == "access_token" and any(values):
            verdict = broken if known.protected else suspect
            yield verdict(event, "no token in the query", "there is an access_token")
        else:
            continue
        return
    if token:
        yield holds(event)


@rule("auth.token.authorization-header", early=True)
def authorization_header(event: Seen, session: Session) -> Verdicts:
    """Looks where a token that was issued in the recording stands in the headers of a request to the endpoint.

    A token that is no bearer token by its own kind is left alone. One in the query has a rule of its own.
    """
    look(event, session)
    if not isinstance(event, HttpRequest) or not event.to_endpoint or session.revision is None:
        return
    known = flows(session)
    if bearer(event.head) in known.issued:
        yield holds(event)
    elif (where := _strayed(event.head, known)) is not None:
        yield broken(event, "Authorization: Bearer, and the token", f"the token stands in {where}")


def _strayed(head: RequestHead, known: Flows) -> str | None:
    """The header in which an issued token stands."""
    if not known.issued:
        return None
    for name, value in head.headers:
        scheme, _, rest = value.strip().partition(" ")
        for token in (rest.strip(), scheme):
            grant = known.issued.get(token) if len(token) >= SHORTEST else None
            if grant is not None and grant.scheme == "bearer":
                return f"{name}: {scheme}" if token != scheme else name
    return None


@rule("auth.token.every-request", early=True)
class EveryRequest:
    """Looks for the authorization on each request of a session that has been served with a bearer token before.

    A session is what has one Mcp-Session-Id; where there is none, two clients cannot be told apart. Requests that were
    under way are left alone, and so is what follows a refusal of the token. A request without it is suspect where it is
    refused, since a client may ask so for a new challenge when its token has expired; and where nothing else shows that
    the server has the authorization of the protocol.
    """

    def __init__(self) -> None:
        self._served: Recent[str, int] = Recent(1000)  # by session id: a request with a token that was served
        self._bare: Recent[int, tuple[HttpRequest, int]] = Recent(1000)  # by exchange: a request without one

    def see(self, event: Seen, session: Session) -> Verdicts:
        look(event, session)
        exchange = session.exchange
        head = exchange.request if exchange else None
        id = header(head, "mcp-session-id") if head and exchange and exchange.to_endpoint else None
        if id is None or head is None or exchange is None or session.revision is None:
            return
        if isinstance(event, HttpResponse):
            yield from self._answered(event, session, exchange.n)
            if event.head.status in (401, 403):
                self._served.pop(id, None)
            elif event.head.status < 400 and bearer(head):
                self._served[id] = exchange.request_frame
        elif isinstance(event, HttpRequest) and self._served.get(id, 0) > session.gap and head.method != "OPTIONS":
            if bearer(head):
                yield holds(event)
            elif header(head, "authorization") is None:
                self._bare[exchange.n] = (event, self._served[id])

    def _answered(self, event: HttpResponse, session: Session, exchange: int) -> Verdicts:
        request, served = self._bare.pop(exchange, (None, 0))
        if request is not None:
            verdict = broken if flows(session).protected and event.head.status != 401 else suspect
            yield verdict(request, "Authorization: Bearer", "there is no such header", served)
