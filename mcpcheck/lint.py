"""Judge recorded sessions: captures in, one report out."""

import gc
import shlex
import uuid
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from mcpcheck import __version__
from mcpcheck.capture import Capture, open_any
from mcpcheck.catalogue.load import load
from mcpcheck.engine import Engine, judgeable
from mcpcheck.errors import UsageError
from mcpcheck.ledger import Ledger
from mcpcheck.verdict import Report, SessionInfo, Verdict
from mcpcheck.wire.record import Record

EVIDENCE = 2_000
EVIDENCE_BYTES = 8 << 20
"""How many records of a capture, and of how many bytes, are kept at hand as evidence for what comes after them."""

PROGRESS_EVERY = 500
"""After how many records it is said how far the reading is."""

Progress = Callable[[str, int, float | None], None]
"""Told of a file's name, of the records read, and of the share of the file, where it is known."""


def lint(
    files: Sequence[Path],
    *,
    only: Iterable[str] = (),
    skip: Iterable[str] = (),
    strict: bool = False,
    role: str = "both",
    revision: str | None = None,
    progress: Progress = lambda name, records, share: None,
) -> Report:
    """Judge recorded sessions; ``-`` is standard input. ``role``, "client" or "server", limits what is judged.

    ``revision`` is assumed of messages that do not tell theirs. Raises UsageError for a file that holds no session;
    where there are several files, the report names it as a trouble and has the verdicts on the others.
    """
    catalogue = load()
    chosen = catalogue.select(only) if only else frozenset(judgeable())
    chosen = (chosen & judgeable()) - (catalogue.select(skip) if skip else frozenset())
    if not chosen:
        raise UsageError("no rule judges a recording for what is selected; `mcpcheck conform` may test it")
    homes: dict[str, str] = {}
    ledger = Ledger((), reproduce=lambda verdict: _again(verdict, homes, revision), by_session=True)
    sessions: list[SessionInfo] = []
    notes: list[str] = []
    for file in files:
        try:
            for capture in open_any(file):
                homes[capture.name] = capture.file
                shown = chosen - catalogue.select(capture.unseen) if capture.unseen else chosen
                with _few_collections():
                    info = judge_capture(capture, ledger, shown, role=role, revision=revision, progress=progress)
                sessions.append(info)
                notes += [fault for fault in capture.faults if fault not in notes]
                notes += [f"{capture.name}: {note}" for note in capture.notes]
        except UsageError as error:
            if len(files) == 1:
                raise
            ledger.trouble(str(file), str(error))
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


def _again(verdict: Verdict, homes: dict[str, str], revision: str | None) -> str:
    """The command that shows a verdict again."""
    assumed = f" --revision {revision}" if revision else ""
    file = shlex.quote(homes.get(verdict.session, verdict.session))
    return f"mcpcheck lint --only {verdict.requirement}{assumed} {file}"


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
    capture: Capture,
    ledger: Ledger,
    chosen: Collection[str],
    *,
    role: str,
    revision: str | None,
    progress: Progress = lambda name, records, share: None,
) -> SessionInfo:
    """One capture into the ledger."""
    transport = capture.header.transport
    url = capture.header.target.get("url")
    endpoint = urlsplit(url).path or "/" if isinstance(url, str) else None
    engine = Engine(transport, endpoint=endpoint, default=revision, only=chosen, counting=True)
    evidence = _Evidence()
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
            ledger.add(named, evidence)

    for record in capture:
        units += record.n > 0  # what comes before the first is no unit
        evidence.add(record)
        for verdict in engine.feed(record):
            take(verdict)
        if engine.session.revision is not None:
            revisions.add(engine.session.revision)
        if units % PROGRESS_EVERY == 0:
            progress(capture.name, units, capture.share)
    for verdict in engine.finish():
        take(verdict)
    for id, blames, times in engine.held():
        if role in {"both", blames}:
            ledger.hold(id, times)
    capture.notes += [
        f"revision {version} is not known to this mcpcheck: its messages are judged by what holds in every revision"
        for version in engine.session.unknown_revisions
    ]
    catalogue = load()
    ledger.consider(
        id for id in chosen if revisions & set(catalogue[id].revisions) and catalogue[id].holds_on(transport)
    )
    home = capture.file if capture.file == capture.name else ""
    return SessionInfo(capture.name, transport, units, home, tuple(sorted(revisions)))


class _Evidence(Mapping[int, Record]):
    """The records that were read last, by number, as many as there is room for. The last one is always there.

    One is put in for each record of a capture, and one looked for only where something is found.
    """

    def __init__(self) -> None:
        self._records: deque[Record] = deque()
        self._bytes = 0

    def add(self, record: Record) -> None:
        records = self._records
        self._bytes += len(record.data)
        records.append(record)
        while len(records) > EVIDENCE or (self._bytes > EVIDENCE_BYTES and len(records) > 1):
            self._bytes -= len(records.popleft().data)

    def __getitem__(self, n: int) -> Record:
        for record in reversed(self._records):
            if record.n == n:
                return record
        raise KeyError(n)

    def __iter__(self) -> Iterator[int]:
        return (record.n for record in self._records)

    def __len__(self) -> int:
        return len(self._records)
