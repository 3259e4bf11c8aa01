"""auth.prm, auth.challenge, auth.refresh: what a server says of the authorization that it wants."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from mcpcheck.rules.auth.documents import Documents, Published, challenge, documents, read
from mcpcheck.rules.auth.traffic import bearer, strings
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Judgement, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, HttpBody, HttpRequest, HttpResponse
from mcpcheck.wire.record import Dir, RequestHead, header_values

_MOST = 100
_TEXTS = ("jwks_uri", "resource_name", "resource_documentation", "resource_policy_uri", "resource_tos_uri")
_LISTS = (
    "scopes_supported",
    "bearer_methods_supported",
    "resource_signing_alg_values_supported",
    "authorization_details_types_supported",
    "dpop_signing_alg_values_supported",
)
OFFLINE = "offline_access"

Said = HttpRequest | HttpResponse | HttpBody


class Kept:
    """Keeps what a server said until an answer shows the revision that it speaks: before that, only a wish is known."""

    def __init__(self) -> None:
        self._kept: list[Any] = []
        self._spoke = False  # the server has answered in a revision in which this holds

    def see(self, event: HttpRequest | HttpResponse | HttpBody | Answer, session: Session) -> Iterable[Judgement]:
        if isinstance(event, Answer):
            self._spoke |= event.dir is Dir.S2C and event.has_result and session.revision is not None
        else:
            found = read(event, session)
            said = self.said(event, found, session) if found is not None or isinstance(event, HttpResponse) else None
            if said is not None and len(self._kept) < _MOST:
                self._kept.append(said)
        return self._judge_all(session) if self._kept and self._spoke and session.revision else ()

    def _judge_all(self, session: Session) -> list[Judgement]:
        judgements = [self.judge(said, documents(session), session) for said in self._kept]
        self._kept.clear()
        return [judgement for judgement in judgements if judgement is not None]

    @abstractmethod
    def said(self, event: Said, document: Published | None, session: Session) -> Any:
        """What of an event is to be judged later."""

    @abstractmethod
    def judge(self, said: Any, known: Documents, session: Session) -> Judgement | None:
        """What is to be said of it."""


class _Document(Kept):
    """Looks at the document on the resource."""

    def said(self, event: Said, document: Published | None, session: Session) -> Published | None:
        return document if document is not None and not document.issuer else None


@rule("auth.prm.authorization-servers", early=True)
class AuthorizationServers(_Document):
    """Looks at the server's document on itself: authorization_servers has one entry or more.

    Where neither its address nor a refusal by the endpoint shows that it is this server's own, it is suspect.
    """

    def judge(self, said: Published, known: Documents, session: Session) -> Judgement | None:
        if any(strings(said.said, "authorization_servers")):
            return holds(said.event)
        verdict = broken if said.own else suspect
        value = said.said.get("authorization_servers")
        actual = "an empty array" if value == [] else shown(value) if "authorization_servers" in said.said else "absent"
        return verdict(said.event, "authorization_servers with at least one URL", actual)


@rule("auth.prm.document-shape", early=True)
class DocumentShape(_Document):
    """Looks at the types of the members that RFC 9728 names in the server's document on itself; others are left alone.

    Where neither its address nor a refusal by the endpoint shows that it is this server's own, it is suspect.
    """

    def judge(self, said: Published, known: Documents, session: Session) -> Judgement | None:
        fault = _fault(said.said)
        if not fault:
            return holds(said.event)
        return (broken if said.own else suspect)(said.event, "a document as RFC 9728 describes it", fault)


def _fault(said: dict[str, Any]) -> str:
    if not isinstance(said.get("resource"), str) or not said["resource"]:
        return f"resource is {shown(said['resource'])}" if "resource" in said else "there is no resource"
    for name in _TEXTS:
        if name in said and not isinstance(said[name], str):
            return f"{name} is {shown(said[name])}"
    for name in _LISTS:
        value = said.get(name, [])
        if not isinstance(value, list):
            return f"{name} is {shown(value)}"
        if not all(isinstance(one, str) for one in value):
            return f"{name} has an entry that is no string"
    return ""


@rule("auth.refresh.offline-not-in-prm", early=True)
class OfflineNotInDocument(_Document):
    """Looks for offline_access among the scopes of the server's document on itself."""

    def judge(self, said: Published, known: Documents, session: Session) -> Judgement | None:
        if OFFLINE not in strings(said.said, "scopes_supported"):
            return holds(said.event)
        verdict = broken if said.own else suspect
        return verdict(said.event, f"no {OFFLINE}: refresh tokens are no matter of the resource", "it is listed")


class _Refusal(Kept):
    """Looks at refusals by the endpoint. ``statuses`` are those that count."""

    statuses = frozenset({401})

    def said(
        self, event: Said, document: Published | None, session: Session
    ) -> tuple[HttpResponse, RequestHead] | None:
        exchange = session.exchange
        if not isinstance(event, HttpResponse) or event.head.status not in self.statuses or exchange is None:
            return None
        return (event, exchange.request) if exchange.to_endpoint and exchange.request is not None else None


@rule("auth.challenge.www-authenticate-on-401", early=True)
class WwwAuthenticate(_Refusal):
    """Looks for the challenge in a 401 where the server publishes a document on itself.

    To a request with a token it is owed beyond doubt; without one, or with a challenge of another kind, its lack is
    suspect. A server that has no such document may have other keys.
    """

    def judge(self, said: tuple[HttpResponse, RequestHead], known: Documents, session: Session) -> Judgement | None:
        event, request = said
        if challenge(event.head) is not None:
            return holds(event)
        if not known.published:
            return None
        others = header_values(event.head, "www-authenticate")
        verdict = broken if bearer(request) and not others else suspect
        actual = f"WWW-Authenticate: {others[0][:80]}" if others else "a 401 without WWW-Authenticate"
        return verdict(event, "WWW-Authenticate: Bearer", actual)


@rule("legacy.auth.challenge.resource-metadata", early=True)
class ResourceMetadata(_Refusal):
    """Looks for the address of the server's document on itself in a 401, where it publishes one."""

    def judge(self, said: tuple[HttpResponse, RequestHead], known: Documents, session: Session) -> Judgement | None:
        event, _ = said
        challenges = header_values(event.head, "www-authenticate")
        if any("resource_metadata" in one for one in challenges):
            return holds(event)
        if not known.published:
            return None
        actual = f"WWW-Authenticate: {challenges[0][:80]}" if challenges else "a 401 without WWW-Authenticate"
        return broken(event, "WWW-Authenticate with resource_metadata", actual)


@rule("auth.refresh.offline-not-in-challenge", early=True)
class OfflineNotInChallenge(_Refusal):
    """Looks for offline_access in the scope that a refusal by the endpoint asks for."""

    statuses = frozenset({401, 403})

    def judge(self, said: tuple[HttpResponse, RequestHead], known: Documents, session: Session) -> Judgement | None:
        event, _ = said
        scope = (challenge(event.head) or {}).get("scope")
        if scope is None:
            return None
        if OFFLINE not in scope.split():
            return holds(event)
        return broken(event, f"no {OFFLINE}: refresh tokens are no matter of the resource", f"scope={shown(scope)}")
