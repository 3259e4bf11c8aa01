"""The tools of the demo server. The names that begin with test_ are those that the official suite asks for."""

from mcpcheck.reference.tools import Tool
from mcpcheck.reference.tools_asking import ASKING
from mcpcheck.reference.tools_once import ONCE
from mcpcheck.reference.tools_plain import PLAIN
from mcpcheck.reference.tools_users import USERS

TOOLS: dict[str, Tool] = {**PLAIN, **ASKING, **ONCE, **USERS}
