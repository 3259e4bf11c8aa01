"""Log messages come where a request names a level, and from that level on; one that does not exist is refused."""

from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.scenarios.server.errors import needs_discovery
from mcpcheck.wire.event import Notification
from mcpcheck.wire.protocol import LOG_LEVEL


@scenario(exercises=["logging.level.invalid-rejected"])
async def level_that_does_not_exist(peer: Peer) -> None:
    """Asks for log messages from a level on that nobody knows: the rule judges what comes."""
    needs_discovery(peer)
    with peer.deviating("logging", "base.meta"):
        await peer.ask("server/discover", extra={LOG_LEVEL: "mcpcheck-loud"})


def logged(reply: Reply) -> list[Notification]:
    """The log messages that came with an answer."""
    return [note for note in reply.notifications if note.method == "notifications/message"]


@scenario(
    exercises=[
        "logging.message.only-on-request",
        "logging.message.at-or-above-level",
        "logging.message.shape",
        "logging.capability.declared",
    ],
    needs=["tool.logs"],
)
async def messages_come_on_request(peer: Peer) -> None:
    """Calls a tool that logs, without a level, with the highest and with the lowest: it logs for who wants it."""
    fixture = peer.lab.fixture("tool.logs")
    await peer.fence()
    plain = await peer.ask(fixture.method, fixture.params)
    for level in ("emergency", "debug"):
        reply = await peer.ask(fixture.method, fixture.params, extra={LOG_LEVEL: level})
    if not logged(reply):
        raise Untestable(f"{fixture.name} logs nothing, not even where every message is wanted")
    if not logged(plain):
        peer.holds("logging.message.only-on-request", plain, reply)
