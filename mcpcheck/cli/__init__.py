"""The command line: one module per subcommand, imported when it is used."""

import importlib
import os
import sys
from typing import Any

import click

from mcpcheck import __version__
from mcpcheck.errors import PeerUnavailable, UsageError, bug

COMMANDS = {
    "conform": "Test a server against the specification.",
    "conform-client": "Test a client or host against the specification.",
    "tap": "Record a session between any client and any server.",
    "lint": "Judge recorded sessions.",
    "fuzz": "Attack a server with generated messages and hold its invariants.",
    "explain": "Say what a requirement means and where it stands.",
    "spec": "List the requirements that are known.",
}


class LateGroup(click.Group):
    """Imports a subcommand's module only when that subcommand runs: the tap must start fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"mcpcheck.cli.{name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"there is no command {args[0]!r}{_nearest(args[0])}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _nearest(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.4)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(COMMANDS)}"


@click.group(cls=LateGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="mcpcheck")
def group() -> None:
    """Inspect and test any server or client of the Model Context Protocol.

    \b
    Try it on the built-in server:   mcpcheck conform --demo
    Test your own:                   mcpcheck conform -- python my_server.py
                                     mcpcheck conform http://127.0.0.1:8000/mcp
    """


def main() -> None:
    """The entry point: what a user can fix is one clear sentence and exit 2, never a traceback."""
    try:
        sys.exit(group.main(standalone_mode=False) or 0)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        print("mcpcheck: interrupted", file=sys.stderr)
        sys.exit(130)
    except (UsageError, PeerUnavailable) as error:
        print(f"mcpcheck: {error}", file=sys.stderr)
        sys.exit(2)
    except Exception as error:
        print(f"mcpcheck: this is a bug in mcpcheck, please report it: {bug(error)}", file=sys.stderr)
        if os.environ.get("MCPCHECK_TRACEBACK"):
            raise
        sys.exit(2)
