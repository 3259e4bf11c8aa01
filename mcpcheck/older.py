"""A server of the handshake era alone: what it is and offers, so that its author is told more than that it is old."""

from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from mcpcheck.errors import PeerUnavailable
from mcpcheck.lab import Lab
from mcpcheck.peer import Peer
from mcpcheck.scenarios.registry import Abandoned, Untestable
from mcpcheck.scenarios.server.legacy import open_session
from mcpcheck.survey import initialize_params, items
from mcpcheck.wire.protocol import LEGACY, MODERN

_COUNTED: Final = {
    "tools": ("tools/list", "tools"),
    "prompts": ("prompts/list", "prompts"),
    "resources": ("resources/list", "resources"),
}
_PAGES: Final = 10


@dataclass(slots=True)
class Older:
    """What was found of such a server; every part of it may be missing."""

    refusal: str = ""  # what server/discover was answered with, in a phrase
    versions: list[str] = field(default_factory=list)
    name: str = ""
    capabilities: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def speaks(self) -> str:
        return ", ".join(self.versions) or "a revision of the handshake era"

    @property
    def offers(self) -> str:
        """The capabilities, with how much of it there is, where that can be counted."""
        return ", ".join(f"{name} ({self.counts[name]})" if name in self.counts else name for name in self.capabilities)

    @property
    def head(self) -> dict[str, str]:
        """What the head of a report says of it."""
        named = {"server": self.name, "speaks": self.speaks, "offers": self.offers or "nothing"}
        return {label: text for label, text in named.items() if text}

    @property
    def text(self) -> str:
        refused = f" and server/discover {self.refusal}" if self.refusal else ""
        return (
            f"the server speaks only the legacy revisions: initialize is served ({self.speaks}){refused}. "
            f"mcpcheck conform tests servers of {MODERN}, so nothing of it was tested."
        )

    def next_steps(self, words: str) -> tuple[str, ...]:
        return (
            f"to judge it by its own revision, record a session: `mcpcheck tap -o session.ndjson {words}` in place of "
            "the server in a client of that era, then `mcpcheck lint session.ndjson`",
            f"to bring it to {MODERN}, begin with server/discover: `mcpcheck explain discover.server.implemented`",
        )


async def look(lab: Lab, agreed: str) -> Older:
    """Open a session of each revision of the handshake era, and count in one what the server lists.

    ``agreed`` is the revision that it gave when it was asked for the newest of that era.
    """
    found = Older(versions=[agreed])
    if lab.opening is not None:
        refused = lab.opening[1].result is None
        found.refusal = f"is not: {lab.opening[1].told()}" if refused else "names no later one"
    limiter = anyio.CapacityLimiter(2)
    async with anyio.create_task_group() as tasks:
        for version in LEGACY:
            tasks.start_soon(_open, lab, version, agreed, found, limiter)
    found.versions.sort()
    return found


async def _open(lab: Lab, version: str, agreed: str, found: Older, limiter: anyio.CapacityLimiter) -> None:
    if version == LEGACY[-1] != agreed:
        return
    async with limiter:
        try:
            async with lab.connect(f"older-{version}", "survey") as peer:
                peer.voice.era, peer.voice.version = "legacy", version
                reply = await peer.try_ask("initialize", initialize_params(version), within=lab.limits.start)
                if reply.result is None or reply.result.get("protocolVersion") != version:
                    return
                if version not in found.versions:
                    found.versions.append(version)
                if version == agreed:
                    _describe(found, reply.result)
                    await open_session(peer, reply, version)
                    await _count(peer, found)
        except (PeerUnavailable, Abandoned, Untestable):
            return


def _describe(found: Older, result: dict[str, Any]) -> None:
    info, capabilities = result.get("serverInfo"), result.get("capabilities")
    if isinstance(info, dict):
        found.name = " ".join(str(info[key]) for key in ("name", "version") if info.get(key))
    if isinstance(capabilities, dict):
        found.capabilities = sorted(capabilities)


async def _count(peer: Peer, found: Older) -> None:
    for name, (method, member) in _COUNTED.items():
        if name in found.capabilities:
            found.counts[name] = len(await items(peer, method, member, pages=_PAGES))
