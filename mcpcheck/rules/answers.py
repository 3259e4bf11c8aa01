"""What a client brings back: the results of input requests, in either era."""

from collections.abc import Iterator

from mcpcheck.rules.mrtr import entries
from mcpcheck.rules.places import Found
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.record import Dir


def brought(event: Request | Answer, session: Session, method: str) -> Iterator[Found]:
    """Results of one kind: entries of inputResponses, or answers to the server's own requests.

    The task with which a client of 2025-11-25 answers first, where it was asked for one, is no such result.
    """
    if event.dir is Dir.S2C:
        return
    if isinstance(event, Request):
        yield from (found for found in entries(event, session, method) if isinstance(found[1], dict))
    elif session.call is not None and session.call.request.method == method and isinstance(event.result, dict):
        is_task = session.call.request.param("task") is not None and "task" in event.result
        yield from () if is_task else [("result", event.result)]
