"""What a server can offer so that more of it is tested: the roles of specs/fixtures.toml, for ``mcpcheck explain``."""

import json
from difflib import get_close_matches

from mcpcheck.errors import UsageError
from mcpcheck.report.sheet import Sheet
from mcpcheck.roles import Role, roles
from mcpcheck.scenarios.registry import Scenario, scenarios


def explain(sheet: Sheet, name: str) -> None:
    """One role, all roles of a kind, or all there are where ``name`` is empty."""
    if name in roles():
        _one(sheet, roles()[name])
        return
    under = [role for role in roles().values() if not name or role.name.startswith(f"{name}.")]
    if not under:
        near = [f"fixture.{one}" for one in get_close_matches(name, list(roles()), n=3)]
        hint = f"did you mean {' or '.join(near)}?" if near else "`mcpcheck explain fixture` lists all"
        raise UsageError(f"there is no fixture {name!r}; {hint}")
    for role in under:
        number = len(lets_test(role.name))
        sheet.line((f"fixture.{role.name}", "bold"), f"  {number} requirement{'' if number == 1 else 's'}")
        sheet.paragraph(role.says, indent=4)


def _one(sheet: Sheet, role: Role) -> None:
    sheet.line((f"fixture.{role.name}", "bold"))
    sheet.paragraph(f"{role.says[0].upper()}{role.says[1:]}.", indent=2)
    sheet.line()
    sheet.field("found as", ", ".join(role.names), indent=0)
    if role.arguments:
        sheet.field("used with", json.dumps(dict(role.arguments)), indent=0)
    mine = {"resource": '"test://mine"', "template": '"test://mine/{id}"'}.get(role.kind, f'"my_{role.kind}"')
    sheet.field("or yours", f'in mcpcheck.toml, under [fixtures]: "{role.name}" = {mine}', indent=0, wrap=False)
    sheet.line()
    for number, story in enumerate(used_by(role.name)):
        sheet.field("scenario" if number == 0 else "", f"{story.name}: {' '.join(story.doc.split())}", indent=0)
    if not used_by(role.name):
        sheet.field("scenario", "none of this version: the official suite asks for it", indent=0)
    for number, id in enumerate(lets_test(role.name)):
        sheet.field("tests" if number == 0 else "", id, indent=0)


def lets_test(role: str) -> list[str]:
    """The requirements that the scenarios speak of which ask for a role."""
    return list(dict.fromkeys(id for story in used_by(role) for id in story.exercises))


def used_by(role: str) -> list[Scenario]:
    """The scenarios that ask for a role."""
    return [story for story in scenarios("server") if role in (*story.needs, *story.any_of, *story.also)]
