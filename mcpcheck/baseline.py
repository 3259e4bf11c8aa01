"""Baselines: failures that are known, each with its reason, and the check that they are still failures.

A baseline is TOML, one table for each known failure::

    [[known]]
    id = "base.result.type"                # an id, or a prefix of whole parts
    reason = "Fixed in version 3 of the SDK."
    target = "python server.py"            # optional: the entry counts for this target only; * stands for anything

An entry excuses every finding under its id, failure or warning. It is stale, which is itself a failure, where the run
shows that nothing is left to excuse: something under it passed, and nothing under it failed, was untestable or was an
error. What this run could not or did not judge says nothing: a run on another transport, with fewer tools or with
``--only`` leaves the entry in peace.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from mcpcheck.catalogue.load import Catalogue
from mcpcheck.catalogue.load import load as load_catalogue
from mcpcheck.errors import UsageError
from mcpcheck.verdict import Finding, Report, Result, Status

KEYS: Final = ("id", "reason", "target")


@dataclass(frozen=True, slots=True)
class Known:
    """One known failure."""

    id: str
    reason: str
    target: str = ""

    def excuses(self, id: str) -> bool:
        """Whole parts only: ``base.request.id`` must not excuse ``base.request.id-unique``."""
        return id == self.id or id.startswith(self.id + ".")


@dataclass(frozen=True, slots=True)
class Baseline:
    """The known failures of a file; ``name`` is what a message calls it."""

    known: tuple[Known, ...]
    name: str = "the baseline"


def load(path: Path, catalogue: Catalogue | None = None) -> Baseline:
    """The baseline in a file; a UsageError that says where, for whatever is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the baseline {path} cannot be read: {error}") from None
    return parse(text, str(path), catalogue)


def parse(text: str, name: str = "the baseline", catalogue: Catalogue | None = None) -> Baseline:
    """The baseline that a text holds."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is no TOML: {error}") from None
    entries = document.pop("known", [])
    if document or not isinstance(entries, list):
        wrong = next(iter(document), "known")
        raise UsageError(f"{name}: {wrong!r} has no place here; a baseline is made of [[known]] tables")
    lines = [n for n, line in enumerate(text.splitlines(), 1) if line.replace(" ", "").startswith("[[known]]")]
    known: list[Known] = []
    for number, entry in enumerate(entries):
        where = f"line {lines[number]}" if len(lines) == len(entries) else f"entry {number + 1}"
        one = _entry(entry, f"{name}, {where}", catalogue or load_catalogue())
        if any((one.id, one.target) == (other.id, other.target) for other in known):
            raise UsageError(f"{name}, {where}: {one.id} is named a second time")
        known.append(one)
    return Baseline(tuple(known), name)


def _entry(entry: Any, where: str, catalogue: Catalogue) -> Known:
    if not isinstance(entry, dict):
        raise UsageError(f"{where}: an entry is a table with the keys {', '.join(KEYS)}")
    for key, value in entry.items():
        if key not in KEYS:
            raise UsageError(f"{where}: there is no key {key!r}; an entry has the keys {', '.join(KEYS)}")
        if not isinstance(value, str) or not value.strip():
            raise UsageError(f"{where}: {key} has to be a text that says something")
    for key in ("id", "reason"):
        if key not in entry:
            raise UsageError(f"{where}: {key} is missing; every known failure has an id and a reason")
    known = Known(**entry)
    if not any(known.excuses(id) for id in catalogue):
        raise UsageError(f"{where}: no requirement is called or under {known.id!r}{catalogue.suggestion(known.id)}")
    return known


def apply(report: Report, baseline: Baseline) -> Report:
    """The report with its known findings marked, and the entries that are stale."""
    applicable = [known for known in baseline.known if not known.target or fnmatchcase(report.target, known.target)]
    results = tuple(_mark(result, applicable) for result in report.results)
    stale = tuple(f"{known.id} ({baseline.name}: {known.reason})" for known in applicable if _stale(known, results))
    return replace(report, results=results, stale=(*report.stale, *stale))


def _mark(result: Result, entries: Iterable[Known]) -> Result:
    """The nearest entry, that with the longest id, gives the reason; one for this target comes before one for all."""
    found = [known for known in entries if known.excuses(result.requirement.id)]
    if not found or not result.findings:
        return result
    nearest = max(found, key=lambda known: (len(known.id), bool(known.target)))
    findings: tuple[Finding, ...] = tuple(replace(finding, known=nearest.reason) for finding in result.findings)
    return replace(result, findings=findings)


def _stale(known: Known, results: Iterable[Result]) -> bool:
    under = [result for result in results if known.excuses(result.requirement.id)]
    unsettled = any(result.findings or result.status in {Status.UNTESTABLE, Status.ERROR} for result in under)
    return not unsettled and any(result.status is Status.PASSED for result in under)
