"""Two clients that one recording of HTTP holds side by side show no fault that one of them alone does not show."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fixtures.record import CAPTURES
from mcpcheck.capture import open_capture
from mcpcheck.engine import judge
from mcpcheck.wire.record import Record, RequestHead, ResponseHead

GOLDENS = sorted(CAPTURES.glob("*/http/*.ndjson"))

Records = Sequence[Record]


def ids_of_another(records: Records) -> list[Record]:
    """The same session as another client has it: under a session id of its own, and with all else alike."""
    return [replace(record, http=_renamed(record.http)) if record.http else record for record in records]


def _renamed(head: RequestHead | ResponseHead) -> RequestHead | ResponseHead:
    own = {"mcp-session-id"}
    return replace(head, headers=tuple((name, value + "x" * (name.lower() in own)) for name, value in head.headers))


def side_by_side(one: Records, other: Records, dice: random.Random) -> list[Record]:
    """Two sessions in turns of a few records; exchanges and records are numbered anew."""
    first = max(record.exchange or 0 for record in one) + 1
    later = [replace(r, exchange=None if r.exchange is None else r.exchange + first) for r in other]
    queues, mixed, clock = [list(one), later], list[Record](), 0.0
    while any(queues):
        queue = dice.choice([queue for queue in queues if queue])
        for record in [queue.pop(0) for _ in range(min(dice.choice((1, 1, 2, 5)), len(queue)))]:
            clock = max(clock, record.t)
            mixed.append(replace(record, n=len(mixed) + 1, t=clock))
    return mixed


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("capture", GOLDENS, ids=lambda path: str(path.relative_to(CAPTURES)))
def test_two_clients_at_once_show_no_fault_that_one_does_not(capture: Path, seed: int) -> None:
    with open_capture(capture) as opened:
        records, url = list(opened), str(opened.header.target.get("url"))
    both = side_by_side(records, ids_of_another(records), random.Random(seed))
    alone, together = (
        {found.requirement for found in judge(part, "http", endpoint=urlsplit(url).path) if found.is_finding}
        for part in (records, both)
    )
    assert together <= alone
