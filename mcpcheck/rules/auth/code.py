"""auth.pkce, auth.state: how the authorization code is protected."""

from mcpcheck.rules.auth.flows import Grant, flows, of_grant
from mcpcheck.rules.auth.traffic import first
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session

CODE = "authorization_code"


@rule("auth.pkce.used", early=True)
@of_grant
def pkce_used(grant: Grant, session: Session) -> Verdicts:
    """Looks for code_challenge where a client asks for a code, and for code_verifier where it trades it for a token.

    What was pushed beforehand or is in a signed request is not to be seen, and left alone.
    """
    if grant.type != CODE:
        return
    if grant.open:
        told = grant.told("code_challenge")
        if told is not None:
            yield holds(told.event)
        else:
            yield broken(grant.asked[0].event, "a code_challenge", "the authorization request has none")
    if first(grant.fields, "code_verifier"):
        yield holds(grant.event)
    else:
        yield broken(grant.event, "the code_verifier", "the token request has none")


@rule("auth.pkce.s256", early=True)
@of_grant
def pkce_s256(grant: Grant, session: Session) -> Verdicts:
    """Looks at the method of a code_challenge; where none is named it is plain.

    Where no document in the recording says that the authorization server knows S256, another method is suspect.
    """
    told = grant.told("code_challenge") if grant.open else None
    if told is None:
        return
    method = first(told.fields, "code_challenge_method")
    if method == "S256":
        yield holds(told.event)
    else:
        verdict = broken if "S256" in flows(session).methods else suspect
        said = f"code_challenge_method={method[:40]}" if method else "no code_challenge_method, which means plain"
        yield verdict(told.event, "code_challenge_method=S256", said)


@rule("auth.state.sent", early=True)
@of_grant
def state_sent(grant: Grant, session: Session) -> Verdicts:
    """Looks for a state where a client asks for a code."""
    if not grant.open:
        return
    told = grant.told("state")
    if told is not None:
        yield holds(told.event)
    else:
        said = shown(first(grant.asked[0].fields, "client_id"))
        yield broken(grant.asked[0].event, "a state", f"the authorization request of {said} has none")
