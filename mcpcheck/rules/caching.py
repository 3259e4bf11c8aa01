"""caching: the hints of results that may be cached."""

from typing import Any

from mcpcheck.rules.payloads import integral, shown
from mcpcheck.rules.places import LISTS, complete, result_of
from mcpcheck.rules.registry import Verdicts, broken, holds, rule
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, INPUT_METHODS
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import header

_CACHEABLE = ("server/discover", *LISTS, "resources/read")


def _hints(answer: Answer, session: Session, method: str) -> Verdicts:
    result = complete(answer, session, method)
    if result is None:
        return
    missing = [name for name in ("ttlMs", "cacheScope") if result.get(name) is None]
    if missing:
        yield broken(answer, "ttlMs and cacheScope", f"without {' and '.join(missing)}")
    else:
        yield holds(answer)


@rule("caching.hints.server-discover", on="server/discover")
def hints_server_discover(answer: Answer, session: Session) -> Verdicts:
    """Looks at complete results of server/discover. The values have rules of their own."""
    yield from _hints(answer, session, "server/discover")


@rule("caching.hints.tools-list", on="tools/list")
def hints_tools_list(answer: Answer, session: Session) -> Verdicts:
    """Looks at every page of tools/list. The values have rules of their own."""
    yield from _hints(answer, session, "tools/list")


@rule("caching.hints.prompts-list", on="prompts/list")
def hints_prompts_list(answer: Answer, session: Session) -> Verdicts:
    """Looks at every page of prompts/list. The values have rules of their own."""
    yield from _hints(answer, session, "prompts/list")


@rule("caching.hints.resources-list", on="resources/list")
def hints_resources_list(answer: Answer, session: Session) -> Verdicts:
    """Looks at every page of resources/list. The values have rules of their own."""
    yield from _hints(answer, session, "resources/list")


@rule("caching.hints.resources-templates-list", on="resources/templates/list")
def hints_resources_templates_list(answer: Answer, session: Session) -> Verdicts:
    """Looks at every page of resources/templates/list. The values have rules of their own."""
    yield from _hints(answer, session, "resources/templates/list")


@rule("caching.hints.resources-read", on="resources/read")
def hints_resources_read(answer: Answer, session: Session) -> Verdicts:
    """Looks at complete results of resources/read. The values have rules of their own."""
    yield from _hints(answer, session, "resources/read")


@rule("caching.hints.not-on-input-required", on=INPUT_METHODS)
def hints_not_on_input_required(answer: Answer, session: Session) -> Verdicts:
    """Looks for hints on results that ask for input. What an extension's own methods return is left alone."""
    found = result_of(answer, session)
    if found is None or found[1].get("resultType") != "input_required":
        return
    there = [name for name in ("ttlMs", "cacheScope") if name in found[1]]
    if there:
        yield broken(answer, "no caching hints", " and ".join(there))
    else:
        yield holds(answer)


@rule("caching.ttl.non-negative", on=_CACHEABLE)
def ttl_non_negative(answer: Answer, session: Session) -> Verdicts:
    """Looks at ttlMs of every result that may be cached; its absence, and null, are caching.hints."""
    result = complete(answer, session, *_CACHEABLE)
    value = result.get("ttlMs") if result else None
    if value is None:
        return
    if (type(value) is int or integral(value)) and value >= 0:
        yield holds(answer)
    else:
        yield broken(answer, "ttlMs is an integer from 0 on", f"ttlMs is {shown(value)}")


@rule("caching.scope.valid", on=_CACHEABLE)
def scope_valid(answer: Answer, session: Session) -> Verdicts:
    """Looks at cacheScope of every result that may be cached; its absence, and null, are caching.hints."""
    result = complete(answer, session, *_CACHEABLE)
    value = result.get("cacheScope") if result else None
    if value is None:
        return
    if value in ("public", "private"):
        yield holds(answer)
    else:
        yield broken(answer, "public or private", f"cacheScope is {shown(value)}")


@rule("caching.pages.same-scope", on=LISTS)
class PagesSameScope:
    """Compares cacheScope of a page with that of the page whose cursor led to it.

    A cursor that pages of different scopes have given is left alone: it may be one of several users, or of another day.
    """

    def __init__(self) -> None:
        self._scopes: Recent[tuple[Any, ...], tuple[Any, int]] = Recent()

    def see(self, answer: Answer, session: Session) -> Verdicts:
        result = complete(answer, session, *LISTS)
        if result is None or session.call is None:
            return
        request = session.call.request
        exchange = session.call.exchange
        credentials = header(exchange.request, "authorization") if exchange and exchange.request else None
        who = (request.method, repr(request.meta.get(CLIENT_CAPABILITIES)), credentials)
        scope, cursor, following = result.get("cacheScope"), request.param("cursor"), result.get("nextCursor")
        before = self._scopes.get((*who, cursor)) if isinstance(cursor, str) else None
        if isinstance(following, str):
            known = self._scopes.get((*who, following), (scope, 0))
            self._scopes[(*who, following)] = (scope if known[0] == scope else None, answer.record.n)
        if before is None or scope is None or before[0] is None or not session.whole:
            return
        if before[0] == scope:
            yield holds(answer)
        else:
            yield broken(answer, f"cacheScope {shown(before[0])}, as on the page before", shown(scope), before[1])
