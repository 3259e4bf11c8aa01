"""HTTP+SSE of 2024-11-05: whose answer comes on which event stream."""

import pytest

from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer
from tests.session.test_session import orphans, steps

STREAM = "c> GET /sse | Accept: text/event-stream\ns> 200 OK | Content-Type: text/event-stream\n"


def stream(data: str) -> str:
    return STREAM + rf"s> event: endpoint\ndata: {data}\n\n" + "\n"


def post(path: str, body: str, answer: str = "202 Accepted") -> str:
    return f"c> POST {path}\nc> {body}\ns> {answer}\n. s eof\n"


def said(exchange: int, data: str) -> str:
    return f"@exchange {exchange}\n" + rf"s> event: message\ndata: {data}\n\n" + "\n"


ASKED = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
ASKED_TOO = '{"jsonrpc":"2.0","id":1,"method":"prompts/list"}'
GIVEN = '{"jsonrpc":"2.0","id":1,"result":{}}'
TWO = "@http\n@revision 2024-11-05\n" + stream("/m?s=1") + stream("/m?s=2")


def answered(text: str) -> list[str]:
    """The methods that the answers of a session belong to."""
    return [
        session.call.request.method
        for session, event, _ in steps(text)
        if isinstance(event, Answer) and session.call is not None
    ]


def last(text: str) -> Session:
    *_, (session, _, _) = steps(text)
    return session


@pytest.mark.parametrize("taken", ["202 Accepted", "200 OK | Content-Type: text/plain", "204 No Content"])
def test_the_answer_comes_on_the_stream_whatever_status_the_post_got(taken: str) -> None:
    text = "@http\n@revision 2024-11-05\n" + stream("/m?s=1") + post("/m?s=1", ASKED, taken) + said(1, GIVEN)
    assert answered(text) == ["tools/list"]
    assert not orphans(text)


def test_a_post_that_was_refused_waits_for_nothing() -> None:
    text = "@http\n@revision 2024-11-05\n" + stream("/m?s=1") + post("/m?s=1", ASKED, "404 Not Found")
    assert not last(text).open_calls()


def test_two_clients_may_use_the_same_id() -> None:
    asked = post("/m?s=1", ASKED) + "@exchange 3\n" + post("/m?s=2", ASKED_TOO)
    text = TWO + asked + said(2, GIVEN) + said(1, GIVEN)
    assert answered(text) == ["prompts/list", "tools/list"]
    assert not orphans(text)


def test_an_answer_of_a_client_is_for_the_request_of_its_own_stream() -> None:
    asked = said(1, ASKED.replace("tools/list", "roots/list")) + said(2, ASKED.replace("tools/list", "ping"))
    text = TWO + asked + post("/m?s=2", GIVEN) + "@exchange 3\n" + post("/m?s=1", GIVEN)
    assert answered(text) == ["ping", "roots/list"]


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ("/m?s=1", "/m?s=1"),
        ("m?s=1", "/m?s=1"),
        ("https://example.com/m", "/m"),
        ("?s=1", "/sse?s=1"),
        ("https://example.com", "/"),
    ],
)
def test_the_address_for_posts_is_relative_to_that_of_the_stream(data: str, path: str) -> None:
    assert path in last("@http\n" + stream(data)).streams


@pytest.mark.parametrize("data", ["http://[", ""])
def test_an_address_that_is_none_is_left_alone(data: str) -> None:
    text = "@http\n@revision 2024-11-05\n" + stream(data) + post("/sse", ASKED) + said(1, GIVEN)
    assert answered(text) == ["tools/list"]
