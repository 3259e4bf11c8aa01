"""The catalogue loads whole, from the package or the checkout, and a mistyped id finds its neighbour."""

from collections import Counter
from pathlib import Path

import pytest

from mcpcheck.catalogue import place
from mcpcheck.catalogue.load import Catalogue, CatalogueError, load, matches, read
from mcpcheck.catalogue.requirement import Level, Observe, Requirement
from mcpcheck.errors import UsageError
from mcpcheck.wire.protocol import REVISIONS
from tests.report.samples import requirement

ENTRY = """
[[requirement]]
id = "area.one"
level = "MUST"
role = "server"
transports = ["any"]
revisions = ["2026-07-28"]
page = "basic/index"
anchor = "messages"
summary = "One thing holds."
observe = "wire"
"""


def one(tmp_path: Path, text: str) -> list[Requirement]:
    path = tmp_path / "area.toml"
    path.write_text(text)
    return list(read(path))


def test_the_catalogue_loads_and_covers_every_revision() -> None:
    catalogue = load()
    assert len(catalogue) > 1000
    assert {revision for one in catalogue.values() for revision in one.revisions} == set(REVISIONS)


def test_every_requirement_says_something_and_where_it_stands() -> None:
    for one in load().values():
        assert one.summary.strip()
        assert one.summary.endswith(".")
        assert one.url.startswith("https://modelcontextprotocol.io/specification/2")
        assert list(one.revisions) == sorted(one.revisions)


def test_the_text_of_a_requirement_is_plain() -> None:
    for one in load().values():
        text = f"{one.summary}{one.repair}{one.good}{one.bad}"
        assert text.replace("\n", "").isprintable(), one.id


def test_no_two_areas_share_an_id_in_two_files() -> None:
    ids = Counter(one.id for path in (place.specs_root() / "requirements").glob("*.toml") for one in read(path))
    assert set(ids.values()) == {1}


def test_specs_are_found_in_the_package_first_and_in_the_checkout_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "mcpcheck"
    (package / "catalogue").mkdir(parents=True)
    monkeypatch.setattr(place, "__file__", str(package / "catalogue" / "place.py"))
    assert place.specs_root.__wrapped__() == tmp_path.resolve() / "site" / "specs"
    (package / "_specs").mkdir()
    assert place.specs_root.__wrapped__() == package.resolve() / "_specs"


def test_an_entry_becomes_a_requirement(tmp_path: Path) -> None:
    (found,) = one(tmp_path, ENTRY)
    assert (found.level, found.observe, found.area) == (Level.MUST, Observe.WIRE, "area")
    assert found.url == "https://modelcontextprotocol.io/specification/2026-07-28/basic/index#messages"
    assert found.holds_on("stdio")
    assert found.holds_on("http")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('level = "MUST"', 'level = "OUGHT"', "area.one: .*OUGHT"),
        ('level = "MUST"', "", "area.one"),
        ('role = "server"', 'role = "host"', "area.one: role is 'host'"),
        ('transports = ["any"]', 'transports = ["udp"]', "area.one: transports"),
        ('revisions = ["2026-07-28"]', "revisions = []", "area.one: revisions"),
        ('observe = "wire"', 'observe = "wire"\ncolour = "red"', "area.one: .*colour"),
        ('id = "area.one"', "", "a table without id"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, before: str, after: str, message: str) -> None:
    with pytest.raises(CatalogueError, match=message):
        one(tmp_path, ENTRY.replace(before, after))


def test_an_id_stands_once(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="twice"):
        Catalogue(one(tmp_path, ENTRY + ENTRY))


@pytest.mark.parametrize(
    ("id", "prefix", "under"),
    [
        ("http.headers.host", "http", True),
        ("http.headers.host", "http.header", True),
        ("http.headers.host", "http.headers.host", True),
        ("http.headers.host", "http.he", False),
        ("base.request.id-unique", "base.request.id", True),
        ("base.request.id", "base.request.id-unique", False),
        ("baseline.one", "base", False),
    ],
)
def test_a_prefix_takes_whole_words(id: str, prefix: str, under: bool) -> None:
    assert matches(id, prefix) is under


def test_a_selection_that_matches_nothing_names_the_nearest() -> None:
    catalogue = Catalogue([requirement("tools.call.first"), requirement("tools.list")])
    assert catalogue.select(["tools.call"]) == {"tools.call.first"}
    with pytest.raises(UsageError, match=r"nearest are tools\.call"):
        catalogue.select(["tools.list", "tools.cal"])
    with pytest.raises(UsageError, match=r"nearest are tools\.list"):
        catalogue.find("tools.lits")
    assert catalogue.find("tools.list").id == "tools.list"
