"""Shapes of grants and wallets: what is posted and what is answered."""

from __future__ import annotations

from memtree.memories.grants.grant import Chain
from memtree.memories.grants.grant_json import (
    CODE_PREFIX,
    LATEST,
    MAX_CODE_CHARS,
    MAX_SIGNATURE_CHARS,
)
from memtree_proxy.wire import parameter
from memtree_proxy.wire.json_schema import (
    BOOLEAN,
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    object_of,
    posted,
)
from memtree_proxy.wire.types import CHAT_ID, TIME
from memtree_proxy.wire.wallet_headers import ADDRESS, PROOF

_CHAINS: Json = {
    "type": "string",
    "enum": [str(chain) for chain in Chain],
    "description": "`evm`: `personal_sign`; `sol`: ed25519.",
}
_LIMIT = "null: it is not limited."
SCHEMAS: dict[str, Json] = {
    "GrantReport": object_of(
        {
            "success": {"const": True},
            "id": described(STRING, "What the grant is known by: sha256 of its signed text."),
            "chain": _CHAINS,
            "grantor": described(ADDRESS, "Whose memories it is about."),
            "grantee": described(ADDRESS, "Whom it was given."),
            "agentId": described(either(CHAT_ID, NULL), _LIMIT),
            "subjectId": described(either(CHAT_ID, NULL), _LIMIT),
            "expiresAt": described({"type": "integer"}, "Unix milliseconds."),
            "opens": described(BOOLEAN, "For the tenant that asks, now."),
            "reason": described(either(STRING, NULL), "Why it opens nothing."),
        }
    ),
    "RevokedGrant": object_of(
        {
            "success": {"const": True},
            "already": described(BOOLEAN, "It opened nothing before: revoked, or expired."),
        }
    ),
    "Wallets": object_of(
        {
            "success": {"const": True},
            "wallets": array(object_of({"address": ADDRESS, "chain": _CHAINS, "since": TIME})),
        }
    ),
    "Success": object_of({"success": {"const": True}}),
}


def parameters() -> dict[str, Json]:
    """`components.parameters`, by name."""
    return {"address": parameter.path("address", "The address of a wallet.", STRING), **PROOF}


def bodies() -> dict[str, Json]:
    """Schemas of what is posted."""
    seconds = {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": LATEST}
    payload = object_of(
        {
            "f": described(ADDRESS, "The grantor."),
            "g": described(ADDRESS, "The grantee."),
            "e": described(seconds, "When it ends, in unix seconds."),
            "a": described(CHAT_ID, "The only agent; absent: all."),
            "u": described(CHAT_ID, "The only subject; absent: all."),
        },
        ("f", "g", "e"),
        additionalProperties=False,
    )
    signature = {"type": "string", "minLength": 1, "maxLength": MAX_SIGNATURE_CHARS}
    grant = object_of(
        {"p": payload, "s": signature, "c": _CHAINS}, description="A grant, as it was signed."
    )
    code = {"type": "string", "pattern": f"^{CODE_PREFIX}", "maxLength": MAX_CODE_CHARS}
    return {
        "PostedGrant": {
            "oneOf": [
                object_of({"grant": grant, "shareCode": NULL}, ("grant",)),
                object_of({"shareCode": code, "grant": NULL}, ("shareCode",)),
            ]
        }
    }


# Signed by the keys of `tests/made/wallets.py`; they end in the year 2100.
EXAMPLES: dict[str, Json] = {
    "grant": {
        "grant": {
            "p": {
                "a": "researcher",
                "e": 4102444800,
                "f": "0x53cf9b8C6dA8fC2bDCD4BA750FBfE4Dea5dEfFAE",
                "g": "FAhrKwyF7JEU1QPZ5FwQpkTbZCpTfUeYBmKs936K3y9w",
            },
            "s": "0x2a34973c94c45ff738600c4f983cca88b31b65061c850724314a595fa1675dbc"
            "77563ba82d6376e7be8296b25f56fc95c0e65b3b6fff2427ee22805cbb75e3a71c",
            "c": "evm",
        }
    },
    "code": {
        "shareCode": "zkg1_eyJwIjp7ImUiOjQxMDI0NDQ4MDAsImYiOiJGQWhyS3d5RjdKRVUxUVBaNUZ3UXBrVGJaQ3B"
        "UZlVlWUJtS3M5MzZLM3k5dyIsImciOiIweDUzY2Y5YjhDNmRBOGZDMmJEQ0Q0QkE3NTBGQmZFNERlYTVkRWZGQUU"
        "ifSwicyI6IkdEbkRvT2Rub2tiY2JBWEZZYXFJaU1kblNPbEhNSHZYK0kvMEp2VlJ0OCtPSTBOMGNndjdaNitYNG5"
        "vbFowL2lVbGQxQStEWFpsTXhhZVVIeGNZUERRPT0iLCJjIjoic29sIn0"
    },
}


def request_bodies() -> dict[str, Json]:
    """Return `components.requestBodies` of grants and wallets."""
    return {"Grant": posted(["PostedGrant"], EXAMPLES)}
