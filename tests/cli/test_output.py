"""Where reports go, in which format, and what ends the command."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from mcpcheck.cli.output import Sink, finish, parse, report_option
from mcpcheck.errors import UsageError
from mcpcheck.verdict import Report
from tests.report.samples import SAMPLES


def report(sample: Report, *options: str) -> Result:
    @click.command()
    @report_option
    def command(reports: tuple[Sink, ...]) -> None:
        finish(sample, reports)

    return CliRunner().invoke(command, options)


@pytest.mark.parametrize(("name", "code"), [("clean", 0), ("findings", 1), ("troubles", 2)])
def test_the_exit_code_is_the_reports(name: str, code: int) -> None:
    assert report(SAMPLES[name]).exit_code == code


def test_text_goes_to_standard_output_unless_another_format_does(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    assert report(SAMPLES["clean"], "--report", f"json:{file}").stdout.startswith("mcpcheck 0.1.0 conform")
    shown = report(SAMPLES["clean"], "--report", "json").stdout
    assert shown == file.read_text()
    assert json.loads(shown)["exit"] == 0
    assert report(SAMPLES["clean"], "--report", "json:-").stdout == shown


def test_a_file_gets_80_columns_and_no_colour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    file = tmp_path / "report.txt"
    shown = report(SAMPLES["clean"], "--report", f"text:{file}", "--report", "text").stdout
    assert "\x1b" in shown
    assert "\x1b" not in file.read_text()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["jsno"], "did you mean 'json'"),
        (["json:"], "json:FILE"),
        (["json", "text"], "two reports .* --report text:FILE"),
    ],
)
def test_a_wrong_option_says_how_to_put_it_right(values: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse(values)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    done = report(SAMPLES["clean"], "--report", f"json:{tmp_path / 'none' / 'report.json'}")
    assert isinstance(done.exception, UsageError)
    assert "no folder" in str(done.exception)
    folder = report(SAMPLES["clean"], "--report", f"json:{tmp_path}")
    assert isinstance(folder.exception, UsageError)
    assert "cannot be written" in str(folder.exception)
