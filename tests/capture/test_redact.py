"""What never reaches the disk, and what stays as it was sent."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpcheck.capture import Header, Redactor
from mcpcheck.capture.format import from_line, to_line
from mcpcheck.capture.redact import redact_target
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead, header

SECRET = "s3cr3t-Value.0123456789"
SALT = b"salt"


def payload(data: bytes | str, kind: Kind = Kind.LINE) -> Record:
    return Record(1, 0.0, Dir.C2S, kind, data.encode() if isinstance(data, str) else data, exchange=1)


def cleaned(record: Record) -> Record:
    return Redactor(SALT).record(record)


def digest(value: str = SECRET) -> str:
    return Redactor(SALT).digest(value.encode()).decode()


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ('{"params":{"arguments":{"password":"%s"}}}', "msg.params.arguments.password"),
        ('{"a":[{"b":1},{"api_key" :\n"%s"}]}', "msg.a.1.api_key"),
        ('{"result":{"access_token":"%s","token_type":"Bearer"}}', "msg.result.access_token"),
        ('{"x":{"clientSecret":"%s"},"password":7}', "msg.x.clientSecret"),
        ('{"headers":{"X-Api-Key":"%s"}}', "msg.headers.X-Api-Key"),
        ('{"sessionId":"%s"}', "msg.sessionId"),
        ('{"pass\\u0077ord":"%s"}', "msg.password"),
        ('{"token":"a","token":"%s"}', "msg.token"),
        (' {"token":"%s"} ', "msg.token"),
    ],
)
def test_a_member_that_is_named_like_a_secret_holds_a_digest(data: str, place: str) -> None:
    after = cleaned(payload(data % SECRET))
    assert after.redacted == (place,)
    assert after.data.decode().replace(digest("a"), "a") == data % digest()


@pytest.mark.parametrize(
    "data",
    [
        '{"_meta":{"progressToken":"p-1"},"params":{"requestState":"AbC","cursor":"c"}}',
        '{"result":{"nextPageToken":"2","maxTokens":"5","tokenEndpoint":"/t"}}',
        '{"properties":{"password":{"type":"string","format":"password"}},"required":["password"]}',
        '{"error":{"code":-32602,"message":"code"},"name":"token","token":null,"secret":7}',
        '{"text":"a token, a password and a key: none of them is here"}',
        '{"type":"token","code":"a","key":"k"}',
    ],
)
def test_what_is_no_secret_stays(data: str) -> None:
    record = payload(data)
    assert cleaned(record) is record


def test_only_the_value_is_replaced() -> None:
    data = '{ "n":1.0,"n":2e0 ,"e":"\\u00e9\\/", "token":"%s","u":"\u00e9" }'
    assert cleaned(payload(data % SECRET)).data.decode() == data % digest()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (f"grant_type=authorization_code&code={SECRET}&code_verifier={SECRET}", Kind.BODY),
        (f"event: endpoint\ndata: /messages?session_id={SECRET}\n\n", Kind.SSE),
        (f'data: {{"a":\r\ndata:  {{"token": "{SECRET}"}}}}\r\n\r\n', Kind.SSE),
        (f'{{"url":"https://a.example/cb?state=1&code={SECRET}#x"}}', Kind.LINE),
        (f'{{"text":"Authorization: Bearer {SECRET}"}}', Kind.LINE),
        (f"INFO using API_KEY={SECRET}, Bearer {SECRET}", Kind.STDERR),
        (f"token: '{SECRET}'", Kind.STDERR),
        (f"banner with secret={SECRET}", Kind.LINE),
        (f'{{"password":"{SECRET}', Kind.LINE),
        (b'{"s":"\xff","password":"' + SECRET.encode() + b'"}', Kind.LINE),
    ],
)
def test_a_secret_is_found_wherever_it_stands(data: bytes | str, kind: Kind) -> None:
    after = cleaned(payload(data, kind))
    assert SECRET.encode() not in after.data
    assert digest().encode() in after.data
    assert after.redacted
    assert from_line(to_line(after)).data == after.data


def test_an_event_over_several_lines_keeps_all_but_the_secret() -> None:
    data = 'id: "1\r\ndata: {"a":\r\ndata:  {"token": "%s"}}\r\n\r\n'
    after = cleaned(payload(data % SECRET, Kind.SSE))
    assert after.data.decode() == data % digest()
    assert after.redacted == ("msg.a.token",)


@pytest.mark.parametrize(
    ("name", "value", "becomes"),
    [
        ("Authorization", f"Bearer {SECRET}", f"Bearer {digest()}"),
        ("proxy-authorization", f"Basic {SECRET}", f"Basic {digest()}"),
        ("Cookie", f"a={SECRET}", digest(f"a={SECRET}")),
        ("Set-Cookie", f"a={SECRET}; Path=/", digest(f"a={SECRET}; Path=/")),
        ("X-Api-Key", SECRET, digest()),
        ("X-Auth-Token", SECRET, digest()),
        ("Mcp-Session-Id", SECRET, digest()),
        ("Location", f"https://a.example/cb?code={SECRET}", f"https://a.example/cb?code={digest()}"),
    ],
)
def test_a_header_keeps_its_name_and_loses_its_secret(name: str, value: str, becomes: str) -> None:
    for head in (RequestHead("GET", "/", ((name, value),)), ResponseHead(200, "OK", ((name, value),))):
        after = cleaned(Record(1, 0.0, Dir.C2S, Kind.HEAD, exchange=1, http=head))
        assert after.http
        assert header(after.http, name) == becomes
        assert len(after.redacted) == 1
        assert after.redacted[0].startswith(f"http.headers.{name}")


@pytest.mark.parametrize(
    "name", ["WWW-Authenticate", "Content-Type", "Mcp-Method", "Access-Control-Allow-Headers", "Host"]
)
def test_other_headers_stay(name: str) -> None:
    record = Record(
        1, 0.0, Dir.C2S, Kind.HEAD, exchange=1, http=RequestHead("GET", "/a?b=c", ((name, "authorization"),))
    )
    assert cleaned(record) is record


def test_the_query_of_a_request_loses_its_secrets() -> None:
    head = RequestHead("GET", f"/cb;code=x?state=1&code={SECRET}&api_key=", ())
    after = cleaned(Record(1, 0.0, Dir.C2S, Kind.HEAD, exchange=1, http=head))
    assert after.http == RequestHead("GET", f"/cb;code=x?state=1&code={digest()}&api_key=", ())
    assert after.redacted == ("http.path.code",)


def test_equal_secrets_stay_equal_however_they_are_spelled_and_others_differ() -> None:
    redactor = Redactor()

    def shown(record: Record) -> str:
        return to_line(redactor.record(record)).decode()

    lines = [
        shown(payload(f'{{"token":"{SECRET}"}}')),
        shown(payload('{"token":"' + SECRET.replace("V", "\\u0056") + '"}')),
        shown(payload(f"token={SECRET.replace('V', '%56')}", Kind.BODY)),
        shown(payload(f"Bearer {SECRET}", Kind.STDERR)),
    ]
    wanted = redactor.digest(SECRET.encode()).decode()
    assert all(wanted in line for line in lines)
    assert redactor.digest(b"other") != redactor.digest(SECRET.encode())
    assert Redactor().digest(SECRET.encode()) != redactor.digest(SECRET.encode())


def test_what_was_redacted_once_stays_as_it_is() -> None:
    for record in (payload(f'{{"token":"{SECRET}"}}'), payload(f"secret={SECRET}", Kind.STDERR)):
        once = Redactor().record(record)
        assert Redactor().record(once) == once


def test_a_command_line_and_an_address_lose_their_secrets() -> None:
    words = ["server", "--token", SECRET, "--api-key=" + SECRET, "PASSWORD=" + SECRET, "--secret", "--verbose", "token"]
    target: dict[str, Any] = {"command": words, "url": f"https://ann:{SECRET}@a.example/mcp?key={SECRET}"}
    clean = redact_target(Header("", "stdio", target), Redactor(SALT)).target
    assert SECRET not in json.dumps(clean)
    assert clean["command"][5:] == ["--secret", "--verbose", "token"]
    assert clean["url"].endswith(f"@a.example/mcp?key={digest()}")


values = st.recursive(
    st.none() | st.integers() | st.text() | st.just(SECRET),
    lambda kid: (
        st.lists(kid, max_size=3) | st.dictionaries(st.text(max_size=6) | st.sampled_from(["token", "Password"]), kid)
    ),
)


def leaks(value: Any, name: str = "") -> bool:
    match value:
        case dict():
            return any(leaks(kid, key) for key, kid in value.items())
        case list():
            return any(leaks(kid) for kid in value)
    return value == SECRET and name.lower() in {"token", "password"}


@given(values, st.booleans())
def test_no_json_text_keeps_a_secret_and_none_stops_being_json(value: Any, ascii_only: bool) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    after = cleaned(payload(data))
    if leaks(value):
        assert after.redacted
        assert not leaks(json.loads(after.data))
    assert json.loads(after.data.decode("utf-8", "surrogatepass")) is not Ellipsis


@given(st.binary(max_size=200), st.sampled_from([Kind.LINE, Kind.BODY, Kind.SSE, Kind.STDERR]))
def test_any_bytes_can_be_looked_through(data: bytes, kind: Kind) -> None:
    after = cleaned(payload(data, kind))
    assert after.redacted or after.data == data
