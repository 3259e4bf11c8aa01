"""Servers that misbehave end in findings or in exit 2 with a clear message, in time, and leave no process behind."""

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from socket import create_server

import psutil
import pytest

from mcpcheck.listening import listening

HOSTILE = Path(__file__).parent / "support" / "hostile.py"
HOSTILE_HTTP = Path(__file__).parent / "support" / "hostile_http.py"


def conform(*words: str, timeout: str = "1", options: Sequence[str] = ()) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "mcpcheck", "conform", "--timeout", timeout, "--report", "json", *options, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=55, stdin=subprocess.DEVNULL)
    assert "Traceback" not in done.stderr + done.stdout
    return done


def on_stdio(way: str, *options: str, timeout: str = "1") -> "subprocess.CompletedProcess[str]":
    done = conform("--", sys.executable, str(HOSTILE), way, options=options, timeout=timeout)
    left = [process for process in psutil.process_iter(["cmdline"]) if str(HOSTILE) in (process.info["cmdline"] or [])]
    assert [process for process in left if way in process.info["cmdline"]] == []
    return done


def findings(done: "subprocess.CompletedProcess[str]") -> set[str]:
    report = json.loads(done.stdout)
    return {result["id"] for result in report["results"] if result["status"] == "broken"}


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ("never-answers", "no answer within 4 s"),
        ("half-a-line", "began a line that it did not end"),
        ("floods", "sent more than is read"),
        ("floods-one-line", "sent more than is read"),
        ("exits-at-once", "exited with 3"),
    ],
)
def test_a_server_that_never_answers_is_unavailable_and_the_message_says_how(way: str, says: str) -> None:
    done = on_stdio(way)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stdout == ""


def test_what_a_server_said_on_standard_error_explains_its_exit() -> None:
    assert "no configuration found" in on_stdio("exits-at-once").stderr


def test_a_list_without_end_is_followed_to_a_bound() -> None:
    done = on_stdio("endless-pages", "--only", "pagination")
    assert done.returncode == 0
    assert "pagination.cursor.resumes-after" in findings(done)


def test_a_banner_is_a_finding() -> None:
    done = on_stdio("banner", "--only", "stdio.server.stdout-pure")
    assert done.returncode == 1
    assert findings(done) == {"stdio.server.stdout-pure"}


def test_answers_that_come_twice_are_a_finding() -> None:
    assert "base.response.one-per-request" in findings(on_stdio("answers-twice", "--only", "base.response"))


@pytest.mark.parametrize("way", ["closes-stdout", "dies-after-three"])
def test_a_server_that_dies_again_and_again_is_a_finding_and_not_tried_for_ever(way: str) -> None:
    done = on_stdio(way, timeout="0.5")
    assert done.returncode == 2
    assert "base.response.one-per-request" in findings(done)
    assert "in a row" in done.stdout


@pytest.mark.parametrize("way", ["ignores-sigterm", "grandchild-holds-the-pipe"])
def test_processes_that_will_not_go_are_ended(way: str) -> None:
    done = on_stdio(way, "--only", "discover.server")
    assert (done.returncode, findings(done)) == (0, set())


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ("not-found", "HTTP 404: there is no MCP endpoint at this path"),
        ("error-page", "HTTP 500: no JSON-RPC message"),
        ("redirect", "HTTP 307: it redirects to"),
        ("web-page", "that is a web page"),
        ("silence", "no answer within 1.2 s"),
        ("endless-stream", "HTTP 200"),
        ("body-breaks-off", "HTTP 200"),
        ("garbage", "not HTTP/1.1"),
        ("hangs-up", "closed the connection without an answer"),
    ],
)
def test_an_address_that_is_no_server_is_unavailable_and_the_message_says_how(way: str, says: str) -> None:
    with listening([sys.executable, str(HOSTILE_HTTP), way]) as url:
        done = conform(url, timeout="0.3")
    assert done.returncode == 2
    assert says in done.stderr


def test_a_refused_connection_says_so() -> None:
    with closing(create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
    done = conform(f"http://127.0.0.1:{port}/mcp")
    assert done.returncode == 2
    assert "Is the server running?" in done.stderr


def test_tls_to_a_plain_server_says_so() -> None:
    with listening([sys.executable, str(HOSTILE_HTTP), "not-found"]) as url:
        done = conform(url.replace("http://", "https://"))
    assert done.returncode == 2
    assert "TLS to" in done.stderr


def test_a_command_that_does_not_exist_says_so() -> None:
    done = conform("-q", "--", "/no/such/command")
    assert done.returncode == 2
    assert "cannot start '/no/such/command'" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "name a server"),
        (["ftp://example.com"], "no http:// or https:// address"),
        (["--demo", "http://127.0.0.1:1/mcp"], "leave the target out"),
        (["--only", "discover.servr", "--", "true"], "discover.server"),
        (["--only", "elicit.third-party", "--", "true"], "nothing under elicit.third-party is checked"),
        (["--header", "nonsense", "--", "true"], "--header 'Name: value'"),
        (["--header", "A: b", "--", "true"], "--header is for a server over HTTP"),
        (["--arguments", "nonsense", "--", "true"], "TOOL=JSON"),
        (["--arguments", "a={", "--", "true"], "'{' is no JSON"),
        (["--arguments", "a=[1]", "--", "true"], "'[1]' is no object"),
        (["--baseline", "none.toml", "--", "true"], "the baseline none.toml cannot be read"),
        (["--config", "none.toml", "--", "true"], "none.toml cannot be read"),
        (["--only", "tools", "--skip", "tools", "--", "true"], "--skip leaves out all"),
        (["--report", "jsn", "--", "true"], "did you mean 'json'"),
        (["--spec", "2025-11-25", "--", "true"], "mcpcheck lint"),
    ],
)
def test_what_a_user_mistypes_is_one_clear_sentence(words: list[str], says: str) -> None:
    done = conform(*words)
    assert done.returncode == 2
    assert says in done.stderr
