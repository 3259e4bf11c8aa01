"""A Report to text, in any format: pure functions, one module for each format in ``formats/``.

A format's name is its module's name. The module has ``render(report, *, width, colour)``; nothing else has to know it.
"""

import difflib
import importlib
import pkgutil

from mcpcheck.errors import UsageError
from mcpcheck.verdict import Report


def format_names() -> list[str]:
    """The names of all formats."""
    import mcpcheck.report.formats as package

    return sorted(module.name for module in pkgutil.iter_modules(package.__path__))


def checked(format: str) -> str:
    """The name of a format that exists; a UsageError that names the nearest where it doesn't."""
    names = format_names()
    if format not in names:
        near = difflib.get_close_matches(format, names, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names)}"
        raise UsageError(f"there is no report format {format!r}{hint}")
    return format


def render(report: Report, format: str, *, width: int = 80, colour: bool = False) -> str:
    """The report in a format: pure, and the same each time."""
    module = importlib.import_module(f"mcpcheck.report.formats.{checked(format)}")
    text: str = module.render(report, width=width, colour=colour)
    return text
