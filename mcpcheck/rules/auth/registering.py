"""auth.dcr, auth.refresh: what a client says of itself when it registers."""

from collections.abc import Iterable

from mcpcheck.rules.auth.clients import is_here
from mcpcheck.rules.auth.flows import Grant, Registration, flows, look
from mcpcheck.rules.auth.traffic import Seen, document, first, split, strings
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Judgement, Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.recent import Recent

_KINDS = ("native", "web")


class _Registered:
    """Looks at registrations, each once: as soon as a token that came of it is used."""

    def __init__(self) -> None:
        self._judged: Recent[int, None] = Recent(200)

    def see(self, event: Seen, session: Session) -> Iterable[Judgement]:
        grants = look(event, session).grants
        return list(self._judge_all(grants)) if grants else ()

    def _judge_all(self, grants: tuple[Grant, ...]) -> Verdicts:
        for grant in grants:
            registration = grant.registration
            if registration is None or registration.event.record.n in self._judged:
                continue
            judgement = self.judge(registration)
            if judgement is not None:
                self._judged[registration.event.record.n] = None
                yield judgement

    def judge(self, registration: Registration) -> Judgement | None:
        raise NotImplementedError


@rule("auth.dcr.application-type", early=True)
class ApplicationType(_Registered):
    """Looks for application_type in what a client registers with. What is registered elsewhere is not to be seen."""

    def judge(self, registration: Registration) -> Judgement | None:
        said = document(registration.event)
        kind = said.get("application_type")
        if kind in _KINDS:
            return holds(registration.event)
        actual = f"application_type is {shown(kind)}" if "application_type" in said else "there is none"
        return broken(registration.event, "application_type: native or web", actual)


@rule("auth.dcr.application-type-native", early=True)
class ApplicationTypeNative(_Registered):
    """Looks at clients all of whose redirect URIs are on this machine, or have a scheme of their own.

    To call such a client a web application is suspect: its kind is not otherwise known.
    """

    def judge(self, registration: Registration) -> Judgement | None:
        said = document(registration.event)
        uris = strings(said, "redirect_uris")
        if not uris or not all(_is_local(uri) for uri in uris):
            return None
        kind = said.get("application_type")
        if kind == "native":
            return holds(registration.event)
        if kind == "web":
            named = ", ".join(shown(uri) for uri in uris[:3])
            return suspect(registration.event, "application_type: native", f"web, with {named}")
        return None


def _is_local(uri: str) -> bool:
    parts = split(uri)
    if parts is None or not parts.scheme:
        return False
    return is_here(parts) if parts.scheme in ("http", "https") else True


@rule("auth.refresh.grant-type-declared", early=True)
class GrantTypeDeclared:
    """Looks at clients that use refresh tokens: whether they registered for that.

    That it did not is suspect: the authorization server may have added it.
    """

    def __init__(self) -> None:
        self._judged: Recent[int, None] = Recent(200)

    def see(self, event: Seen, session: Session) -> Iterable[Judgement]:
        grants = look(event, session).grants
        return list(self._judge_all(grants, session)) if grants else ()

    def _judge_all(self, grants: tuple[Grant, ...], session: Session) -> Verdicts:
        for grant in grants:
            found = _registration(grant, session)
            if found is None or found.event.record.n in self._judged:
                continue
            self._judged[found.event.record.n] = None
            if "refresh_token" in strings(document(found.event), "grant_types"):
                yield holds(found.event)
            else:
                said = shown(document(found.event).get("grant_types"))
                yield suspect(found.event, "grant_types with refresh_token", f"grant_types is {said}")


def _registration(grant: Grant, session: Session) -> Registration | None:
    if grant.type != "refresh_token":
        return None
    return flows(session).registered.get(first(grant.fields, "client_id"))
