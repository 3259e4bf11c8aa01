"""A client and the server process that it starts: how it ends it, and what it makes of its death and its noise."""

import dataclasses

from mcpcheck.client_peer import Account, ClientPeer
from mcpcheck.scenarios.client.scripted import Asked, ModernServer
from mcpcheck.scenarios.registry import Untestable, scenario
from mcpcheck.transports.client_side import Heard, Meeting, Reply

AT_ONCE = 0.1
"""A signal or a kill within so many seconds leaves the server no time to exit."""
HOST = "the client does not end by itself, so how it shuts down is not seen"


def needs_an_end(client: ClientPeer, account: Account) -> list[Meeting]:
    """Only for a client whose run comes to its end without help."""
    if not account.encounter.ended_itself:
        raise Untestable(HOST)
    return account.encounter.meetings


@scenario(exercises=["stdio.shutdown.client-order"], transports=["stdio"])
async def is_done_with_its_server(client: ClientPeer) -> None:
    """At the end of a good session the client closes the server's input first; the server exits at once."""
    account = client.survey.modern
    for meeting in needs_an_end(client, account):
        before = [number for t, number in meeting.signals if meeting.input_ended is None or t < meeting.input_ended]
        if before:
            actual = f"signal {before[0]} while the input was open"
        elif meeting.input_ended is None:
            actual = "the process was left behind" if meeting.left_behind else "it was killed with its input open"
        elif hasty := [t for t, _ in meeting.signals if t - meeting.input_ended < AT_ONCE]:
            expected = "time to exit between the end of input and a signal"
            actual = f"a signal {hasty[0] - meeting.input_ended:.3f} s after the end of input"
            client.suspect("stdio.shutdown.client-order", account, [], expected, actual)
            continue
        else:
            client.holds("stdio.shutdown.client-order", account)
            continue
        client.broken("stdio.shutdown.client-order", account, [], "the end of input before any signal", actual)


class Stays(ModernServer):
    """A server that neither the end of its input nor SIGTERM moves."""

    stubborn = True


@scenario(exercises=["stdio.shutdown.client-kill"], transports=["stdio"])
async def has_a_server_that_stays(client: ClientPeer) -> None:
    """The server ignores the end of its input and SIGTERM: the client ends it in reasonable time."""
    if not client.survey.ends_itself:
        raise Untestable(HOST)
    account = await client.meet(Stays(), patience=2 * client.patience)
    if not account.encounter.ended_itself:
        actual = f"the client waits still, after {account.encounter.seconds:.0f} s"
        client.suspect("stdio.shutdown.client-kill", account, [], "an end of the server within about 30 s", actual)
        return
    for meeting in account.encounter.meetings:
        ended, gone = meeting.input_ended, meeting.gone
        if meeting.left_behind or gone is None:
            expected = "the server terminated by force before the client ends"
            client.broken("stdio.shutdown.client-kill", account, [], expected, "the server's process lives on")
        elif ended is not None and gone - ended < AT_ONCE and not meeting.signals:
            actual = f"killed {gone - ended:.3f} s after the end of its input"
            client.suspect("stdio.shutdown.client-kill", account, [], "time to exit before a kill", actual)
        else:
            client.holds("stdio.shutdown.client-kill", account)


class Dies(ModernServer):
    """A server whose first process exits after its first answer."""

    def hear(self, heard: Heard) -> Reply:
        reply = super().hear(heard)
        return dataclasses.replace(reply, exit=1) if heard.connection == 1 and reply.messages else reply


@scenario(exercises=["stdio.restart.client"], transports=["stdio"])
async def loses_its_server(client: ClientPeer) -> None:
    """The server's process dies after its first answer: the client starts it again when it needs it next."""
    client.needs_modern()
    if len(client.survey.modern.requests) < 2:
        raise Untestable("the client needs the server for one request only")
    account = await client.meet(Dies())
    if len(account.encounter.meetings) > 1:
        client.holds("stdio.restart.client", account, *account.requests[:1])
    else:
        client.broken("stdio.restart.client", account, account.requests, "the server's command started again")


class Noisy(ModernServer):
    """A server that writes alarming text to its standard error, and answers well."""

    NOISE = b"ERROR: something failed\nTraceback (most recent call last):\n  ValueError: mcpcheck makes noise\n"

    def opened(self, connection: int) -> Reply:
        return Reply(stderr=self.NOISE)

    def on_request(self, asked: Asked) -> Reply:
        return dataclasses.replace(super().on_request(asked), stderr=self.NOISE)


@scenario(exercises=["stdio.client.stderr-no-error"], transports=["stdio"])
async def hears_noise_on_standard_error(client: ClientPeer) -> None:
    """Errors and stack traces on standard error come with good answers: the client works as without them."""
    client.needs_modern()
    account = await client.meet(Noisy())
    plain = client.survey.modern.methods
    missing = [method for method in dict.fromkeys(plain) if method not in account.methods]
    if not missing and len(account.encounter.meetings) == len(client.survey.modern.encounter.meetings):
        client.holds("stdio.client.stderr-no-error", account, *account.requests)
    else:
        expected = f"the same session as without the noise: {', '.join(plain)}"
        client.broken("stdio.client.stderr-no-error", account, account.requests, expected)
