"""Live: a conformance run that is driven step by step from synchronous code, as the pytest plugin does."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

from mcpcheck import __version__
from mcpcheck.conform import Conform, Plan
from mcpcheck.errors import PeerUnavailable
from mcpcheck.lab import Target
from mcpcheck.ledger import Ledger
from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.scenarios.registry import Scenario
from mcpcheck.survey import LegacyOnly, survey
from mcpcheck.verdict import Report, Trouble, Verdict


@dataclass(slots=True)
class _Shared:
    context: AbstractContextManager[Peer]
    peer: Peer


class Live:
    """One target, surveyed once; scenarios are played one by one and each gives a report of its own.

    On stdio, scenarios share a process unless they ask for their own or it has died.
    """

    def __init__(self, target: Target, plan: Plan) -> None:
        self.run = Conform(target, plan)
        self._exit = ExitStack()
        self._portal: BlockingPortal | None = None
        self._shared: _Shared | None = None
        self._reported: dict[int, int] = {}  # how many verdicts of each peer have been reported
        self._counted: dict[int, Counter[str]] = {}  # how often each had held to what, then

    def __enter__(self) -> "Live":
        self._portal = self._exit.enter_context(start_blocking_portal())
        try:
            self._portal.call(self._survey)
        except BaseException:
            self._exit.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close_shared()
        self._exit.close()

    async def _survey(self) -> None:
        try:
            await survey(self.run.lab)
        except LegacyOnly as found:
            raise PeerUnavailable(f"the server speaks {found} only, and no revision that is tested here") from None

    @property
    def scenarios(self) -> list[Scenario]:
        """What the plan chooses."""
        return list(self.run.scenarios)

    def play(self, scenario: Scenario) -> Report:
        """Run one scenario; the report holds what it and the rules said of its traffic."""
        assert self._portal
        troubles: list[Trouble] = []
        self.run.lost.clear()
        try:
            if not self.run.ready(scenario):
                return self._report(troubles)
            if self.run.lab.target.kind == "stdio" and not scenario.fresh:
                self._play_shared(scenario)
            else:
                self._portal.call(self._play_alone, scenario)
        except PeerUnavailable as gone:
            troubles.append(Trouble(scenario.name, str(gone)))
        return self._report(troubles)

    def _play_shared(self, scenario: Scenario) -> None:
        assert self._portal
        if self._shared is None:
            context = self._portal.wrap_async_context_manager(self.run.lab.connect("shared"))
            self._shared = _Shared(context, context.__enter__())
        self._shared.peer.scenario = scenario.name
        fit = self._portal.call(self.run.play, scenario, self._shared.peer)
        if not fit:
            self.close_shared()

    async def _play_alone(self, scenario: Scenario) -> None:
        async with self.run.lab.connect(scenario.name, scenario.name) as peer:
            await self.run.play(scenario, peer)

    def close_shared(self) -> Report:
        """End the shared process; the report holds what only the end of its session shows."""
        if self._shared is not None:
            leaving, self._shared = self._shared, None
            leaving.context.__exit__(None, None, None)
        return self._report([])

    def _report(self, troubles: Sequence[Trouble]) -> Report:
        """What has come since the last report."""
        ledger = Ledger((), reproduce=self.run.reproduce)
        for peer in [*self.run.lab.finished, *([self._shared.peer] if self._shared else [])]:
            done = self._reported.get(id(peer), 0)
            records = {record.n: record for record in peer.transport.log.records}
            for verdict in peer.verdicts[done:]:
                if verdict.requirement in self.run.considered:
                    ledger.add(verdict, records)
            for held, times in (peer.held() - self._counted.get(id(peer), Counter())).items():
                if held in self.run.considered:
                    ledger.hold(held, times)
            self._reported[id(peer)], self._counted[id(peer)] = len(peer.verdicts), peer.held()
        ledger.extend(self.run.lost)
        for trouble in [*troubles, *self.run.troubles]:
            ledger.trouble(trouble.where, trouble.text)
        self.run.troubles.clear()
        return ledger.report(
            title="conform",
            target=self.run.lab.target.name,
            run="pytest",
            started="",
            tool=f"mcpcheck {__version__}",
            strict=self.run.plan.strict,
        )


class Connected:
    """One open connection to a server, for tests that are not asynchronous."""

    def __init__(self, live: Live) -> None:
        self._live = live
        assert live._portal
        self._portal = live._portal
        self._context = self._portal.wrap_async_context_manager(live.run.lab.connect("test"))
        self.peer = self._context.__enter__()

    def ask(self, method: str, params: Any = None, **how: Any) -> Reply:
        """Send a request and wait for its answer."""
        call: Callable[[], Any] = lambda: self.peer.ask(method, params, **how)  # noqa: E731
        reply: Reply = self._portal.call(call)
        return reply

    def close(self) -> list[Verdict]:
        """End the connection; what the rules said of the server in it."""
        self._context.__exit__(None, None, None)
        return self.peer.verdicts
