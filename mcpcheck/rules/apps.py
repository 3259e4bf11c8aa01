"""apps: MCP Apps, tools with an interface. Judged where either side declares the extension."""

from collections.abc import Iterator
from typing import Any

from mcpcheck.rules.ext import UI, announced, declares, extensions
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import Found, listed
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.record import Dir

_MIME = "text/html;profile=mcp-app"
_FLAT = "ui/resourceUri"


@rule("apps.capability.client-mime-types", near=UI, sender=Dir.C2S)
def client_mime_types(request: Request, session: Session) -> Verdicts:
    """Looks at the settings with which a client declares MCP Apps: mimeTypes, an array of strings.

    An array without the type of apps is suspect. Settings that are no object have a rule of their own.
    """
    settings = (extensions(request) or {}).get(UI)
    if not isinstance(settings, dict):
        return
    types = settings.get("mimeTypes")
    if "mimeTypes" not in settings:
        yield broken(request, f"mimeTypes in the settings of {UI}", "there is none")
    elif not isinstance(types, list) or not all(isinstance(type, str) for type in types):
        yield broken(request, "mimeTypes is an array of strings", f"mimeTypes is {shown(types)}")
    elif _MIME not in ["".join(type.split()).lower() for type in types]:
        yield suspect(request, f"{_MIME} among the mimeTypes", f"mimeTypes has {len(types)} others")
    else:
        yield holds(request)


def _interfaces(answer: Answer, session: Session) -> Iterator[Found]:
    """The ui member of each listed tool's _meta, where either side has declared the extension."""
    call = session.call or session.near
    if call is None or not (declares(call.request, UI) or announced(session, UI)):
        return
    for at, tool in listed(answer, session, "tools/list"):
        meta = tool.get("_meta") if isinstance(tool, dict) else None
        if isinstance(meta, dict) and ("ui" in meta or _FLAT in meta):
            yield f"{at}._meta", meta


@rule("apps.tool.resource-uri", on="tools/list", near=("resourceUri", _FLAT))
def tool_resource_uri(answer: Answer, session: Session) -> Verdicts:
    """Looks at _meta.ui.resourceUri of listed tools, where either side has declared the extension.

    The flat key of earlier drafts, without the member that replaces it, is suspect. A tool whose _meta.ui names no
    resource is left alone.
    """
    for at, meta in _interfaces(answer, session):
        ui = meta.get("ui")
        if isinstance(ui, dict) and "resourceUri" in ui:
            uri = ui["resourceUri"]
            if isinstance(uri, str) and uri.lower().startswith("ui://"):
                yield holds(answer)
            else:
                yield broken(answer, "a ui:// URI", f"{at}.ui.resourceUri is {shown(uri)}")
        elif _FLAT in meta:
            yield suspect(answer, "_meta.ui.resourceUri", f"{at} has the flat key {_FLAT} alone")


@rule("apps.tool.meta-shape", on="tools/list", near="ui")
def tool_meta_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at _meta.ui of listed tools, where either side has declared the extension: an object.

    Its visibility is an array of strings; one that is neither model nor app is suspect. Other members are free, and
    resourceUri has a rule of its own.
    """
    for at, meta in _interfaces(answer, session):
        if "ui" not in meta:
            continue
        ui = meta["ui"]
        if not isinstance(ui, dict):
            yield broken(answer, "_meta.ui is an object", f"{at}.ui is {shown(ui)}")
            continue
        visibility = ui.get("visibility", [])
        if not isinstance(visibility, list) or not all(isinstance(name, str) for name in visibility):
            yield broken(
                answer, "visibility is an array of model and app", f"{at}.ui.visibility is {_told(visibility)}"
            )
        elif not set(visibility) <= {"model", "app"}:
            odd = next(name for name in visibility if name not in ("model", "app"))
            yield suspect(answer, "visibility names model and app", f"{at}.ui.visibility has {shown(odd)}")
        else:
            yield holds(answer)


def _told(visibility: Any) -> str:
    if not isinstance(visibility, list):
        return shown(visibility)
    return "an array with " + shown(next(name for name in visibility if not isinstance(name, str)))


@rule("apps.host.no-ui-methods-to-server", sender=Dir.C2S, wakes=UI)
class NoUiMethodsToServer:
    """Looks for methods that begin with ui/ among what a client sends that has declared MCP Apps.

    Of a notification on HTTP nobody knows whose it is: there it is suspect. A client that has not declared the
    extension may have methods of its own with that name.
    """

    def __init__(self) -> None:
        self._declared = False

    def see(self, event: Request | Notification, session: Session) -> Verdicts:
        own = isinstance(event, Request) and declares(event, UI)
        self._declared = self._declared or own
        if not event.method.startswith("ui/"):
            if own:
                yield holds(event)
        elif own or self._declared:
            judged = broken if own or session.one_client else suspect
            yield judged(event, "messages of the app dialect stay between host and app", event.method)
