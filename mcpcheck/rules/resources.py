"""resources: lists of resources and templates, reading them, and annotations."""

from collections.abc import Iterator
from typing import Any

from mcpcheck.rules import shapes
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import Found, annotated, blocks, complete, contents, entries, listed
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.shapes import emptied, without
from mcpcheck.rules.texts import is_time, is_uri, template_fault
from mcpcheck.rules.tools import judge_base64, list_frame
from mcpcheck.session import ids
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Message, Notification, Request
from mcpcheck.wire.protocol import SUBSCRIPTION_ID
from mcpcheck.wire.record import Dir

_ANNOTATED = ("resources/list", "resources/templates/list", "tools/call", "prompts/get")
_TEXTS = ("text/", "application/json", "application/xml", "application/javascript", "image/svg")
_BINARY = ("image/", "audio/", "video/")


@rule("resources.list.result-shape", on="resources/list")
def list_result_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at every result of resources/list. Its resources, caching hints and nextCursor have rules of their own."""
    result = complete(answer, session, "resources/list")
    if result is not None:
        given = list_frame(result, "resources")
        yield from shapes.judge(answer, session, "ListResourcesResult", given, "result")


@rule("resources.resource.shape", on="resources/list")
def resource_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at every listed resource. Icons and the members of annotations have rules of their own."""
    found = [(at, _plain(item)) for at, item in listed(answer, session, "resources/list")]
    yield from shapes.judge_all(answer, session, "Resource", found)


def _plain(item: Any) -> Any:
    """A resource or template without what other rules judge."""
    if isinstance(item, dict) and isinstance(item.get("annotations"), dict):
        item = without(item, annotations=...)
    return emptied(item, "icons")


@rule("legacy.resources.resource.uri-unique", on="resources/list", sender=Dir.S2C)
def resource_uri_unique(answer: Answer, session: Session) -> Verdicts:
    """Compares the URIs on one page of resources/list. Two equal entries are suspect."""
    first: dict[str, Any] = {}
    wrong = False
    for at, item in listed(answer, session, "resources/list"):
        uri = item.get("uri") if isinstance(item, dict) else None
        if isinstance(uri, str) and uri in first:
            wrong = True
            judged = suspect if first[uri] == item else broken
            yield judged(answer, "URIs that differ", f"{at}.uri is {shown(uri)}, once more")
        elif isinstance(uri, str):
            first[uri] = item
    if first and not wrong:
        yield holds(answer)


@rule("resources.templates.result-shape", on="resources/templates/list")
def templates_result_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at every result of resources/templates/list; its templates have rules of their own."""
    result = complete(answer, session, "resources/templates/list")
    if result is not None:
        given = list_frame(result, "resourceTemplates")
        yield from shapes.judge(answer, session, "ListResourceTemplatesResult", given, "result")


@rule("resources.template.shape", on="resources/templates/list")
def template_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at every listed template. Icons and the members of annotations have rules of their own."""
    found = [(at, _plain(item)) for at, item in listed(answer, session, "resources/templates/list")]
    yield from shapes.judge_all(answer, session, "ResourceTemplate", found)


@rule("resources.template.rfc6570", on="resources/templates/list")
def template_rfc6570(answer: Answer, session: Session) -> Verdicts:
    """Reads every uriTemplate as RFC 6570 writes them. One without an expression is a template, too."""
    for at, item in listed(answer, session, "resources/templates/list"):
        text = item.get("uriTemplate") if isinstance(item, dict) else None
        if not isinstance(text, str):
            continue
        fault = template_fault(text)
        if fault:
            yield broken(answer, "a URI template (RFC 6570)", f"{at}.uriTemplate: {fault}")
        else:
            yield holds(answer)


@rule("resources.read.request-shape", on="resources/read")
def read_request_shape(request: Request, session: Session) -> Verdicts:
    """Looks at the params of every resources/read; inputResponses have a rule of their own."""
    if request.dir is Dir.C2S:
        yield from shapes.params(request, session, "resources/read", "ReadResourceRequestParams", inputResponses=...)


