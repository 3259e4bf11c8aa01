"""Whatever a peer sends, every format renders, and what it renders can be shown, encoded and read."""

import json
import shlex

import jsonschema_rs
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpcheck.catalogue.place import specs_root
from mcpcheck.report import render
from mcpcheck.report.curl import curl, folded
from mcpcheck.verdict import Report, Result, SessionInfo, Status, Trouble
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead
from tests.report.samples import finding, report, requirement

TEXT = st.text(st.characters(), max_size=60)
HEADERS = st.lists(st.tuples(TEXT, TEXT), max_size=3).map(tuple)
HEADS = st.one_of(
    st.none(), st.builds(RequestHead, TEXT, TEXT, HEADERS), st.builds(ResponseHead, st.integers(), TEXT, HEADERS)
)
DATA = st.one_of(st.binary(max_size=80), TEXT.map(lambda text: json.dumps({"a": text, "_meta": {"b": text}}).encode()))
RECORDS = st.builds(
    Record,
    n=st.integers(1, 99),
    t=st.floats(0, 9),
    dir=st.sampled_from(Dir),
    kind=st.sampled_from(Kind),
    data=DATA,
    exchange=st.one_of(st.none(), st.integers(1, 9)),
    http=HEADS,
    event=st.one_of(st.none(), TEXT),
    detail=st.dictionaries(TEXT, TEXT, max_size=2),
)
ONE = requirement("base.sample")
SCHEMA = jsonschema_rs.Draft202012Validator(json.loads((specs_root() / "report.schema.json").read_text()))


@st.composite
def reports(draw: st.DrawFn) -> Report:
    found = finding(
        ONE,
        session=draw(TEXT),
        expected=draw(TEXT),
        actual=draw(TEXT),
        scenario=draw(TEXT),
        reproduce=draw(TEXT),
        known=draw(st.one_of(st.just(""), TEXT)),
        suspect=draw(st.booleans()),
        evidence=tuple(draw(st.lists(RECORDS, max_size=3))),
    )
    return report(
        target=draw(TEXT),
        results=(
            Result(ONE, Status.BROKEN, 0, (found,)),
            Result(requirement("base.other"), Status.UNTESTABLE, note=draw(TEXT)),
        ),
        sessions=(SessionInfo(draw(TEXT), draw(TEXT), 1, draw(TEXT), (draw(TEXT),)),),
        troubles=(Trouble(draw(TEXT), draw(TEXT)),),
        stale=(draw(TEXT),),
        next_steps=(draw(TEXT),),
        extra={draw(TEXT): draw(TEXT)},
    )


@given(reports(), st.integers(1, 200))
@settings(max_examples=60, deadline=None)
def test_the_text_report_can_always_be_shown(report: Report, width: int) -> None:
    for format in ("text", "verdicts"):
        text = render(report, format, width=width)
        assert text.encode()
        assert all(line.isprintable() for line in text.split("\n"))


@given(st.lists(RECORDS, max_size=4), TEXT)
@settings(max_examples=60, deadline=None)
def test_a_curl_line_is_one_printable_line_that_a_shell_can_read(records: list[Record], host: str) -> None:
    line = curl([record.n for record in records], {record.n: record for record in records}, f"http://{host}")
    assert line.isprintable()
    assert [word for part in folded(line) for word in shlex.split(part.removesuffix(" \\"))] == shlex.split(line)


@given(reports())
@settings(max_examples=60, deadline=None)
def test_the_json_report_can_always_be_read(report: Report) -> None:
    text = render(report, "json")
    assert text.isascii()
    SCHEMA.validate(json.loads(text))
