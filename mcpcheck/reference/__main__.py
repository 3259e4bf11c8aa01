"""``python -m mcpcheck.reference``: the reference server on stdin and stdout, or with ``--http`` on a port."""

import argparse

from mcpcheck.reference.serve import serve_http, serve_stdio
from mcpcheck.wire.protocol import REVISIONS


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m mcpcheck.reference", description="The reference MCP server.")
    parser.add_argument("--http", metavar="PORT", type=int, help="serve Streamable HTTP on this port (0: any)")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument("--spec", metavar="REV", action="append", choices=REVISIONS, help="speak this revision only")
    options = parser.parse_args()
    revisions = tuple(options.spec or REVISIONS)
    if options.http is None:
        serve_stdio(revisions=revisions)
    else:
        serve_http(port=options.http, host=options.host, revisions=revisions)


if __name__ == "__main__":
    main()
