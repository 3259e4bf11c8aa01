"""http.param: the headers in which a client repeats the annotated parameters of a call."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from mcpcheck.rules.http.annotations import Annotated, faultless, reached
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import listed
from mcpcheck.rules.registry import Judgement, Verdicts, broken, holds, rule, suspect
from mcpcheck.session.call import Call
from mcpcheck.session.session import Session
from mcpcheck.wire import mcp_http
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.protocol import CLIENT_INFO
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir, header, header_values

_CHANGED = "notifications/tools/list_changed"
_ON = ("tools/list", "tools/call", _CHANGED)
_SOON = 60.0
"""Seconds after which a tool may well have another definition than it was listed with."""
_NOTHING = object()


@dataclass(slots=True)
class _Listed:
    """The annotated parameters of a tool as it was listed, with the frame and the time of the list."""

    parameters: list[Annotated]
    n: int
    t: float


@dataclass(slots=True)
class _Param:
    """One annotated parameter in one call: its header's name, its value (_NOTHING where absent), what was sent."""

    name: str
    value: Any
    sent: list[str]

    @property
    def told(self) -> str:
        return f"{self.name}: {', '.join(map(shown, self.sent))}" if self.sent else f"no {self.name}"

    @property
    def governed_by(self) -> str:
        """The requirement about the value's spelling."""
        if self.value is _NOTHING:
            return "http.param.omit-absent"
        if self.value is None:
            return "http.param.omit-null"
        if isinstance(self.value, bool):
            return "http.param.boolean-lowercase"
        if isinstance(self.value, int):
            return "http.param.integer-decimal"
        if self.value.startswith("=?base64?") and self.value.endswith("?="):
            return "http.param.base64-literal-sentinel"
        plain = not self.value or mcp_http.encode_value(self.value) == self.value
        return "http.param.mirrored" if plain else "http.param.base64-unsafe"

    @property
    def plain(self) -> str:
        """What the header has to stand for."""
        return str(self.value).lower() if isinstance(self.value, bool) else str(self.value)

    @property
    def right(self) -> bool:
        if len(self.sent) != 1 or not self.sent[0].isascii():
            return False
        return mcp_http.decode_value(self.sent[0].strip(" \t")) == self.plain

    @property
    def nearly(self) -> bool:
        """Whether an integer is spelled otherwise than usual, as 7.0 or +7."""
        try:
            return type(self.value) is int and len(self.sent) == 1 and float(self.sent[0]) == float(self.value)
        except (ValueError, OverflowError):
            return False


class _Params:
    """What clients have been told of the tools, by who has asked, and what each call repeats of its parameters.

    A call by a client that has not listed the tool, or whose list may have changed since, is left alone. So is a tool
    whose annotations are invalid, a parameter with a dot in its name, and what is redacted.
    """

    id: ClassVar[str] = ""

    def __init__(self) -> None:
        self._tools: Recent[tuple[str, str, str], _Listed] = Recent(1000)

    def see(self, event: Request | Answer | Notification, session: Session) -> Verdicts:
        if isinstance(event, Notification):
            if event.dir is Dir.S2C:
                self._tools.clear()
        elif isinstance(event, Answer):
            self._learn(event, session)
        elif event.dir is Dir.C2S and event.method == "tools/call" and session.call is not None:
            for known, parameter in self._parameters(event, session.call):
                if known.n > session.gap:  # else a change may be lost
                    yield from self._judge(event, known, parameter)

    def _learn(self, answer: Answer, session: Session) -> None:
        for _, tool in listed(answer, session, "tools/list"):
            if session.call is None or not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
                continue
            schema = tool.get("inputSchema")
            valid = isinstance(schema, dict) and faultless(schema) and not answer.record.redacted
            parameters = (
                [found for found in reached(schema) if _at(schema, _way(found[0])) is found[1]] if valid else []
            )
            self._tools[(*_who(session.call), tool["name"])] = _Listed(parameters, answer.record.n, answer.record.t)

    def _parameters(self, request: Request, call: Call) -> Iterator[tuple[_Listed, _Param]]:
        name, head = request.param("name"), call.exchange.request if call.exchange else None
        known = self._tools.get((*_who(call), name)) if isinstance(name, str) else None
        arguments = request.param("arguments")
        if known is None or head is None or request.record.redacted or not isinstance(arguments, dict | None):
            return
        for place, property in known.parameters:
            value, name = _at(arguments, place.split(".")), f"Mcp-Param-{property['x-mcp-header']}"
            sent = header_values(head, name)
            judged = value is _NOTHING or value is None or isinstance(value, str | int)
            if judged and not any("redacted-" in each for each in sent):
                yield known, _Param(name, value, sent)

    def _judge(self, request: Request, known: _Listed, parameter: _Param) -> Verdicts:
        id = parameter.governed_by
        if id in {"http.param.omit-absent", "http.param.omit-null"}:
            if id == self.id:
                fault = f"{parameter.told}, which has no value" if parameter.sent else ""
                yield _verdict(request, known, f"no {parameter.name}", fault)
        elif not parameter.sent:
            if self.id == "http.param.mirrored":
                yield _verdict(request, known, f"{parameter.name} for {shown(parameter.value)}", parameter.told)
        elif id == self.id or (self.id == "http.param.mirrored" and parameter.right):
            expected = f"one {parameter.name} that stands for {shown(parameter.plain)}"
            if parameter.right or not parameter.nearly:
                yield _verdict(request, known, expected, "" if parameter.right else parameter.told)
            else:
                yield suspect(request, expected, parameter.told, known.n)


