"""The examples of the catalogue: pairs of sessions in the rules' shorthand, which ``explain`` spells out."""

import json
import re

import pytest

from mcpcheck.catalogue.load import load
from mcpcheck.catalogue.requirement import Requirement
from mcpcheck.cli.example import cut, shown
from tests.support.sessions import parse

EXAMPLES = [one for one in load().values() if one.good or one.bad]


@pytest.mark.parametrize("one", EXAMPLES, ids=lambda one: one.id)
def test_an_example_is_a_pair_of_sessions_that_can_be_read(one: Requirement) -> None:
    for text in (one.good, one.bad):
        (case,) = parse(text)
        assert case.records
        assert not case.expected
    assert one.good != one.bad


@pytest.mark.parametrize("one", EXAMPLES, ids=lambda one: one.id)
def test_an_example_is_spelled_out_on_the_wire(one: Requirement) -> None:
    for text in (one.good, one.bad):
        lines = list(shown(text))
        assert lines
        assert all(re.match(r"[cse]> |\(", line) and line.isprintable() for line in lines), lines


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("c: 1 tools/list", ['c> {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{...}}}']),
        (
            'c: "a" tools/call {"name":"x","_meta":{"a":1}}',
            ['c> {"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","_meta":{...,"a":1}}}'],
        ),
        ("@revision 2025-11-25\nc: 1 ping", ["(in 2025-11-25)", 'c> {"jsonrpc":"2.0","id":1,"method":"ping"}']),
        (
            's: 1 -> {"tools":[]}',
            ['s> {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"_meta":{...}}}'],
        ),
        (
            's: 1 -> {"resultType":"x"}',
            ['s> {"jsonrpc":"2.0","id":1,"result":{"resultType":"x","_meta":{...}}}'],
        ),
        (
            's: 1 error -32022 {"requested":"1"}',
            ['s> {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"it failed","data":{"requested":"1"}}}'],
        ),
        ("c: note notifications/initialized", ['c> {"jsonrpc":"2.0","method":"notifications/initialized"}']),
        (
            '@http\nc: 1 tools/call {"name":"x"} [Mcp-Method: - | Accept: text/plain]\ns: 1 -> {} [status 404]',
            [
                "c> POST /mcp | MCP-Protocol-Version: 2026-07-28 | Mcp-Name: x | Accept: text/plain",
                'c> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{...},"name":"x"}}',
                "s> 404",
                's> {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{...}}}',
            ],
        ),
        (
            's] {"half\n. s exit {"code":1}\ns$ \\xff',
            ['s> {"half  (without a newline)', '(the server: exit {"code":1})', "s> \\xff"],
        ),
    ],
)
def test_shorthand_is_spelled_out(text: str, spelled: list[str]) -> None:
    assert list(shown(text)) == spelled


def test_a_long_line_is_cut_in_the_middle() -> None:
    assert cut("x" * 240) == "x" * 240
    assert cut("a" * 300 + "z" * 100) == "a" * 160 + " [...] " + "z" * 60


def test_what_is_spelled_out_of_a_well_formed_message_is_json() -> None:
    for one in EXAMPLES:
        for text in (one.good, one.bad):
            wellformed = [line for line in text.strip().splitlines() if line[:2] in {"c:", "s:"}]
            for line in shown("\n".join(wellformed)):
                json.loads(line[3:].replace("{...}", "{}").replace("{...,", "{"))
