"""A text with a secret is refused, and the refusal does not repeat it."""

from __future__ import annotations

import pytest

from memtree.errors import SecretRejected
from memtree.memories.fields.secret_check import refuse_secrets

RANDOM = "Zq8vLk2Rm9TxB4wYcN7d"


@pytest.mark.parametrize(
    ("text", "secret", "kind"),
    [
        (f"The key is ghp_{RANDOM * 2}", RANDOM, "an API key (github)"),
        (f"token: eyJhbGciOiJIUzI1NiJ9.eyJ{RANDOM}.{RANDOM}", RANDOM, "a JSON web token"),
        (f"-----BEGIN PRIVATE KEY-----\n{RANDOM}\n", RANDOM, "a private key"),
        ("postgres://app:hunter2x@db/shop", "hunter2x", "a connection string with a password"),
        (f"my password is {RANDOM}", RANDOM, "a random token beside a word like key"),
    ],
)
def test_the_kind_is_named_and_the_value_is_not(text, secret, kind):
    with pytest.raises(SecretRejected) as refused:
        refuse_secrets(text)
    assert kind in refused.value.message
    assert secret not in refused.value.message


@pytest.mark.parametrize(
    "text",
    ["", "The API key is kept in the vault.", "See 9fceb02d0ae598e95dc970b74767f19372d61af8"],
)
def test_what_holds_none_passes(text):
    refuse_secrets(text)
