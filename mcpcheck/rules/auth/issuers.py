"""auth.iss, auth.pkce, auth.as-metadata: what an authorization server promises, and whether a client minds it."""

from collections.abc import Iterable
from dataclasses import dataclass

from mcpcheck.rules.auth.code import CODE
from mcpcheck.rules.auth.documents import Published, documents, read
from mcpcheck.rules.auth.flows import Grant, look
from mcpcheck.rules.auth.traffic import Seen, fields, first
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Judgement, Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import HttpResponse
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import header


def _read_by(grant: Grant, session: Session, agent: str | None) -> list[Published]:
    """The documents by which somebody knew where to authorize; empty where they are not all to be seen."""
    if grant.type != CODE or not grant.asked or not session.whole:
        return []
    asked = grant.asked[0]
    return documents(session).at(asked.path, agent, asked.event.record.n)


class _Refuses:
    """Looks at the documents that a client has read of the authorization server at which it then asks for a code."""

    openid = False

    def see(self, event: Seen, session: Session) -> Iterable[Judgement]:
        read(event, session)
        grants = look(event, session).grants
        return [judgement for grant in grants for judgement in self._judge(grant, session)] if grants else ()

    def _judge(self, grant: Grant, session: Session) -> Verdicts:
        found = _read_by(grant, session, grant.agent)
        if not found or all(one.openid for one in found) is not self.openid:
            return
        asked = grant.asked[0].event
        if any(one.knows_pkce for one in found):
            yield holds(asked)
        else:
            said = "it asks for a code, although the document has no such member"
            verdict = broken if grant.agent else suspect
            yield verdict(asked, "code_challenge_methods_supported, or no flow", said, found[0].event.record.n)


@rule("auth.pkce.refuse-oauth", early=True)
class RefuseOauth(_Refuses):
    """Looks at what a client has read of an authorization server before it asks there for a code.

    The document is known by its authorization endpoint, and who read it by the User-Agent; without one it is suspect.
    Where one of several says that PKCE is supported, or none was read, the client is left alone.
    """


@rule("auth.pkce.refuse-oidc", early=True)
class RefuseOpenid(_Refuses):
    """Looks at the same where a client has read nothing but the document of OpenID Connect."""

    openid = True


@rule("auth.as-metadata.issuer-mismatch-rejected", early=True)
class MismatchRejected:
    """Looks at the documents by which a client found where it then asks for a code: they name the issuer it looked for.

    Who read a document is known by the User-Agent; without one it is suspect. A difference of nothing but a slash, and
    documents of which the recording does not show for whom they were asked, are left alone.
    """

    def see(self, event: Seen, session: Session) -> Iterable[Judgement]:
        read(event, session)
        grants = look(event, session).grants
        return [judgement for grant in grants for judgement in self._judge(grant, session)] if grants else ()

    def _judge(self, grant: Grant, session: Session) -> Verdicts:
        found = _read_by(grant, session, grant.agent)
        wanted = [documents(session).asked_for(one) for one in found]
        if not found or None in wanted:
            return
        asked = grant.asked[0].event
        if any(one.issuer.rstrip("/") == (issuer or "").rstrip("/") for one, issuer in zip(found, wanted, strict=True)):
            yield holds(asked)
        else:
            said = f"it asks for a code, although the document is that of {shown(found[0].issuer)}"
            verdict = broken if grant.agent else suspect
            yield verdict(asked, f"no flow without the document of {shown(wanted[0])}", said, found[0].event.record.n)


@dataclass(slots=True)
class _Returned:
    """An authorization response with a code."""

    event: HttpResponse
    to: str
    issuer: str | None


class _Responses:
    """Finds the authorization response that a granted code came with, and what the client had read before it asked."""

    of_client = True  # it is about what the client has read, and not about what is published

    def __init__(self) -> None:
        self._returned: Recent[str, _Returned] = Recent(200)  # by code

    def see(self, event: Seen, session: Session) -> Iterable[Judgement]:
        read(event, session)
        if isinstance(event, HttpResponse):
            self._note(event)
        grants = look(event, session).grants
        judgements = [self._compared(grant, session) for grant in grants] if grants else ()
        return [judgement for judgement in judgements if judgement is not None]

    def _compared(self, grant: Grant, session: Session) -> Judgement | None:
        found = self._returned.get(first(grant.fields, "code"))
        known = _read_by(grant, session, grant.agent if self.of_client else None)
        uris = {first(one.fields, "redirect_uri").partition("?")[0] for one in grant.asked}
        if found is None or found.to not in uris or len({(one.issuer, one.tells_issuer) for one in known}) != 1:
            return None
        return self.judge(grant, found, known[0])

    def _note(self, event: HttpResponse) -> None:
        to = header(event.head, "location") or ""
        if "code=" in to:
            told = fields(to.partition("?")[2].partition("#")[0])
            if first(told, "code"):
                issuer = told["iss"][0] if "iss" in told else None
                self._returned[first(told, "code")] = _Returned(event, to.partition("?")[0], issuer)

    def judge(self, grant: Grant, found: _Returned, known: Published) -> Judgement | None:
        raise NotImplementedError


@rule("auth.iss.missing-rejected", early=True)
class MissingRejected(_Responses):
    """Looks for token requests with a code that came without iss, although the document promises it.

    Who read the document is known by the User-Agent; without one it is suspect.
    """

    def judge(self, grant: Grant, found: _Returned, known: Published) -> Judgement | None:
        if not known.tells_issuer:
            return None
        if found.issuer is not None:
            return holds(grant.event)
        said = "the response had no iss, and its code was used"
        return (broken if grant.agent else suspect)(
            grant.event, "the response refused", said, found.event.record.n, known.event.record.n
        )


class _Compares(_Responses):
    """Compares iss with the issuer of the document that the client has read."""

    promised = True

    def judge(self, grant: Grant, found: _Returned, known: Published) -> Judgement | None:
        if found.issuer is None or known.tells_issuer is not self.promised:
            return None
        if found.issuer == known.issuer:
            return holds(grant.event)
        said = f"the response had iss={shown(found.issuer)}, and its code was used"
        expected = f"the response refused: the issuer is {shown(known.issuer)}"
        return (broken if grant.agent else suspect)(
            grant.event, expected, said, found.event.record.n, known.event.record.n
        )


@rule("auth.iss.match-when-advertised", early=True)
class MatchAdvertised(_Compares):
    """Looks for token requests with a code that came with another issuer, where the document promises iss.

    Who read the document is known by the User-Agent; without one it is suspect.
    """


@rule("auth.iss.match-when-unadvertised", early=True)
class MatchUnadvertised(_Compares):
    """Looks for the same where no document promises iss."""

    promised = False


@rule("auth.iss.as-advertises", early=True)
class Advertises(_Responses):
    """Looks at responses with iss: the document of the authorization server says that it sends it."""

    of_client = False

    def judge(self, grant: Grant, found: _Returned, known: Published) -> Judgement | None:
        if found.issuer is None:
            return None
        if known.tells_issuer:
            return holds(found.event)
        expected = "authorization_response_iss_parameter_supported: true in the document"
        return broken(found.event, expected, "it sends iss without saying so", known.event.record.n)


@rule("auth.iss.as-sends", early=True)
class Sends(_Responses):
    """Looks for iss in the authorization responses whose codes are used."""

    of_client = False

    def judge(self, grant: Grant, found: _Returned, known: Published) -> Judgement | None:
        if found.issuer is not None:
            return holds(found.event)
        return broken(found.event, "iss", "the authorization response has none")
