"""prompts: lists of prompts, getting one, and what its messages hold."""

from collections.abc import Iterator
from typing import Any

from mcpcheck.rules import shapes
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import complete, listed, prompt_blocks
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.shapes import emptied, without
from mcpcheck.rules.texts import is_mime, is_uri
from mcpcheck.rules.tools import judge_base64, list_frame
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.record import Dir

_BLOCK = {"type": "text", "text": ""}


@rule("prompts.list.result-shape", on="prompts/list")
def list_result_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at every result of prompts/list. Its prompts, caching hints and nextCursor have rules of their own."""
    result = complete(answer, session, "prompts/list")
    if result is not None:
        yield from shapes.judge(answer, session, "ListPromptsResult", list_frame(result, "prompts"), "result")


@rule("prompts.prompt.shape", on="prompts/list")
def prompt_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at every listed prompt and its arguments. Its icons have a rule of their own."""
    found = [(at, emptied(item, "icons")) for at, item in listed(answer, session, "prompts/list")]
    yield from shapes.judge_all(answer, session, "Prompt", found)


@rule("prompts.get.request-shape", on="prompts/get")
def get_request_shape(request: Request, session: Session) -> Verdicts:
    """Looks at the params of every prompts/get; inputResponses have a rule of their own."""
    if request.dir is Dir.C2S:
        yield from shapes.params(request, session, "prompts/get", "GetPromptRequestParams", inputResponses=...)


@rule("prompts.get.result-shape", on="prompts/get")
def get_result_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at complete results of prompts/get and at the role of each message. Blocks have rules of their own."""
    result = complete(answer, session, "prompts/get")
    if result is None:
        return
    given = without(result, resultType="complete", _meta=...)
    if isinstance(given.get("messages"), list):
        given = without(given, messages=[_plain(message) for message in given["messages"]])
    yield from shapes.judge(answer, session, "GetPromptResult", given, "result")


def _plain(message: Any) -> Any:
    """A message with a plain block in place of its own, if that is an object."""
    return without(message, content=_BLOCK) if isinstance(message, dict) and _has_block(message) else message


def _has_block(message: dict[str, Any]) -> bool:
    return isinstance(message.get("content"), dict)


def _blocks(answer: Answer, session: Session, type: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for at, block in prompt_blocks(answer, session):
        if isinstance(block, dict) and block.get("type") == type:
            yield at, block


def _base64(answer: Answer, session: Session, type: str) -> Verdicts:
    for at, block in _blocks(answer, session, type):
        if isinstance(block.get("data"), str):
            yield judge_base64(answer, f"{at}.data", block["data"])


def _mime(answer: Answer, session: Session, type: str) -> Verdicts:
    for at, block in _blocks(answer, session, type):
        mime = block.get("mimeType")
        if not isinstance(mime, str) or not is_mime(mime):
            yield broken(answer, "a MIME type, type/subtype", f"{at}.mimeType is {shown(mime)}")
        elif not mime.lower().startswith(f"{type}/"):
            yield suspect(answer, f"a type {type}/...", f"{at}.mimeType is {shown(mime)}")
        else:
            yield holds(answer)


@rule("prompts.content.image-base64", on="prompts/get")
def content_image_base64(answer: Answer, session: Session) -> Verdicts:
    """Looks at the data of images in prompt messages. Line breaks are suspect."""
    yield from _base64(answer, session, "image")


@rule("prompts.content.image-mime-type", on="prompts/get")
def content_image_mime_type(answer: Answer, session: Session) -> Verdicts:
    """Looks at the MIME type of images in prompt messages. One that is no image's is suspect."""
    yield from _mime(answer, session, "image")


@rule("prompts.content.audio-base64", on="prompts/get")
def content_audio_base64(answer: Answer, session: Session) -> Verdicts:
    """Looks at the data of audio in prompt messages. Line breaks are suspect."""
    yield from _base64(answer, session, "audio")


@rule("prompts.content.audio-mime-type", on="prompts/get")
def content_audio_mime_type(answer: Answer, session: Session) -> Verdicts:
    """Looks at the MIME type of audio in prompt messages. One that is no audio's is suspect."""
    yield from _mime(answer, session, "audio")


def _embedded(answer: Answer, session: Session) -> Iterator[tuple[str, dict[str, Any]]]:
    for at, block in _blocks(answer, session, "resource"):
        if isinstance(block.get("resource"), dict):
            yield f"{at}.resource", block["resource"]


@rule("prompts.content.embedded-uri", on="prompts/get")
def content_embedded_uri(answer: Answer, session: Session) -> Verdicts:
    """Looks at the URI of resources that are embedded in prompt messages."""
    for at, resource in _embedded(answer, session):
        uri = resource.get("uri")
        if isinstance(uri, str) and is_uri(uri):
            yield holds(answer)
        else:
            yield broken(answer, "a URI with a scheme (RFC 3986)", f"{at}.uri is {shown(uri)}")


@rule("prompts.content.embedded-mime-type", on="prompts/get")
def content_embedded_mime_type(answer: Answer, session: Session) -> Verdicts:
    """Looks at the MIME type of resources that are embedded in prompt messages, where alone it is required."""
    for at, resource in _embedded(answer, session):
        mime = resource.get("mimeType")
        if isinstance(mime, str) and is_mime(mime):
            yield holds(answer)
        else:
            yield broken(answer, "a MIME type, type/subtype", f"{at}.mimeType is {shown(mime)}")


@rule("prompts.content.embedded-data", on="prompts/get")
def content_embedded_data(answer: Answer, session: Session) -> Verdicts:
    """Looks at text and blob of resources that are embedded in prompt messages. Both at once are suspect."""
    for at, resource in _embedded(answer, session):
        text, blob = resource.get("text"), resource.get("blob")
        if "text" in resource and "blob" in resource:
            yield suspect(answer, "text or blob", f"{at} has both")
        elif isinstance(text, str):
            yield holds(answer)
        elif isinstance(blob, str):
            yield judge_base64(answer, f"{at}.blob", blob)
        else:
            yield broken(answer, "text, or blob in Base64", f"{at} has neither")


@rule("prompts.capability.respected", on=("prompts/list", "prompts/get"), sender=Dir.C2S)
def capability_respected(request: Request, session: Session) -> Verdicts:
    """Looks at requests for prompts after server/discover. They are suspect where the server never declared prompts.

    Where several clients may speak they are left alone: one may not have seen the declaration. What a server tells of
    its own accord has rules of its own, and so has the handshake era.
    """
    if not session.stateless or not session.discovered or not session.one_client or not session.whole:
        return
    if "prompts" in session.declared:
        yield holds(request)
    else:
        yield suspect(request, f"the capability prompts for {request.method}", "prompts was never declared")
