"""One requirement of the specification, and the words that describe it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mcpcheck.wire.protocol import REVISIONS

SITE: Final = "https://modelcontextprotocol.io/specification"


class Level(StrEnum):
    """How strongly the specification says it."""

    MUST = "MUST"
    MUST_NOT = "MUST NOT"
    SHOULD = "SHOULD"
    SHOULD_NOT = "SHOULD NOT"
    MAY = "MAY"

    @property
    def fails(self) -> bool:
        """Whether breaking it fails a run; a SHOULD warns."""
        return self in {Level.MUST, Level.MUST_NOT}


class Observe(StrEnum):
    """What shows whether it holds: a recording, a stimulus, a suitable peer; or nothing on the wire."""

    WIRE = "wire"
    PROBE = "probe"
    FIXTURE = "fixture"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One normative statement, in our own words, with the page it stands on."""

    id: str
    level: Level
    role: str
    transports: frozenset[str]
    revisions: tuple[str, ...]
    page: str
    anchor: str
    summary: str
    observe: Observe
    official: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    repair: str = ""
    good: str = ""
    bad: str = ""

    @property
    def area(self) -> str:
        return self.id.partition(".")[0]

    @property
    def observable(self) -> bool:
        """Whether a breach shows on the wire, whatever it takes to cause it. A permission cannot be broken."""
        return self.observe is not Observe.INTERNAL and self.level is not Level.MAY

    @property
    def url(self) -> str:
        """The page of the newest revision that says it."""
        return self.url_in(max(self.revisions, key=REVISIONS.index))

    def url_in(self, revision: str) -> str:
        anchor = f"#{self.anchor}" if self.anchor else ""
        return f"{SITE}/{revision}/{self.page}{anchor}"

    def holds_on(self, transport: str) -> bool:
        return "any" in self.transports or transport in self.transports
