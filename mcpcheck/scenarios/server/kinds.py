"""Of what kind a server is, where a scenario can speak only of servers of one kind."""

from mcpcheck.lab import Lab
from mcpcheck.scenarios.registry import Untestable


def modern_only(lab: Lab) -> None:
    """Untestable on a server that serves older revisions, whose own rules it may follow."""
    if lab.inventory.legacy_versions or lab.inventory.legacy:
        raise Untestable("the server also serves older revisions, which this rule excuses")


def without_handshake(lab: Lab) -> None:
    """Untestable on a server that was seen to serve the handshake era."""
    if lab.inventory.legacy:
        raise Untestable("the server serves the handshake era, too")


def dual_era(lab: Lab) -> None:
    """Untestable on a server that does not serve the handshake era."""
    if not lab.inventory.legacy:
        raise Untestable("the server does not serve the handshake era")
