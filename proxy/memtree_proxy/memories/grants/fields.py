"""The fields of requests about grants."""

from __future__ import annotations

from memtree.errors import BadRequest
from memtree.memories.grants.grant import SignedGrant
from memtree.memories.grants.grant_json import read_grant, read_share_code
from memtree_proxy.http.json_body import Body
from memtree_proxy.request import fields

GRANT, SHARE_CODE = "grant", "shareCode"


def posted_grant(body: Body) -> SignedGrant:
    """`grant` or `shareCode`. Raises `BadRequest` naming the place."""
    value, code = body.value(GRANT), fields.text(body.value(SHARE_CODE), SHARE_CODE)
    if (value is None) == (code is None):
        raise BadRequest(f"either {GRANT} or {SHARE_CODE} is required", param=GRANT)
    place = SHARE_CODE if code is not None else GRANT
    try:
        return read_grant(value) if code is None else read_share_code(code)
    except BadRequest as error:
        if error.param in (GRANT, SHARE_CODE):
            raise
        raise BadRequest(f"{place}.{error.message}", param=f"{place}.{error.param}") from None
