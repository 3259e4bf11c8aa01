"""Messages that other tools wrote down: with a direction and without, in lines, in an array, in a log."""

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpcheck.capture import Capture, open_any
from mcpcheck.capture.sniff import sessions_of
from mcpcheck.capture.source import Source
from mcpcheck.errors import UsageError
from mcpcheck.wire.record import Dir, Kind, Record

ASKED = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}'
TOLD = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","serverInfo":{}}}'
PING = '{"jsonrpc":"2.0","id":"p","method":"ping"}'
PONG = '{"jsonrpc":"2.0","id":"p","result":{}}'

NAMES = ["message", "payload", "jsonrpc", "method", "params", "result", "error", "id", "direction", "log", "entries",
         "request", "response", "url", "postData", "text", "timestamp", "mcpcheck", "messages"]  # fmt: skip


def opened(tmp_path: Path, text: str) -> tuple[list[Record], Capture]:
    """The messages of a file that holds one session, and the session."""
    path = tmp_path / "x.jsonl"
    path.write_text(text, encoding="utf-8")
    (found,) = [(list(capture), capture) for capture in open_any(path)]
    return [record for record in found[0] if record.kind is Kind.LINE], found[1]


def directions(records: list[Record]) -> str:
    return " ".join(record.dir.value for record in records)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{ASKED}\n{TOLD}\n", "c2s s2c"),
        (f"\n  {ASKED}  \r\n\n{TOLD}", "c2s s2c"),
        (f"[{ASKED},{TOLD}]", "c2s s2c"),
        (f"[\n  {ASKED},\n  {TOLD}\n]\n", "c2s s2c"),
        (json.dumps(json.loads(ASKED), indent=2), "c2s"),
        (json.dumps(json.loads(ASKED), indent=2) + "\n" + json.dumps(json.loads(TOLD), indent=2), "c2s s2c"),
        (f'{{"messages":[{ASKED},{TOLD}],"version":1}}', "c2s s2c"),
        (f'{{"level":"info","msg":"started"}}\n{ASKED}\n', "c2s"),
        # directions in other tools' words, absolute
        (f'{{"direction":"client->server","message":{ASKED}}}\n{{"direction":"server->client","message":{PING}}}\n',
         "c2s s2c"),
        (f'{{"dir":"C2S","payload":{ASKED}}}\n{{"dir":"s2c","payload":{PING}}}\n', "c2s s2c"),
        (f'{{"from":"client","raw":{json.dumps(ASKED)}}}\n{{"from":"server","raw":{json.dumps(PING)}}}\n', "c2s s2c"),
        (f'{{"direction":"client_to_server","data":{{"frame":{ASKED}}}}}\n', "c2s"),
        # and as the recorder saw them: what the first message is says who the recorder is
        (f'{{"direction":"out","message":{ASKED}}}\n{{"direction":"in","message":{PING}}}\n', "c2s s2c"),
        (f'{{"direction":"received","message":{ASKED}}}\n{{"direction":"sent","message":{PING}}}\n', "c2s s2c"),
        # logs of hosts
        (f"2026-12-01T10:00:00Z [x] [info] Message from client: {ASKED} {{ metadata: undefined }}\n"
         f"2026-12-01T10:00:01Z [x] [info] Message from server: {PING} {{ metadata: undefined }}\n", "c2s s2c"),
        (f"Starting up\nclient -> server {ASKED}\n", "c2s"),
    ],
)  # fmt: skip
def test_messages_are_found_in_what_other_tools_write(tmp_path: Path, text: str, expected: str) -> None:
    assert directions(opened(tmp_path, text)[0]) == expected


def test_a_message_keeps_its_text_and_the_number_of_its_line(tmp_path: Path) -> None:
    odd = ASKED.replace('"id":0', '"id" : 0, "x":1.50, "x":"\\u00e9"')
    for text in (odd, f'{{"ts":1,"message":{odd}}}'):
        (record,) = opened(tmp_path, "\n" + text)[0]
        assert (record.data.decode(), record.n) == (odd, 2)


def test_a_message_that_is_spread_over_lines_is_put_on_one(tmp_path: Path) -> None:
    (record,) = opened(tmp_path, json.dumps([json.loads(ASKED)], indent=2))[0]
    assert b"\n" not in record.data
    assert json.loads(record.data) == json.loads(ASKED)


def test_times_are_seconds_since_the_first_message(tmp_path: Path) -> None:
    for times in (
        ['"2026-12-01T10:00:00Z"', '"2026-12-01T10:00:02.500Z"'],
        ["1796119200000", "1796119202500"],
        ["17", "19.5"],
    ):
        lines = (f'{{"timestamp":{time},"message":{text}}}' for time, text in zip(times, (ASKED, TOLD), strict=True))
        assert [record.t for record in opened(tmp_path, "\n".join(lines))[0]] == [0.0, 2.5]


