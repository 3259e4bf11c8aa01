"""``mcpcheck tap``: records a session. Imports nothing but click until it runs: it starts once for each session."""

import click


@click.command(context_settings={"allow_interspersed_args": False})
@click.option(
    *("-o", "--output", "output"),
    metavar="FILE",
    help="The capture: a file, or a folder for a new one. Without it, a new file in the user's state folder.",
)
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help="In front of a URL: where to listen. Default: 127.0.0.1 and a port that is free.",
)
@click.argument("target", nargs=-1, required=True, metavar="URL | -- COMMAND...")
def command(output: str | None, listen: str | None, target: tuple[str, ...]) -> None:
    """Record a session between any client and any server, and change nothing about it.

    \b
    In front of a server on stdio, where the client starts the server:
        mcpcheck tap -o session.ndjson -- python my_server.py
    In front of a server on HTTP, as a reverse proxy:
        mcpcheck tap -o session.ndjson http://127.0.0.1:8000/mcp

    Secrets are replaced before anything is written. Judge the capture with: mcpcheck lint session.ndjson
    """
    if target[0].startswith(("http://", "https://")):
        if len(target) > 1:
            raise click.UsageError(f"after a URL there is nothing more to say: {' '.join(target[1:])}")
        from mcpcheck.tap.http import run as run_http

        run_http(target[0], output, listen)
        return
    if listen is not None:
        raise click.UsageError("--listen belongs to a URL; a command is tapped on its standard streams")
    from mcpcheck.tap.stdio import run

    run(list(target), output)
