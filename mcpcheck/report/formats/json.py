"""The report for programs, as ``specs/report.schema.json`` describes it."""

import base64
import json
from typing import Any, Final

from mcpcheck.report.counts import count, kind
from mcpcheck.report.escape import encodable
from mcpcheck.report.frames import value, without_query, without_secrets
from mcpcheck.report.place import page, places
from mcpcheck.verdict import Finding, Report, Result
from mcpcheck.wire.record import Kind, Record, RequestHead, ResponseHead

LIMIT: Final = 64 * 1024
"""How many bytes of a payload a report carries; the capture has it whole."""


def render(report: Report, *, width: int, colour: bool) -> str:
    """One JSON object, in ASCII: it can be shown on a terminal as it is."""
    return json.dumps(_clean(document(report)), indent=2, ensure_ascii=True).replace("\x7f", "\\u007f") + "\n"


def document(report: Report) -> dict[str, Any]:
    """The report as JSON values."""
    counts = count(report)
    return {
        "mcpcheck": "report/1",
        "title": report.title,
        "target": report.target,
        "tool": report.tool,
        "run": report.run,
        "started": report.started,
        "seconds": round(report.seconds, 3),
        "strict": report.strict,
        "exit": report.exit_code,
        "summary": counts.line(),
        "counts": {name: getattr(counts, name) for name in counts.__slots__},
        "sessions": [
            {
                "name": session.name,
                "transport": session.transport,
                "revisions": list(session.revisions),
                "units": session.units,
                **({"file": session.file} if session.file else {}),
            }
            for session in report.sessions
        ],
        "results": [_result(result, report) for result in report.results],
        "troubles": [{"where": trouble.where, "text": trouble.text} for trouble in report.troubles],
        "stale": list(report.stale),
        "next_steps": list(report.next_steps),
        "extra": dict(report.extra),
    }


def _result(result: Result, report: Report) -> dict[str, Any]:
    requirement = result.requirement
    return {
        "id": requirement.id,
        "level": str(requirement.level),
        "role": requirement.role,
        "summary": requirement.summary,
        "page": requirement.url,
        "status": str(result.status),
        "counts_as": kind(result, strict=report.strict),
        "held": result.held,
        **({"note": result.note} if result.note else {}),
        "findings": [_finding(finding, report) for finding in result.findings],
    }


def _finding(finding: Finding, report: Report) -> dict[str, Any]:
    optional = {
        "session": finding.session,
        "scenario": finding.scenario,
        "reproduce": finding.reproduce,
        "curl": finding.curl,
        "repair": finding.requirement.repair,
        "known": finding.known,
    }
    return {
        "severity": str(finding.severity),
        "suspect": finding.suspect,
        "blames": finding.blames,
        "frames": list(finding.frames),
        "places": places(finding),
        "expected": finding.expected,
        "actual": finding.actual,
        "times": finding.times,
        "page": page(finding, report),
        **{name: value for name, value in optional.items() if value},
        "evidence": [_frame(without_secrets(record)) for record in finding.evidence],
    }


def _frame(record: Record) -> dict[str, Any]:
    """A record with the keys that a capture gives it; its payload is text, or base64 where it is not UTF-8."""
    frame: dict[str, Any] = {"n": record.n, "t": record.t, "dir": str(record.dir), "kind": str(record.kind)}
    if record.exchange is not None:
        frame["x"] = record.exchange
    if record.http:
        frame["http"] = _head(record.http)
    if record.kind is Kind.EVENT:
        return frame | {"event": record.event or "", **({"detail": record.detail} if record.detail else {})}
    if record.kind is Kind.HEAD:
        return frame
    if len(record.data) > LIMIT:
        frame["bytes"] = len(record.data)
    return frame | _payload(record.data)


def _payload(data: bytes) -> dict[str, str]:
    kept = data[:LIMIT]
    try:
        return {"raw": kept.decode()}
    except UnicodeDecodeError as error:
        if len(data) > LIMIT and error.start >= LIMIT - 3:  # cut in the middle of a character
            return {"raw": kept[: error.start].decode()}
        return {"raw_b64": base64.b64encode(kept).decode()}


def _head(http: RequestHead | ResponseHead) -> dict[str, Any]:
    headers = [[name, value(name, text)] for name, text in http.headers]
    if isinstance(http, RequestHead):
        return {"method": http.method, "path": without_query(http.path), "headers": headers}
    return {"status": http.status, "reason": http.reason, "headers": headers}


def _clean(item: Any) -> Any:
    """The same value with strings that any reader of JSON takes: a lone surrogate is no text."""
    match item:
        case str():
            return encodable(item)
        case dict():
            return {encodable(str(name)): _clean(member) for name, member in item.items()}
        case list() | tuple():
            return [_clean(member) for member in item]
        case None | bool() | int() | float():
            return item
        case _:
            return encodable(str(item))
