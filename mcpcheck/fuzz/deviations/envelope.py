"""Departures from the envelope: version, id, method, and members that do not belong together."""

from typing import Any

from mcpcheck.fuzz.registry import Draft, Owes, deviation
from mcpcheck.fuzz.values import json_values, one_of, texts

INVALID = "base.error.invalid-request"
BOTH = ("request", "notification")


@deviation(breaks="base.message.jsonrpc-version", owes=Owes.ERROR_OR_NOTHING, under=INVALID, of=BOTH)
def no_version(draft: Draft, value: Any) -> None:
    """The member jsonrpc is absent."""
    del draft.message["jsonrpc"]


@deviation(
    breaks="base.message.jsonrpc-version",
    owes=Owes.ERROR_OR_NOTHING,
    under=INVALID,
    of=BOTH,
    values=one_of("1.0", "2", "2.0.0", "", " 2.0", 2.0, 2, None, True, ["2.0"], {}),
)
def other_version(draft: Draft, value: Any) -> None:
    """The member jsonrpc has another value."""
    draft.message["jsonrpc"] = value


@deviation(breaks="base.request.id-not-null", owes=Owes.ERROR_OR_NOTHING, under=INVALID, sound=False)
def null_id(draft: Draft, value: Any) -> None:
    """The id is null."""
    draft.message["id"] = None


@deviation(
    breaks="base.request.id-type",
    owes=Owes.ERROR_OR_NOTHING,
    under=INVALID,
    sound=False,
    values=one_of(True, False, 1.5, -0.5, [], [1], {}, {"id": 1}),
)
def id_of_other_type(draft: Draft, value: Any) -> None:
    """The id is neither a string nor an integer."""
    draft.message["id"] = value


@deviation(owes=Owes.ANYTHING, sound=False, values=one_of(2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**30, -(10**300)))
def huge_id(draft: Draft, value: Any) -> None:
    """The id is an integer that many readers cannot hold."""
    draft.message["id"] = value


@deviation(owes=Owes.ANSWER, values=texts(longest=12))
def odd_id(draft: Draft, value: Any) -> None:
    """The id is a string with unusual characters."""
    draft.message["id"] = f"{draft.message['id']} {value}"


@deviation(breaks="base.request.id-type", owes=Owes.ERROR_OR_NOTHING, sound=False)
def no_id(draft: Draft, value: Any) -> None:
    """A request without an id."""
    del draft.message["id"]


@deviation(
    breaks="base.notification.no-id",
    owes=Owes.ANYTHING,
    of="notification",
    values=one_of("mcpcheck-not-mine", 987654321, -987654321),
    sound=False,
)
def id_of_notification(draft: Draft, value: Any) -> None:
    """A notification with an id."""
    draft.message["id"] = value


@deviation(breaks="base.message.form", owes=Owes.ERROR_OR_NOTHING, under=INVALID, sound=False)
def no_method(draft: Draft, value: Any) -> None:
    """The method is absent."""
    del draft.message["method"]


@deviation(
    breaks="base.message.form",
    owes=Owes.ERROR_OR_NOTHING,
    under=INVALID,
    sound=False,
    of=BOTH,
    values=one_of(5, None, True, [], {}, ["tools/list"], 1.5),
)
def method_of_other_type(draft: Draft, value: Any) -> None:
    """The method is no string."""
    draft.message["method"] = value


@deviation(
    owes=Owes.ERROR,
    under="base.error.method-not-found",
    sure=True,
    values=one_of("mcpcheck/no-such-method", "x", "mcpcheck", "mcpcheck/", "mcpcheck/" + "x" * 2000, "mcpcheck/世界"),
)
def unknown_method(draft: Draft, value: Any) -> None:
    """A method that nobody has defined."""
    draft.message["method"] = value


@deviation(
    owes=Owes.ERROR,
    under="base.error.method-not-found",
    values=one_of("", "/", "tools/list/", "tools", "tools/", "server/discover ", "server.discover", "discover"),
)
def method_nearly_right(draft: Draft, value: Any) -> None:
    """A method that resembles a real one."""
    draft.message["method"] = value


@deviation(owes=Owes.ERROR, under="base.error.method-not-found", values=one_of("upper", "title", "swapcase"))
def method_in_other_case(draft: Draft, value: Any) -> None:
    """The method in the wrong case."""
    draft.message["method"] = getattr(draft.message["method"], value)()


@deviation(breaks="base.message.rpc-prefix", owes=Owes.ERROR, values=one_of("rpc.x", "rpc.", "rpc.list"))
def reserved_method(draft: Draft, value: Any) -> None:
    """A method that JSON-RPC keeps for itself."""
    draft.message["method"] = value


REMOVED = ("ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/list")
EMBEDDED = ("roots/list", "sampling/createMessage", "elicitation/create")


@deviation(owes=Owes.ANSWER, values=one_of(*REMOVED, *EMBEDDED))
def removed_method(draft: Draft, value: Any) -> None:
    """A method of earlier revisions, or one that exists only inside inputRequests."""
    draft.message["method"] = value
    draft.message["params"] = {"_meta": draft.meta}


@deviation(owes=Owes.ANSWER, values=json_values())
def extra_member(draft: Draft, value: Any) -> None:
    """A member that the envelope does not know."""
    draft.message["mcpcheck"] = value


@deviation(
    breaks="base.message.form",
    owes=Owes.ERROR_OR_NOTHING,
    sound=False,
    values=one_of({"result": {}}, {"error": {"code": 1, "message": ""}}, {"result": {}, "error": {}}),
)
def result_beside_method(draft: Draft, value: Any) -> None:
    """A request that has a result or an error, too."""
    draft.message |= value


@deviation(
    breaks=("base.pattern.client-no-responses", "base.response.result-xor-error"),
    owes=Owes.ERROR_OR_NOTHING,
    sound=False,
    values=one_of({"result": {}}, {"error": {"code": -32603, "message": "mcpcheck"}}, {"result": {}, "error": {}}),
)
def response_to_nothing(draft: Draft, value: Any) -> None:
    """A response, which a client never sends."""
    message = {"jsonrpc": "2.0", "id": draft.message["id"], **value}
    draft.message.clear()
    draft.message.update(message)


@deviation(
    breaks=("base.message.form", "stdio.client.stdin-pure"),
    owes=Owes.ERROR_OR_NOTHING,
    sound=False,
    values=one_of({}, {"jsonrpc": "2.0"}),
)
def nothing_in_it(draft: Draft, value: Any) -> None:
    """An object without method, result and error."""
    draft.message.clear()
    draft.message.update(value)
