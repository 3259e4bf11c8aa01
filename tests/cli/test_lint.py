"""mcpcheck lint: captures in, verdicts out."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mcpcheck.capture.format import Header
from mcpcheck.capture.store import Writer
from mcpcheck.cli.lint import command
from tests.support import sessions

Run = Callable[..., Result]

CLEAN = "c: 1 tools/list\ns: 1 error -32601\n"
BANNER = CLEAN + "s> Welcome!\n"
TOOL = '{"name":"a b","inputSchema":{"type":"object"}}'
ODD_NAME = f'c: 1 tools/list\ns: 1 -> {{"tools":[{TOOL}],"ttlMs":0,"cacheScope":"public"}}\n'


def capture(path: Path, text: str) -> Path:
    """A shorthand as a capture file."""
    (case,) = sessions.parse(text)
    target = {"url": "http://127.0.0.1/mcp"} if case.transport == "http" else {"command": ["server"]}
    stream = io.BytesIO()
    writer = Writer(stream, Header("2026-12-01T00:00:00.000000Z", case.transport, target, "mcpcheck"))
    for record in case.records:
        writer.write(record)
    path.write_bytes(stream.getvalue())
    return path


def broken(done: Result) -> dict[str, list[str]]:
    """The ids that a JSON report calls broken, with the sessions that show it."""
    report = json.loads(done.stdout)
    return {
        result["id"]: [Path(finding["session"]).name for finding in result["findings"]]
        for result in report["results"]
        if result["status"] == "broken"
    }


def test_a_clean_capture_is_exit_0(run: Run, tmp_path: Path) -> None:
    done = run("lint", str(capture(tmp_path / "a.ndjson", CLEAN)))
    assert done.exit_code == 0
    assert "0 broken" in done.stdout


def test_a_finding_names_the_file_and_the_frame(run: Run, tmp_path: Path) -> None:
    file = capture(tmp_path / "a.ndjson", BANNER)
    done = run("lint", str(file))
    assert done.exit_code == 1
    assert "stdio.server.stdout-pure" in done.stdout
    assert "a.ndjson:3" in "".join(done.stdout.split())


def test_a_folder_is_searched_and_several_captures_keep_their_names(run: Run, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    capture(tmp_path / "a.ndjson", BANNER)
    capture(tmp_path / "deep" / "b.ndjson", BANNER)
    done = run("lint", str(tmp_path), "--report", "json")
    assert sorted(broken(done)["stdio.server.stdout-pure"]) == ["a.ndjson", "b.ndjson"]


def test_standard_input_is_a_capture(tmp_path: Path) -> None:
    file = capture(tmp_path / "a.ndjson", BANNER)
    done = CliRunner().invoke(command, ["-"], input=file.read_bytes())
    assert done.exit_code == 1
    assert "standard input" in done.stdout


def test_a_capture_that_breaks_off_is_said_and_judged(run: Run, tmp_path: Path) -> None:
    file = capture(tmp_path / "a.ndjson", BANNER + CLEAN.replace("1", "2"))
    file.write_bytes(file.read_bytes()[:-20])
    done = run("lint", str(file))
    assert done.exit_code == 1
    assert "breaks off" in " ".join(done.stdout.split())


def test_a_warning_fails_only_when_strict(run: Run, tmp_path: Path) -> None:
    file = str(capture(tmp_path / "a.ndjson", ODD_NAME))
    assert run("lint", file).exit_code == 0
    assert run("lint", file, "--strict").exit_code == 1


def test_only_and_skip_choose_what_is_judged(run: Run, tmp_path: Path) -> None:
    file = str(capture(tmp_path / "a.ndjson", BANNER))
    assert run("lint", file, "--only", "base.message").exit_code == 0
    assert run("lint", file, "--skip", "stdio.server").exit_code == 0
    assert run("lint", file, "--only", "stdio").exit_code == 1


def test_a_role_limits_what_is_judged_to_one_side(run: Run, tmp_path: Path) -> None:
    file = str(capture(tmp_path / "a.ndjson", BANNER))
    assert run("lint", file, "--role", "client").exit_code == 0
    assert run("lint", file, "--role", "server").exit_code == 1


def test_a_revision_is_assumed_of_messages_that_tell_none(run: Run, tmp_path: Path) -> None:
    file = str(capture(tmp_path / "a.ndjson", "@revision 2025-11-25\nc: 1 ping\nc: 1 ping\n"))
    assert run("lint", file, "--only", "legacy.base.request.id-unique").exit_code == 0
    done = run("lint", file, "--only", "legacy.base.request.id-unique", "--revision", "2025-11-25")
    assert done.exit_code == 1


def test_what_a_capture_does_not_show_is_not_exercised(run: Run, tmp_path: Path) -> None:
    file = str(capture(tmp_path / "a.ndjson", CLEAN))
    report = json.loads(run("lint", file, "--report", "json").stdout)
    status = {result["id"]: result["status"] for result in report["results"]}
    assert status["base.message.jsonrpc-version"] == "passed"
    assert status["tools.tool.shape"] == "not exercised"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.ndjson"], "cannot read"),
        ([], "Missing argument"),
        (["-", "-"], "once"),
        (["a.ndjson", "--only", "base.mesage"], "base.message"),
        (["a.ndjson", "--only", "base.error.parse"], "no rule"),
        (["empty"], "no capture"),
        (["text.ndjson"], "is no capture"),
    ],
)
def test_what_a_user_can_put_right_is_one_sentence_and_exit_2(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    capture(tmp_path / "a.ndjson", CLEAN)
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.ndjson").write_text("hello\n")
    monkeypatch.chdir(tmp_path)
    done = run("lint", *arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
