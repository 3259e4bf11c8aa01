"""Hard cases on stdio, with real processes: each side sees what it would see without the tap."""

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mcpcheck.wire.record import Dir
from tests.support.processes import ROOT, run
from tests.support.tap_process import SERVER, TAP, WITHIN, Tapped, is_gone, tapped
from tests.support.tap_server import LAST, READY
from tests.support.tap_streams import events, rebuilt

LINE = b'{"jsonrpc":"2.0","id":1,"method":"m"}\n'


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return tmp_path / "s.ndjson"


def limited(bytes_: int) -> list[str]:
    """A tap that cannot write longer files: what a full disk is like."""
    code = "import os,resource,sys; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)"
    return [sys.executable, "-c", f"{code}; os.execv(sys.argv[2], sys.argv[2:])", str(bytes_)]


@pytest.mark.parametrize("code", [0, 1, 3, 127, 255])
def test_it_exits_as_the_server_exits_though_the_client_holds_its_input_open(capture: Path, code: int) -> None:
    with tapped("exits", str(code), capture=capture) as session:
        session.send(LINE)
        assert session.read() == LAST
        assert session.wait() == code
        assert session.errors() == b""
        assert events(session.records())[-1] == ("exit", {"code": code})
        assert rebuilt(session.records()) == {"c2s": LINE, "s2c": LAST, "stderr": b""}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGPIPE, signal.SIGABRT])
def test_it_dies_by_the_signal_that_the_server_dies_of(capture: Path, number: signal.Signals) -> None:
    with tapped("kills_itself", str(int(number)), capture=capture) as session:
        session.send(LINE)
        assert session.read() == LAST
        assert session.wait() == -number
        assert session.errors() == b""
        assert events(session.records())[-1] == ("exit", {"signal": int(number)})


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT]
)
def test_a_signal_is_passed_on_and_the_server_decides(capture: Path, number: signal.Signals) -> None:
    with tapped("tells_signals", str(int(number)), capture=capture) as session:
        assert session.read(len(READY)) == READY
        for _ in range(2):
            session.process.send_signal(number)
            assert session.line() == b"signal %d\n" % number
        session.close_input()
        assert session.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_goes_at_a_signal_gives_its_exit_status(capture: Path, number: signal.Signals) -> None:
    with tapped("goes_at_signal", str(int(number)), "9", capture=capture) as session:
        assert session.read(len(READY)) == READY
        session.process.send_signal(number)
        assert session.wait() == 9
        assert rebuilt(session.records())["s2c"] == READY


def test_a_server_that_has_no_handler_dies_of_the_signal_and_so_does_the_tap(capture: Path) -> None:
    with tapped("echoes", capture=capture) as session:
        session.send(LINE)
        assert session.read(len(LINE)) == LINE
        session.process.send_signal(signal.SIGTERM)
        assert session.wait() == -signal.SIGTERM
        assert events(session.records())[-1] == ("exit", {"signal": 15})


def test_a_server_that_ignores_sigterm_is_killed_in_the_end(capture: Path) -> None:
    impatient = "import sys; from mcpcheck.tap import stdio; stdio.GRACE = 0.3; stdio.run(sys.argv[3:], sys.argv[1])"
    tap = [sys.executable, "-c", impatient, str(capture)]
    with tapped("ignores_everything", capture=capture, tap=tap) as session:
        server = int(session.line())
        session.process.send_signal(signal.SIGTERM)
        assert session.wait() == -signal.SIGKILL
        assert is_gone(server)
        assert events(session.records())[-1] == ("exit", {"signal": 9})


