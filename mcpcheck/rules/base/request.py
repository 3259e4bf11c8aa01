"""base.request: the envelope of a request."""

from mcpcheck.catalogue.schemas import Schemas
from mcpcheck.rules.payloads import integral, is_call, shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Notification, Request
from mcpcheck.wire.protocol import REVISIONS
from mcpcheck.wire.record import Dir

_REFUSED = frozenset({401, 403, 429})


@rule("base.request.shape")
def shape(request: Request, session: Session) -> Verdicts:
    """Looks at the _meta of a client's requests where it is present; its absence is base.meta.request-required."""
    if request.dir is Dir.S2C or not is_call(request) or not isinstance(request.params, dict):
        return
    if "_meta" not in request.params:
        return
    meta = request.params["_meta"]
    if isinstance(meta, dict):
        yield holds(request)
    else:
        yield broken(request, "params._meta is an object", f"params._meta is {shown(meta)}")


@rule("base.request.id-type")
def id_type(event: Request | Notification, session: Session) -> Verdicts:
    """Looks at ids other than null, and at messages without an id whose method is that of a request."""
    if isinstance(event, Notification):
        revision = session.revision
        if revision in REVISIONS and Schemas.for_revision(revision).request_type(event.method):
            yield broken(event, f"{event.method} has an id", "there is no id")
        return
    if not is_call(event) or event.id is None:
        return
    if type(event.id) in (str, int):
        yield holds(event)
    elif integral(event.id):
        yield suspect(event, "id is a string or an integer", f"id is {event.id!r}, not an integer to every reader")
    else:
        yield broken(event, "id is a string or an integer", f"id is {shown(event.id)}")


@rule("base.request.id-not-null")
def id_not_null(request: Request, session: Session) -> Verdicts:
    """Looks at every request; a notification with an id has a rule of its own."""
    if not is_call(request):
        return
    if request.id is None:
        yield broken(request, "id is a string or an integer", "id is null")
    else:
        yield holds(request)


@rule("base.request.id-unique")
def id_unique(request: Request, session: Session) -> Verdicts:
    """Compares with the sender's requests that wait for an answer, by value and by type.

    An id whose request was cancelled is suspect. A clash on HTTP is left alone where it may be that of two clients;
    what a 401, 403, 429 or 5xx refused may be sent again as it was.
    """
    if not is_call(request) or request.id is None or not session.whole:
        return
    clash = session.clash
    refused = clash.exchange.status if clash and clash.exchange else None
    if clash is None or (refused is not None and (refused in _REFUSED or refused >= 500)):
        yield holds(request)
    elif session.one_client:
        n = clash.request.record.n
        words = f"id {shown(request.id)} is that of frame {n}, {clash.request.method}, which is not answered"
        verdict = suspect if clash.cancelled else broken
        yield verdict(request, "an id that no open request of the sender has", words, n)
