"""requestState: what a server hands to the client between two rounds, and how it knows it again.

The state is readable and not secret; it is signed, and it names the request that it was issued for and its last
moment. The key is fixed unless one is given, so that any process of the reference takes up where another left off:
right for a server that only tests are run against, and wrong for any other.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

KEY = b"mcpcheck reference server: no secret"
LIFETIME = 600.0
"""For how many seconds a state is good."""

_NOT_BOUND = frozenset({"_meta", "inputResponses", "requestState"})


class Seal:
    """Signs states and checks them. ``now`` tells the time in seconds; without a clock nothing expires."""

    def __init__(self, key: bytes, now: Callable[[], float]) -> None:
        self._key = key
        self._now = now

    def close(self, method: str, params: dict[str, Any], state: dict[str, Any]) -> str:
        """The state as a string for the client to bring back."""
        payload = {"for": digest(method, params), "until": self._now() + LIFETIME, "state": state}
        text = base64.urlsafe_b64encode(json.dumps(payload, separators=(",", ":")).encode()).decode()
        return f"{text}.{self._mac(text)}"

    def open(self, method: str, params: dict[str, Any], sealed: str) -> dict[str, Any] | None:
        """The state that was closed; None where it is forged, too old, or of another request."""
        text, _, mac = sealed.rpartition(".")
        if not hmac.compare_digest(self._mac(text).encode(), mac.encode("utf-8", "surrogatepass")):
            return None
        try:
            payload = json.loads(base64.urlsafe_b64decode(text))
        except (binascii.Error, ValueError):
            return None
        if payload["for"] != digest(method, params) or self._now() > payload["until"]:
            return None
        state: dict[str, Any] = payload["state"]
        return state

    def _mac(self, text: str) -> str:
        return hmac.new(self._key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def digest(method: str, params: dict[str, Any]) -> str:
    """A fingerprint of a request without what changes from round to round."""
    bound = {name: value for name, value in params.items() if name not in _NOT_BOUND}
    text = json.dumps([method, bound], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
