"""tools: parameters that are repeated in a header, where intermediaries read them."""

from mcpcheck.rules.http.annotations import annotations
from mcpcheck.rules.labels import personal_named, secret_asked, secret_named
from mcpcheck.rules.registry import Verdicts, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer


@rule("tools.x-mcp-header.not-on-secrets", on="tools/list", near="x-mcp-header")
def x_mcp_header_not_on_secrets(answer: Answer, session: Session) -> Verdicts:
    """Looks at the names and titles of parameters that have an x-mcp-header: one that names a secret is suspect.

    So is an e-mail address, a telephone number, and the format password. A bare token may be that of a page.
    """
    for at, header, property in annotations(answer, session):
        name = at.rpartition(": ")[2].rpartition(".")[2]
        title = property.get("title")
        labels = [name, header] if isinstance(header, str) else [name]
        named = next((found for label in labels if (found := secret_named(label) or personal_named(label))), None)
        named = named or (secret_asked(title) if isinstance(title, str) else None)
        if property.get("format") in ("password", "email"):
            named = named or f"the format {property['format']}"
        if property.get("type") == "boolean" or named is None:
            yield holds(answer)
        else:
            yield suspect(answer, "no x-mcp-header on a secret", f"{at}: {named}")
