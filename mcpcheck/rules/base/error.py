"""base.error: the form of errors, and which codes may be sent for what."""

import re
from typing import Any

from mcpcheck.catalogue.schemas import Schemas
from mcpcheck.rules.payloads import integral, is_due, shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.call import Call
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer
from mcpcheck.wire.protocol import (
    CLIENT_CAPABILITIES,
    HEADER_MISMATCH,
    INPUT_METHODS,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CLIENT_CAPABILITY,
    MODERN,
    PARSE_ERROR,
    PROTOCOL_VERSION,
    RESOURCE_NOT_FOUND,
    UNSUPPORTED_VERSION,
    URL_ELICITATION_REQUIRED,
)
from mcpcheck.wire.recent import Recent

_STANDARD = frozenset({PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR})
_DEFINED = frozenset({HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION})
_TRACE = re.compile(r"Traceback \(most recent|^\s*at .+:\d+|File \".+\", line \d+", re.MULTILINE)
_LONGEST = 300
_MOST = 8
"""How many different capabilities of one method are remembered."""


def _code(answer: Answer, session: Session) -> int | None:
    """The code of an error that is to be judged; None where there is none, or where it is no integer."""
    code = answer.code
    return code if type(code) is int and is_due(answer, session) else None


@rule("base.error.shape", near="error")
def shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at the error of every error response; the type of its code is base.error.code-integer."""
    if not answer.has_error or answer.has_result or not is_due(answer, session):
        return
    error = answer.error
    if not isinstance(error, dict):
        yield broken(answer, "error is an object", f"error is {shown(error)}")
    elif "code" not in error:
        yield broken(answer, "error has a code", "there is no code")
    elif not isinstance(error.get("message"), str):
        said = shown(error["message"]) if "message" in error else "absent"
        yield broken(answer, "error.message is a string", f"error.message is {said}")
    else:
        yield holds(answer)


@rule("base.error.code-integer", near="error")
def code_integer(answer: Answer, session: Session) -> Verdicts:
    """Looks at error.code where it is present. Any integer is one, whatever it means."""
    if not isinstance(answer.error, dict) or "code" not in answer.error or not is_due(answer, session):
        return
    code = answer.code
    if type(code) is int:
        yield holds(answer)
    elif integral(code):
        yield suspect(answer, "code is an integer", f"code is {code!r}, which not every reader takes for one")
    else:
        yield broken(answer, "code is an integer", f"code is {shown(code)}")


@rule("base.error.message-concise", near="error")
def message_concise(answer: Answer, session: Session) -> Verdicts:
    """Looks for line breaks, stack traces and more than 300 characters in a message: suspect, never broken."""
    message = answer.error.get("message") if isinstance(answer.error, dict) else None
    if not isinstance(message, str) or not is_due(answer, session):
        return
    if "\n" in message or _TRACE.search(message):
        yield suspect(answer, "one short sentence", "a message of several lines, or with a stack trace")
    elif len(message) > _LONGEST:
        yield suspect(answer, "one short sentence", f"a message of {len(message)} characters")
    else:
        yield holds(answer)


@rule("base.error.standard-codes")
class StandardCodes:
    """Looks for contradictions that a recording shows: all of them are suspect.

    A method that is answered with -32601 and, for the same capabilities, also with a result; a parse error for a
    message that was JSON.
    """

    def __init__(self) -> None:
        self._served: Recent[str, list[tuple[Any, int]]] = Recent()  # by method: capabilities, and a frame

    def see(self, answer: Answer, session: Session) -> Verdicts:
        call = session.call
        if call is None or not is_due(answer, session):
            return
        method, capabilities = call.request.method, call.request.meta.get(CLIENT_CAPABILITIES)
        before = next((n for known, n in self._served.get(method, ()) if known == capabilities), None)
        code = _code(answer, session)
        if isinstance(answer.result, dict):
            if before is None:
                self._served[method] = [*self._served.get(method, [])[-_MOST:], (capabilities, answer.record.n)]
        elif code == METHOD_NOT_FOUND and before is not None:
            yield suspect(answer, "-32601 for unknown methods only", f"{method} was served before", before)
        elif code == PARSE_ERROR:
            yield suspect(answer, "-32700 for text that is no JSON", "the request is JSON", call.request.record.n)
        elif code in _STANDARD:
            yield holds(answer)


@rule("base.error.reserved-range", near="error")
def reserved_range(answer: Answer, session: Session) -> Verdicts:
    """Looks at codes from -32768 to -32100; the codes above have rules of their own, all others are free."""
    code = _code(answer, session)
    if code is None:
        return
    if -32768 <= code <= -32100 and code not in _STANDARD:
        yield broken(answer, "one of the five codes of JSON-RPC, or a code outside its range", f"code is {code}")
    else:
        yield holds(answer)


@rule("base.error.legacy-range-avoid", near="error")
def legacy_range_avoid(answer: Answer, session: Session) -> Verdicts:
    """Looks at codes from -32019 to -32000: suspect, since older implementations may go on using them."""
    code = _code(answer, session)
    if code is None or code == RESOURCE_NOT_FOUND or (session.call or session.near) is None:
        return
    if -32019 <= code <= -32000:
        yield suspect(answer, "no code from -32019 to -32000 in a new implementation", f"code is {code}")
    else:
        yield holds(answer)


@rule("base.error.mcp-range-defined", near="error")
def mcp_range_defined(answer: Answer, session: Session) -> Verdicts:
    """Looks at codes from -32099 to -32020; -32042 has a rule of its own."""
    code = _code(answer, session)
    if code is None or not -32099 <= code <= -32020 or code == URL_ELICITATION_REQUIRED:
        return
    if code in _DEFINED:
        yield holds(answer)
    else:
        yield broken(answer, "-32020, -32021 or -32022, the codes that are defined in this range", f"code is {code}")


@rule("base.error.mcp-range-meaning")
class McpRangeMeaning:
    """Looks at -32020, -32021 and -32022 and at what the request was.

    -32022 in answer to initialize, or to a request that names no version, is left alone.
    """

    def __init__(self) -> None:
        self._accepted: Recent[str, int] = Recent()

    def see(self, answer: Answer, session: Session) -> Verdicts:
        call = session.call
        version = call.request.meta.get(PROTOCOL_VERSION) if call else None
        if isinstance(answer.result, dict) and isinstance(version, str):
            self._accepted[version] = self._accepted.get(version, answer.record.n)
        code = _code(answer, session)
        if code == HEADER_MISMATCH:
            if session.transport == "stdio":
                yield broken(answer, "-32020 only where there are headers", "it was sent on stdio")
            else:
                yield holds(answer)
        elif code == UNSUPPORTED_VERSION and isinstance(version, str):
            yield from self._version(answer, session, version)
        elif code == MISSING_CLIENT_CAPABILITY and call is not None:
            yield from self._capability(answer, call)

    def _version(self, answer: Answer, session: Session, version: str) -> Verdicts:
        if version in self._accepted:
            n = self._accepted[version]
            yield broken(answer, f"{version} is refused always or never", "the same server has accepted it", n)
        elif version in session.supported:
            yield broken(answer, f"{version} is refused always or never", "the server lists it as supported")
        else:
            yield holds(answer)

    def _capability(self, answer: Answer, call: Call) -> Verdicts:
        data = answer.error.get("data")
        required = data.get("requiredCapabilities") if isinstance(data, dict) else None
        if not isinstance(required, dict) or not required:
            return
        if _covers(call.request.meta.get(CLIENT_CAPABILITIES), required):
            n = call.request.record.n
            yield broken(answer, "-32021 for a capability that is not declared", "the request declares all of them", n)
        else:
            yield holds(answer)


def _covers(declared: object, required: object) -> bool:
    """Whether every member that is required, at any depth, is declared."""
    if not isinstance(required, dict):
        return True
    return isinstance(declared, dict) and all(
        name in declared and _covers(declared[name], value) for name, value in required.items()
    )


@rule("base.error.no-32002", near="error")
def no_32002(answer: Answer, session: Session) -> Verdicts:
    """Looks at errors of the stateless era; in a legacy session the code is right."""
    code = _code(answer, session)
    if code == RESOURCE_NOT_FOUND:
        yield broken(answer, "-32602 for a resource that does not exist", "code is -32002, of earlier revisions")
    elif code is not None and session.call and session.call.request.method == "resources/read":
        yield holds(answer)


@rule("base.error.no-32042", near="error")
def no_32042(answer: Answer, session: Session) -> Verdicts:
    """Looks at errors of the stateless era; in a session of 2025-11-25 the code is right."""
    code = _code(answer, session)
    if code == URL_ELICITATION_REQUIRED:
        yield broken(answer, "input_required with an elicitation of mode url", "code is -32042, of 2025-11-25")
    elif code is not None and session.call and session.call.request.method in INPUT_METHODS:
        yield holds(answer)


@rule("base.error.missing-capability-shape", near="error")
def missing_capability_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at the data of every -32021."""
    if _code(answer, session) != MISSING_CLIENT_CAPABILITY:
        return
    data = answer.error.get("data")
    required = data.get("requiredCapabilities") if isinstance(data, dict) else None
    if not isinstance(required, dict):
        said = f"requiredCapabilities is {shown(required)}" if isinstance(data, dict) else "there is no data object"
        yield broken(answer, "data.requiredCapabilities is an object of capabilities", said)
        return
    problem = Schemas.for_revision(session.revision or MODERN).explain("ClientCapabilities", required)
    if problem:
        yield broken(answer, "data.requiredCapabilities is an object of capabilities", problem)
    else:
        yield holds(answer)
