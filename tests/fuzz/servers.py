"""Servers that a campaign has to see through, each with one fault: ``python -m tests.fuzz.servers NAME``."""

import os
import sys
from collections.abc import Iterator
from typing import Any

from mcpcheck.reference.call import Call, Refusal
from mcpcheck.reference.serve import serve_stdio
from mcpcheck.reference.server import Server
from mcpcheck.wire.event import Notification, NotJson, Request
from mcpcheck.wire.protocol import METHOD_NOT_FOUND


class AnswersTwice(Server):
    """Answers a list of prompts twice."""

    def answer(self, call: Call, result: Any) -> None:
        super().answer(call, result)
        if call.method == "prompts/list":
            self.send({"jsonrpc": "2.0", "id": call.id, "result": self.finished(call, result)})


class AnswersNotifications(Server):
    """Answers a notification whose params are no object."""

    def on_notification(self, note: Notification) -> list[bytes]:
        if isinstance(note.params, dict):
            return super().on_notification(note)
        return [self.encode({"jsonrpc": "2.0", "id": 0, "result": {}})]


class WritesIds(Server):
    """Turns a negative id into a string."""

    def answer_id(self, call: Call) -> Any:
        return str(call.id) if isinstance(call.id, int) and call.id < 0 else call.id


class TakesAnyVersion(Server):
    """Serves a request of a version that it does not know."""

    def check_version(self, call: Call) -> None:
        return


class RemembersMetadata(Server):
    """Serves a request without protocol version by that of the one before."""

    def check_metadata(self, call: Call) -> None:
        call.meta.setdefault("io.modelcontextprotocol/protocolVersion", "2026-07-28")
        super().check_metadata(call)


class LosesHeart(Server):
    """Refuses everything once it was sent a method in capital letters."""

    upset = False

    def check_method(self, call: Call, handlers: dict[str, str]) -> None:
        self.upset = self.upset or call.method.isupper()
        if self.upset:
            raise Refusal(METHOD_NOT_FOUND, "Method not found")
        super().check_method(call, handlers)


class AnswersWithoutCode(Server):
    """Answers broken JSON with an error that has no code."""

    def on_not_json(self, event: NotJson) -> None:
        self.send({"jsonrpc": "2.0", "error": {"message": "Parse error"}})


class DiesOnNullId(Server):
    """Ends with a traceback when an id is null."""

    def on_request(self, request: Request, batch: Any = None) -> Call:
        if request.id is None:
            raise KeyError("id")
        return super().on_request(request, batch)


class DiesOnNotUtf8(Server):
    """Ends itself when a line is no UTF-8."""

    def receive(self, data: bytes) -> list[bytes]:
        data.decode()
        return super().receive(data)


class Banner(Server):
    """Prints what is meant for the log when params are no object."""

    def on_request(self, request: Request, batch: Any = None) -> Call:
        if not isinstance(request.params, dict):
            os.write(1, b"WARNING: odd params\n")
        return super().on_request(request, batch)


class Hangs(Server):
    """Says nothing any more after a cursor that is no string."""

    quiet = False

    def receive(self, data: bytes) -> list[bytes]:
        self.quiet = self.quiet or b'"cursor": {' in data or b'"cursor": [' in data
        return [] if self.quiet else super().receive(data)


class FailsOnce(Server):
    """Answers a list of prompts twice, once in all its life and after a few that it answers well."""

    lists = 0

    def answer(self, call: Call, result: Any) -> None:
        super().answer(call, result)
        FailsOnce.lists += call.method == "prompts/list"
        if call.method == "prompts/list" and FailsOnce.lists == 4:
            self.send({"jsonrpc": "2.0", "id": call.id, "result": self.finished(call, result)})


class ReadsLeniently(Server):
    """Takes what is no UTF-8 for what it resembles, and answers it: nothing forbids that."""

    def receive(self, data: bytes) -> list[bytes]:
        return super().receive(data.decode("utf-8", "replace").encode())


class SaysLittle(Server):
    """Drops whatever is no valid request without a word, as servers on stdio may."""

    def on_event(self, event: Any) -> Any:
        known = isinstance(event, Notification) or (isinstance(event, Request) and self._valid(event))
        return super().on_event(event) if known else None

    def _valid(self, request: Request) -> bool:
        form = isinstance(request.obj.get("params", {}), dict)
        return request.obj.get("jsonrpc") == "2.0" and type(request.id) in (str, int) and form


def _all() -> Iterator[type[Server]]:
    yield from (found for found in globals().values() if isinstance(found, type) and issubclass(found, Server))


if __name__ == "__main__":
    serve_stdio({found.__name__: found for found in _all()}[sys.argv[1]])
