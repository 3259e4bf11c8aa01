"""The reference client is clean: in every mix of revisions, on both transports."""

import anyio
import pytest

from mcpcheck.reference.client import Client
from mcpcheck.verdict import Status
from mcpcheck.wire.protocol import LEGACY, MODERN, REVISIONS
from tests.client.memory import conform_in_memory, findings

MIXES = {"dual-era": REVISIONS, "modern-only": (MODERN,), "legacy-only": LEGACY}


@pytest.mark.parametrize("kind", ["stdio", "http"])
@pytest.mark.parametrize("mix", MIXES)
def test_reference_client_breaks_nothing(kind: str, mix: str) -> None:
    run = anyio.run(conform_in_memory, lambda kind: Client(MIXES[mix], transport=kind), kind)
    assert findings(run) == ""


@pytest.mark.parametrize("kind", ["stdio", "http"])
def test_everything_is_exercised_by_the_dual_era_client(kind: str) -> None:
    run = anyio.run(conform_in_memory, lambda kind: Client(transport=kind), kind)
    untested = {
        result.requirement.id: result.note for result in run.ledger.results() if result.status is Status.UNTESTABLE
    }
    assert untested == {}
