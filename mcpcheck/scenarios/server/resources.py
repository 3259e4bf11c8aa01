"""Resources: templates, URIs that lead nowhere or outside, and failures inside."""

import re
from collections.abc import Iterator
from typing import Any

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.roles import expand
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.errors import needs
from mcpcheck.wire.protocol import INTERNAL_ERROR

OUTSIDE = "etc/passwd"
_ACCOUNT = re.compile(r"^root:[^:\n]*:0:0:", re.MULTILINE)
_SIMPLE = re.compile(r"\{([A-Za-z0-9_]+)\}")


def contents(reply: Reply) -> list[dict[str, Any]]:
    """What a resource held."""
    listed = (reply.result or {}).get("contents")
    return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []


@scenario(exercises=["resources.read.internal-error-code"], needs=["resource.fails"])
async def resource_fails(peer: Peer) -> None:
    """Reads a resource that fails inside: error -32603."""
    fixture = peer.lab.fixture("resource.fails")
    reply = await peer.ask(fixture.method, fixture.params)
    peer.check("resources.read.internal-error-code", reply.code == INTERNAL_ERROR, reply, "error -32603")


@scenario(exercises=["resources.template.uniform-mime-type"], also=["template.fills"])
async def templates_keep_their_type(peer: Peer) -> None:
    """Reads resources of templates that name a MIME type, by values that the server completes: all are of that type."""
    needs(peer, "resources")
    tried = False
    for template in peer.lab.inventory.templates:
        wanted = template.get("mimeType")
        if not isinstance(wanted, str):
            continue
        for uri in await expanded(peer, str(template.get("uriTemplate"))):
            reply = await peer.ask("resources/read", {"uri": uri})
            for entry in contents(reply):
                found = entry.get("mimeType")
                if isinstance(found, str) and str(entry.get("uri", uri)) == uri:
                    tried = True
                    same = essence(found) == essence(wanted)
                    expected = f"{uri}: {wanted}, since its template says so"
                    peer.check("resources.template.uniform-mime-type", same, reply, expected, f"it is {found}")
    if not tried:
        raise Untestable("no template names a mimeType and has one variable whose values the server completes")


def essence(mime_type: str) -> str:
    """A MIME type without parameters."""
    return mime_type.partition(";")[0].strip().lower()


async def expanded(peer: Peer, template: str) -> list[str]:
    """Two URIs of a template with one simple variable, by completion; or that of known values."""
    known = peer.lab.known_arguments("template", template)
    if known:
        return [expand(template, known)]
    names = _SIMPLE.findall(template)
    if len(names) != 1 or "{" in _SIMPLE.sub("", template) or not peer.lab.declares("completions"):
        return []
    params = {"ref": {"type": "ref/resource", "uri": template}, "argument": {"name": names[0], "value": ""}}
    completion = (await peer.ask("completion/complete", params)).result or {}
    values = completion["completion"].get("values") if isinstance(completion.get("completion"), dict) else None
    good = [value for value in values if isinstance(value, str) and value] if isinstance(values, list) else []
    return [expand(template, {names[0]: value}) for value in good[:2]]


@scenario(exercises=["resources.security.validates-uris"])
async def odd_uris(peer: Peer) -> None:
    """Reads what is no URI, and one with a zero byte, which may be any resource's: the server goes on."""
    needs(peer, "resources")
    id, expected = "resources.security.validates-uris", "an error, since there is no such URI"
    for uri in ("", "not a uri"):
        with peer.deviating("resources", "http"):
            reply = await peer.ask("resources/read", {"uri": uri})
        peer.check(id, not (reply.complete and contents(reply)), reply, expected)
    reply = await peer.ask("resources/read", {"uri": "x-mcpcheck-none://a%00b"})
    await peer.fence()
    peer.holds(id, reply)


@scenario(exercises=["resources.security.no-path-traversal"])
async def paths_that_lead_outside(peer: Peer) -> None:
    """Reads file: URIs that climb out of the directory of a listed one: no file from outside is served."""
    needs(peer, "resources")
    listed = [str(resource.get("uri")) for resource in peer.lab.inventory.resources]
    files = [uri for uri in listed if uri.startswith("file:///")]
    if not files:
        raise Untestable("the server lists no resource with a file: URI")
    if _ACCOUNT.search(texts(await peer.ask("resources/read", {"uri": f"file:///{OUTSIDE}"}))):
        raise Untestable(f"the server publishes file:///{OUTSIDE} on purpose")
    for uri in escapes(files[0]):
        reply = await peer.ask("resources/read", {"uri": uri})
        told = f"it served {OUTSIDE}"
        peer.check("resources.security.no-path-traversal", not _ACCOUNT.search(texts(reply)), reply, "an error", told)


def escapes(uri: str) -> Iterator[str]:
    """URIs that begin with the directory of a URI and lead to a file at the root, in several spellings."""
    base = uri.rpartition("/")[0]
    up = max(1, base.removeprefix("file:///").count("/") + 1)
    for step in ("../", "%2e%2e/", "..%2f", "%2e%2e%2f", "..%5c", "%252e%252e%252f"):
        yield f"{base}/{step * up}{OUTSIDE}"


def texts(reply: Reply) -> str:
    """The texts of what was read."""
    return "\n".join(str(entry.get("text", "")) for entry in contents(reply))
