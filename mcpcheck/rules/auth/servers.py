"""auth.as-metadata, auth.pkce: the documents of the authorization servers that a server names."""

from typing import Any

from mcpcheck.rules.auth.documents import Documents, Published
from mcpcheck.rules.auth.published import Kept, Said
from mcpcheck.rules.auth.traffic import member, strings
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Judgement, broken, holds, rule, suspect
from mcpcheck.session.session import Session


class _Document(Kept):
    """Looks at the document of an authorization server."""

    def said(self, event: Said, document: Published | None, session: Session) -> Published | None:
        return document if document is not None and document.issuer else None


@rule("auth.pkce.oidc-advertises", early=True)
class OpenidAdvertises(_Document):
    """Looks at documents of OpenID Connect of authorization servers that the server's document on itself names.

    They have code_challenge_methods_supported.
    """

    def judge(self, said: Published, known: Documents, session: Session) -> Judgement | None:
        if not said.openid or not known.knows(said.issuer):
            return None
        if said.knows_pkce:
            return holds(said.event)
        return broken(said.event, "code_challenge_methods_supported", "there is no such member")


@rule("auth.as-metadata.document-shape", early=True)
class DocumentShape(_Document):
    """Looks at documents of authorization servers that the server's document on itself names.

    They tell the token endpoint and, where there is a grant that needs them, the authorization endpoint and the
    response types. What else RFC 8414 and OpenID Connect know is left alone.
    """

    def judge(self, said: Published, known: Documents, session: Session) -> Judgement | None:
        if not known.knows(said.issuer):
            return None
        fault = _fault(said.said)
        return broken(said.event, "a document as RFC 8414 describes it", fault) if fault else holds(said.event)


def _fault(said: dict[str, Any]) -> str:
    grants = strings(said, "grant_types_supported") if "grant_types_supported" in said else ("authorization_code",)
    needed = ["token_endpoint"] if set(grants) != {"implicit"} else []
    asks = bool({"authorization_code", "implicit"} & set(grants))
    needed += ["authorization_endpoint"] if asks else []
    for name in needed:
        if not member(said, name):
            return f"{name} is {shown(said[name])}" if name in said else f"there is no {name}"
    types = said.get("response_types_supported")
    if asks and not isinstance(types, list):
        return f"response_types_supported is {shown(types)}" if types is not None else "no response_types_supported"
    return ""


@rule("auth.as-metadata.issuer-identical", early=True)
class IssuerIdentical(_Document):
    """Compares the issuer of a document with the one for which it was asked, where the recording shows that.

    That is so where it lies at the place, and on the host, of just one issuer that the server's document on itself
    names. A difference of nothing but a slash at the end is suspect: not the document may be wrong, but the name.
    """

    def judge(self, said: Published, known: Documents, session: Session) -> Judgement | None:
        wanted = known.asked_for(said)
        if wanted is None:
            return None
        if said.issuer == wanted:
            return holds(said.event)
        verdict = suspect if said.issuer.rstrip("/") == wanted.rstrip("/") else broken
        return verdict(said.event, f"issuer: {shown(wanted)}", f"issuer: {shown(said.issuer)}")
