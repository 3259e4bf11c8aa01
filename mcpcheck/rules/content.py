"""Content blocks: tools.content.block-shape, and the finer requirements of the handshake era."""

from collections.abc import Iterator
from typing import Any

from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import Found, blocks, complete, entries, prompt_blocks
from mcpcheck.rules.registry import Verdicts, broken, holds, rule
from mcpcheck.rules.shapes import emptied, judge_all, schemas_of, without
from mcpcheck.rules.tools import judge_base64
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer

_TYPES = {
    "text": "TextContent",
    "image": "ImageContent",
    "audio": "AudioContent",
    "resource_link": "ResourceLink",
    "resource": "EmbeddedResource",
}
_EMBEDDED = {"uri": "x:", "text": ""}


@rule("tools.content.block-shape", on=("tools/call", "prompts/get"))
def block_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at every block in results of tools/call and prompts/get.

    Annotations, icons and Base64 have rules of their own; so have MIME types and embedded resources in prompts.
    """
    tools = entries(complete(answer, session, "tools/call"), "content")
    found = [(at, _plain(block)) for at, block in tools]
    prompts = ((at, block) for at, block in prompt_blocks(answer, session) if isinstance(block, dict))
    found += [(at, _plain_in_prompt(block)) for at, block in prompts]
    yield from judge_all(answer, session, "ContentBlock", found)


def _plain(block: Any) -> Any:
    """A block without what other rules judge."""
    if isinstance(block, dict) and isinstance(block.get("annotations"), dict):
        block = without(block, annotations=...)
    return emptied(block, "icons")


def _plain_in_prompt(block: Any) -> Any:
    block = _plain(block)
    if not isinstance(block, dict):
        return block
    if block.get("type") in ("image", "audio"):
        return without(block, mimeType="x/x")
    if block.get("type") == "resource" and isinstance(block.get("resource"), dict):
        return without(block, resource=_EMBEDDED)
    return block


def _of_type(answer: Answer, session: Session, *types: str) -> Iterator[Found]:
    for at, block in blocks(answer, session):
        if isinstance(block, dict) and block.get("type") in types:
            yield at, block


@rule("legacy.tools.content.known-type", on=("tools/call", "prompts/get"))
def known_type(answer: Answer, session: Session) -> Verdicts:
    """Looks at the type of every block: one that the revision has."""
    schemas = schemas_of(session)
    if schemas is None:
        return
    known = [type for type, name in _TYPES.items() if name in schemas.types()]
    for at, block in blocks(answer, session):
        type = block.get("type") if isinstance(block, dict) else None
        if type in known:
            yield holds(answer)
        else:
            yield broken(answer, f"one of {', '.join(known)}", f"{at}.type is {shown(type)}")


@rule("legacy.tools.content.text-shape", on=("tools/call", "prompts/get"))
def text_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at blocks of type text."""
    yield from judge_all(answer, session, "TextContent", _bare(answer, session, "text"))


@rule("legacy.tools.content.image-shape", on=("tools/call", "prompts/get"))
def image_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at blocks of type image: their members, and that data is Base64."""
    yield from _binary(answer, session, "image", "ImageContent")


@rule("legacy.tools.content.audio-shape", on=("tools/call", "prompts/get"))
def audio_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at blocks of type audio: their members, and that data is Base64."""
    yield from _binary(answer, session, "audio", "AudioContent")


@rule("legacy.tools.content.resource-link-shape", on=("tools/call", "prompts/get"))
def resource_link_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at blocks of type resource_link. Their icons have a rule of their own."""
    yield from judge_all(answer, session, "ResourceLink", _bare(answer, session, "resource_link"))


@rule("legacy.tools.content.embedded-shape", on=("tools/call", "prompts/get"))
def embedded_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at blocks of type resource: uri, and text or blob."""
    yield from judge_all(answer, session, "EmbeddedResource", _bare(answer, session, "resource"))


def _bare(answer: Answer, session: Session, type: str) -> list[Found]:
    return [(at, _plain(block)) for at, block in _of_type(answer, session, type)]


def _binary(answer: Answer, session: Session, type: str, name: str) -> Verdicts:
    schemas = schemas_of(session)
    found = _bare(answer, session, type)
    yield from judge_all(answer, session, name, found)
    for at, block in found:
        if schemas and name in schemas.types() and schemas.valid(name, block):
            yield judge_base64(answer, f"{at}.data", block["data"])
