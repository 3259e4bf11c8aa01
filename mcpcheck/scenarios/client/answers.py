"""How a client takes what a server sends: kinds of result, media types, comments, notifications, requests."""

import dataclasses
from typing import Any

from mcpcheck.client_peer import Account, ClientPeer
from mcpcheck.scenarios.client.scripted import LENIENT, TOOL, Asked, ModernServer, notification, text
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.transports.client_side import Reply
from mcpcheck.wire.event import Answer

STRANGE = dict(TOOL, name="mcpcheck_of_an_unknown_result")


class Streams(ModernServer):
    """A modern server on HTTP that answers with event streams, with progress first where it was asked for."""

    def on_request(self, asked: Asked) -> Reply:
        reply = super().on_request(asked)
        meta = asked.params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        progress = [] if type(token) not in (str, int) else [{"progressToken": token, "progress": 1}]
        sent = [notification("notifications/progress", params) for params in progress]
        media = (("content-TYPE", "text/event-stream; charset=utf-8"), ("X-Accel-Buffering", "no"))
        return dataclasses.replace(reply, messages=(*sent, *reply.messages), stream=True, headers=media)


class Comments(Streams):
    """The same with comments where a stream may have them, such as servers send to keep a connection alive."""

    def on_request(self, asked: Asked) -> Reply:
        reply = super().on_request(asked)
        events = [b": before\n\n:\n\n"]
        events += [b": inside\nevent: message\n: and again\ndata: " + data + b"\n\n" for data in reply.messages]
        return dataclasses.replace(reply, messages=(), body=b": between\r\n\r\n".join(events))


def judge_same_end(client: ClientPeer, account: Account, id: str, what: str) -> bool:
    """Whether the client comes as far as with a plain server, and the verdict on it."""
    plain = client.survey.modern.methods
    missing = [method for method in dict.fromkeys(plain) if method not in account.methods]
    expected = f"the same session as without {what}: {', '.join(plain)}"
    if not missing:
        client.holds(id, account, *account.requests)
    elif set(missing) >= set(plain) - {plain[0]}:
        client.broken(id, account, account.requests, expected)
    else:
        client.suspect(id, account, account.requests, expected)
    return not missing


def needs_more_than_one(client: ClientPeer) -> None:
    """Only for a client that goes on after its first answer."""
    client.needs_modern()
    if len(set(client.survey.modern.methods)) < 2:
        raise Untestable("the client sends only one kind of request: whether it read an answer cannot be seen")


@scenario(exercises=["http.response.client-supports-both", "http.sse.client-ignores-comments"], transports=["http"])
async def is_answered_with_event_streams(client: ClientPeer) -> None:
    """Every answer is an event stream where it was plain JSON, then one full of comments: the client comes as far."""
    needs_more_than_one(client)
    if judge_same_end(client, await client.meet(Streams()), "http.response.client-supports-both", "event streams"):
        judge_same_end(client, await client.meet(Comments()), "http.sse.client-ignores-comments", "comments")
    else:
        client.untestable("http.sse.client-ignores-comments", "the client does not get along with event streams")


class Typed(ModernServer):
    """A modern server whose list of tools has another result type, or none."""

    deviates = LENIENT | frozenset({"base.result", "tools", "caching"})

    def __init__(self, kind: str | None) -> None:
        self.kind = kind

    def listed(self, asked: Asked) -> dict[str, Any]:
        listed = super().listed(asked)
        del listed["resultType"]
        return listed if self.kind is None else {"resultType": self.kind, **listed}

    def tools(self) -> list[Any]:
        return [TOOL] if self.kind is None else [STRANGE]


@scenario(exercises=["base.result.type-absent-complete"])
async def is_answered_without_a_result_type(client: ClientPeer) -> None:
    """The list of tools comes without resultType, as from servers of earlier revisions: it is complete."""
    client.needs_calls()
    account = await client.meet(Typed(None))
    if not account.of("tools/list"):
        raise Untestable("the client does not list tools")
    expected = "a call, as after a list with resultType complete"
    if account.of("tools/call"):
        client.holds("base.result.type-absent-complete", account, *account.of("tools/call"))
    elif any(run.initialize and run.of("tools/call") for run in client.survey.legacy):
        client.suspect("base.result.type-absent-complete", account, account.of("tools/list"), expected)
    else:
        client.broken("base.result.type-absent-complete", account, account.of("tools/list"), expected)


@scenario(exercises=["base.result.type-unknown-invalid"])
async def is_answered_with_an_unknown_result_type(client: ClientPeer) -> None:
    """The list of tools is of a type that nobody knows and names a tool of its own: that tool is never called."""
    client.needs_listed_calls()
    account = await client.meet(Typed("com.example/unknown"))
    used = [call for call in account.of("tools/call") if call.message.param("name") == STRANGE["name"]]
    if not account.of("tools/list"):
        raise Untestable("the client does not list tools")
    if used:
        expected = "an error: a result of an unknown type is invalid"
        client.broken("base.result.type-unknown-invalid", account, [*account.of("tools/list"), *used], expected)
    else:
        client.holds("base.result.type-unknown-invalid", account, *account.of("tools/list"))


class Notifies(ModernServer):
    """A modern server that sends notifications which belong to nothing before each answer, against the rules."""

    deviates = LENIENT | frozenset(
        {"progress", "base.pattern", "http.listen", "http.sse", "http.stream", "stdio.server", "subscribe"}
        | {"base.notification"}
    )

    def __init__(self, *messages: bytes) -> None:
        self.messages = messages

    def on_request(self, asked: Asked) -> Reply:
        reply = super().on_request(asked)
        return dataclasses.replace(reply, messages=(*self.messages, *reply.messages))


class Asks(ModernServer):
    """Sends requests of its own before each answer, against the rules for servers."""

    deviates = LENIENT | frozenset({"base", "http", "stdio.server", "roots"})

    def __init__(self) -> None:
        self.asked = 0

    def on_request(self, asked: Asked) -> Reply:
        reply = super().on_request(asked)
        return dataclasses.replace(reply, messages=(self.ask("ping"), self.ask("roots/list"), *reply.messages))

    def ask(self, method: str) -> bytes:
        """A request with an id of its own."""
        self.asked += 1
        return text({"jsonrpc": "2.0", "id": f"mcpcheck-{self.asked}", "method": method, "params": {}})


@scenario(exercises=["base.notification.no-response"])
async def is_sent_notifications(client: ClientPeer) -> None:
    """An unknown notification and progress for no request come before each answer: neither is answered."""
    needs_more_than_one(client)
    unknown = notification("notifications/mcpcheck-unknown", {"note": "nobody knows this one"})
    progress = notification("notifications/progress", {"progressToken": "mcpcheck-none", "progress": 1})
    account = await client.meet(Notifies(unknown, progress))
    answers = [said for said in account.said if isinstance(said.message, Answer)]
    if answers:
        client.broken("base.notification.no-response", account, answers, "no response to a notification")
    elif len(account.requests) > 1 or account.encounter.ended_itself:
        client.holds("base.notification.no-response", account, *account.requests)


@scenario(exercises=["base.pattern.client-no-responses"])
async def is_sent_requests(client: ClientPeer) -> None:
    """Against the rules the server sends ping and roots/list: a client of this revision does not answer."""
    needs_more_than_one(client)
    await client.meet(Asks())