def test_words_that_contradict_each_other_say_nothing(tmp_path: Path) -> None:
    lines = [("out", ASKED), ("out", TOLD), ("in", PING), ("out", PING)]
    text = "\n".join(f'{{"direction":"{word}","message":{message}}}' for word, message in lines)
    records, capture = opened(tmp_path, text)
    assert directions(records) == "c2s s2c"
    assert any("2 not judged, since either side may have sent them" in note for note in capture.notes)


def test_the_notes_say_what_was_guessed_and_what_was_left_out(tmp_path: Path) -> None:
    text = "\n".join([ASKED, TOLD, TOLD, PING, PONG, "a line of a log", '{"level":"info"}'])
    records, capture = opened(tmp_path, text)
    assert directions(records) == "c2s s2c"
    assert capture.notes == [
        "4 messages of unknown transport, whose rules are not judged; direction guessed of all",
        "2 not judged, since either side may have sent them",
        "1 not judged, since the message before is the very same",
        "2 lines without a message passed over",
    ]


def test_what_is_told_is_not_called_a_guess(tmp_path: Path) -> None:
    _, capture = opened(tmp_path, f'{{"direction":"c2s","message":{ASKED}}}')
    assert capture.notes == ["1 message of unknown transport, whose rules are not judged"]


def test_a_file_that_begins_in_the_middle_is_not_taken_for_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    for text, first in ((ASKED, "open"), (ASKED.replace("initialize", "tools/list"), "gap")):
        path.write_text(text)
        assert next(iter(next(open_any(path)))).event == first


def test_an_answer_to_nothing_and_a_message_that_was_cut_are_gaps(tmp_path: Path) -> None:
    for lost in ('{"jsonrpc":"2.0","id":9,"result":{}}', TOLD[:-20]):
        (found,) = [list(capture) for capture in open_any(written(tmp_path, f"{ASKED}\n{lost}\n{TOLD}\n"))]
        assert [record.event or record.dir.value for record in found] == ["open", "c2s", "gap", "s2c"]


def test_two_clients_with_the_same_ids_are_not_confused(tmp_path: Path) -> None:
    calls = [f'{{"jsonrpc":"2.0","id":1,"method":"{method}"}}' for method in ("tools/list", "prompts/list")]
    answers = ['{"jsonrpc":"2.0","id":1,"result":{"prompts":[]}}', '{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}']
    records, capture = opened(tmp_path, "\n".join([*calls, *answers, ASKED]))
    assert directions(records) == "c2s c2s"
    assert any("2 not judged, since sessions of several clients or servers are mixed" in note for note in capture.notes)


@pytest.mark.parametrize(
    "other", [TOLD.replace("2025-11-25", "2024-11-05"), TOLD.replace('"serverInfo"', '"capabilities":{},"serverInfo"')]
)
def test_what_went_to_several_servers_is_not_judged_as_if_it_went_to_one(tmp_path: Path, other: str) -> None:
    records, _ = opened(tmp_path, "\n".join([ASKED, TOLD, ASKED, other, PING.replace('"p"', "1")]))
    assert directions(records) == "c2s s2c c2s"


def test_a_session_that_begins_anew_is_judged_on(tmp_path: Path) -> None:
    records, _ = opened(tmp_path, "\n".join([ASKED, TOLD, ASKED, TOLD]))
    assert directions(records) == "c2s s2c c2s s2c"


@given(st.binary() | st.recursive(st.none() | st.integers() | st.text() | st.sampled_from([ASKED, TOLD]),
       lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(NAMES) | st.text(), inner))
       .map(lambda value: json.dumps(value).encode() + b"\n" + ASKED.encode()))  # fmt: skip
def test_nothing_in_a_file_is_more_than_an_error_of_its_user(data: bytes) -> None:
    try:
        for capture in sessions_of(Source(io.BytesIO(data), "x")):
            list(capture)
    except UsageError:
        pass


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hello\nworld\n", "its first line is no JSON"),
        ('{"name":"x","version":"1.0.0"}', "it is an object with name, version. What is read"),
        ('{\n  "name": "x"\n}\n', "it is an object with name"),
        ("[1, 2, 3]", "its elements are no messages"),
        ("[]", "its elements are no messages"),
        ("{}", "an empty object"),
        ("17\n", "a JSON value that is no object"),
        ('{"jsonrpc":"2.0","id":1,"method":"eth_call"}\n', "no message of MCP in its first 1 lines"),
        ('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rootUri":null}}\n', "no message of MCP"),
        ('[{"jsonrpc":"2.0","id":1,"method":"eth_call"}]', "none of its messages is of MCP"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "no JSON"),
        ("\x00\x01\x02", "it is no text"),
    ],
)
def test_what_holds_no_session_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(UsageError, match="is no capture: .*" + says):
        list(open_any(written(tmp_path, text)))


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "x.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_direction_is_the_senders(tmp_path: Path) -> None:
    records, _ = opened(tmp_path, f'{{"direction":"server","message":{PING}}}\n{ASKED}')
    assert [record.dir for record in records] == [Dir.S2C, Dir.C2S]