def test_a_server_that_runs_as_somebody_else_gets_the_end_of_its_input(capture: Path) -> None:
    forbidden = (
        "import os, sys; from mcpcheck.tap import stdio; kill = os.kill\n"
        "def only_myself(pid, number):\n"
        "    if pid != os.getpid():\n"
        "        raise PermissionError\n"
        "    kill(pid, number)\n"
        "os.kill = only_myself; stdio.run(sys.argv[3:], sys.argv[1])\n"
    )
    with tapped("echoes", capture=capture, tap=[sys.executable, "-c", forbidden, str(capture)]) as session:
        session.send(LINE)
        assert session.read(len(LINE)) == LINE
        session.process.send_signal(signal.SIGINT)
        session.process.send_signal(signal.SIGTERM)
        assert session.wait() == -signal.SIGTERM
        assert rebuilt(session.records())["s2c"] == LINE


def test_answers_that_come_after_the_end_of_input_arrive(capture: Path) -> None:
    with tapped("answers_late", capture=capture) as session:
        session.send(LINE * 3)
        session.close_input()
        assert session.read() == LINE * 3
        assert session.wait() == 0
        kinds = [record.event or record.dir.value for record in session.records()]
        assert kinds == ["open", *["c2s"] * 3, "eof", *["s2c"] * 3, "eof", "exit"]


def test_a_server_that_stops_reading_can_still_speak(capture: Path) -> None:
    with tapped("hears_nothing", "200", capture=capture) as session:
        session.send(LINE * 20_000)
        assert session.read(len(LAST) * 200) == LAST * 200
        session.process.send_signal(signal.SIGTERM)
        assert session.wait() == -signal.SIGTERM
        found = rebuilt(session.records())
        assert found["s2c"] == LAST * 200
        assert found["c2s"].startswith(LINE)


def test_a_client_that_stops_reading_can_still_speak(tmp_path: Path, capture: Path) -> None:
    for name, data in (("out", LAST * 20_000), ("err", b""), ("heard", b"")):
        (tmp_path / name).write_bytes(data)
    names = [str(tmp_path / name) for name in ("out", "err", "heard")]
    with tapped("plays", *names, "0", capture=capture) as session:
        session.send(LINE * 20_000)
        session.close_input()
        assert session.read() == LAST * 20_000
        assert session.wait() == 0
        assert (tmp_path / "heard").read_bytes() == LINE * 20_000


def test_standard_error_passes_as_it_is(tmp_path: Path, capture: Path) -> None:
    said = b"warn: caf\xc3\xa9 \xff\xfe raw\r\n\nno newline at the end"
    for name, data in (("out", LAST), ("err", said), ("heard", b"")):
        (tmp_path / name).write_bytes(data)
    names = [str(tmp_path / name) for name in ("out", "err", "heard")]
    with tapped("plays", *names, "0", capture=capture) as session:
        session.close_input()
        assert session.read() == LAST
        assert session.errors() == said
        assert session.wait() == 0
        assert rebuilt(session.records())["stderr"] == said


def test_a_server_that_closes_its_output_and_lives_on(capture: Path) -> None:
    with tapped("closes_output", capture=capture) as session:
        assert session.read() == LAST
        assert session.process.poll() is None
        session.send(LINE)
        session.close_input()
        assert session.errors() == b"heard %d bytes\n" % len(LINE)
        assert session.wait() == 0


def test_a_server_that_closes_its_input_is_heard_and_the_client_gets_to_know(capture: Path) -> None:
    with tapped("closes_input", capture=capture) as session:
        assert session.read(len(READY)) == READY
        session.send(LINE * 50_000)
        session.close_input()
        session.process.send_signal(signal.SIGTERM)
        assert session.wait() == -signal.SIGTERM
        assert ("abort", {"reason": "the server reads no more"}) in events(session.records(), Dir.S2C)


def test_a_grandchild_that_holds_the_pipe_keeps_nobody(capture: Path) -> None:
    with tapped("leaves_a_child", "3", capture=capture) as session:
        child = int(session.line())
        assert session.wait() == 3
        assert session.read() == b""
        assert rebuilt(session.records())["s2c"] == b"%d\n" % child
        assert events(session.records())[-1] == ("exit", {"code": 3})


