"""mcpcheck lint on files of every shape: what is judged, what the note says, and what is refused."""

import gzip
import json
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mcpcheck import lint as lint_module
from mcpcheck.capture import source as source_module
from mcpcheck.cli import output
from mcpcheck.cli.lint import command
from mcpcheck.lint import lint
from tests.cli.test_lint import BANNER, CLEAN, broken, capture

Run = Callable[..., Result]

LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
NO_TOOLS = '{"jsonrpc":"2.0","id":1,"result":{"tools":{}}}'
ODD = f"{LIST}\n{NO_TOOLS}\n"
SHAPE = "tools.list.result-shape"


def note(done: Result) -> str:
    return str(json.loads(done.stdout)["extra"]["note"])


def test_bare_messages_are_judged_with_what_was_guessed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(ODD)
    done = run("lint", str(file), "--revision", "2025-11-25", "--report", "json")
    assert (done.exit_code, broken(done)) == (1, {SHAPE: ["x.jsonl"]})
    assert "direction guessed of all" in note(done)
    (session,) = json.loads(done.stdout)["sessions"]
    assert (session["transport"], session["units"]) == ("unknown", 2)


def test_how_bare_messages_stand_in_their_file_is_nobodys_fault(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(f"\n  {LIST}  \r\n\r\nlog: hello\n\xef".encode("latin-1"))
    assert run("lint", str(file), "--strict").exit_code == 0


def test_the_command_that_shows_a_finding_again_does(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "two words.ndjson"
    file.write_bytes(b"".join(capture(tmp_path / "a", text).read_bytes() for text in (CLEAN, BANNER)))
    done = run("lint", str(file), "--report", "json")
    assert broken(done) == {"stdio.server.stdout-pure": ["two words.ndjson#2"]}
    found = next(result for result in json.loads(done.stdout)["results"] if result["findings"])
    assert found["findings"][0]["reproduce"] == f"mcpcheck lint --only stdio.server.stdout-pure '{file}'"


def test_captures_one_after_another_are_sessions_of_their_own(tmp_path: Path) -> None:
    one, other = (capture(tmp_path / name, text).read_bytes() for name, text in (("a", CLEAN), ("b", BANNER)))
    done = CliRunner().invoke(command, ["-", "--report", "json"], input=one + b"\n" + other + one)
    assert broken(done) == {"stdio.server.stdout-pure": ["standard input#2"]}
    names = [session["name"] for session in json.loads(done.stdout)["sessions"]]
    assert names == ["standard input", "standard input#2", "standard input#3"]


def test_a_capture_that_breaks_off_before_another_is_said(run: Run, tmp_path: Path) -> None:
    one = capture(tmp_path / "a.ndjson", CLEAN).read_bytes()
    file = tmp_path / "x.ndjson"
    file.write_bytes(one[:-9] + one)
    done = run("lint", str(file), "--report", "json")
    assert len(json.loads(done.stdout)["sessions"]) == 2
    assert note(done) == f"{file} breaks off in the middle of line 3; what is before it is whole"


def test_several_clients_and_sessions_of_one_server_are_kept_apart(run: Run, tmp_path: Path) -> None:
    opening = 'initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}'
    told = '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}'
    each = """
        c: 1 {opening}
        s: 1 -> {told} [Mcp-Session-Id: {name}]
        c: note notifications/initialized [MCP-Protocol-Version: 2025-11-25 | Mcp-Session-Id: {name}]
        c: 2 tools/list [MCP-Protocol-Version: 2025-11-25 | Mcp-Session-Id: {name}]
        s: 2 -> {{"tools":[]}}
    """
    text = "".join(each.format(opening=opening, told=told, name=name) for name in ("one", "two"))
    lines = "\n".join(line.strip() for line in text.splitlines() if line.strip())
    file = capture(tmp_path / "a.ndjson", f"@http\n@revision none\n{lines}\n")
    done = run("lint", str(file), "--report", "json")
    assert broken(done) == {}
    assert done.exit_code == 0


def test_gzip_needs_no_unpacking(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.ndjson.gz"
    file.write_bytes(gzip.compress(capture(tmp_path / "a", BANNER).read_bytes()))
    assert "stdio.server.stdout-pure" in run("lint", str(file)).stdout
    assert "stdio.server.stdout-pure" in run("lint", str(tmp_path)).stdout


def test_a_revision_that_is_not_known_is_said_and_judged_by_the_envelope_alone(run: Run, tmp_path: Path) -> None:
    meta = '{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}}'
    call = f'c> {{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{meta}}}\n'
    future = 's> {"jsonrpc":"2.0","method":"notifications/message","params":{"quite":"different"}}\n'
    answer = 's> {"jsonrpc":"2.0","id":1,"result":{"gadgets":[]}}\n'
    file = capture(tmp_path / "a.ndjson", "@revision none\n" + call + future + answer)
    done = run("lint", str(file), "--report", "json", "--strict")
    assert (done.exit_code, broken(done)) == (0, {})
    assert "revision 2027-01-01 is not known to this mcpcheck" in note(done)
    wrong = capture(tmp_path / "b.ndjson", "@revision none\n" + call + answer.replace('"2.0"', '"1.0"'))
    assert list(broken(run("lint", str(wrong), "--report", "json"))) == ["base.message.jsonrpc-version"]


def test_one_bad_file_of_several_is_a_trouble_and_the_rest_is_judged(run: Run, tmp_path: Path) -> None:
    good = capture(tmp_path / "a.ndjson", BANNER)
    bad = tmp_path / "package.json"
    bad.write_text('{"name":"x"}')
    done = run("lint", str(good), str(bad))
    assert done.exit_code == 2
    words = " ".join(done.stdout.split())
    assert "an object with name" in words
    assert "stdio.server.stdout-pure" in words


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b'{"name":"x","version":"1"}', "an object with name, version"),
        (b"hello\n", "its first line is no JSON"),
        (b"\x00" * 4000, "it is no text"),
        (b"\xff\xfe{\x00}\x00", "UTF-16"),
        (b'{"mcpcheck":"capture/9"}\n', "newer"),
        (b'{"log":{"entries":[]}}', "a HAR without MCP traffic"),
        (b"\x1f\x8b\x08\x00", "damaged"),
    ],
)
def test_a_file_that_holds_no_session_is_one_clear_sentence(run: Run, tmp_path: Path, data: bytes, says: str) -> None:
    file = tmp_path / "x"
    file.write_bytes(data)
    done = run("lint", str(file))
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("bare", [False, True])
def test_a_line_that_is_too_long_is_left_out_and_said(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bare: bool
) -> None:
    monkeypatch.setattr(source_module.Source.next_line, "__defaults__", (2000,))
    file = capture(tmp_path / "a.ndjson", CLEAN)
    lines = ODD.encode().splitlines(keepends=True) if bare else file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:-1], b'{"jsonrpc":"' + b"x" * 5000 + b'"}\n', lines[-1]]))
    done = run("lint", str(file), "--report", "json")
    assert f"line {len(lines)}: it has 5,014 bytes, and was passed over" in note(done)
    assert broken(done) == {}


