"""versioning: the error that names the served versions, and extensions."""

from collections.abc import Iterator

from mcpcheck.rules.base.meta import bad_label, bad_name, bad_prefix, prefix_of
from mcpcheck.rules.payloads import is_due, shown
from mcpcheck.rules.places import Found, complete
from mcpcheck.rules.registry import Verdicts, broken, holds, rule
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, PROTOCOL_VERSION, UNSUPPORTED_VERSION


@rule("versioning.server.unsupported-shape", near="error")
def unsupported_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at the data of every -32022: the versions that are served, and the one that was asked for."""
    if answer.code != UNSUPPORTED_VERSION or not is_due(answer, session):
        return
    data = answer.error.get("data")
    if not isinstance(data, dict):
        yield broken(answer, "data with supported and requested", f"data is {shown(data)}")
        return
    supported, requested = data.get("supported"), data.get("requested")
    asked = _asked(session)
    if not isinstance(supported, list) or not all(isinstance(version, str) for version in supported):
        yield broken(answer, "supported is an array of version strings", f"supported is {shown(supported)}")
    elif not isinstance(requested, str):
        yield broken(answer, "requested is the version that was asked for", f"requested is {shown(requested)}")
    elif asked is not None and requested != asked:
        yield broken(answer, f"requested is {shown(asked)}, as in the request", f"requested is {shown(requested)}")
    else:
        yield holds(answer)


def _asked(session: Session) -> str | None:
    """The version that the refused request named; None where it named none."""
    call = session.call or session.near
    if call is None:
        return None
    request = call.request
    version = request.meta.get(PROTOCOL_VERSION)
    if version is None and request.method == "initialize":
        version = request.param("protocolVersion")
    return version if isinstance(version, str) else None


@rule("versioning.extension.identifier", near="extensions")
def extension_identifier(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the keys of extensions: in clientCapabilities, and in the capabilities of server/discover."""
    for at, extensions in _extensions(event, session):
        if not isinstance(extensions, dict):
            continue
        for key in extensions:
            wrong = _wrong(key)
            if wrong:
                yield broken(event, "an identifier like com.example/name", f"{at} has {shown(key)}: {wrong}")
            else:
                yield holds(event)


def _wrong(key: str) -> str:
    """What is wrong with an identifier, in words."""
    if prefix_of(key) is None:
        return "there is no prefix"
    label = bad_label(key)
    return bad_prefix(key) or (f"the label {shown(label)}" if label else "") or ("its name" if bad_name(key) else "")


@rule("versioning.extension.settings", near="extensions")
def extension_settings(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at extensions and at what stands under each identifier: an object, whatever it holds."""
    for at, extensions in _extensions(event, session):
        if not isinstance(extensions, dict):
            yield broken(event, "extensions is an object", f"{at} is {shown(extensions)}")
            continue
        odd = [(key, value) for key, value in extensions.items() if not isinstance(value, dict)]
        for key, value in odd:
            yield broken(event, "an object of settings, {} without any", f"{at}[{shown(key)}] is {shown(value)}")
        if extensions and not odd:
            yield holds(event)


def _extensions(event: Request | Answer, session: Session) -> Iterator[Found]:
    if isinstance(event, Request):
        capabilities = event.meta.get(CLIENT_CAPABILITIES)
    else:
        result = complete(event, session, "server/discover")
        capabilities = result.get("capabilities") if result else None
    if isinstance(capabilities, dict) and "extensions" in capabilities:
        yield "extensions", capabilities["extensions"]
