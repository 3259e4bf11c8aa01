"""Departures in params: their form, _meta, the version, cursors, size and depth."""

import json
from typing import Any

from mcpcheck.fuzz.registry import Draft, Owes, deviation
from mcpcheck.fuzz.values import json_values, one_of, texts
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION

MISSING = "base.meta.missing-rejected"
REQUIRED = "base.meta.request-required"
SHAPE = "base.meta.request-shape"
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


@deviation(
    breaks=("base.message.params-object", REQUIRED),
    owes=Owes.ERROR_OR_NOTHING,
    under="base.error.invalid-request",
    values=one_of([], None, "text", 5, True, [1], [{}], 1.5),
)
def params_of_other_type(draft: Draft, value: Any) -> None:
    """The params are no object."""
    draft.message["params"] = value


@deviation(
    breaks="base.message.params-object",
    owes=Owes.ERROR_OR_NOTHING,
    of="notification",
    values=one_of([], None, "text", 5, True),
)
def params_of_notification(draft: Draft, value: Any) -> None:
    """The params of a notification are no object."""
    draft.message["params"] = value


@deviation(breaks=REQUIRED, owes=Owes.ERROR, under=MISSING)
def no_params(draft: Draft, value: Any) -> None:
    """The params are absent."""
    del draft.message["params"]


@deviation(breaks=REQUIRED, owes=Owes.ERROR, under=MISSING)
def no_meta(draft: Draft, value: Any) -> None:
    """The _meta of a request is absent."""
    del draft.params["_meta"]


@deviation(breaks=REQUIRED, owes=Owes.ERROR, under=MISSING)
def empty_meta(draft: Draft, value: Any) -> None:
    """The _meta of a request is empty."""
    draft.meta.clear()


@deviation(
    breaks=("base.request.shape", REQUIRED, SHAPE),
    owes=Owes.ERROR_OR_NOTHING,
    under=MISSING,
    values=one_of(None, 5, "text", [], True, [{}]),
)
def meta_of_other_type(draft: Draft, value: Any) -> None:
    """The _meta of a request is no object."""
    draft.params["_meta"] = value


@deviation(
    breaks=REQUIRED, owes=Owes.ERROR, under=MISSING, sure=True, values=one_of(CLIENT_CAPABILITIES, PROTOCOL_VERSION)
)
def no_required_meta(draft: Draft, value: Any) -> None:
    """One of the two required members of _meta is absent."""
    del draft.meta[value]


@deviation(breaks="base.meta.client-info", owes=Owes.ANSWER)
def no_client_info(draft: Draft, value: Any) -> None:
    """The client does not name itself."""
    del draft.meta[CLIENT_INFO]


@deviation(
    breaks=(SHAPE, REQUIRED),
    owes=Owes.ERROR_OR_NOTHING,
    under=MISSING,
    values=one_of(5, None, [], {}, True, 20260728, ["2026-07-28"]),
)
def version_of_other_type(draft: Draft, value: Any) -> None:
    """The protocol version is no string."""
    draft.meta[PROTOCOL_VERSION] = value


@deviation(
    breaks=(SHAPE, REQUIRED, "base.capabilities.client-shape"),
    owes=Owes.ERROR_OR_NOTHING,
    under=MISSING,
    values=one_of([], None, "text", 5, True),
)
def capabilities_of_other_type(draft: Draft, value: Any) -> None:
    """The client's capabilities are no object."""
    draft.meta[CLIENT_CAPABILITIES] = value


@deviation(
    breaks=(
        SHAPE,
        "base.capabilities.client-shape",
        "elicit.capability.shape",
        "sampling.capability.shape",
        "roots.capability.shape",
    ),
    owes=Owes.ANSWER,
    values=one_of({"elicitation": 5}, {"sampling": []}, {"roots": None}, {"experimental": {"mcpcheck": 5}}, {"": {}}),
)
def odd_capabilities(draft: Draft, value: Any) -> None:
    """The client's capabilities hold what is none."""
    draft.meta[CLIENT_CAPABILITIES] = value


@deviation(
    breaks=(SHAPE, "base.implementation.shape"),
    owes=Owes.ANSWER,
    values=one_of({}, "text", None, [], {"name": "mcpcheck"}, {"name": 5, "version": "1"}),
)
def odd_client_info(draft: Draft, value: Any) -> None:
    """The client names itself in a form that is none."""
    draft.meta[CLIENT_INFO] = value


