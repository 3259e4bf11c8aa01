"""The pytest plugin, run inside pytest on real servers."""

import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

REFERENCE = f"{sys.executable} -m mcpcheck.reference"
HOSTILE = Path(__file__).parent / "support" / "hostile.py"


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The inner pytest has its own settings."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)


def test_each_scenario_is_an_item(pytester: pytest.Pytester) -> None:
    done = pytester.runpytest_subprocess("--mcpcheck-command", REFERENCE, "--mcpcheck-only", "discover", "-v")
    done.assert_outcomes(passed=done.parseoutcomes()["passed"])
    done.stdout.fnmatch_lines(["*discover::first_request PASSED*"])


def test_items_are_spread_over_workers(pytester: pytest.Pytester) -> None:
    done = pytester.runpytest_subprocess(
        "-n", "2", "--mcpcheck-command", REFERENCE, "--mcpcheck-only", "versioning.server"
    )
    assert done.ret == 0
    assert done.parseoutcomes()["passed"] >= 3


def test_a_finding_is_the_failure_text(pytester: pytest.Pytester) -> None:
    command = f"{sys.executable} {HOSTILE} banner"
    done = pytester.runpytest_subprocess("--mcpcheck-command", command, "--mcpcheck-only", "stdio.server.stdout-pure")
    assert done.ret == 1
    done.stdout.fnmatch_lines(["*stdio.server.stdout-pure  MUST NOT*", "*reproduce  mcpcheck conform --only*"])


def test_what_the_server_lacks_is_a_skip_that_names_it(pytester: pytest.Pytester) -> None:
    done = pytester.runpytest_subprocess(
        "-rs", "--mcpcheck-command", REFERENCE, "--mcpcheck-only", "versioning.server.initialize-names-versions"
    )
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["*the server serves the handshake era, too*"])


def test_items_can_be_chosen_by_k(pytester: pytest.Pytester) -> None:
    done = pytester.runpytest_subprocess("--mcpcheck-command", REFERENCE, "-k", "ids_come_back")
    done.assert_outcomes(passed=1, deselected=done.parseoutcomes()["deselected"])


def test_a_server_that_is_not_there_fails_with_a_sentence(pytester: pytest.Pytester) -> None:
    done = pytester.runpytest_subprocess("--mcpcheck-command", "/no/such/server", "-k", "ids_come_back")
    assert done.ret == 1
    done.stdout.fnmatch_lines(["*cannot start '/no/such/server'*"])


def test_a_mistyped_id_is_a_usage_error(pytester: pytest.Pytester) -> None:
    done = pytester.runpytest_subprocess("--mcpcheck-command", REFERENCE, "--mcpcheck-only", "discver")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*the nearest are*discover*"])


def test_two_targets_are_a_usage_error(pytester: pytest.Pytester) -> None:
    done = pytester.runpytest_subprocess("--mcpcheck-command", REFERENCE, "--mcpcheck-url", "http://127.0.0.1:1/mcp")
    assert done.ret == pytest.ExitCode.USAGE_ERROR


def test_nothing_heavy_is_imported_when_it_is_not_used(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_light():
            heavy = {"anyio", "hypothesis", "jsonschema", "jsonschema_rs", "rich", "mcpcheck.conform", "mcp"}
            assert heavy & set(sys.modules) == set()
        """
    )
    done = pytester.runpytest_subprocess("-p", "no:anyio", "-p", "no:hypothesispytest", "-p", "no:xdist")
    done.assert_outcomes(passed=1)


def test_a_server_can_be_asked_in_ones_own_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        def test_it(mcpcheck_server):
            server = mcpcheck_server({REFERENCE.split()!r})
            reply = server.ask("tools/list")
            assert reply.complete
            assert server.findings == []
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_ones_own_session_can_be_tapped(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        import subprocess

        REQUEST = b'{{"jsonrpc":"2.0","id":null,"method":"tools/list"}}\\n'

        def test_it(mcpcheck_tap):
            tap = mcpcheck_tap({REFERENCE.split()!r})
            done = subprocess.run(tap.command, input=REQUEST, capture_output=True, timeout=30)
            assert done.returncode == 0
            assert any("base.request.id-not-null" in finding for finding in tap.findings())
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
