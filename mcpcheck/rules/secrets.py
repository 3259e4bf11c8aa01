"""Credentials in plain text: only the forms that nothing else has, so that prose about a secret is never taken for one.

A token behind ``Bearer`` is seen in a redacted capture, too: the digest stands in its place. What is only named like a
secret is not judged: once redacted, a mask and a password look the same.
"""

import re
from collections.abc import Iterator
from typing import Any

_FORMS = {
    "a private key": r"-----BEGIN (?:[A-Z]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----(?:\\[rn]|\s){1,8}[A-Za-z0-9+/=]{16}",
    "an Authorization header": r"(?i:\bauthorization)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?i:bearer|basic)[ \t]{1,4}"
    r"(?!(?i:your|my|some|test|example|xxx))(?=[\w~+/-]{0,200}\d)[\w~+/-]{12}",
    "a signed JSON web token": r"(?<![\w.-])eyJ[\w-]{10,2000}+\.eyJ[\w-]{10,4000}+\.[\w-]{20}",
    "an AWS access key id": r"\b(?:AKIA|ASIA)(?![0-9A-Z]{9}EXAMPLE)[0-9A-Z]{16}\b",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})",
    "a GitLab token": r"\bglpat-(?=[\w-]{0,19}\d)[\w-]{20}",
    "a Slack token": r"\bxox[abprs]-\d{10,13}-[\w-]{20}",
    "a Stripe key": r"\b[sr]k_live_[A-Za-z0-9]{24}",
}
_KINDS = [(kind, re.compile(form)) for kind, form in _FORMS.items()]
_HINTS = ("PRIVATE KEY", "uthorization", "UTHORIZATION", "eyJ", "AKIA", "ASIA", "gh", "glpat-", "xox", "k_live_")
"""One of these stands in each form: far faster to look for in a long text."""


def secret_in(text: str) -> str | None:
    """The kind of the first credential found in a text, in words; None where there is none."""
    if not any(hint in text for hint in _HINTS):
        return None
    return next((kind for kind, form in _KINDS if form.search(text)), None)


def secrets_within(value: Any, at: str) -> Iterator[tuple[str, str]]:
    """The credentials in the texts of a JSON value: the place of each, and its kind."""
    left = [(at, value)]
    while left:
        place, one = left.pop()
        if isinstance(one, str):
            kind = secret_in(one)
            if kind:
                yield place, kind
        elif isinstance(one, dict):
            left += [(f"{place}.{name}"[:200], member) for name, member in one.items()]
        elif isinstance(one, list):
            left += [(f"{place}[{index}]"[:200], member) for index, member in enumerate(one)]
