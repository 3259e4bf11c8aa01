"""Judge recorded sessions: captures in, one report out."""

import gc
import sys
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from mcpcheck import __version__
from mcpcheck.capture import Capture, open_capture, read
from mcpcheck.catalogue.load import load
from mcpcheck.engine import Engine, judgeable
from mcpcheck.errors import UsageError
from mcpcheck.ledger import Ledger
from mcpcheck.verdict import Report, SessionInfo, Verdict
from mcpcheck.wire.record import Record

EVIDENCE = 10_000
"""How many records of a capture are kept at hand as evidence for what comes after them."""


def lint(
    files: Sequence[Path],
    *,
    only: Iterable[str] = (),
    skip: Iterable[str] = (),
    strict: bool = False,
    role: str = "both",
    revision: str | None = None,
) -> Report:
    """Judge captures; ``-`` is standard input. ``role`` limits what is judged to one side: "client" or "server".

    ``revision`` is assumed of messages that do not tell theirs. Raises UsageError for what is no capture.
    """
    catalogue = load()
    chosen = catalogue.select(only) if only else frozenset(judgeable())
    chosen = (chosen & judgeable()) - (catalogue.select(skip) if skip else frozenset())
    if not chosen:
        raise UsageError("no rule judges a recording for what is selected; `mcpcheck conform` may test it")
    ledger = Ledger(
        (), reproduce=lambda verdict: f"mcpcheck lint --only {verdict.requirement} {verdict.session}", by_session=True
    )
    sessions, notes = [], []
    seen: set[str] = set()
    for file in files:
        capture = read(sys.stdin.buffer, "standard input") if str(file) == "-" else open_capture(file)
        with capture, _few_collections():
            sessions.append(judge_capture(capture, ledger, chosen, role=role, revision=revision))
        notes += capture.faults
        seen |= set(sessions[-1].revisions)
    ledger.consider(
        id
        for id in chosen
        if seen & set(catalogue[id].revisions) and any(catalogue[id].holds_on(info.transport) for info in sessions)
    )
    names = ", ".join(str(file) for file in files)
    return ledger.report(
        title="lint",
        target=names if len(files) <= 3 else f"{len(files)} captures",
        run=uuid.uuid4().hex[:12],
        started=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        tool=f"mcpcheck {__version__}",
        sessions=tuple(sessions),
        strict=strict,
        extra={"note": "; ".join(notes)} if notes else {},
    )


@contextmanager
def _few_collections() -> Iterator[None]:
    """Let the collector look for cycles less often: of all that a long capture makes, next to nothing is one."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def judge_capture(
    capture: Capture, ledger: Ledger, chosen: Collection[str], *, role: str, revision: str | None
) -> SessionInfo:
    """One capture into the ledger."""
    url = capture.header.target.get("url")
    endpoint = urlsplit(url).path or "/" if isinstance(url, str) else None
    engine = Engine(capture.header.transport, endpoint=endpoint, default=revision, only=chosen, counting=True)
    records: dict[int, Record] = {}
    revisions: set[str] = set()
    units = 0

    def take(verdict: Verdict) -> None:
        if role in {"both", verdict.blames}:
            named = Verdict(
                verdict.requirement,
                verdict.outcome,
                verdict.blames,
                verdict.frames,
                verdict.expected,
                verdict.actual,
                capture.name,
            )
            ledger.add(named, records)

    for record in capture:
        units += 1
        records[record.n] = record
        if len(records) > EVIDENCE:
            del records[next(iter(records))]
        for verdict in engine.feed(record):
            take(verdict)
        if engine.session.revision is not None:
            revisions.add(engine.session.revision)
    for verdict in engine.finish():
        take(verdict)
    for id, blames, times in engine.held():
        if role in {"both", blames}:
            ledger.hold(id, times)
    return SessionInfo(capture.name, capture.header.transport, units, capture.name, tuple(sorted(revisions)))