def _verdict(request: Request, known: _Listed, expected: str, fault: str) -> Judgement:
    """Beyond doubt only where the tool was listed just before."""
    if not fault:
        return holds(request)
    verdict = broken if request.record.t - known.t <= _SOON else suspect
    return verdict(request, expected, fault, known.n)


def _who(call: Call) -> tuple[str, str]:
    """The credentials of a request, and the client that it names: lists may differ between them."""
    head, info = call.exchange.request if call.exchange else None, call.request.meta.get(CLIENT_INFO)
    named = f"{info.get('name')} {info.get('version')}" if isinstance(info, dict) else ""
    return (header(head, "authorization") or "" if head else ""), named


def _way(place: str) -> list[str]:
    """The way to a property's schema, by its place."""
    return [step for name in place.split(".") for step in ("properties", name)]


def _at(value: Any, way: list[str]) -> Any:
    """What stands under a path of names; _NOTHING where there is nothing."""
    for name in way:
        if not isinstance(value, dict) or name not in value:
            return _NOTHING
        value = value[name]
    return value


@rule("http.param.mirrored", on=_ON)
class Mirrored(_Params):
    """Looks for the header of each annotated parameter that has a value, and compares plain strings with theirs.

    A client that has listed the tool more than a minute before is suspect; so are the rules below.
    """

    id = "http.param.mirrored"


@rule("http.param.omit-null", on=_ON)
class OmitNull(_Params):
    """Looks for headers of annotated parameters that are null."""

    id = "http.param.omit-null"


@rule("http.param.omit-absent", on=_ON)
class OmitAbsent(_Params):
    """Looks for headers of annotated parameters that are not among the arguments."""

    id = "http.param.omit-absent"


@rule("http.param.integer-decimal", on=_ON)
class IntegerDecimal(_Params):
    """Compares the headers of annotated integers with their values; another spelling of the same number is suspect."""

    id = "http.param.integer-decimal"


@rule("http.param.boolean-lowercase", on=_ON)
class BooleanLowercase(_Params):
    """Compares the headers of annotated booleans with their values."""

    id = "http.param.boolean-lowercase"


@rule("http.param.base64-unsafe", on=_ON)
class Base64Unsafe(_Params):
    """Compares the headers of annotated strings that plain ASCII cannot carry with their values."""

    id = "http.param.base64-unsafe"


@rule("http.param.base64-literal-sentinel", on=_ON)
class Base64LiteralSentinel(_Params):
    """Compares the headers of annotated strings that look encoded themselves with their values."""

    id = "http.param.base64-literal-sentinel"
