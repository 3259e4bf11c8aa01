"""ext: which extensions either side declares, and how they are named."""

from typing import Any

from mcpcheck.rules.base.meta import LABEL
from mcpcheck.rules.payloads import is_call, shown
from mcpcheck.rules.places import complete
from mcpcheck.rules.registry import Verdicts, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

TASKS = "io.modelcontextprotocol/tasks"
UI = "io.modelcontextprotocol/ui"
_RESERVED = frozenset({"modelcontextprotocol", "mcp"})
_TOP_DOMAINS = frozenset({"com", "org", "net", "io", "dev", "ai", "app", "edu", "gov", "co", "eu", "de", "uk"})
_ENOUGH = 3
"""How many requests without an extension show that it was declared once, as if in a handshake."""


def extensions(request: Request) -> dict[str, Any] | None:
    """The extensions that a request declares, with their settings; None where its capabilities cannot be read."""
    capabilities = request.meta.get(CLIENT_CAPABILITIES)
    return _extensions(capabilities) if isinstance(capabilities, dict) else None


def declares(request: Request, name: str) -> bool:
    """Whether a request declares an extension."""
    return name in (extensions(request) or ())


def announced(session: Session, name: str) -> bool:
    """Whether the server has announced an extension in its last answer to server/discover."""
    return session.discovered and name in (_extensions(session.capabilities) or ())


def _extensions(capabilities: dict[str, Any]) -> dict[str, Any] | None:
    found = capabilities.get("extensions", {})
    return found if isinstance(found, dict) else None


@rule("ext.identifier.own-domain", near="extensions")
def identifier_own_domain(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the prefix of each extension that either side declares. Suspect only: who owns a domain is not seen.

    Suspect are a prefix of one label, one that ends in a common top-level domain and does not begin with one, and a
    second label that is reserved, unless the prefix begins with io.modelcontextprotocol: more official extensions may
    come. Identifiers that are not written as such have a rule of their own.
    """
    if isinstance(event, Request):
        found = extensions(event) if event.dir is Dir.C2S else None
    else:
        capabilities = (complete(event, session, "server/discover") or {}).get("capabilities")
        found = _extensions(capabilities) if isinstance(capabilities, dict) else None
    for key in found or ():
        prefix, slash, _ = key.partition("/")
        labels = prefix.split(".")
        if not slash or not all(LABEL.fullmatch(label) for label in labels):
            continue
        wrong = _not_a_domain([label.lower() for label in labels])
        if wrong:
            yield suspect(event, "the reversed domain name of its maker, like com.example/", f"{shown(key)}: {wrong}")
        else:
            yield holds(event)


def _not_a_domain(labels: list[str]) -> str:
    if len(labels) == 1:
        return "its prefix is one label"
    if labels[-1] in _TOP_DOMAINS and labels[0] not in _TOP_DOMAINS:
        return "its prefix is no reversed domain name"
    if labels[1] in _RESERVED and labels[:2] != ["io", "modelcontextprotocol"]:
        return f"{labels[1]} as the second label is reserved"
    return ""


@rule("ext.capabilities.client-per-request", sender=Dir.C2S, wakes="extensions")
class ClientPerRequest:
    """Looks for an extension that a client declares with server/discover, and with none of the requests that follow.

    Suspect only, after three of them: it is declared once, as in a handshake. A client that declares it with some
    requests and not with others may have its reasons. Where several clients may speak it is left alone.
    """

    def __init__(self) -> None:
        self._once: Recent[str, Request] = Recent(100)  # the discover that declared an extension
        self._used: set[str] = set()  # extensions that other requests have declared
        self._others: dict[str, int] = {}  # requests without it since

    def see(self, request: Request, session: Session) -> Verdicts:
        found = extensions(request)
        if found is None or not session.one_client or not is_call(request):
            return
        if request.method == "server/discover":
            for name in found:
                if name not in self._once:
                    self._once[name] = request
            return
        self._used |= found.keys() & self._once.keys()
        for name in self._once.keys() - found.keys():
            self._others[name] = self._others.get(name, 0) + 1
        if found:
            yield holds(request)

    def end(self, session: Session) -> Verdicts:
        for name, request in self._once.items():
            others = self._others.get(name, 0)
            if name not in self._used and others >= _ENOUGH and session.whole:
                said = f"{shown(name)} is declared here, and by none of {others} later requests"
                yield suspect(request, "an extension in the clientCapabilities of each request", said)
