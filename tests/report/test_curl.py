"""The curl line of a finding: it sends that very request again, but for what may be secret."""

import shlex
import shutil
import subprocess
import sys

import anyio
import pytest

from mcpcheck.conform import Conform, Plan, joined
from mcpcheck.lab import url
from mcpcheck.report.curl import curl, folded, hides
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead
from tests.support.processes import ROOT, http_process

BODY = b'{"jsonrpc": "2.0", "id": "it\'s", "method": "server/discover"}'
BASE = "http://127.0.0.1:1"


def records(
    *headers: tuple[str, str], path: str = "/mcp", body: bytes = BODY, method: str = "POST"
) -> dict[int, Record]:
    head = RequestHead(method, path, headers)
    return {
        1: Record(1, 0.0, Dir.C2S, Kind.HEAD, exchange=1, http=head),
        2: Record(2, 0.0, Dir.C2S, Kind.BODY, body, exchange=1),
    }


def words(*headers: tuple[str, str], **how: str | bytes) -> list[str]:
    return shlex.split(curl([2], records(*headers, **how), BASE))  # type: ignore[arg-type]


def test_headers_and_body_are_those_that_were_sent() -> None:
    assert words(
        ("Mcp-Method", "server/discover"), ("Accept", "*/*"), ("Content-Type", "a/b"), ("User-Agent", "x")
    ) == [
        *["curl", "-i", "-N", "-X", "POST", "http://127.0.0.1:1/mcp"],
        *["-H", "Mcp-Method: server/discover", "-H", "Accept: */*", "-H", "Content-Type: a/b", "-H", "User-Agent: x"],
        *["--data-binary", BODY.decode()],
    ]


def test_what_curl_adds_by_itself_is_taken_away_where_it_was_not_sent() -> None:
    sent = words()
    assert sent[3:5] == ["-A", ""]
    assert "Accept:" in sent
    assert "Content-Type:" in sent
    assert "Expect:" in words(body=b'"' + b"a" * 2000 + b'"')


def test_what_curl_sets_as_it_was_sent_is_left_to_it_and_anything_else_is_not() -> None:
    usual = words(("Host", "127.0.0.1:1"), ("Content-Length", str(len(BODY))), ("Connection", "close"))
    assert not {word.partition(":")[0] for word in usual} & {"Host", "Content-Length", "Connection"}
    odd = words(("Host", "evil.example"), ("Content-Length", "5"), ("Connection", "upgrade"))
    assert {"Host: evil.example", "Content-Length: 5", "Connection: upgrade"} <= set(odd)


def test_secrets_are_not_in_it_and_that_is_said() -> None:
    body = b'{"access_token": "hunter2-hunter2"}'
    secret = [("Authorization", "Bearer hunter2-hunter2"), ("X-Company-Pass", "hunter2"), ("Mcp-Session-Id", "hunter2")]
    line = curl([2], records(*secret, path="/mcp?key=hunter2", body=body), BASE)
    assert "hunter2" not in line
    assert "Authorization: Bearer redacted" in line
    assert hides(line)
    assert not hides(curl([2], records(), BASE))


def test_an_empty_header_is_sent_as_such() -> None:
    assert "-H 'Mcp-Name;'" in curl([2], records(("Mcp-Name", "")), BASE)


def test_bytes_that_no_line_can_show_come_from_printf() -> None:
    line = curl([2], records(body=b"\xff\x00%d\\'\n"), BASE)
    assert line.startswith(r"printf '\377\000\045d\134'")
    assert line.endswith("--data-binary @-")
    assert folded(line) == [line]


def test_a_folded_line_is_the_same_to_a_shell() -> None:
    line = curl([2], records(("Accept", "*/*"), ("Mcp-Name", "a b")), BASE)
    assert len(folded(line)) > 3
    assert shlex.split("\n".join(folded(line)).replace("\\\n", " ")) == shlex.split(line)


def test_what_is_too_long_or_no_text_has_no_line() -> None:
    assert curl([2], records(("X", "a\x01b")), BASE).count("redacted") == 1
    assert curl([2], records(("Accept", "a\x01b")), BASE) == ""
    assert curl([2], records(body=b'"' + b"a" * 9000 + b'"'), BASE) == ""


def test_frames_without_an_exchange_have_no_line() -> None:
    line = Record(1, 0.0, Dir.C2S, Kind.LINE, BODY)
    assert curl([1], {1: line}, BASE) == ""
    assert curl([], {}, BASE) == ""


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
@pytest.mark.parametrize(
    "id",
    ["tools.error.unknown-tool", "http.origin.validated", "http.headers.missing-name-rejected", "base.error.parse"],
)
def test_the_line_of_a_finding_draws_the_same_answer_again(id: str) -> None:
    """A broken server behind a socket: what the report shows of its answer is what curl hears."""
    with http_process(sys.executable, "fixtures/serve.py", id, "--http", "0", cwd=ROOT) as server:
        run = Conform(url(server.url), Plan(only=(id,)))
        anyio.run(run.run)
        finding, *_ = joined([run], run="1", started="", tool="").findings
        shown = "\n".join(folded(finding.curl))
        heard = subprocess.run(["sh", "-c", shown], capture_output=True, timeout=20, check=True).stdout
    answers = [record for record in finding.evidence if record.dir is Dir.S2C]
    for record in answers:
        if isinstance(record.http, ResponseHead):
            assert heard.startswith(b"HTTP/1.1 %d" % record.http.status)
    assert heard.rstrip().endswith(b"".join(record.data for record in answers).rstrip())
