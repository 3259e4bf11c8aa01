"""The survey: what a server is and offers, found out before anything is judged by a script."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio

from mcpcheck.errors import PeerUnavailable
from mcpcheck.lab import Inventory, Lab
from mcpcheck.nobody import no_message, silence
from mcpcheck.peer import ALL_CAPABILITIES, OWN_NAME, Peer, Voice
from mcpcheck.reply import Reply
from mcpcheck.roles import Fixture, is_known
from mcpcheck.scenarios.registry import Abandoned, Unreadable, Untestable
from mcpcheck.wire.protocol import LEGACY, is_modern

PAGES: Final = 50
"""How many pages of one list are followed before the survey gives up."""

SLOW: Final = 3
"""How many tools, resources and prompts may leave the survey waiting: a slow one just keeps no role."""

LISTS: Final = {
    "tools": ("tools", "tools/list", "tools"),
    "prompts": ("prompts", "prompts/list", "prompts"),
    "resources": ("resources", "resources/list", "resources"),
    "templates": ("resources", "resources/templates/list", "resourceTemplates"),
}
"""What the inventory holds: the capability, the method, and the member of the result."""


class LegacyOnly(Exception):
    """The server speaks the handshake era only; the text names the revision."""


async def survey(lab: Lab) -> None:
    """Fill the lab's inventory, and close the connection on which that was done."""
    async with surveyed(lab):
        pass


@asynccontextmanager
async def surveyed(lab: Lab, *, roles: bool = True) -> AsyncIterator[Peer]:
    """Fill the lab's inventory; the connection on which that was done stays open for more.

    ``roles``: look for fixtures by using what may be used. PeerUnavailable if the server never answers, LegacyOnly if
    it is of the old era.
    """
    inventory = lab.inventory = Inventory()
    async with lab.connect("main", "survey") as peer:
        peer.voice.capabilities = ALL_CAPABILITIES
        discovered = await peer.try_ask("server/discover", within=lab.limits.start)
        if discovered.answer is None and discovered.status is None:
            raise PeerUnavailable(silence(lab, peer, discovered))
        if discovered.answer is None:
            raise PeerUnavailable(no_message(lab, discovered))
        lab.opening = peer, discovered
        if discovered.code is not None or discovered.result is None:
            await _ask_legacy(lab)
            if inventory.legacy and discovered.is_error and not await _serves_modern(peer):
                raise LegacyOnly(inventory.legacy)
        else:
            _take_discovery(inventory, discovered.result)
            if inventory.versions and not any(is_modern(version) for version in inventory.versions):
                await _ask_legacy(lab)
                if inventory.legacy and not await _serves_modern(peer):
                    raise LegacyOnly(inventory.legacy)
            await _list_all(peer, inventory)
        try:
            async with anyio.create_task_group() as tasks:
                if not inventory.legacy_told:
                    tasks.start_soon(_ask_legacy, lab)
                if roles:
                    tasks.start_soon(_find_roles, peer)
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        peer.voice = Voice(headers=lab.headers)
        yield peer


def _take_discovery(inventory: Inventory, result: dict[str, Any]) -> None:
    inventory.discovered = True
    versions = result.get("supportedVersions")
    if isinstance(versions, list):
        inventory.versions = tuple(version for version in versions if isinstance(version, str))
    capabilities = result.get("capabilities")
    inventory.capabilities = capabilities if isinstance(capabilities, dict) else {}


async def _serves_modern(peer: Peer) -> bool:
    """Whether some other request of the modern era is served, whatever server/discover says."""
    lists = (method for capability, method, _ in LISTS.values() if peer.lab.declares(capability))
    reply = await peer.try_ask(next(lists, "tools/list"))
    return reply.result is not None and "resultType" in reply.result


async def _ask_legacy(lab: Lab) -> None:
    """Find out on a connection of its own whether the server serves clients of the handshake era."""
    inventory = lab.inventory
    async with lab.connect("survey-legacy", "survey") as peer:
        peer.voice.era, peer.voice.version = "legacy", LEGACY[-1]
        reply = await peer.try_ask("initialize", initialize_params(LEGACY[-1]))
        inventory.legacy_told = reply.told()
        version = reply.result.get("protocolVersion") if reply.result is not None else None
        inventory.legacy = version if isinstance(version, str) and not is_modern(version) else None


