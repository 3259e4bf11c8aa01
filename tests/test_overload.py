"""A server that puts a client off because of its load is asked again, and nothing is held against it."""

from itertools import count
from typing import Any

from mcpcheck.reference.http import HttpServer
from mcpcheck.reference.streams import HttpReply
from mcpcheck.verdict import Report
from mcpcheck.wire.record import RequestHead
from tests.support.conforming import broken, conform_in_memory, on_http


class Busy(HttpServer):
    """Has no time for each seventh request."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.numbers = count(1)

    def handle(self, head: RequestHead, body: bytes = b"") -> HttpReply:
        if next(self.numbers) % 7 == 0:
            return HttpReply(503, [("Retry-After", "0")])
        return super().handle(head, body)


class Limited(Busy):
    """Serves so many requests, and no more for the next hour."""

    serves = 150

    def handle(self, head: RequestHead, body: bytes = b"") -> HttpReply:
        if next(self.numbers) > self.serves:
            return HttpReply(429, [("Retry-After", "3600")])
        return HttpServer.handle(self, head, body)


class Closed(Limited):
    """Serves nobody."""

    serves = 0


def untestable(report: Report) -> set[str]:
    return {result.note for result in report.results if result.status.value == "untestable"}


def test_a_server_that_is_busy_at_times_is_found_as_good_as_it_is() -> None:
    report = conform_in_memory(on_http(Busy))
    assert not report.findings
    assert not report.troubles


def test_what_a_server_with_a_limit_no_longer_serves_is_untestable() -> None:
    report = conform_in_memory(on_http(Limited))
    assert broken(report) == set()
    assert not report.findings
    assert any("HTTP status 429" in note for note in untestable(report))


def test_a_server_that_serves_nobody_is_no_good_server() -> None:
    report = conform_in_memory(on_http(Closed))
    assert [trouble.text for trouble in report.troubles] == [
        "the server does not want to be asked so often: HTTP status 429"
    ]
    assert not report.findings
