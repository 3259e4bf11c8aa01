"""Content blocks: their shape, wherever they stand."""

from typing import Any

from mcpcheck.rules.places import complete, entries, prompt_blocks
from mcpcheck.rules.registry import Verdicts, rule
from mcpcheck.rules.shapes import emptied, judge_all, without
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer

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
