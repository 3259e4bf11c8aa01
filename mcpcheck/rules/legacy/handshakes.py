"""What initialize has settled in each session of a recording: the capabilities of both sides."""

from dataclasses import dataclass, field
from typing import Any

from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir, header

Capabilities = dict[str, Any]


@dataclass(slots=True)
class Handshake:
    """The capabilities that the client and the server have declared to each other.

    ``sure`` is False where several clients may speak and the recording cannot tell them apart: then it holds what any
    of them has declared.
    """

    client: Capabilities = field(default_factory=dict)
    server: Capabilities = field(default_factory=dict)
    sure: bool = True


class Handshakes:
    """The handshakes that a recording shows, by session. A rule that asks for them lets them learn from each answer."""

    def __init__(self) -> None:
        self._of: Recent[str, Handshake] = Recent()

    def learn(self, answer: Answer, session: Session) -> None:
        """A successful answer to initialize opens a session."""
        call = session.call
        if call is None or call.request.method != "initialize" or not isinstance(answer.result, dict):
            return
        if answer.dir is Dir.C2S:
            return
        client, server = _object(call.request.param("capabilities")), _object(answer.result.get("capabilities"))
        response = session.exchange.response if session.exchange else None
        name = (header(response, "mcp-session-id") if response else None) or name_of(session)
        known = self._of.get(name or "")
        if name is not None or known is None:
            self._of[name or ""] = Handshake(client, server, name is not None)
        else:
            known.client, known.server = _joined(known.client, client), _joined(known.server, server)

    def of(self, session: Session) -> Handshake | None:
        """The handshake of the session that an event belongs to; None where it was not seen."""
        return self._of.get(name_of(session) or "")


def name_of(session: Session) -> str | None:
    """What tells the event's session from others: nothing on stdio; None where the recording cannot tell them apart."""
    if session.transport == "sse" and session.stream is not None:
        return f"stream {session.stream}"
    head = session.exchange.request if session.exchange else None
    return (header(head, "mcp-session-id") if head else None) or ("" if session.one_client else None)


def _object(value: Any) -> Capabilities:
    return value if isinstance(value, dict) else {}


def _joined(one: Capabilities, other: Capabilities) -> Capabilities:
    """What either of two has declared, two levels deep."""
    joined = {**one, **other}
    for name in one.keys() & other.keys():
        if isinstance(one[name], dict) and isinstance(other[name], dict):
            joined[name] = {**one[name], **other[name], **_true(one[name]), **_true(other[name])}
    return joined


def _true(members: Capabilities) -> Capabilities:
    return {name: value for name, value in members.items() if value is True}