@deviation(owes=Owes.ANSWER, values=texts(longest=20))
def odd_client_name(draft: Draft, value: Any) -> None:
    """The client's name has unusual characters."""
    draft.meta[CLIENT_INFO] = {"name": value, "version": value}


@deviation(breaks=SHAPE, owes=Owes.ANSWER, values=one_of("verbose", "", "DEBUG", 7, None, []))
def unknown_log_level(draft: Draft, value: Any) -> None:
    """A log level that there is not."""
    draft.meta[LOG_LEVEL] = value


@deviation(
    breaks=(SHAPE, "progress.token.type"), owes=Owes.ANSWER, values=one_of(None, 1.5, True, [], {}, {"token": 1})
)
def progress_token_of_other_type(draft: Draft, value: Any) -> None:
    """A progress token that is neither a string nor an integer."""
    draft.meta["progressToken"] = value


@deviation(
    owes=Owes.ERROR, under="versioning.server.unsupported-version", sure=True, values=one_of("1900-01-01", "2999-12-31")
)
def unknown_version(draft: Draft, value: Any) -> None:
    """A protocol version that there is not."""
    draft.meta[PROTOCOL_VERSION] = value


@deviation(
    owes=Owes.ERROR,
    under="versioning.server.unsupported-version",
    values=one_of("v999", "", "2026-7-28", "2026-07-28-draft", "20260728", "2026", "x" * 1000),
)
def odd_version(draft: Draft, value: Any) -> None:
    """A protocol version that is no date."""
    draft.meta[PROTOCOL_VERSION] = value


@deviation(owes=Owes.ANSWER, values=json_values())
def extra_meta(draft: Draft, value: Any) -> None:
    """A key of _meta that the server does not know."""
    draft.meta["com.example/mcpcheck"] = value


@deviation(owes=Owes.ANSWER, values=json_values())
def extra_param(draft: Draft, value: Any) -> None:
    """A parameter that the method does not have."""
    draft.params["mcpcheck"] = value


@deviation(
    breaks="pagination.cursor.opaque",
    owes=Owes.ANSWER,
    methods=LISTS,
    values=one_of("mcpcheck", "", "0", "-1", "=", "x" * 5000) | texts(),
)
def invented_cursor(draft: Draft, value: Any) -> None:
    """A cursor that the server did not give."""
    draft.params["cursor"] = value


@deviation(
    breaks="pagination.request.cursor-shape",
    owes=Owes.ANSWER,
    methods=LISTS,
    values=one_of(None, 5, True, [], {}, 1.5),
)
def cursor_of_other_type(draft: Draft, value: Any) -> None:
    """A cursor that is no string."""
    draft.params["cursor"] = value


@deviation(owes=Owes.ANYTHING, sound=False, values=one_of(64, 500, 2000, 20_000, 200_000))
def deep(draft: Draft, value: Any) -> None:
    """A parameter that is nested deeply."""
    draft.params["mcpcheck"] = "here"
    draft.data = draft.text.replace(b'"here"', b"[" * value + b"]" * value)


@deviation(owes=Owes.ANYTHING, sound=False, values=one_of(5000, 70_000, 1_100_000))
def long(draft: Draft, value: Any) -> None:
    """A parameter that is a long string."""
    draft.params["mcpcheck"] = "x" * value


@deviation(owes=Owes.ANYTHING, sound=False, values=one_of(300, 3000))
def many(draft: Draft, value: Any) -> None:
    """A _meta of many members."""
    draft.meta.update({f"com.example/m{number}": number for number in range(value)})


@deviation(owes=Owes.ANYTHING, sound=False, values=one_of(2**64, 10**400, 1e300, -(2**63) - 1, 5e-324))
def huge_number(draft: Draft, value: Any) -> None:
    """A parameter that is a number which many readers cannot hold."""
    draft.params["mcpcheck"] = value


@deviation(owes=Owes.ANYTHING, sound=False, values=one_of("id", "method", "param", "name"))
def lone_surrogate(draft: Draft, value: Any) -> None:
    """A string with half of a surrogate pair, as an escape: legal text that cannot be written as UTF-8."""
    match value:
        case "id" | "method":
            draft.message[value] = f"mcpcheck-{draft.message[value]}-\ud800"
        case "param":
            draft.params["mcpcheck"] = "\udfff"
        case _:
            draft.meta[CLIENT_INFO] = {"name": "\ud800", "version": "1"}
    draft.data = json.dumps(draft.message).encode()
