"""resources/list, resources/templates/list and resources/read."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mcpcheck.reference import samples
from mcpcheck.reference.call import Call, InternalError, InvalidParams, Json, Refusal
from mcpcheck.reference.inputs import Inputs, Work
from mcpcheck.reference.paging import Paging
from mcpcheck.wire.protocol import RESOURCE_NOT_FOUND

_URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*",
)
_TEMPLATE = re.compile(r"test://template/([A-Za-z0-9._~-]+)/data")
URI_LIMIT = 4096
"""Longer URIs are not looked at."""


def valid_uri(uri: str) -> bool:
    """Whether a string is a URI by RFC 3986: a scheme, a colon, and only characters that may stand there."""
    return len(uri) <= URI_LIMIT and bool(_URI.fullmatch(uri))


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource: its definition, and what reading it gives."""

    definition: Mapping[str, Json]
    read: Callable[[Work], dict[str, Json]]


class Resources(Inputs, Paging):
    """The resources of the server."""

    def resources(self) -> Mapping[str, Resource]:
        """Every listed resource by URI, in the order in which they are listed."""
        return RESOURCES

    def resource_templates(self) -> list[Json]:
        """Every resource template."""
        return TEMPLATES

    def list_resources(self, call: Call) -> dict[str, Json]:
        """One page of the resources."""
        return self.page(call, "resources", [self.as_known(call, r.definition) for r in self.resources().values()])

    def list_templates(self, call: Call) -> dict[str, Json]:
        """One page of the resource templates."""
        return self.page(call, "resourceTemplates", [self.as_known(call, t) for t in self.resource_templates()])

    def as_known(self, call: Call, definition: Mapping[str, Json]) -> dict[str, Json]:
        """A definition, as the request's revision knows it."""
        later = set()
        if call.revision < "2025-06-18":
            later |= {"title", "annotations"}
        if call.revision < "2025-11-25":
            later |= {"icons"}
        return {name: value for name, value in definition.items() if name not in later}

    def read_resource(self, call: Call, work: Work) -> dict[str, Json]:
        """What a resource holds."""
        uri = call.params.get("uri")
        if not isinstance(uri, str):
            raise InvalidParams("uri is not a string")
        if not self.acceptable_uri(uri):
            raise InvalidParams("uri is not a URI that this server can serve")
        resource = self.resources().get(uri)
        if resource is not None:
            return {"contents": [self.contents(call, uri, resource.definition, resource.read(work))]}
        match = _TEMPLATE.fullmatch(uri)
        if match is not None:
            return {"contents": [self.contents(call, uri, TEMPLATES[0], _template_data(match[1]))]}
        return self.unknown_resource(call, uri)

    def acceptable_uri(self, uri: str) -> bool:
        """Whether a string may name a resource here."""
        return valid_uri(uri)

    def contents(self, call: Call, uri: str, definition: Mapping[str, Json], data: dict[str, Json]) -> dict[str, Json]:
        """One element of the contents."""
        return {"uri": uri, "mimeType": definition["mimeType"], **data}

    def unknown_resource(self, call: Call, uri: str) -> dict[str, Json]:
        """The answer to a resource that does not exist."""
        if call.modern:
            raise InvalidParams("Resource not found", {"uri": uri})
        raise Refusal(RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri})


def _text(text: str) -> Callable[[Work], dict[str, Json]]:
    return lambda work: {"text": text}


def _template_data(item: str) -> dict[str, Json]:
    return {"text": f'{{"id":"{item}","of":"the template"}}'}


def _watched(work: Work) -> dict[str, Json]:
    return {"text": f"Version {work.server.world.versions.get('test://watched-resource', 0)}"}


def _asking(work: Work) -> dict[str, Json]:
    answer = work.ask({"user_name": samples.NAME})["user_name"]
    return {"text": f"For {answer.get('content', {}).get('name', 'nobody')}"}


def _failing(work: Work) -> dict[str, Json]:
    raise InternalError("The source of this resource is not available")


def _entry(
    name: str, description: str, mime_type: str, read: Callable[[Work], dict[str, Json]], **members: Json
) -> tuple[str, Resource]:
    uri = f"test://{name}"
    title = name.replace("-", " ").capitalize()
    definition = {
        "uri": uri,
        "name": name,
        "title": title,
        "description": description,
        "mimeType": mime_type,
        **members,
    }
    return uri, Resource(definition, read)


def _notes() -> tuple[str, Resource]:
    uri = "file:///srv/mcpcheck/notes.txt"
    definition = {"uri": uri, "name": "notes", "description": "A text with a file's address", "mimeType": "text/plain"}
    return uri, Resource(definition, _text("Notes that are kept in no file at all."))


_ANNOTATED = {"annotations": {"audience": ["user", "assistant"], "priority": 1, "lastModified": "2026-07-28T12:00:00Z"}}

RESOURCES: dict[str, Resource] = dict(
    [
        _entry(
            "static-text",
            "A text that never changes",
            "text/plain",
            _text("A text that stays as it is."),
            **_ANNOTATED,
        ),
        _entry(
            "static-binary",
            "An image that never changes",
            "image/png",
            lambda work: {"blob": samples.IMAGE},
        ),
        _entry("watched-resource", "A text that changes on demand", "text/plain", _watched),
        _entry("input-required", "A text that asks for a name first", "text/plain", _asking),
        _entry("failing", "A resource whose source is not available", "text/plain", _failing),
        _notes(),
        _entry("page/one", "Filler for the first page", "text/plain", _text("One")),
        _entry("page/two", "Filler for the second page", "text/plain", _text("Two")),
        _entry("page/three", "Filler for the second page", "text/plain", _text("Three")),
    ]
)

TEMPLATES: list[Json] = [
    {
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "title": "Resource template",
        "description": "One resource for each id",
        "mimeType": "application/json",
    },
    {
        "uriTemplate": "test://{name}",
        "name": "by-name",
        "title": "Resource by name",
        "description": "The listed resources, by their names",
    },
]
