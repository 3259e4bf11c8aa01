"""What the fixtures of the pytest plugin give: servers under test, and taps around one's own sessions."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from mcpcheck import lab
from mcpcheck.conform import Plan
from mcpcheck.lint import lint
from mcpcheck.listening import listening
from mcpcheck.live import Connected, Live
from mcpcheck.reply import Reply
from mcpcheck.verdict import Report


class Server:
    """A server under test. ``ask`` speaks to it on a connection that the rules watch."""

    def __init__(self, live: Live) -> None:
        self._connection = Connected(live)

    def ask(self, method: str, params: Any = None, **how: Any) -> Reply:
        """Send a well-formed request of 2026-07-28 and wait for its answer."""
        return self._connection.ask(method, params, **how)

    @property
    def findings(self) -> list[str]:
        """What the server has broken on this connection so far: the id, and what came."""
        verdicts = self._connection.peer.verdicts
        return [f"{verdict.requirement}: {verdict.actual}" for verdict in verdicts if verdict.is_finding]

    def close(self) -> None:
        self._connection.close()


class ServerFactory:
    """Opens servers by command or URL, and ends what it has opened."""

    def __init__(self) -> None:
        self._exit = ExitStack()

    def __enter__(self) -> "ServerFactory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exit.close()

    def __call__(self, target: str | Sequence[str], plan: Plan | None = None) -> Server:
        """Connect to a URL, or start a command on stdio."""
        made = lab.url(target) if isinstance(target, str) else lab.command(target)
        live = self._exit.enter_context(Live(made, plan or Plan()))
        server = Server(live)
        self._exit.callback(server.close)
        return server


class Tap:
    """A tapped server. ``command`` or ``url`` is what one's own client is given instead of the server."""

    def __init__(self, capture: Path, command: list[str] | None = None, url: str | None = None) -> None:
        self.capture = capture
        self._command = command
        self._url = url

    @property
    def command(self) -> list[str]:
        assert self._command, "this tap stands in front of a URL: use .url"
        return self._command

    @property
    def url(self) -> str:
        assert self._url, "this tap stands in front of a command: use .command"
        return self._url

    def report(self) -> Report:
        """What the rules say of the session so far; call it when the session is over."""
        return lint([self.capture])

    def findings(self) -> list[str]:
        """The ids that were broken in the session, with what came."""
        return [f"{finding.requirement.id}: {finding.actual}" for finding in self.report().findings]


class TapFactory:
    """Makes taps, and ends those that listen."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._exit = ExitStack()
        self._made = 0

    def __enter__(self) -> "TapFactory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exit.close()

    def __call__(self, target: str | Sequence[str]) -> Tap:
        """Tap a URL (a proxy is started) or a command (one's own client starts the tap)."""
        self._made += 1
        capture = self._folder / f"session-{self._made}.ndjson"
        words = [sys.executable, "-m", "mcpcheck", "tap", "-o", str(capture)]
        if not isinstance(target, str):
            return Tap(capture, command=[*words, "--", *target])
        return Tap(capture, url=self._exit.enter_context(listening([*words, target])))