def test_evidence_has_a_bound_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lint_module, "EVIDENCE_BYTES", 1 << 20)
    file = tmp_path / "x.jsonl"
    filler = "x" * 100_000
    with file.open("w") as stream:
        for id in range(300):
            stream.write(f'{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{filler}"}}}}\n')
            stream.write(f'{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}\n')
    lint([file], only=["base.message"])
    tracemalloc.start()
    try:
        lint([file], only=["base.message"])
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 15 << 20


class Terminal:
    """Standard error that is a terminal."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A clock that each look at it moves on by a given time."""

    class Clock:
        step = 0.6
        now = 0.0

        def monotonic(self) -> float:
            self.now += self.step
            return self.now

    ticking = Clock()
    monkeypatch.setattr(output, "time", ticking)
    return ticking


def test_progress_is_shown_after_a_second_and_erased(monkeypatch: pytest.MonkeyPatch, clock: Any) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with output.reading() as progress:
        progress("a.ndjson", 500, 0.25)
        assert terminal.text == ""
        progress("a.ndjson", 1000, 0.5)
        assert terminal.text.endswith("a.ndjson: 1,000 records, 50% of the file")
        progress("-", 1500, None)
        assert terminal.text.endswith("-: 1,500 records")
    assert terminal.text.endswith("\r\x1b[K")


def test_nothing_is_shown_where_it_is_quick_or_no_terminal(
    monkeypatch: pytest.MonkeyPatch, clock: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with output.reading() as progress:
        for records in range(10):
            progress("a.ndjson", records, 0.5)
    assert capsys.readouterr().err == ""
    clock.step = 0.001
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with output.reading() as progress:
        progress("a.ndjson", 500, 0.5)
    assert terminal.text == ""


def test_reading_tells_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lint_module, "PROGRESS_EVERY", 1)
    told: list[tuple[str, int, float | None]] = []
    file = capture(tmp_path / "a.ndjson", CLEAN)
    lint([file], progress=lambda *said: told.append(said))
    assert [said[:2] for said in told] == [(str(file), 1), (str(file), 2)]
    assert [share is not None and 0 < share <= 1 for _, _, share in told] == [True, True]


def test_the_help_shows_what_is_taken(run: Run) -> None:
    words = " ".join(run("lint", "--help").stdout.split())
    for word in ("HAR", "JSON array", "gzip", "mcpcheck lint browser.har", "| mcpcheck lint -"):
        assert word in words
    (example,) = re.findall(r"echo '(.*?)' \|", words)
    assert CliRunner().invoke(command, ["-"], input=f"{example}\n").exit_code == 0