def test_a_client_that_leaves_while_the_server_speaks_ends_both(tmp_path: Path, capture: Path) -> None:
    for name, data in (("out", LAST * 100_000), ("err", b""), ("heard", b"")):
        (tmp_path / name).write_bytes(data)
    names = [str(tmp_path / name) for name in ("out", "err", "heard")]
    with tapped("plays", *names, "0", capture=capture) as session:
        assert session.read(len(LAST)) == LAST
        assert session.process.stdout is not None
        session.process.stdout.close()
        session.close_input()
        session.wait()
        assert ("abort", {"reason": "the client reads no more"}) in events(session.records(), Dir.C2S)


@contextmanager
def client_with_a_tap(*part: str, capture: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A client as a process of its own, which has started a tap and a server; with the tap's process id."""
    code = (
        "import subprocess, sys, signal\n"
        "tap = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "print(tap.pid, tap.stdout.readline().decode().strip(), flush=True)\n"
        "signal.pause()\n"
    )
    command = [sys.executable, "-c", code, *TAP, "-o", str(capture), "--", *SERVER, *part]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT, start_new_session=True
    ) as client:
        session = Tapped(client, capture)
        try:
            tap, server = map(int, session.line().split())
            assert tap != server
            yield client, server
        finally:
            os.killpg(client.pid, signal.SIGKILL)
            client.wait(WITHIN)


def test_a_client_that_dies_leaves_no_process_behind(capture: Path) -> None:
    with client_with_a_tap("tells_its_number", capture=capture) as (client, server):
        client.kill()
        client.wait(WITHIN)
        assert is_gone(server)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process die with its parent")
def test_a_tap_that_is_killed_takes_the_server_with_it(capture: Path) -> None:
    with tapped("ignores_everything", capture=capture) as session:
        server = int(session.line())
        session.process.kill()
        assert session.wait() == -signal.SIGKILL
        assert is_gone(server)


def test_a_full_disk_harms_nobody_and_is_told(capture: Path) -> None:
    with tapped("echoes", capture=capture, tap=[*limited(4096), *TAP, "-o", str(capture)]) as session:
        session.send(LINE * 300)
        assert session.read(len(LINE) * 300) == LINE * 300
        session.close_input()
        said = session.errors()
        assert session.wait() == 0
        assert said.startswith(b"mcpcheck tap: ")
        assert b" lines are missing from %b: File too large\n" % bytes(capture) in said
        assert 0 < capture.stat().st_size <= 4096
        kept = [record for record in session.records() if record.event != "gap"]
        units = 2 * 300 + len(["open", "eof", "eof", "exit"])
        assert said.startswith(b"mcpcheck tap: %d lines" % (units - len(kept)))


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("/dev/full", "No space left on device"),
        ("nowhere/s.ndjson", "No such file or directory"),
        ("file/s.ndjson", "Not a directory"),
    ],
)
def test_a_capture_that_cannot_be_written_harms_nobody_and_is_told(tmp_path: Path, place: str, reason: str) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / place
    with tapped("echoes", capture=path) as session:
        session.send(LINE)
        assert session.read(len(LINE)) == LINE
        session.close_input()
        said = session.errors().decode()
        assert session.wait() == 0
        assert said.startswith("mcpcheck tap: ")
        assert said.endswith(f"{path}: {reason}\n")
        assert said.count("\n") == 1


def test_a_folder_that_vanishes_harms_nobody_and_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "captures"
    folder.mkdir()
    with tapped("echoes", capture=folder / "s.ndjson") as session:
        session.send(LINE)
        assert session.read(len(LINE)) == LINE
        while not (folder / "s.ndjson").exists():
            session.send(LINE)
            session.read(len(LINE))
        shutil.rmtree(folder)
        session.send(LINE)
        assert session.read(len(LINE)) == LINE
        session.close_input()
        assert session.errors().endswith(b"it is gone: No such file or directory\n")
        assert session.wait() == 0


