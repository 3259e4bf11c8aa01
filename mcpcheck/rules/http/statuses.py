"""http.version, http.method, http.headers, base.meta: the HTTP status that belongs to an error of the protocol."""

from mcpcheck.rules.registry import Judgement, Verdicts, broken, holds, rule, suspect
from mcpcheck.session.call import Exchange
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer
from mcpcheck.wire.protocol import (
    CLIENT_CAPABILITIES,
    HEADER_MISMATCH,
    INPUT_METHODS,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_CLIENT_CAPABILITY,
    PROTOCOL_VERSION,
    UNSUPPORTED_VERSION,
)
from mcpcheck.wire.record import Dir, Kind

_RELAYED = INPUT_METHODS | {"completion/complete"}
"""Methods whose errors may come from something behind the server."""


def _refused(answer: Answer, session: Session, code: int) -> Exchange | None:
    """The exchange of a request that was refused with an error code, its status known."""
    exchange = session.exchange
    if answer.dir is Dir.C2S or answer.code != code or exchange is None or exchange.status is None:
        return None
    return exchange if exchange.call is not None else None


def _judged(answer: Answer, exchange: Exchange, status: int, *, certain: bool = True) -> Judgement:
    if exchange.status == status:
        return holds(answer)
    said = f"error {answer.code} under status {exchange.status}"
    verdict = broken if certain else suspect
    return verdict(answer, f"status {status}", said, exchange.response_frame)


def _late(answer: Answer) -> bool:
    """Whether an error came on an event stream, which may have been opened before the fault was noticed."""
    return answer.record.kind is Kind.SSE


@rule("http.version.unsupported-400", near="error")
def unsupported_400(answer: Answer, session: Session) -> Verdicts:
    """Looks at the status of every -32022. Which version a server may refuse has rules of its own."""
    exchange = _refused(answer, session, UNSUPPORTED_VERSION)
    if exchange is not None:
        yield _judged(answer, exchange, 400)


@rule("http.headers.mismatch-status", near="error")
def mismatch_status(answer: Answer, session: Session) -> Verdicts:
    """Looks at the status of every -32020."""
    exchange = _refused(answer, session, HEADER_MISMATCH)
    if exchange is not None:
        yield _judged(answer, exchange, 400)


@rule("base.meta.capability-http-400", near="error")
def capability_http_400(answer: Answer, session: Session) -> Verdicts:
    """Looks at the status of every -32021; one on an event stream, which may be older than the fault, is suspect."""
    exchange = _refused(answer, session, MISSING_CLIENT_CAPABILITY)
    if exchange is not None:
        yield _judged(answer, exchange, 400, certain=not _late(answer))


@rule("base.meta.missing-http-400", near="error")
def missing_http_400(answer: Answer, session: Session) -> Verdicts:
    """Looks at the status of -32602 where the request lacks protocolVersion or clientCapabilities in _meta.

    On an event stream, which may be older than the fault, another status is suspect. Where params or _meta is no
    object, something else is wrong.
    """
    exchange = _refused(answer, session, INVALID_PARAMS)
    if exchange is None or exchange.call is None:
        return
    params = exchange.call.request.obj.get("params", {})
    if not isinstance(params, dict) or not isinstance(params.get("_meta", {}), dict):
        return
    if not {PROTOCOL_VERSION, CLIENT_CAPABILITIES} <= exchange.call.request.meta.keys():
        yield _judged(answer, exchange, 400, certain=not _late(answer))


@rule("http.method.not-found-404", near="error")
def not_found_404(answer: Answer, session: Session) -> Verdicts:
    """Looks at the status of every -32601 that answers a request of this revision.

    On an event stream, and where what is behind the server may have said it (a tool, a prompt, a resource, a
    completion), another status is suspect.
    """
    exchange = _refused(answer, session, METHOD_NOT_FOUND)
    if exchange is None or exchange.call is None:
        return
    relayed = exchange.call.request.method in _RELAYED
    yield _judged(answer, exchange, 404, certain=not relayed and not _late(answer))
