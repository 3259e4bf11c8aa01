"""mcpcheck.toml: what a team keeps, and what is said of its mistakes."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from mcpcheck.config import find, load
from mcpcheck.conform import Conform, Plan
from mcpcheck.errors import UsageError
from mcpcheck.roles import Fixture, ToolPolicy
from mcpcheck.scenarios.registry import Untestable
from tests.support.conforming import on_stdio
from tests.support.processes import ROOT

WHOLE = """
tools = "all"
baseline = "known.toml"

[arguments.search]
query = "login"

[fixtures]
"tool.elicits" = "ask_for_name"
"tool.fails" = { name = "fail", arguments = { how = "badly" } }
"resource.static" = "notes://first"
"""


def written(folder: Path, text: str, name: str = "mcpcheck.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_settles_tools_baseline_arguments_and_fixtures(tmp_path: Path) -> None:
    written(tmp_path, WHOLE)
    config = find(tmp_path)
    assert (config.tools, config.baseline) == ("all", tmp_path / "known.toml")
    assert config.arguments == {"search": {"query": "login"}}
    assert config.fixtures == {
        "tool.elicits": Fixture("tool.elicits", "ask_for_name"),
        "tool.fails": Fixture("tool.fails", "fail", {"how": "badly"}),
        "resource.static": Fixture("resource.static", "notes://first"),
    }


def test_pyproject_has_the_same_where_there_is_no_file_of_our_own(tmp_path: Path) -> None:
    written(tmp_path, '[tool.mcpcheck]\ntools = "none"\n', "pyproject.toml")
    assert find(tmp_path).tools == "none"
    written(tmp_path, 'tools = "all"\n')
    assert find(tmp_path).tools == "all"


def test_a_folder_without_settings_has_none(tmp_path: Path) -> None:
    written(tmp_path, '[project]\nname = "x"\n', "pyproject.toml")
    assert find(tmp_path).tools is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tool = 'all'", "there is no setting 'tool'; did you mean tools"),
        ("tools = 5", "tools has to be a text in quotes, and is 5"),
        ("arguments = []", "arguments has to be a table"),
        ("[arguments]\nsearch = 5", "arguments.search has to be a table"),
        ('[fixtures]\n"tool.elicit" = "x"', "there is no role 'tool.elicit'; did you mean tool.elicits"),
        ('[fixtures]\n"tool.fails" = { nam = "x" }', "takes no 'nam'; did you mean name"),
        ('[fixtures]\n"tool.fails" = { arguments = {} }', "needs a name"),
        ("tools = ", "is not TOML"),
    ],
)
def test_a_mistake_is_named_with_its_file_and_what_is_near(tmp_path: Path, text: str, said: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(UsageError) as error:
        load(file)
    assert said in str(error.value)
    assert str(file) in str(error.value)


def test_a_file_that_is_not_there_is_said_to_be_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path / "none.toml")


def test_what_the_user_names_plays_the_role_if_the_server_lists_it() -> None:
    mine = Fixture("tool.fails", "my_tool")
    lab = Conform(on_stdio(), Plan(fixtures={"tool.fails": mine})).lab
    with pytest.raises(Untestable, match="'my_tool', which the settings name for the role"):
        lab.fixture("tool.fails")
    lab.inventory.tools = [{"name": "my_tool"}, {"name": "test_error_handling"}]
    assert lab.fixture("tool.fails") == mine
    lab.policy = ToolPolicy("none")
    with pytest.raises(Untestable, match="--tools"):
        lab.fixture("tool.fails")


def test_a_tool_that_the_user_names_as_a_fixture_may_be_called_unless_none_may() -> None:
    mine = {"tool.fails": Fixture("tool.fails", "my_tool"), "prompt.plain": Fixture("prompt.plain", "other")}
    for mode, allowed in {"read-only": True, "none": False}.items():
        policy = Conform(on_stdio(), Plan(fixtures=mine, policy=ToolPolicy(mode))).lab.policy
        assert policy.allows({"name": "my_tool"}) == allowed
        assert not policy.allows({"name": "other"})


def test_what_the_settings_name_is_used_in_a_run_and_the_command_line_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Result]
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, '[fixtures]\n"tool.fails" = "fail_always"\n')
    words = ("conform", "-q", "--report", "json", "--only", "tools.error.execution-in-result")
    server = ("--", sys.executable, str(ROOT / "fixtures" / "serve.py"), "reference")
    (result,) = json.loads(run(*words, *server).stdout)["results"]
    assert result["status"] == "untestable"
    assert "'fail_always', which the settings name for the role tool.fails, is not listed" in result["note"]
    other = written(tmp_path, '[fixtures]\n"tool.fails" = "test_error_handling"\n', "other.toml")
    (result,) = json.loads(run(*words, "--config", other, *server).stdout)["results"]
    assert result["status"] == "passed"
    (result,) = json.loads(run(*words, "--config", other, "--tools", "none", *server).stdout)["results"]
    assert result["status"] == "untestable"
