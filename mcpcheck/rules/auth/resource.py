"""auth.resource: the resource parameter, by which a client says for which server a token is meant."""

import ipaddress
import re
from collections.abc import Iterator

from mcpcheck.rules.auth.code import CODE
from mcpcheck.rules.auth.flows import Flows, Grant, flows, look, of_grant
from mcpcheck.rules.auth.traffic import Seen, first, split
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Event

_OTHER_GRANTS = frozenset({"refresh_token", "client_credentials"})
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_HOST_AND_PORT = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)+):\d{1,5}(?:/|\Z)")


def _due(session: Session) -> bool:
    """Whether a client has to name the resource.

    A server of the handshake era without a document on it may be of the revision that has no such parameter, as far as
    a client can know while it authorizes.
    """
    return session.stateless or bool(flows(session).resources)


def _named(grant: Grant) -> Iterator[tuple[Event, str]]:
    """Each resource that a flow names, once, where it is named first."""
    said: set[str] = set()
    places: list[tuple[Event, list[str]]] = []
    if grant.open:
        told = grant.told("resource")
        places += [(told.event, told.fields["resource"])] if told else []
    for event, values in [*places, (grant.event, grant.fields.get("resource", []))]:
        for value in values:
            if value and value not in said:
                said.add(value)
                yield event, value


@rule("auth.resource.in-authorization-request", early=True)
@of_grant
def in_authorization_request(grant: Grant, session: Session) -> Verdicts:
    """Looks for a resource where a client asks for a code.

    In the handshake era a server that publishes no document on the resource may be one of 2025-03-26, which has no
    such parameter: that is left alone.
    """
    if not grant.open or not _due(session):
        return
    told = grant.told("resource")
    if told is not None:
        yield holds(told.event)
    else:
        yield broken(grant.asked[0].event, "a resource", "the authorization request has none")


@rule("auth.resource.in-token-request", early=True)
@of_grant
def in_token_request(grant: Grant, session: Session) -> Verdicts:
    """Looks for a resource where a client trades a code for a token.

    A refresh or client credentials without one is suspect. Other grants, which say it in another way, are left alone,
    and so are servers of the handshake era that publish no document on the resource.
    """
    if not _due(session) or grant.type not in {CODE, *_OTHER_GRANTS}:
        return
    if first(grant.fields, "resource"):
        yield holds(grant.event)
    else:
        verdict = broken if grant.type == CODE else suspect
        yield verdict(grant.event, "a resource", f"the token request ({grant.type}) has none")


@rule("auth.resource.identifies-server", early=True)
@of_grant
def identifies_server(grant: Grant, session: Session) -> Verdicts:
    """Compares the host of a resource with those under which the server is known. Another one is suspect.

    It takes the server's own document to know. An address as only a private network has it is left alone: a client
    that speaks through a tap or a tunnel names the end it knows.
    """
    known = flows(session)
    hosts = set(known.hosts) | {host for one in known.resources if (host := _host(one))}
    for place, value in _named(grant):
        host = _host(value)
        if host in hosts:
            yield holds(place)
        elif host and known.resources and not _private(host):
            names = ", ".join(shown(one) for one in list(known.resources)[:3])
            yield suspect(place, f"the server's own name: {names}", f"resource={shown(value)}", *_frames(known))


@rule("auth.resource.canonical-uri", early=True)
@of_grant
def canonical_uri(grant: Grant, session: Session) -> Verdicts:
    """Looks at the form of a resource: a scheme, and no fragment. A scheme or host in capitals is suspect.

    What the server itself names so is left alone.
    """
    known = flows(session).resources
    for place, value in _named(grant):
        if "#" in value:
            yield broken(place, "a URI without fragment", f"resource={shown(value)}")
        elif not _SCHEME.match(value) or _HOST_AND_PORT.match(value):
            yield broken(place, "an absolute URI, with its scheme", f"resource={shown(value)}")
        elif value not in known and _origin(value) != _origin(value).lower():
            yield suspect(place, "scheme and host in lower case", f"resource={shown(value)}")
        else:
            yield holds(place)


@rule("auth.resource.most-specific", early=True)
@of_grant
def most_specific(grant: Grant, session: Session) -> Verdicts:
    """Compares a resource with the server's own name. A resource without its path is suspect."""
    known = flows(session).resources
    for place, value in _named(grant):
        longer = [one for one in known if one.startswith(value.rstrip("/") + "/") and one.rstrip("/") != value]
        if value in known or not _bare(value):
            yield holds(place)
        elif longer and value.rstrip("/") not in {one.rstrip("/") for one in known}:
            yield suspect(place, longer[0][:200], f"resource={shown(value)}", known[longer[0]])


@rule("auth.resource.no-trailing-slash", early=True)
def no_trailing_slash(event: Seen, session: Session) -> Verdicts:
    """Looks at the end of a resource, as a server names itself and as clients name it. A slash is suspect in two cases.

    One is that nothing but it stands behind the host, where it means nothing. The other is that the server's own name
    lacks it. A client that repeats what the server says is left alone.
    """
    seen = look(event, session)
    known = flows(session).resources
    if seen.resource and session.revision is not None:
        if _bare(seen.resource) and seen.resource.endswith("/"):
            yield suspect(event, seen.resource[:-1], f"resource: {shown(seen.resource)}")
        else:
            yield holds(event)
    for grant in seen.grants:
        for place, value in _named(grant):
            if not value.endswith("/"):
                yield holds(place)
            elif value not in known and (_bare(value) or value[:-1] in known):
                yield suspect(place, shown(value[:-1]), f"resource={shown(value)}")


def _host(url: str) -> str:
    parts = split(url)
    return (parts.hostname or "") if parts is not None else ""


def _origin(url: str) -> str:
    """Scheme and host as they are spelled."""
    parts = split(url)
    return f"{url.partition(':')[0]}://{parts.netloc.rpartition('@')[2]}" if parts is not None else ""


def _bare(url: str) -> bool:
    """Whether a URL ends with its host."""
    parts = split(url)
    return parts is not None and bool(parts.netloc) and parts.path in ("", "/") and not parts.query


def _private(host: str) -> bool:
    """Whether a host's name is one that only those near to it know."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".local", ".localhost", ".internal", ".test"))
    return True


def _frames(known: Flows) -> tuple[int, ...]:
    return tuple(known.resources.values())[-1:]
