"""auth.redirect, auth.cimd: who a client says it is, and where it wants the code sent."""

import ipaddress
from collections.abc import Iterator
from urllib.parse import SplitResult

from mcpcheck.rules.auth.flows import Grant, flows, of_grant
from mcpcheck.rules.auth.traffic import first, split
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Judgement, Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Event


@rule("auth.redirect.localhost-or-https", early=True)
@of_grant
def localhost_or_https(grant: Grant, session: Session) -> Verdicts:
    """Looks at the redirect URIs that a client registers and uses: HTTPS, or this machine.

    Any address of the loopback is this machine. A scheme of the client's own, which OAuth knows for native
    applications, is suspect.
    """
    for place, uri in _uris(grant):
        yield _judged(place, uri)


def _uris(grant: Grant) -> Iterator[tuple[Event, str]]:
    """Each redirect URI once, where it is seen first."""
    said: set[str] = set()
    told = grant.told("redirect_uri") if grant.open else None
    places: list[tuple[Event, tuple[str, ...]]] = []
    if grant.registration is not None:
        places.append((grant.registration.event, grant.registration.uris))
    if told is not None:
        places.append((told.event, tuple(told.fields["redirect_uri"])))
    for event, uris in places:
        for uri in uris:
            if uri and uri not in said:
                said.add(uri)
                yield event, uri


def _judged(place: Event, uri: str) -> Judgement:
    parts = split(uri)
    if parts is not None and (parts.scheme == "https" or (parts.scheme == "http" and is_here(parts))):
        return holds(place)
    if parts is not None and parts.scheme == "http":
        return broken(place, "HTTPS, or localhost", f"the redirect URI {shown(uri)}")
    return suspect(place, "HTTPS, or localhost", f"the redirect URI {shown(uri)}")


def is_here(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    return host == "localhost" or host.endswith(".localhost") or _is_loopback(host)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@rule("auth.redirect.registered", early=True)
@of_grant
def registered(grant: Grant, session: Session) -> Verdicts:
    """Compares the redirect URI in use with those that the client registered with, where the recording shows that.

    On the loopback the port may be another one; under the name localhost that is suspect.
    """
    told = grant.told("redirect_uri") if grant.open else None
    if told is None or grant.registration is None or not grant.registration.uris:
        return
    uri = first(told.fields, "redirect_uri")
    if uri in grant.registration.uris or any(_but_for_port(uri, one, "") for one in grant.registration.uris):
        yield holds(told.event)
        return
    alike = any(_but_for_port(uri, one, "localhost") for one in grant.registration.uris)
    verdict = suspect if alike else broken
    names = ", ".join(shown(one) for one in grant.registration.uris[:3])
    yield verdict(told.event, f"one of {names}", f"redirect_uri={shown(uri)}", grant.registration.event.record.n)


def _but_for_port(one: str, other: str, name: str) -> bool:
    """Whether two redirect URIs of this machine differ in nothing but the port."""
    here, there = split(one), split(other)
    if here is None or there is None or here.hostname != there.hostname or not here.hostname:
        return False
    if here.hostname != name and not _is_loopback(here.hostname):
        return False
    return (here.scheme, here.path, here.query) == (there.scheme, there.path, there.query)


@rule("auth.cimd.client-id-url", early=True)
@of_grant
def client_id_url(grant: Grant, session: Session) -> Verdicts:
    """Looks at client ids that are web addresses: HTTPS, and a path.

    An id that was given by registration is left alone, and so is one whose path is nothing but a slash. Where no
    document in the recording says that the authorization server takes such addresses, the id may have been agreed on
    otherwise: it is suspect.
    """
    known = flows(session)
    told = grant.told("client_id") if grant.asked else None
    place: Event = told.event if told is not None else grant.event
    id = first(told.fields if told is not None else grant.fields, "client_id")
    parts = split(id) if id[:8].lower().startswith(("http://", "https://")) else None
    if parts is None or id in known.registered:
        return
    if parts.scheme == "https" and parts.path:
        if parts.path != "/":
            yield holds(place)
    else:
        verdict = broken if known.client_documents else suspect
        yield verdict(place, "an https URL with a path", f"client_id={shown(id)}")
