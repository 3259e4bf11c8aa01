"""The list of what is not proved is found and read."""

from pathlib import Path

from mcpcheck.catalogue.load import load
from mcpcheck.catalogue.unproved import place, read, unproved


def test_a_line_is_an_id_and_perhaps_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "unproved.txt"
    path.write_text("# a comment\na.b\nc.d: nobody can tell: not even this\n\n", encoding="utf-8")
    assert read(path) == {"a.b": "", "c.d": "nobody can tell: not even this"}


def test_the_projects_list_is_found_and_names_requirements() -> None:
    assert place().is_file()
    assert unproved().keys() <= load().keys()
