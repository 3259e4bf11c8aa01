"""The examples of the catalogue as they stand on the wire.

The catalogue writes them in the shorthand of the rules' cases, where ``c: 1 tools/list`` is a request with all that it
has to hold. A reader wants to see the message: here it is, with ``{...}`` for a _meta that holds the usual only.
"""

import re
from collections.abc import Iterator

from mcpcheck.wire.protocol import MODERN, NAMED_BY

_BRACKETS = re.compile(r" \[((?:[A-Z][\w-]*: |status |open)[^\]]*)\]$")
_META = re.compile(r'"_meta":\{\s*')


def shown(text: str) -> Iterator[str]:
    """The lines of an example, spelled out."""
    revision, http = MODERN, False
    for line in text.strip().splitlines():
        if line.startswith("@"):
            http = http or line == "@http"
            if line.startswith("@revision "):
                revision = line.removeprefix("@revision ")
                yield f"(in {revision})"
            elif line.startswith("@later "):
                yield f"({line.removeprefix('@later ')} seconds later)"
        elif line[:2] in {"c:", "s:"}:
            yield from _well_formed(line, revision, http=http)
        elif line[:2] in {"c$", "s$"}:
            yield f"{line[0]}> {line[3:]}"
        elif line[:2] in {"c]", "s]"}:
            yield f"{line[0]}> {line[3:]}  (without a newline)"
        elif line.startswith(". "):
            yield f"({'the client' if line[2:3] == 'c' else 'the server'}: {line[4:]})"
        elif line:
            yield line


def cut(line: str) -> str:
    """A line that is too long to be read, without its middle: a hundred and one values are told by their ends."""
    return line if len(line) <= 240 else f"{line[:160]} [...] {line[-60:]}"


def _well_formed(line: str, revision: str, *, http: bool) -> Iterator[str]:
    """A message in shorthand; on HTTP its head before it, with the changes that stand in brackets behind it."""
    brackets = _BRACKETS.search(line)
    changes = [part.strip() for part in brackets.group(1).split(" | ")] if brackets else []
    key, _, rest = (line[2 : brackets.start()] if brackets else line[2:]).strip().partition(" ")
    verb, _, value = rest.strip().partition(" ")
    message = _message(key, verb, value.strip(), modern=revision == MODERN)
    if http and line[0] == "c":
        yield f"c> POST /mcp{_headers(_usual(message, revision), changes)}"
    elif http and changes:
        status = next((change.removeprefix("status ") for change in changes if change.startswith("status ")), "200")
        yield f"s> {status}{_headers({}, changes)}"
    yield f"{line[0]}> {message}"


def _usual(message: str, revision: str) -> dict[str, str]:
    """The headers of a good client, as far as they depend on the message."""
    if revision != MODERN:
        return {"MCP-Protocol-Version": revision}
    usual = {"MCP-Protocol-Version": revision}
    method = re.search(r'"method":"([^"]+)"', message)
    name = re.search(rf'"{NAMED_BY.get(method.group(1), "")}":"([^"]+)"', message) if method else None
    return usual | ({"Mcp-Method": method.group(1)} if method else {}) | ({"Mcp-Name": name.group(1)} if name else {})


def _headers(usual: dict[str, str], changes: list[str]) -> str:
    headers = dict(usual)
    for change in changes:
        name, colon, value = change.partition(": ")
        if colon and value == "-":
            headers.pop(name, None)
        elif colon:
            headers[name] = value
    return "".join(f" | {name}: {value}" for name, value in headers.items())


def _message(key: str, verb: str, value: str, *, modern: bool) -> str:
    if key == "note" or verb == "~":
        method, _, params = (f"{verb} {value}" if key == "note" else value).partition(" ")
        return _object('"jsonrpc":"2.0"', f'"method":"{method}"', params.strip() and f'"params":{params.strip()}')
    head = f'"jsonrpc":"2.0","id":{key}'
    if verb in {"->", "~>"}:
        return _object(head, f'"result":{_result(value or "{}", modern=modern)}')
    if verb == "error":
        code, _, data = value.partition(" ")
        error = _object(f'"code":{code}', '"message":"it failed"', data and f'"data":{data}')
        return _object(head, f'"error":{error}')
    members = value[1:-1].strip()
    if modern:
        members = _with_meta(members, first=True)
    return _object(head, f'"method":"{verb}"', members and f'"params":{{{members}}}')


def _result(value: str, *, modern: bool) -> str:
    if not modern or not value.startswith("{"):
        return value
    members = _with_meta(value[1:-1].strip(), first=False)
    return _object('"resultType":"complete"' if '"resultType"' not in members else "", members)


def _with_meta(members: str, *, first: bool) -> str:
    """The members of params or of a result with the _meta that belongs there."""
    if own := _META.search(members):
        more = "" if members[own.end() : own.end() + 1] == "}" else ","
        return f'{members[: own.start()]}"_meta":{{...{more}{members[own.end() :]}'
    parts = ['"_meta":{...}', members] if first else [members, '"_meta":{...}']
    return ",".join(part for part in parts if part)


def _object(*members: str) -> str:
    return "{" + ",".join(member for member in members if member) + "}"
