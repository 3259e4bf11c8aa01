"""Tools that know for whom they work."""

from mcpcheck.reference.call import Json
from mcpcheck.reference.inputs import Work
from mcpcheck.reference.shelf import Shelf
from mcpcheck.reference.state import digest
from mcpcheck.reference.tools import text

USERS = Shelf()


@USERS.tool()
def test_whoami(work: Work, arguments: dict[str, Json]) -> dict[str, Json]:
    """Tells for which user it works, without the credentials themselves."""
    return text(f"user {digest(work.server.user_of(work.call), {})[:12]}")
