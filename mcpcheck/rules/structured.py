"""tools.structured: what a tool gives back, held against the outputSchema that the server has listed for it."""

from dataclasses import dataclass
from typing import Any

from mcpcheck.catalogue.foreign import Foreign
from mcpcheck.rules.places import complete, listed
from mcpcheck.rules.registry import Judgement, Verdicts, broken, holds, rule, suspect
from mcpcheck.session.call import Call
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, CLIENT_INFO
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir, header

_CHANGED = "notifications/tools/list_changed"
_SOON = 60.0
"""Seconds after which a tool may well have another definition than it was listed with."""

_ON = ("tools/list", "tools/call", _CHANGED)


@dataclass(slots=True)
class _Listed:
    """The outputSchema of a tool as it was listed, with the frame and the time of the list."""

    schema: Foreign
    n: int
    t: float


class _Schemas:
    """What the server has listed, by who has asked. A change of the list that is announced makes it unknown."""

    def __init__(self) -> None:
        self._tools: Recent[tuple[str, str, str], _Listed | None] = Recent(1000)

    def learn(self, event: Answer | Notification, session: Session) -> None:
        if isinstance(event, Notification):
            if event.dir is Dir.S2C:
                self._tools.clear()
            return
        call = session.call
        for _, tool in listed(event, session, "tools/list"):
            if call is not None and isinstance(tool, dict) and isinstance(tool.get("name"), str):
                schema = tool.get("outputSchema")
                known = _Listed(Foreign(schema), event.record.n, event.record.t) if isinstance(schema, dict) else None
                self._tools[(*_who(call), tool["name"])] = known

    def of(self, call: Call, session: Session) -> _Listed | None:
        name = call.request.param("name")
        known = self._tools.get((*_who(call), name)) if isinstance(name, str) else None
        return known if known is not None and known.n > session.gap else None  # a change may be lost


def _who(call: Call) -> tuple[str, str]:
    """The client that a request names, and on HTTP its credentials and session: lists may differ between them."""
    head, meta = call.exchange.request if call.exchange else None, call.request.meta
    named = f"{meta.get(CLIENT_INFO)} {meta.get(CLIENT_CAPABILITIES)}" if meta else ""
    if head is None:
        return named, ""
    return named, f"{header(head, 'authorization')} {header(head, 'mcp-session-id')}"


def _result(answer: Answer, session: Session) -> dict[str, Any] | None:
    """The complete result of a tool that did not fail."""
    result = complete(answer, session, "tools/call")
    task = session.call is not None and session.call.request.param("task") is not None
    return None if result is None or task or result.get("isError") is True else result


def _wrong(answer: Answer, known: _Listed, expected: str, actual: str) -> Judgement:
    """Beyond doubt only where the tool was listed just before."""
    verdict = broken if answer.record.t - known.t <= _SOON else suspect
    return verdict(answer, expected, actual, known.n)


@rule("tools.structured.conforms", on=_ON, wakes="outputSchema")
class Conforms(_Schemas):
    """Holds structuredContent against the outputSchema that the server has listed before.

    A failed call is left alone, and so is a schema that is not valid, that leads elsewhere or in circles, or whose
    patterns only a backtracking engine takes. Formats are no constraint. Where the list is more than a minute old, a
    breach is suspect.
    """

    def see(self, event: Answer | Notification, session: Session) -> Verdicts:
        self.learn(event, session)
        result = _result(event, session) if isinstance(event, Answer) else None
        if not isinstance(event, Answer) or result is None or session.call is None:
            return
        known = self.of(session.call, session)
        if known is None or "structuredContent" not in result:
            return
        fault = known.schema.fault(result["structuredContent"])
        if fault:
            yield _wrong(event, known, "structuredContent that fits the outputSchema", f"structuredContent: {fault}")
        elif fault is not None:
            yield holds(event)


@rule("tools.structured.present", on=_ON, wakes="outputSchema")
class Present(_Schemas):
    """Looks for structuredContent in results of tools that were listed with an outputSchema; null is content, too.

    A failed call is left alone. Where the list is more than a minute old, a breach is suspect.
    """

    def see(self, event: Answer | Notification, session: Session) -> Verdicts:
        self.learn(event, session)
        result = _result(event, session) if isinstance(event, Answer) else None
        if not isinstance(event, Answer) or result is None or session.call is None:
            return
        known = self.of(session.call, session)
        if known is None:
            return
        if "structuredContent" in result:
            yield holds(event)
        else:
            yield _wrong(event, known, "structuredContent, since the tool has an outputSchema", "there is none")