def initialize_params(version: str) -> dict[str, Any]:
    """The params of a legacy initialize."""
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": OWN_NAME}


async def open_modern(peer: Peer) -> None:
    """Let a dual-era process know its client's era before anything odd is said to it.

    server/discover is a probe, which may leave the choice open; what has no _meta after it may then open the other era.
    """
    method = next((method for capability, method, _ in LISTS.values() if peer.lab.declares(capability)), None)
    if method is not None:
        await peer.try_ask(method, within=peer.lab.limits.start)


async def _list_all(peer: Peer, inventory: Inventory) -> None:
    for name, (capability, method, member) in LISTS.items():
        if capability in inventory.capabilities:
            try:
                getattr(inventory, name).extend(await items(peer, method, member))
            except Unreadable:
                continue
            except Abandoned:
                return
    peer.tool_schemas = {str(tool.get("name")): tool.get("inputSchema") for tool in inventory.tools}


async def items(peer: Peer, method: str, member: str, *, pages: int = PAGES) -> list[dict[str, Any]]:
    """Every object of a list, over all its pages or the first ``pages`` of them."""
    found: list[dict[str, Any]] = []
    async for reply in page_through(peer, method, pages=pages):
        listed = (reply.result or {}).get(member)
        found += [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return found


async def page_through(peer: Peer, method: str, *, pages: int = PAGES) -> AsyncIterator[Reply]:
    """The replies of a paginated list, page by page; ends with the last page, a refusal, or after ``pages``."""
    cursor: Any = None
    for _ in range(pages):
        reply = await peer.ask(method, {} if cursor is None else {"cursor": cursor})
        yield reply
        cursor = reply.result.get("nextCursor") if reply.result is not None else None
        if not isinstance(cursor, str):
            return


async def _find_roles(peer: Peer) -> None:
    """Find roles that no known name fills by using what may be used, once, with arguments that fit."""
    lab = peer.lab
    candidates = [tool for tool in lab.allowed_tools() if lab.arguments_for(tool) is not None][:40]
    tried = [Fixture("tool.plain", str(tool.get("name")), lab.arguments_for(tool) or {}) for tool in candidates]
    tried += [Fixture("resource.static", str(resource.get("uri"))) for resource in lab.inventory.resources[:20]]
    tried += [
        Fixture("prompt.plain", str(prompt.get("name")))
        for prompt in lab.inventory.prompts[:20]
        if not any(isinstance(a, dict) and a.get("required") for a in prompt.get("arguments") or [])
    ]
    for fixture in tried:
        if is_known(fixture.role.partition(".")[0], fixture.name):
            continue
        await _try_role(peer, fixture)
        if not peer.transport.alive or len(lab.inventory.slow) >= SLOW:
            return


async def _try_role(peer: Peer, fixture: Fixture) -> None:
    try:
        note_roles(peer.lab.inventory, fixture, await peer.ask(fixture.method, fixture.params))
    except Untestable:
        return
    except Abandoned:
        peer.lab.inventory.slow.add(fixture.name)


def note_roles(inventory: Inventory, fixture: Fixture, reply: Reply) -> None:
    """Give a fixture the roles that its answer shows; the first one found keeps a role."""
    kind = fixture.role.partition(".")[0]
    for role in _shown(kind, reply):
        inventory.roles.setdefault(role, Fixture(role, fixture.name, fixture.arguments, shown=True))


def _shown(kind: str, reply: Reply) -> list[str]:
    result = reply.result
    if result is None:
        return []
    if not reply.needs_input:
        if result.get("isError") is True:
            return ["tool.fails"] if kind == "tool" else []
        return ["resource.static"] if kind == "resource" else [f"{kind}.plain"]
    wanted = result.get("inputRequests")
    methods = [r.get("method") for r in wanted.values() if isinstance(r, dict)] if isinstance(wanted, dict) else []
    by_method = {"elicitation/create": "elicits", "sampling/createMessage": "samples", "roots/list": "roots"}
    shown = [f"{kind}.{by_method[m]}" for m in methods if m in by_method] if len(methods) == 1 else []
    if len(methods) > 1:
        shown.append(f"{kind}.multiple")
    if isinstance(result.get("requestState"), str) and methods:
        shown.append(f"{kind}.state")
    return shown
