"""Names and labels that ask for a secret, and their neighbours that do not."""

import pytest

from mcpcheck.rules.labels import personal_named, secret_asked, secret_demanded, secret_named


@pytest.mark.parametrize(
    ("label", "secret"),
    [
        ("Password", "password"),
        ("Your OpenAI API key", "api key"),
        ("API Key (optional)", "api key"),
        ("Please enter your password.", "password"),
        ("New password:", "password"),
        ("Username and password", "password"),
        ("Password for admin", "password"),
        ("Personal access token", "access token"),
        ("One-time code", "one time code"),
        ("Credit card number", "credit card number"),
    ],
)
def test_a_label_asks_for_what_its_head_ends_with(label: str, secret: str) -> None:
    assert secret_asked(label) == secret


@pytest.mark.parametrize(
    "label",
    [
        "Password hint",
        "Number of tokens",
        "Name of the API key",
        "API key name",
        "Never enter your password",
        "Leave empty if you have no password",
        "Where is your password",
        "Path to the private key",
        "File containing your private key",
        "Environment variable holding the API key",
        "Account protected by password",
        "Library card number",
        "Next page access token",
        "Reset password",
        "I forgot my password",
        "What do you call this API key",
        "Secret Santa",
        "PIN",
        "",
        "password " * 1000 + "hint",
    ],
)
def test_a_word_about_a_secret_asks_for_none(label: str) -> None:
    assert secret_asked(label) is None


@pytest.mark.parametrize("name", ["password", "dbPassword", "OPENAI_API_KEY", "api-key", "cvv", "stripe.secretKey"])
def test_an_identifier_names_a_secret(name: str) -> None:
    assert secret_named(name)


@pytest.mark.parametrize(
    "name", ["password_hint", "maxTokens", "token", "apiKeyId", "pwd", "code", "has_password", "ключ"]
)
def test_an_identifier_that_only_looks_alike_names_none(name: str) -> None:
    assert secret_named(name) is None


def test_a_person_is_named_by_an_address_or_a_number() -> None:
    assert personal_named("userEmail") == "email"
    assert personal_named("email_template") is None


def test_a_message_demands_a_secret_unless_it_sends_the_reader_elsewhere() -> None:
    assert secret_demanded("You are logged out. Please enter your password to go on.") == "password"
    assert secret_demanded("Enter your password in the browser window. Never share your password.") is None
    assert secret_demanded("Please provide your API key name.") is None