def test_two_sessions_are_never_recorded_to_one_file(capture: Path) -> None:
    with tapped("echoes", capture=capture) as first:
        first.send(LINE)
        assert first.read(len(LINE)) == LINE
        while not (capture.exists() and capture.stat().st_size):
            assert first.process.poll() is None
        with tapped("echoes", capture=capture) as second:
            second.send(LINE * 2)
            assert second.read(len(LINE) * 2) == LINE * 2
            second.close_input()
            said = second.errors().decode()
            assert second.wait() == 0
        assert said == f"mcpcheck tap: nothing is recorded: {capture}: another session is being recorded to it\n"
        first.close_input()
        assert first.wait() == 0
        assert first.errors() == b""
        assert rebuilt(first.records())["s2c"] == LINE


def test_standard_streams_that_are_closed_are_no_accident(capture: Path) -> None:
    command = [*TAP, "-o", str(capture), "--", *SERVER, "exits", "5"]
    done = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command], cwd=ROOT, timeout=WITHIN, check=False)
    assert done.returncode == 5
    assert events(Tapped(None, capture).records())[-1] == ("exit", {"code": 5})  # type: ignore[arg-type]


def with_and_without(*command: str, env: dict[str, str]) -> list[bytes]:
    """What a command prints by itself, and behind the tap."""
    return [
        subprocess.run(words, capture_output=True, cwd=ROOT, env=env, timeout=WITHIN, check=True, stdin=0).stdout
        for words in (command, [*TAP, "-o", os.devnull, "--", *command])
    ]


@pytest.mark.parametrize("locale", [{"LANG": "C"}, {}, {"LC_CTYPE": "C.UTF-8"}, {"LC_ALL": "C", "LC_CTYPE": "C"}])
def test_the_environment_is_the_same_with_the_tap(locale: dict[str, str]) -> None:
    env = {"PATH": os.environ["PATH"], "MINE": "\udcff \u00e9\n", "PYTHONNOUSERSITE": "1", **locale}
    without, with_ = with_and_without("env", "-0", env=env)
    assert sorted(with_.split(b"\0")) == sorted(without.split(b"\0"))


def test_signals_and_descriptors_are_the_same_with_the_tap() -> None:
    without, with_ = with_and_without(*SERVER, "shows_itself", env=dict(os.environ))
    assert with_ == without


def test_a_command_that_is_not_there_is_named() -> None:
    done = run(*TAP, "-o", os.devnull, "--", "no-such-server-here", "x")
    assert done.returncode == 127
    assert done.stdout == ""
    assert done.stderr == "mcpcheck tap: cannot start no-such-server-here: there is no such command\n"


def test_a_command_that_cannot_be_run_is_named(tmp_path: Path) -> None:
    done = run(*TAP, "-o", os.devnull, "--", str(tmp_path))
    assert done.returncode == 126
    assert done.stderr == f"mcpcheck tap: cannot start {tmp_path}: Permission denied\n"


def test_a_command_that_cannot_be_started_leaves_no_capture(capture: Path) -> None:
    run(*TAP, "-o", str(capture), "--", "no-such-server-here")
    assert not capture.exists()


def test_a_capture_is_its_owners_alone_and_its_folder_too(tmp_path: Path) -> None:
    run(*TAP, "--", "true", env={"XDG_STATE_HOME": str(tmp_path / "state")})
    folder = tmp_path / "state" / "mcpcheck" / "captures"
    (made,) = folder.iterdir()
    assert made.name.endswith(".ndjson")
    assert "-true-" in made.name
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_as_the_place_gets_a_new_file_for_each_session(tmp_path: Path) -> None:
    for _ in range(2):
        assert run(*TAP, "-o", str(tmp_path), "--", "true").returncode == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 2
    assert all("-true-" in name for name in names)
