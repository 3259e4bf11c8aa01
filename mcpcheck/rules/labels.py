"""Names and labels that ask for a secret: only the plain ones, so that a word about a secret is never taken for it.

A label asks for what its head ends with: "Your GitHub password" for a password, "Password hint" for a hint.
"""

import re

_SECRETS = (
    "password", "passwd", "passphrase", "api key", "secret key", "private key", "client secret", "access token",
    "refresh token", "bearer token", "auth token", "id token", "one time code", "one time password", "otp", "totp",
    "credit card number", "debit card number", "payment card number", "bank card number", "cvv", "cvc",
    "card verification code", "card security code",
)  # fmt: skip
"""What gives access or authorizes a payment. A bare token, key, code, secret, PIN or card number can be anything."""

_PERSONAL = ("ssn", "social security number", "email", "e mail", "email address", "phone number", "login hint")
"""What identifies a person by itself."""

_JOINED = {"apikey": "api key", "accesstoken": "access token", "clientsecret": "client secret"}
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?")
_MOST = 400
"""How much of a label is read: a longer one is no label."""

_OTHERWISE = re.compile(
    r"\b(?:no|not|never|without|if|whether|instead|has|have|is|was|how|where|why|what|which|who|when|you|we|i|any|than|"
    r"needs?|requires?|using|forgot|forgotten|lost|reset|change|rotate|revoke|delete|remove|generate|create|store|save|"
    r"remember|use|show|hide|add|make|load|write|check|validate|replace|ask|expired|leaked|masked|hashed|fake|dummy|"
    r"invalid|missing|incorrect|unknown|last4?|contain(?:s|ing)|holds|holding|file|path|name|location|variable|"
    r"reference|label|alias|fingerprint|hash|number|csrf|next|page|public|dont|cannot|(?:don|can)['’]t)\b"
)
"""Words before a secret that make a label be about something else."""

_POLITE = re.compile(
    r"(?:(?:please|enter|type|provide|paste|input|supply|give|in|the|your|an?|my|us|this|user['’]s|current|new|old|"
    r"confirm|repeat) )*"
)
_CUT = re.compile(
    r"[(\[:;,!?/|•\n]|\.(?:\s|$)| [-–—] |"
    r"(?<!\S)(?:for|of|to|in|from|with|on|by|at|as|so|that|below|here|now|again)(?!\S)"
)
_DEMAND = re.compile(
    r"(?:^|(?<=[.!?:\n]))\s{0,4}(?:please\s)?"
    r"(?:enter|type|provide|paste|input|supply|give us|tell us)\s[^.!?:\n]{1,80}",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(r"\b(?:browser|page|website|site|window|terminal|link|url|app)\b", re.IGNORECASE)


def secret_named(name: str) -> str | None:
    """The secret that an identifier names: ``dbPassword``, ``api_key``."""
    return _head(_spelled(name), _SECRETS)


def personal_named(name: str) -> str | None:
    """The personal datum that an identifier names: ``user_email``."""
    return _head(_spelled(name), _PERSONAL)


def secret_asked(label: str) -> str | None:
    """The secret that a title or a short description asks for: "Enter your API key"."""
    return _head(label[:_MOST].lower(), _SECRETS)


def secret_demanded(text: str) -> str | None:
    """The secret that a sentence of a message demands, unless it sends the reader elsewhere with it."""
    for match in _DEMAND.finditer(text[: 10 * _MOST]):
        secret = None if _ELSEWHERE.search(match.group()) else secret_asked(match.group())
        if secret:
            return secret
    return None


def _spelled(name: str) -> str:
    return _CAMEL.sub(" ", name[:_MOST]).lower().replace("_", " ").replace("-", " ").replace(".", " ")


def _head(text: str, phrases: tuple[str, ...]) -> str | None:
    """The phrase that the head of a label ends with, behind a few words at most."""
    text = text.strip()
    cut = _CUT.search(text, 1)
    words = [_JOINED.get(word, word) for word in _WORD.findall(text[: cut.start()] if cut else text)]
    head = _POLITE.sub("", " ".join(words), count=1)
    for phrase in phrases:
        if head == phrase or head.endswith(" " + phrase):
            before = head[: -len(phrase)]
            return phrase if before.count(" ") <= 5 and not _OTHERWISE.search(before) else None
    return None
