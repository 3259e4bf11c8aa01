"""stdio: lines, and what may stand on standard input and output."""

from mcpcheck.rules.payloads import alien, by_itself, shown
from mcpcheck.rules.registry import Judgement, Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.session.strays import Stray
from mcpcheck.wire.event import Batch, Message, Notification, NotMessage
from mcpcheck.wire.protocol import SUBSCRIPTION_ID
from mcpcheck.wire.record import Dir

_OF_SUBSCRIPTIONS = frozenset(
    {
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
    }
)


@rule("stdio.framing.no-embedded-newline")
def no_embedded_newline(event: Message | Batch | Stray, session: Session) -> Verdicts:
    """Looks at where lines end: one message, one line.

    A last message that ends with the stream is suspect; a carriage return before the newline is white space to JSON.
    """
    if isinstance(event, Stray):
        if event.kind == "spread":
            last = event.lines[-1].record.n
            yield broken(event, "a message on one line", f"one JSON text over {len(event.lines)} lines", last)
        elif event.kind == "joined":
            yield broken(event, "a newline after each message", "several messages on one line")
    elif by_itself(event):
        if event.record.end == b"":
            yield suspect(event, "a newline after the message", "the stream ended in its place")
        else:
            yield holds(event)


@rule("stdio.server.stdout-pure", sender=Dir.S2C)
def stdout_pure(event: Message | NotMessage | Stray, session: Session) -> Verdicts:
    """Looks at every line of the server's standard output. Broken messages have rules of their own; so has stderr.

    An empty line is suspect; a last line that was cut off is left alone.
    """
    if event.dir is Dir.S2C:
        yield from _pure(event, session, "standard output")


@rule("stdio.client.stdin-pure", sender=Dir.C2S)
def stdin_pure(event: Message | NotMessage | Stray, session: Session) -> Verdicts:
    """Looks at every line that the client writes. Broken messages have rules of their own; an empty line is suspect."""
    if event.dir is Dir.C2S:
        yield from _pure(event, session, "the server's standard input")


def _pure(event: Message | NotMessage | Stray, session: Session, where: str) -> Verdicts:
    expected = f"nothing but messages on {where}"
    if isinstance(event, Stray):
        if event.kind == "text":
            yield broken(event, expected, f"the line {shown(event.data)}")
        elif event.kind == "empty":
            yield suspect(event, expected, "an empty line")
    elif isinstance(event, NotMessage):
        if alien(event, session):
            yield broken(event, expected, f"the line {shown(event.record.data)}")
    elif by_itself(event):
        yield _marked(event, expected)


def _marked(event: Message, expected: str) -> Judgement:
    mark = event.text.fault("bom")
    return broken(event, expected, mark.detail) if mark else holds(event)


@rule("stdio.server.message-kinds", sender=Dir.S2C)
def message_kinds(event: Notification, session: Session) -> Verdicts:
    """Looks at notifications that belong to a subscription and name one: it has to be one that the client opened.

    What else a server may not write has rules of its own.
    """
    if event.dir is Dir.C2S or event.method not in _OF_SUBSCRIPTIONS or SUBSCRIPTION_ID not in event.meta:
        return
    id = event.meta[SUBSCRIPTION_ID]
    if session.listen(id) is not None:
        yield holds(event)
    elif session.whole:
        yield broken(event, "the id of a subscriptions/listen request", f"subscriptionId is {shown(id)}")
