"""Contents: blocks and resources of every kind, for the rules to judge."""

from mcpcheck.peer import Peer
from mcpcheck.scenarios.registry import scenario
from mcpcheck.scenarios.server.capability import offered

BLOCKS = ("tool.plain", "tool.image", "tool.audio", "tool.embeds", "tool.mixes")
CONTENTS = ("resource.static", "resource.binary", "resource.watched", "template.fills")


@scenario(
    exercises=[
        "tools.content.block-shape",
        "tools.content.binary-base64",
        "tools.content.embedded-implies-resources",
    ],
    any_of=BLOCKS,
)
async def blocks_of_every_kind(peer: Peer) -> None:
    """Calls the tools that answer with texts, images, sounds and embedded resources, once the capabilities are told."""
    await peer.fence()
    for fixture in offered(peer, *BLOCKS):
        await peer.ask(fixture.method, fixture.params)


@scenario(
    exercises=[
        "resources.read.result-shape",
        "resources.contents.text-or-blob",
        "resources.contents.blob-base64",
    ],
    any_of=CONTENTS,
)
async def contents_of_every_kind(peer: Peer) -> None:
    """Reads the resources that hold text and those that hold a blob, and one that a template makes."""
    for fixture in offered(peer, *CONTENTS):
        await peer.ask(fixture.method, fixture.params)
