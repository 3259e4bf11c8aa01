"""roots: which folders a client opens to a server."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, unquote

from mcpcheck.rules import shapes
from mcpcheck.rules.answers import brought
from mcpcheck.rules.elicit import capability
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import Found, entries, inputs
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.shapes import without
from mcpcheck.rules.texts import is_uri
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.protocol import INPUT_METHODS
from mcpcheck.wire.record import Dir

_METHOD = "roots/list"
ROOTS = INPUT_METHODS | {_METHOD}
_MARKS = "%:/?#[]@!$&'()*+,;="
_FOLDER = re.compile(
    r"(?:[a-z][:|]|~|\.{1,2}|%7e|(?:home|users|tmp|var|opt|root|mnt|etc|srv|workspaces?))(?:/|$)", re.I
)
"""What begins a path and is hardly the name of a host."""


@rule("roots.capability.shape", near="roots", sender=Dir.C2S)
def capability_shape(request: Request, session: Session) -> Verdicts:
    """Looks at roots in the capabilities of a client's request."""
    for at, value in capability(request, "roots"):
        if isinstance(value, dict):
            yield holds(request)
        else:
            yield broken(request, "an object", f"{at}.roots is {shown(value)}")


@rule("roots.request.shape", on=ROOTS, near="roots/list", sender=Dir.S2C)
def request_shape(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the params of a roots/list, request or entry in inputRequests: absent, or _meta alone.

    Others are suspect, since the schema leaves room. Params of a request that are no object have a rule of their own.
    """
    found = [(f"{at}.params", entry.get("params", {})) for at, entry in _asking(event, session)]
    if isinstance(event, Request) and not session.stateless and isinstance(event.obj.get("params", {}), dict):
        found.append(("params", event.obj.get("params", {})))
    for at, params in found:
        more = [name for name in params if name != "_meta"] if isinstance(params, dict) else []
        if not isinstance(params, dict):
            yield broken(event, "no params, or an object", f"{at} is {shown(params)}")
        elif more:
            yield suspect(event, "no params beyond _meta", f"{at} has {shown(more[0])}")
        else:
            yield holds(event)


def _asking(event: Request | Answer, session: Session) -> Iterator[tuple[str, dict[str, Any]]]:
    for at, entry in inputs(event, session):
        if isinstance(entry, dict) and entry.get("method") == _METHOD:
            yield at, entry


@rule("roots.result.shape", on=ROOTS, sender=Dir.C2S, near=("inputResponses", "result"))
def result_shape(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at what a client answers to roots/list: an array of roots with a uri."""
    found = [(at, without(value, _meta=...)) for at, value in brought(event, session, _METHOD)]
    yield from shapes.judge_all(event, session, "ListRootsResult", found)


def _uris(event: Request | Answer, session: Session) -> Iterator[Found]:
    for at, value in brought(event, session, _METHOD):
        for place, root in entries(value, "roots", f"{at}."):
            if isinstance(root, dict) and isinstance(root.get("uri"), str):
                yield f"{place}.uri", root["uri"]


@rule("roots.uri.file-scheme", on=ROOTS, sender=Dir.C2S, near=("inputResponses", "result"))
def uri_file_scheme(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the URI of every root: file:// and a path. Raw text, and a folder in the host's place, are suspect.

    A host is allowed: that of a share.
    """
    for at, uri in _uris(event, session):
        if not uri.lower().startswith("file://") or not is_uri(quote(uri, safe=_MARKS, errors="replace")):
            yield broken(event, "a file:// URI", f"{at} is {shown(uri)}")
        elif not is_uri(uri):
            yield suspect(event, "a URI with its blanks and letters escaped", f"{at} is {shown(uri)}")
        elif _FOLDER.match(uri[len("file://") :]):
            yield suspect(event, "three slashes before a path of this machine", f"{at} is {shown(uri)}")
        else:
            yield holds(event)


@rule("roots.uri.traversal-free", on=ROOTS, sender=Dir.C2S, near=("inputResponses", "result"))
def uri_traversal_free(event: Request | Answer, session: Session) -> Verdicts:
    """Looks for the segment .. in the URI of every root, a percent-encoded one too: suspect."""
    for at, uri in _uris(event, session):
        if ".." in unquote(uri).replace("\\", "/").split("/"):
            yield suspect(event, "a URI without ..", f"{at} is {shown(uri)}")
        else:
            yield holds(event)
