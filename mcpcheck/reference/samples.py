"""Sample data and the requests for input that the demo tools make."""

from typing import Any

IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
"""A PNG of one red pixel, in Base64."""

AUDIO = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
"""A WAV file without a sample, in Base64."""


def form(message: str, properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    """An elicitation by form; every field is required unless ``required`` says otherwise."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
    }
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}}


def visit(message: str, url: str) -> dict[str, Any]:
    """An elicitation by URL."""
    return {"method": "elicitation/create", "params": {"mode": "url", "message": message, "url": url}}


def sample(prompt: str, max_tokens: int = 100, **more: Any) -> dict[str, Any]:
    """A sampling request with one user message."""
    message = {"role": "user", "content": {"type": "text", "text": prompt}}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": max_tokens, **more}}


ROOTS: dict[str, Any] = {"method": "roots/list"}
"""A request for the client's roots."""

NAME = form("What is your name?", {"name": {"type": "string", "title": "Name", "maxLength": 200}})
CONFIRM = form("Please confirm", {"ok": {"type": "boolean", "title": "Go on"}})

DEFAULTS = form(
    "Please look the form over",
    {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {
            "type": "string",
            "description": "User status",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "description": "Verification status", "default": True},
    },
    required=[],
)

_TITLED = [
    {"const": "value1", "title": "First Option"},
    {"const": "value2", "title": "Second Option"},
    {"const": "value3", "title": "Third Option"},
]
_PLAIN = ["option1", "option2", "option3"]

CHOICES = form(
    "Please choose",
    {
        "untitledSingle": {"type": "string", "description": "Choose one", "enum": _PLAIN},
        "titledSingle": {"type": "string", "description": "Choose one by its title", "oneOf": _TITLED},
        "legacyEnum": {
            "type": "string",
            "description": "Choose one, in the older form",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {
            "type": "array",
            "description": "Choose some",
            "minItems": 1,
            "maxItems": 3,
            "items": {"type": "string", "enum": _PLAIN},
        },
        "titledMulti": {
            "type": "array",
            "description": "Choose some by their titles",
            "minItems": 1,
            "maxItems": 3,
            "items": {"anyOf": _TITLED},
        },
    },
    required=[],
)

WEATHER_TOOL: dict[str, Any] = {
    "name": "get_weather",
    "description": "The weather in a city",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
"""A tool for the client's model."""


def text_of(content: Any) -> str:
    """The text in the content of a sampling result."""
    blocks = content if isinstance(content, list) else [content]
    return " ".join(block["text"] for block in blocks if block.get("type") == "text") or "(no text)"
