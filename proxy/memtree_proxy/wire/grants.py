"""Define requests and answers for grants and wallets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from memtree.errors import BadRequest
from memtree.memories.agents.agent_memory import AgentScopes
from memtree.memories.fields.times import shown as shown_time
from memtree.memories.grants.grant import Chain, SignedGrant
from memtree.memories.grants.grant_book import GrantReport
from memtree.memories.grants.grant_json import (
    CODE_PREFIX,
    LATEST,
    MAX_CODE_CHARS,
    MAX_SIGNATURE_CHARS,
    read_grant,
    read_share_code,
)
from memtree.memories.grants.wallet_proof import (
    ADDRESS_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    WINDOW_SECONDS,
)
from memtree.memories.grants.wallets import chain_of, shown_address
from memtree.wire.json_body import Body
from memtree_proxy.request import fields
from memtree_proxy.wire import parameter
from memtree_proxy.wire.answer import SUCCESS, Answer, Shown, schema_of_answer, shown_each
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
from memtree_proxy.wire.shape import NOT_NULL, Shape, Type, read, schema_of
from memtree_proxy.wire.types import CHAT_ID, TIME

GRANT, SHARE_CODE = "grant", "shareCode"
ADDRESS: Json = {
    "type": "string",
    "pattern": "^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$",
    "description": "`0x` and 40 hex digits, or base58 of 32 bytes.",
    "examples": ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"],
}
_CHAINS: Json = {
    "type": "string",
    "enum": [str(chain) for chain in Chain],
    "description": "`evm`: `personal_sign`; `sol`: ed25519.",
}

# -- posted ----------------------------------------------------------------------------------

_PAYLOAD = object_of(
    {
        "f": described(ADDRESS, "The grantor."),
        "g": described(ADDRESS, "The grantee."),
        "e": {
            "type": "integer",
            "exclusiveMinimum": 0,
            "exclusiveMaximum": LATEST,
            "description": "When it ends, in unix seconds.",
        },
        "a": described(CHAT_ID, "The only agent; absent: all."),
        "u": described(CHAT_ID, "The only subject; absent: all."),
    },
    ("f", "g", "e"),
    additionalProperties=False,
)
_GRANT = object_of(
    {
        "p": _PAYLOAD,
        "s": {"type": "string", "minLength": 1, "maxLength": MAX_SIGNATURE_CHARS},
        "c": _CHAINS,
    },
    description="A grant, as it was signed.",
)
_CODE: Json = {"type": "string", "pattern": f"^{CODE_PREFIX}", "maxLength": MAX_CODE_CHARS}


def _signed(value: Any, name: str) -> SignedGrant:
    """Read a grant or a share code. Raises `BadRequest` naming the field."""
    try:
        if name == SHARE_CODE:
            return read_share_code(fields.text(value, name) or "")
        return read_grant(value)
    except BadRequest as error:
        if error.param in (GRANT, SHARE_CODE):
            raise
        raise BadRequest(f"{name}.{error.message}", param=f"{name}.{error.param}") from None


class PostedGrant(Shape, frozen=True):
    """Body with a grant, or with a share code that holds a grant."""

    grant: Annotated[SignedGrant | None, Type(_GRANT, _signed), NOT_NULL] = None
    share_code: Annotated[SignedGrant | None, Type(_CODE, _signed), NOT_NULL] = None

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        if (given.get(GRANT) is None) == (given.get(SHARE_CODE) is None):
            raise BadRequest(f"either {GRANT} or {SHARE_CODE} is required", param=GRANT)


def posted_grant(body: Body) -> SignedGrant:
    of = read(PostedGrant, body)
    signed = of.grant or of.share_code
    assert signed is not None  # `check` refuses a body without it
    return signed


# -- answered --------------------------------------------------------------------------------

_LIMIT = "null: it is not limited."
REPORT: Answer[GrantReport] = {
    **SUCCESS,
    "id": Shown(
        STRING,
        lambda report: report.digest.hex(),
        "What the grant is known by: sha256 of its signed text.",
    ),
    "chain": Shown(_CHAINS, "grant.chain"),
    "grantor": Shown(
        ADDRESS,
        lambda report: shown_address(report.grant.payload.grantor),
        "Whose memories it is about.",
    ),
    "grantee": Shown(
        ADDRESS, lambda report: shown_address(report.grant.payload.grantee), "Whom it was given."
    ),
    "agentId": Shown(either(CHAT_ID, NULL), "grant.payload.agent", _LIMIT),
    "subjectId": Shown(either(CHAT_ID, NULL), "grant.payload.subject", _LIMIT),
    "expiresAt": Shown(
        {"type": "integer"},
        lambda report: report.grant.payload.expires * 1000,
        "Unix milliseconds.",
    ),
    "opens": Shown(
        BOOLEAN,
        lambda report: isinstance(report.opens, AgentScopes),
        "For the tenant that asks, now.",
    ),
    "reason": Shown(
        either(STRING, NULL),
        lambda report: None if isinstance(report.opens, AgentScopes) else report.opens,
        "Why it opens nothing.",
    ),
}
_WALLET: Answer[tuple[str, float]] = {
    "address": Shown(ADDRESS, lambda wallet: shown_address(wallet[0])),
    "chain": Shown(_CHAINS, lambda wallet: chain_of(wallet[0]) or Chain.EVM),
    "since": Shown(TIME, lambda wallet: shown_time(wallet[1])),
}
WALLETS: Answer[list[tuple[str, float]]] = {
    **SUCCESS,
    "wallets": Shown(array(schema_of_answer(_WALLET)), lambda rows: shown_each(_WALLET, rows)),
}
REVOKED: Answer[bool] = {
    **SUCCESS,
    "already": Shown(
        BOOLEAN, lambda new: not new, "It opened nothing before: revoked, or expired."
    ),
}


def schemas() -> dict[str, Json]:
    """Return the JSON Schemas of grants and wallets by their names in the document."""
    given = schema_of(PostedGrant)["properties"]
    forms = [
        object_of({name: given[name], other: NULL}, (name,))
        for name, other in ((GRANT, SHARE_CODE), (SHARE_CODE, GRANT))
    ]
    return {
        "PostedGrant": {"oneOf": forms},
        "GrantReport": schema_of_answer(REPORT),
        "RevokedGrant": schema_of_answer(REVOKED),
        "Wallets": schema_of_answer(WALLETS),
        "Success": schema_of_answer(SUCCESS),
    }


# Examples signed with the keys of `tests/made/wallets.py`; they expire in the year 2100.
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
REQUEST_BODIES = {"Grant": posted(["PostedGrant"], EXAMPLES)}


_HEADERS = (
    parameter.header(
        ADDRESS_HEADER,
        "The wallet that the tenant proves to own. Every route of memories, schemas, grants "
        "and wallets takes the three headers of a proof, all of them or none: the wallet is "
        "the tenant's from then on. Without access keys a proof is a credential by itself, "
        "and the tenant is the wallet's own.",
        ADDRESS,
    ),
    parameter.header(
        TIMESTAMP_HEADER,
        f"Unix milliseconds, at most {WINDOW_SECONDS} seconds from the server's time.",
        {"type": "string", "pattern": "^[0-9]{1,16}$", "examples": ["1760000000000"]},
    ),
    parameter.header(
        SIGNATURE_HEADER,
        "Of `METHOD|path|sha256 of the body in hex|timestamp`, the path with or without "
        "query and prefix: `personal_sign` in hex, or ed25519 in base64. It counts for one "
        "tenant only.",
        STRING,
    ),
)
PROOF: dict[str, Json] = {header["name"]: header for header in _HEADERS}


def parameters() -> dict[str, Json]:
    """Return `components.parameters` of grants and wallets by name."""
    return {"address": parameter.path("address", "The address of a wallet.", STRING), **PROOF}
