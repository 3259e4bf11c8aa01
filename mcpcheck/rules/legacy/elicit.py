"""legacy.elicit: the error of 2025-11-25 that sends a user to a URL first."""

from typing import Any

from mcpcheck.rules import shapes
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import entries
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.shapes import without
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.protocol import URL_ELICITATION_REQUIRED
from mcpcheck.wire.record import Dir


def _data(answer: Answer) -> dict[str, Any] | None:
    """The data of an error -32042; empty where it is no object, None where the answer is no such error."""
    if type(answer.code) is not int or answer.code != URL_ELICITATION_REQUIRED:
        return None
    data = answer.error.get("data")
    return data if isinstance(data, dict) else {}


@rule("legacy.elicit.required-error.list", near="error", sender=Dir.S2C)
def required_error_list(answer: Answer, session: Session) -> Verdicts:
    """Looks for the list in data of every error -32042: it is there, and names at least one elicitation."""
    data = _data(answer)
    if data is None:
        return
    listed = data.get("elicitations")
    if isinstance(listed, list) and listed:
        yield holds(answer)
    else:
        said = "empty" if listed == [] else shown(listed) if "elicitations" in data else "absent"
        yield broken(answer, "data.elicitations lists what has to be completed", f"data.elicitations is {said}")


@rule("legacy.elicit.required-error.url-only", near="error", sender=Dir.S2C)
def required_error_url_only(answer: Answer, session: Session) -> Verdicts:
    """Looks at each elicitation that an error -32042 lists: of mode url, with url, message and elicitationId."""
    found = [(f"data.{at}", without(item, _meta=..., task=...)) for at, item in entries(_data(answer), "elicitations")]
    yield from shapes.judge_all(answer, session, "ElicitRequestURLParams", found)


@rule("legacy.elicit.required-error.only-then", near=("error", "capabilities"))
class RequiredErrorOnlyThen:
    """Looks at who gets an error -32042: suspect where the client has declared no elicitation by URL.

    That the error lists elicitations by URL has rules of its own. HTTP is left alone: there one recording may show
    several clients.
    """

    def __init__(self) -> None:
        self._declared: Any = None  # the capabilities of initialize

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        if isinstance(event, Request):
            if event.method == "initialize" and event.dir is Dir.C2S:
                self._declared = event.param("capabilities")
            return
        if event.dir is Dir.C2S or not session.one_client or not isinstance(self._declared, dict) or not _data(event):
            return
        elicitation = self._declared.get("elicitation")
        if isinstance(elicitation, dict) and "url" in elicitation:
            yield holds(event)
        else:
            yield suspect(event, "-32042 for a client with elicitation by URL", "a client that has not declared it")
