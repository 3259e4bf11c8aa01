"""What a campaign found, as a report: each failure once, with the capture that shows it."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcpcheck import __version__
from mcpcheck.capture import Header, write_capture
from mcpcheck.capture.place import default_path, name_of
from mcpcheck.fuzz.campaign import Campaign, Found
from mcpcheck.ledger import Ledger
from mcpcheck.verdict import Report, SessionInfo


def report_of(campaign: Campaign, **head: Any) -> Report:
    """The report; the captures of the failures are written on the way. ``head`` are run id, clock and version."""
    command = campaign.reproduce()
    ledger = Ledger(campaign.considered, reproduce=lambda verdict: command)
    for id, times in campaign.held.items():
        ledger.hold(id, times)
    for verdict, evidence in campaign.suspicions.values():
        ledger.add(verdict, evidence)
    for trouble in campaign.troubles:
        ledger.trouble(trouble.where, trouble.text)
    infos = []
    for found in campaign.found:
        ledger.add(found.verdict, {record.n: record for record in found.records})
        file, problem = _kept(campaign, found, str(head.get("started", "")))
        infos.append(
            SessionInfo(found.name, campaign.lab.target.kind, len(found.records), file, (campaign.lab.revision,))
        )
        if problem:
            ledger.trouble(found.name, problem)
    infos += _unkept(campaign)
    return ledger.report(
        title="fuzz",
        target=campaign.lab.target.name,
        sessions=tuple(infos),
        extra={"seed": str(campaign.wanted.seed), "examples": _examples(campaign)},
        next_steps=tuple(_next_steps(campaign, infos)),
        **head,
    )


def _unkept(campaign: Campaign) -> Iterator[SessionInfo]:
    """The connections whose recording is not kept: those that a suspicion names, and all others as one."""
    named = {verdict.session for verdict, _ in campaign.suspicions.values()}
    kind, revisions = campaign.lab.target.kind, (campaign.lab.revision,)
    for name in sorted(named & campaign.units.keys()):
        yield SessionInfo(name, kind, campaign.units[name], "", revisions)
    others = [units for name, units in campaign.units.items() if name not in named]
    if others:
        yield SessionInfo("others", kind, sum(others), "", revisions)


def _examples(campaign: Campaign) -> str:
    told = f"{campaign.played} sessions, {len(campaign.kinds)} kinds of stimulus"
    return f"{told}; {campaign.ended}" if campaign.ended else told


def _next_steps(campaign: Campaign, infos: list[SessionInfo]) -> Iterator[str]:
    file = next((info.file for info in infos if info.file), "")
    if file:
        yield f"read the smallest session that fails with `mcpcheck lint {file}`"
    policy, tools = campaign.wanted.plan.policy, campaign.lab.inventory.tools
    forbidden = [str(tool.get("name")) for tool in tools if not policy.allows(tool)]
    if forbidden and policy.mode != "none":
        names = ",".join(forbidden[:3])
        yield f"{len(forbidden)} tools were not called; if they do no harm, add --tools all, or --tools {names}"
    if not campaign.found:
        yield "another --seed makes other sessions, and a greater --examples more of them"


def _kept(campaign: Campaign, found: Found, started: str) -> tuple[str, str]:
    """The file in which the session of a failure was kept, and what kept it from being kept."""
    target = campaign.lab.target
    named = {"url": target.name} if target.kind == "http" else {"command": target.name}
    header = Header(found.started, target.kind, named, f"mcpcheck {__version__}")
    path = _place(campaign.wanted.plan.save, found.name, started)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_capture(path, header, found.records)
    except OSError as error:
        return "", f"its session cannot be kept as {path}: {error.strerror}; name another folder with --save DIR"
    return str(path), ""


def _place(folder: Path | None, name: str, started: str) -> Path:
    if folder is not None:
        return folder / f"{name}.ndjson"
    stamp = re.sub(r"[^0-9]", "", started)[:14] or "0"
    return Path(default_path(name_of(stamp, f"fuzz-{name}", os.getpid())))