@rule("resources.read.result-shape", on="resources/read")
def read_result_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at complete results of resources/read. text, blob and the caching hints have rules of their own."""
    result = complete(answer, session, "resources/read")
    if result is None:
        return
    given = without(result, ttlMs=0, cacheScope="public", resultType="complete", _meta=...)
    if isinstance(given.get("contents"), list):
        elements = [without(item, text="", blob=...) for item in given["contents"]]
        given = without(given, contents=elements)
    yield from shapes.judge(answer, session, "ReadResourceResult", given, "result")


@rule("resources.contents.text-or-blob", on="resources/read")
def contents_text_or_blob(answer: Answer, session: Session) -> Verdicts:
    """Looks at every element of contents. Both members at once, and text for an image, are suspect."""
    for at, item in entries(complete(answer, session, "resources/read"), "contents"):
        if not isinstance(item, dict):
            continue
        there = [name for name in ("text", "blob") if name in item]
        odd = [name for name in there if not isinstance(item[name], str)]
        mime = item.get("mimeType")
        if not there:
            yield broken(answer, "text or blob", f"{at} has neither")
        elif odd:
            yield broken(answer, f"{odd[0]} is a string", f"{at}.{odd[0]} is {shown(item[odd[0]])}")
        elif len(there) == 2:
            yield suspect(answer, "text or blob", f"{at} has both")
        elif "text" in item and isinstance(mime, str) and _is_binary(mime):
            yield suspect(answer, "blob for binary data", f"{at} is text of type {mime}")
        else:
            yield holds(answer)


def _is_binary(mime: str) -> bool:
    return mime.lower().startswith(_BINARY) and not mime.lower().startswith(_TEXTS)


@rule("resources.contents.blob-base64", on=("resources/read", "tools/call"), near="blob")
def contents_blob_base64(answer: Answer, session: Session) -> Verdicts:
    """Looks at every blob of resources/read and of resources embedded in tool results. Line breaks are suspect."""
    found = list(entries(complete(answer, session, "resources/read"), "contents"))
    for at, block in entries(complete(answer, session, "tools/call"), "content"):
        if isinstance(block, dict) and block.get("type") == "resource":
            found.append((f"{at}.resource", block.get("resource")))
    for at, item in found:
        if isinstance(item, dict) and isinstance(item.get("blob"), str):
            yield judge_base64(answer, f"{at}.blob", item["blob"])


def _annotations(answer: Answer, session: Session) -> Iterator[Found]:
    for at, item in annotated(answer, session):
        if isinstance(item, dict) and isinstance(item.get("annotations"), dict):
            yield f"{at}.annotations", item["annotations"]


@rule("resources.annotations.audience", on=_ANNOTATED, near="annotations")
def annotations_audience(answer: Answer, session: Session) -> Verdicts:
    """Looks at audience wherever annotations are: of resources, templates and content blocks."""
    for at, item in _annotations(answer, session):
        if "audience" not in item:
            continue
        audience = item["audience"]
        if isinstance(audience, list) and all(who in ("user", "assistant") for who in audience):
            yield holds(answer)
        else:
            yield broken(answer, "an array of user and assistant", f"{at}.audience is {shown(audience)}")


@rule("resources.annotations.priority", on=_ANNOTATED, near="annotations")
def annotations_priority(answer: Answer, session: Session) -> Verdicts:
    """Looks at priority wherever annotations are: a number from 0 to 1."""
    for at, item in _annotations(answer, session):
        if "priority" not in item:
            continue
        priority = item["priority"]
        if type(priority) in (int, float) and 0 <= priority <= 1:
            yield holds(answer)
        else:
            yield broken(answer, "a number from 0 to 1", f"{at}.priority is {shown(priority)}")


@rule(
    "resources.annotations.last-modified",
    on=_ANNOTATED,
    near="annotations",
)
def annotations_last_modified(answer: Answer, session: Session) -> Verdicts:
    """Looks at lastModified wherever annotations are. A string that is no ISO 8601 time is suspect."""
    for at, item in _annotations(answer, session):
        if "lastModified" not in item:
            continue
        value = item["lastModified"]
        if not isinstance(value, str):
            yield broken(answer, "a string", f"{at}.lastModified is {shown(value)}")
        elif not is_time(value):
            yield suspect(answer, "an ISO 8601 time", f"{at}.lastModified is {shown(value)}")
        else:
            yield holds(answer)


@rule(
    "resources.uri.rfc3986",
    on=("resources/list", "resources/read", "tools/call", "notifications/resources/updated"),
    near="uri",
)
def uri_rfc3986(event: Answer | Notification, session: Session) -> Verdicts:
    """Looks at the URIs of listed resources, contents, links and updates. Those in prompts have a rule of their own."""
    for at, uri in _uris(event, session):
        if not isinstance(uri, str):
            continue
        if is_uri(uri):
            yield holds(event)
        else:
            yield broken(event, "a URI with a scheme (RFC 3986)", f"{at} is {shown(uri)}")


def _uris(event: Message, session: Session) -> Iterator[Found]:
    if isinstance(event, Notification):
        if event.method == "notifications/resources/updated":
            yield "params.uri", event.param("uri")
        return
    for at, item in (
        *listed(event, session, "resources/list"),
        *contents(event, session),
        *(found for found in blocks(event, session) if _is_link(found[1])),
    ):
        if isinstance(item, dict) and ".messages" not in at and not at.startswith("messages"):
            yield f"{at}.uri", item.get("uri")


def _is_link(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "resource_link"


@rule("resources.updated.notification-shape", on="notifications/resources/updated")
def updated_notification_shape(note: Notification, session: Session) -> Verdicts:
    """Looks at the params of resources/updated. That a subscription is named at all has a rule of its own."""
    there = isinstance(note.params, dict) or ("params" not in note.obj and not session.stateless)
    if note.dir is Dir.C2S or note.method != "notifications/resources/updated" or not there:
        return
    uri = note.param("uri")
    listen = session.exchange.call if session.exchange else None
    id = note.meta.get(SUBSCRIPTION_ID)
    if not isinstance(uri, str):
        yield broken(note, "uri is a string", f"uri is {shown(uri)}")
    elif listen is not None and id is not None and ids.key(id) != ids.key(listen.request.id):
        yield broken(note, "the subscriptionId of its stream", f"subscriptionId is {shown(id)}")
    else:
        yield holds(note)


@rule("legacy.resources.subscribe.request-shape", on=("resources/subscribe", "resources/unsubscribe"))
def legacy_subscribe_request_shape(request: Request, session: Session) -> Verdicts:
    """Looks at the params of resources/subscribe and resources/unsubscribe."""
    if request.dir is Dir.C2S:
        yield from shapes.params(request, session, "resources/subscribe", "SubscribeRequestParams")
        yield from shapes.params(request, session, "resources/unsubscribe", "UnsubscribeRequestParams")
