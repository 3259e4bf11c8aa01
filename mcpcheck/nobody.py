"""What is said where the target is no MCP server, or none that answers: what came, and what to look at."""

from typing import Final

from mcpcheck.lab import Lab
from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.report.escape import printable
from mcpcheck.wire.record import Dir, Kind, Record, ResponseHead, header

SHOWN: Final = 80
"""How much of what came is quoted."""


def silence(lab: Lab, peer: Peer, reply: Reply) -> str:
    """The first request drew no answer of any kind."""
    said = peer.transport.told()
    tail = "\n  It wrote on standard error:\n    " + printable_lines(said) if said else ""
    what = f"{lab.target.name} did not answer server/discover: {reply.told()}."
    begun = _unfinished(peer)
    if reply.ended and peer.kind == "stdio":
        return f"{what}{begun} Run it by hand to see why.{tail}"
    advice = "Is it an MCP server on stdio" if peer.kind == "stdio" else "Is it an MCP endpoint"
    return f"{what}{begun} {advice}? --timeout gives it longer.{tail}"


def printable_lines(text: str) -> str:
    """The lines of a text that a peer wrote, fit for a terminal and indented."""
    return "\n    ".join(printable(line) for line in text.splitlines())


def _unfinished(peer: Peer) -> str:
    """What stands on standard output that is no answer, if anything: it may explain the silence."""
    if peer.transport.pending:
        return f" It began a line that it did not end: {_quoted(peer.transport.pending)}."
    heard = [record for record in peer.transport.log.records if record.dir is Dir.S2C and record.kind is Kind.LINE]
    if not heard:
        return ""
    return (
        f" What it wrote to standard output is no answer: {_quoted(heard[0].data)}. "
        "Only messages belong there; logs go to standard error."
    )


_HINTS: Final = {
    401: "it wants authorization; pass it with --header 'Authorization: Bearer ...'",
    403: "it refuses access; credentials go into --header",
    404: "there is no MCP endpoint at this path",
    405: "this address takes no POST; is it the MCP endpoint?",
    429: "it does not want to be asked so often; try again later",
}


def no_message(lab: Lab, reply: Reply) -> str:
    """The first request drew an HTTP answer that holds no message."""
    status, records = reply.status or 0, [event.record for event in reply.events if event.record.dir is Dir.S2C]
    head = next((record.http for record in records if isinstance(record.http, ResponseHead)), None)
    hint = _HINTS.get(status, "")
    if status == 404 and not (lab.target.endpoint or "").endswith("/mcp"):
        hint += "; is it /mcp?"
    if 300 <= status < 400 and head is not None:
        hint = f"it redirects to {printable(header(head, 'location') or 'nowhere')}; name the address that it leads to"
    return f"{lab.target.name} answered server/discover with HTTP {status}: {hint or _body(records, head)}"


def _body(records: list[Record], head: ResponseHead | None) -> str:
    body = next((record.data for record in records if record.kind is Kind.BODY and record.data), b"")
    media = (header(head, "content-type") or "").partition(";")[0] if head is not None else ""
    if not body:
        return "no JSON-RPC message: the answer is empty"
    page = "; that is a web page: what is the path of the MCP endpoint?" if media == "text/html" else ""
    return f"no JSON-RPC message, but {printable(media) or 'what has no type'} that begins {_quoted(body)}{page}"


def _quoted(data: bytes) -> str:
    text = data[:SHOWN].decode("utf-8", "backslashreplace").strip()
    return f"'{printable(text)}{'...' if len(data) > SHOWN else ''}'"
