"""A sheet of text: paragraphs wrapped to a width, in colour or without. The only place that knows rich."""

from collections.abc import Iterable
from io import StringIO
from textwrap import wrap
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from mcpcheck.report.escape import printable

LABEL: Final = 11
"""How wide the column of labels is."""


class Sheet:
    """Collects lines. Everything that is put on it is made printable first, so no caller can forget it."""

    def __init__(self, width: int, colour: bool) -> None:
        self._width = max(width, 40)
        self._file = StringIO()
        self._console = Console(
            file=self._file,
            width=self._width,
            force_terminal=colour,
            color_system="standard" if colour else None,
            no_color=not colour,
            legacy_windows=False,
            highlight=False,
            markup=False,
            emoji=False,
            _environ={},  # what the environment says was decided by the caller
        )

    def line(self, *spans: str | tuple[str, str], indent: int = 0) -> None:
        """One line, however long: what is meant to be copied must not be broken. A span is text, or text and style."""
        self._put(Text(" " * indent) + _text(spans))

    def paragraph(self, *spans: str | tuple[str, str], indent: int = 0, hang: int = 0, fold: bool = True) -> None:
        """Text wrapped to the width; ``hang`` indents every line but the first; unless ``fold``, no word is broken."""
        first = True
        for line in self._wrapped(_text(spans), self._width - indent - hang, fold=fold):
            self._put(Text(" " * (indent if first else indent + hang)) + line)
            first = False

    def field(
        self, label: str, text: str, style: str = "", *, indent: int, wrap: bool = True, column: int = LABEL
    ) -> None:
        """A label and its text beside it, wrapped under itself; ``column`` is how wide the labels' one is."""
        margin = indent + column
        lines = self._wrapped(_text([(text, style)]), self._width - margin) if wrap else [_text([(text, style)])]
        for number, line in enumerate(lines):
            lead = (
                Text(" " * indent) + Text(printable(label).ljust(column), "dim") if number == 0 else Text(" " * margin)
            )
            self._put(lead + line)

    def verbatim(self, label: str, text: str, *, indent: int) -> None:
        """A label and text that has no words to wrap at: broken after a comma where one is near, else anywhere."""
        margin = indent + len(label)
        for number, line in enumerate(fold(printable(text), max(self._width - margin, 20))):
            lead = Text(" " * margin) if number else Text(" " * indent) + Text(printable(label), "dim")
            self._put(lead + Text(line))

    def text(self) -> str:
        """All of it, without white space at the ends of lines."""
        return "".join(line.rstrip() + "\n" for line in self._file.getvalue().split("\n")[:-1])

    def _wrapped(self, text: Text, width: int, *, fold: bool = True) -> list[Text]:
        width = max(width, 20)
        if fold:
            lines = list(text.wrap(self._console, width, overflow="fold")) or [text]
            for line in lines:
                line.rstrip()
            return lines
        return [Text(line) for line in wrap(text.plain, width, break_long_words=False, break_on_hyphens=False)]

    def _put(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True)


def _text(spans: Iterable[str | tuple[str, str]]) -> Text:
    text = Text()
    for span in spans:
        words, style = span if isinstance(span, tuple) else (span, "")
        text.append(printable(words), style or None)
    return text


def fold(text: str, width: int) -> list[str]:
    """Text cut into lines that are at most ``width`` cells wide, after a comma or space where one is near the edge."""
    lines: list[str] = []
    while cell_len(text) > width:
        end = width
        while cell_len(text[:end]) > width:
            end -= 1
        near = max(text.rfind(mark, end - width // 2, end) for mark in ", ")
        end = near + 1 if near > 0 else end
        lines.append(text[:end])
        text = text[end:]
    return [*lines, text]
