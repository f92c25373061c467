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
from memtree.memories.grants.signatures.wallets import chain_of, shown_address
from memtree.wire.json_body import Body
from memtree_proxy.request import fields
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
)
from memtree_proxy.wire.shape import NOT_NULL, Shape, Type, read
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
