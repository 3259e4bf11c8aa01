"""The pytest plugin: conformance scenarios as test items, and fixtures for one's own tests.

``pytest --mcpcheck-url URL`` or ``pytest --mcpcheck-command "CMD"`` adds an item for each scenario. Nothing heavy is
imported until one of these options, or one of the fixtures, is used.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mcpcheck.live import Live
    from mcpcheck.plugin_fixtures import ServerFactory, TapFactory
    from mcpcheck.scenarios.registry import Scenario
    from mcpcheck.verdict import Report


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mcpcheck", "conformance of MCP servers")
    group.addoption("--mcpcheck-url", metavar="URL", help="test the Streamable HTTP server at this address")
    group.addoption("--mcpcheck-command", metavar="CMD", help="start this command and test it on stdio")
    group.addoption("--mcpcheck-tools", metavar="POLICY", default="read-only", help="none, read-only, all, or names")
    group.addoption("--mcpcheck-only", metavar="ID", action="append", default=[], help="only these requirements")
    group.addoption("--mcpcheck-skip", metavar="ID", action="append", default=[], help="not these requirements")
    group.addoption("--mcpcheck-strict", action="store_true", help="a broken SHOULD fails, too")
    group.addoption("--mcpcheck-timeout", type=float, default=5.0, metavar="S", help="seconds for an answer")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "mcpcheck: a conformance scenario of mcpcheck")


@pytest.hookimpl(trylast=True)
def pytest_collection(session: pytest.Session) -> None:
    """Makes the items be collected beside those of the files that were named."""
    config = session.config
    if config.option.mcpcheck_url and config.option.mcpcheck_command:
        raise pytest.UsageError("--mcpcheck-url and --mcpcheck-command are two targets: give one of them")


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Adds an item for each scenario when a target was given."""
    if not (config.option.mcpcheck_url or config.option.mcpcheck_command):
        return
    from mcpcheck.conform import Conform
    from mcpcheck.errors import UsageError

    try:
        chosen = Conform(_target(config), _plan(config)).scenarios
    except UsageError as error:
        raise pytest.UsageError(f"mcpcheck: {error}") from None
    suite = Suite.from_parent(session, name="mcpcheck", nodeid="mcpcheck")
    items += [ScenarioItem.from_parent(suite, name=found.name, scenario=found) for found in chosen]


def _target(config: pytest.Config) -> Any:
    from mcpcheck import lab

    if config.option.mcpcheck_url:
        return lab.url(config.option.mcpcheck_url)
    return lab.command(shlex.split(config.option.mcpcheck_command))


def _plan(config: pytest.Config) -> Any:
    from mcpcheck.conform import Plan
    from mcpcheck.roles import ToolPolicy
    from mcpcheck.transports.base import Limits

    option = config.option
    return Plan(
        only=tuple(option.mcpcheck_only),
        skip=tuple(option.mcpcheck_skip),
        policy=ToolPolicy.of(option.mcpcheck_tools),
        limits=Limits(answer=option.mcpcheck_timeout),
        strict=option.mcpcheck_strict,
        options="" if option.mcpcheck_tools == "read-only" else f"--tools {shlex.quote(option.mcpcheck_tools)}",
    )


class Suite(pytest.Collector):
    """Holds the connection to the server under test, for all its items in this process."""

    _live: Live | None = None

    def collect(self) -> list[pytest.Item]:
        return []

    def live(self) -> Live:
        """The run, opened and surveyed when the first item needs it."""
        if self._live is None:
            from mcpcheck.live import Live

            live = Live(_target(self.config), _plan(self.config))
            self._live = live.__enter__()
            self.session.addfinalizer(self.close)
        return self._live

    def end_of_connection(self) -> Report | None:
        """What only the end of the shared connection shows."""
        return self._live.close_shared() if self._live is not None else None

    def close(self) -> None:
        if self._live is not None:
            leaving, self._live = self._live, None
            leaving.__exit__(None, None, None)


class Broken(Exception):
    """An item failed; the report of what it found is the text."""


class ScenarioItem(pytest.Item):
    """One scenario."""

    def __init__(self, *, scenario: Scenario, **rest: Any) -> None:
        super().__init__(**rest)
        self.scenario = scenario
        self.add_marker("mcpcheck")

    def runtest(self) -> None:
        from mcpcheck.errors import PeerUnavailable, UsageError

        suite = self.parent
        assert isinstance(suite, Suite)
        try:
            report = suite.live().play(self.scenario)
        except (PeerUnavailable, UsageError) as error:
            raise Broken(f"mcpcheck: {error}") from None
        self._conclude(report)

    def _conclude(self, report: Report) -> None:
        from mcpcheck.verdict import Status

        if report.failures or report.troubles:
            raise Broken(_text(report))
        if report.findings:
            self.add_report_section("call", "mcpcheck warnings", _text(report))
        untestable = report.of(Status.UNTESTABLE)
        if untestable and not report.of(Status.PASSED):
            pytest.skip("; ".join(dict.fromkeys(result.note for result in untestable)))

    def teardown(self) -> None:
        """The last item of this process also hears what the end of the shared connection shows."""
        following = getattr(self, "_nextitem", None)
        suite = self.parent
        if following is None and isinstance(suite, Suite):
            report = suite.end_of_connection()
            if report is not None and report.failures:
                raise Broken(_text(report))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Broken):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path | str, int | None, str]:
        return self.path, None, f"mcpcheck::{self.scenario.name}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    if isinstance(item, ScenarioItem):
        item._nextitem = nextitem  # type: ignore[attr-defined]
    return (yield)


def _text(report: Report) -> str:
    from mcpcheck.report import render

    return render(report, "text", width=100)


@pytest.fixture
def mcpcheck_server() -> Iterator[ServerFactory]:
    """Starts servers under test: ``server = mcpcheck_server(["python", "server.py"])``; see ServerFactory."""
    from mcpcheck.plugin_fixtures import ServerFactory

    with ServerFactory() as factory:
        yield factory


@pytest.fixture
def mcpcheck_tap(tmp_path: Path) -> Iterator[TapFactory]:
    """Taps sessions of one's own client: ``tap = mcpcheck_tap(["python", "server.py"])``; see TapFactory."""
    from mcpcheck.plugin_fixtures import TapFactory

    with TapFactory(tmp_path) as factory:
        yield factory
