"""Texts that hold a secret are not saved."""

from __future__ import annotations

from memtree.errors import SecretRejected
from memtree.text import secrets

_KINDS = {
    "jwt": "a JSON web token",
    "private key": "a private key",
    "password": "a connection string with a password",
    "named": "a random token beside a word like key, secret or password",
}


def refuse_secrets(text: str) -> None:
    """Raises `SecretRejected` where `text` holds a secret: it names the kind, never the value."""
    matches = secrets.find(text)
    if matches:
        kind = matches[0].kind
        what = _KINDS.get(kind, f"an API key ({kind})")
        raise SecretRejected(f"the text holds {what}; secrets are not saved")
