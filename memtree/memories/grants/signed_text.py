"""Text that a wallet signs to give a grant, and the digest by which a grant is known afterwards.

The text is a prefix and the base64 of the payload as `JSON.stringify` writes it with sorted keys.
It is written anew from the checked values, never taken from a request: ids and addresses are ASCII
without quotes, and a time is a whole number, so there is one way to write them.
"""

from __future__ import annotations

import base64
import hashlib
import json

from memtree.memories.grants.grant import GrantPayload

PREFIX = "zkstash:grant:v1:"


def payload_json(payload: GrantPayload) -> dict[str, str | int]:
    """`p` of a grant: what is not limited is left out; keys in their order."""
    fields: dict[str, str | int | None] = {
        "a": payload.agent,
        "e": payload.expires,
        "f": payload.grantor,
        "g": payload.grantee,
        "u": payload.subject,
    }
    return {name: value for name, value in fields.items() if value is not None}


def signed_text(payload: GrantPayload) -> str:
    shown = json.dumps(payload_json(payload), separators=(",", ":"), ensure_ascii=False)
    return PREFIX + base64.b64encode(shown.encode()).decode()


def grant_digest(payload: GrantPayload) -> bytes:
    """Return the digest that a grant is known by, as its revocation is."""
    return hashlib.sha256(signed_text(payload).encode()).digest()
