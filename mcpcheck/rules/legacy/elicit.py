"""legacy.elicit: the error of 2025-11-25 that sends a user to a URL first."""

from collections.abc import Iterator
from typing import Any

from mcpcheck.rules import shapes
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import entries
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.shapes import without
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.protocol import URL_ELICITATION_REQUIRED
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_COMPLETE = "notifications/elicitation/complete"
_ASKING = ("elicitation/create", "tools/call", "resources/read", "prompts/get")
"""What brings elicitations by URL: the request itself, and the answers that may be an error -32042."""


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


@rule("legacy.elicit.url.shape", on="elicitation/create", sender=Dir.S2C)
def url_shape(request: Request, session: Session) -> Verdicts:
    """Looks for elicitationId in every request of mode url; its other members have rules of their own."""
    if request.param("mode") != "url":
        return
    id = request.param("elicitationId")
    if isinstance(id, str):
        yield holds(request)
    else:
        said = shown(id) if "elicitationId" in request.params else "absent"
        yield broken(request, "elicitationId is a string", f"elicitationId is {said}")


@rule("legacy.elicit.complete.shape", on=(*_ASKING, _COMPLETE), sender=Dir.S2C)
class CompleteShape:
    """Looks for elicitationId in every notifications/elicitation/complete.

    One that no elicitation of a session on stdio had is suspect: it may be of an earlier process.
    """

    def __init__(self) -> None:
        self._known: Recent[str, int] = Recent()

    def see(self, event: Request | Answer | Notification, session: Session) -> Verdicts:
        if not isinstance(event, Notification):
            for id, _ in _elicited(event):
                self._known[id] = event.record.n
            return
        id = event.param("elicitationId")
        if not isinstance(id, str):
            yield broken(event, "elicitationId is a string", f"elicitationId is {shown(id)}")
        elif id in self._known:
            yield holds(event)
        elif session.whole and session.transport == "stdio" and not self._known.forgetful:
            yield suspect(event, "the elicitationId of an elicitation", f"elicitationId is {shown(id)}")


@rule("legacy.elicit.url.unique-id", on=_ASKING, sender=Dir.S2C)
class UniqueId:
    """Compares the elicitationId of each elicitation by URL with those before it.

    The same one for another place is suspect. The same elicitation may be sent again, with another query in its url.
    """

    def __init__(self) -> None:
        self._places: Recent[str, tuple[str, int]] = Recent()

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        for id, url in _elicited(event):
            place = url.partition("?")[0]
            before, frame = self._places.get(id, (place, 0))
            if before == place:
                yield holds(event)
            else:
                yield suspect(event, "an elicitationId of its own", f"{shown(id)} was that of {shown(before)}", frame)
            self._places[id] = place, event.record.n


def _elicited(event: Request | Answer) -> Iterator[tuple[str, str]]:
    """The id and the url of each elicitation by URL that a request or an error -32042 brings."""
    found = (
        [event.params] if isinstance(event, Request) else [item for _, item in entries(_data(event), "elicitations")]
    )
    for item in found:
        if isinstance(item, dict) and item.get("mode") == "url":
            id, url = item.get("elicitationId"), item.get("url")
            if isinstance(id, str) and isinstance(url, str):
                yield id, url
