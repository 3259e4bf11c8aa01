"""Every format renders the sample reports as the goldens hold them, and lets nothing of a peer's through."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from mcpcheck.catalogue.place import specs_root
from mcpcheck.errors import UsageError
from mcpcheck.report import format_names, render
from tests.report.samples import SAMPLES

GOLDENS = Path(__file__).parent / "goldens"


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("format", format_names())
def test_a_sample_renders_as_its_golden(format: str, name: str, golden: Callable[[str, Path], None]) -> None:
    golden(render(SAMPLES[name], format), GOLDENS / f"{name}.{format}")


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("format", format_names())
def test_nothing_of_a_peer_reaches_the_terminal(format: str, name: str) -> None:
    text = render(SAMPLES[name], format)
    assert text.isascii()
    assert all(line.isprintable() for line in text.split("\n"))
    assert "very-secret" not in text
    assert "key=123" not in text


@pytest.mark.parametrize("name", SAMPLES)
def test_the_json_report_keeps_to_its_schema(name: str) -> None:
    schema = json.loads((specs_root() / "report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(render(SAMPLES[name], "json")), schema, jsonschema.Draft202012Validator)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_text_report_keeps_to_its_width_but_for_what_is_copied(name: str) -> None:
    for line in render(SAMPLES[name], "text", width=60).splitlines()[:-1]:
        assert len(line) <= 60 or re.match(r" +(page|reproduce|or|-H|--data-binary) ", line)


def test_the_last_line_is_the_count() -> None:
    assert render(SAMPLES["clean"], "text").splitlines()[-1] == "2 passed, 0 broken, 3 untestable, 3 not exercised"
    last = render(SAMPLES["findings"], "text").splitlines()[-1]
    assert last == ("1 passed, 3 broken, 2 warnings, 1 known, 6 untestable, 4 not exercised, 1 stale baseline entry")


def test_every_requirement_has_a_line_of_verdicts_that_says_why() -> None:
    for report in SAMPLES.values():
        *lines, last = render(report, "verdicts").splitlines()
        assert last == render(report, "text").splitlines()[-1]
        for result, line in zip(report.results, lines, strict=False):
            _, id, why = line.split(maxsplit=2)
            assert id == result.requirement.id
            assert why


def test_colour_changes_nothing_but_the_colour() -> None:
    for report in SAMPLES.values():
        for format in ("text", "verdicts"):
            coloured = render(report, format, colour=True)
            assert "\x1b[" in coloured
            assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(report, format)


def test_rendering_twice_gives_the_same() -> None:
    for format in format_names():
        assert render(SAMPLES["findings"], format) == render(SAMPLES["findings"], format)


def test_an_unknown_format_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'json'"):
        render(SAMPLES["clean"], "jsn")
