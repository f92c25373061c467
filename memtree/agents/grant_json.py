"""Read and write grants as JSON `{p, s, c}`, as the header of a request, and as share codes.

Who sends a grant is not who wrote it, so nothing in it is taken on trust. An unknown field of `p`
is signed and may limit the grant, so a grant with one is refused.
"""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from memtree.agents.grant import (
    MAX_GRANTS,
    MAX_HEADER_BYTES,
    Chain,
    GrantPayload,
    SignedGrant,
    payload_json,
)
from memtree.agents.wallets import canonical_address, chain_of
from memtree.errors import BadRequest, HeadersTooLarge
from memtree.memories.scope import checked_id

Json = dict[str, Any]

HEADER = "x-grants"
CODE_PREFIX = "zkg1_"
MAX_CODE_CHARS = 4_096
MAX_SIGNATURE_CHARS = 200
LATEST = 10**11  # unix seconds; what is above are milliseconds

_KNOWN = frozenset("aefgu")


def read_grant(value: object) -> SignedGrant:
    """Raises `BadRequest` that says what is wrong, and repeats nothing of it."""
    if not isinstance(value, dict):
        raise _wrong("grant", "must be an object {p, s, c}")
    signature, chain = value.get("s"), value.get("c")
    if chain not in tuple(Chain):
        raise _wrong("c", f"must be {' or '.join(Chain)}")
    if not isinstance(signature, str) or not 0 < len(signature) <= MAX_SIGNATURE_CHARS:
        raise _wrong("s", "must be a signature")
    payload = _payload(value.get("p"))
    if chain_of(payload.grantor) is not Chain(chain):
        raise _wrong("p.f", "is not an address of the chain that c names")
    return SignedGrant(payload, signature, Chain(chain))


def grant_json(grant: SignedGrant) -> Json:
    return {"p": payload_json(grant.payload), "s": grant.signature, "c": str(grant.chain)}


def read_header(header: str) -> list[SignedGrant | BadRequest]:
    """The grants of a request in their order; in place of one that is none, what is wrong with it.

    Raises `BadRequest` for a header that is no list of at most `MAX_GRANTS`, `HeadersTooLarge`.
    """
    if len(header) > MAX_HEADER_BYTES:
        raise HeadersTooLarge(f"{HEADER} is over the limit of {MAX_HEADER_BYTES} bytes")
    rows = _decoded(header, HEADER)
    if not isinstance(rows, list):
        raise BadRequest(f"{HEADER} must be the base64 of a JSON array of grants", param=HEADER)
    if len(rows) > MAX_GRANTS:
        raise BadRequest(f"{HEADER} must be at most {MAX_GRANTS} grants", param=HEADER)
    return [_read_or_fault(row) for row in rows]


def header_of(grants: list[SignedGrant]) -> str:
    """Return the header in which a client sends the grants."""
    return base64.b64encode(msgspec.json.encode([grant_json(grant) for grant in grants])).decode()


def share_code(grant: SignedGrant) -> str:
    """A grant in one word, to be pasted."""
    raw = msgspec.json.encode(grant_json(grant))
    return CODE_PREFIX + base64.urlsafe_b64encode(raw).decode().rstrip("=")


def read_share_code(text: str) -> SignedGrant:
    """Raises `BadRequest`."""
    code = text.strip()
    if not code.startswith(CODE_PREFIX) or len(code) > MAX_CODE_CHARS:
        raise _wrong("shareCode", f"must be a code that begins with {CODE_PREFIX}")
    return read_grant(_decoded(code.removeprefix(CODE_PREFIX), "shareCode"))


def _payload(value: object) -> GrantPayload:
    if not isinstance(value, dict):
        raise _wrong("p", "must be an object {f, g, e}")
    if not value.keys() <= _KNOWN:
        raise _wrong("p", "has a field that this server does not know, and that may limit it")
    return GrantPayload(
        grantor=_address(value.get("f"), "p.f"),
        grantee=_address(value.get("g"), "p.g"),
        expires=_seconds(value.get("e")),
        agent=checked_id(value["a"], "p.a") if "a" in value else None,
        subject=checked_id(value["u"], "p.u") if "u" in value else None,
    )


def _address(value: object, name: str) -> str:
    if not isinstance(value, str) or canonical_address(value) is None:
        raise _wrong(name, "must be the address of a wallet")
    return value


def _seconds(value: object) -> int:
    """Whole numbers have one form in every language; the SDKs write no others."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < LATEST:
        raise _wrong("p.e", "must be whole unix seconds")
    return value


def _read_or_fault(row: object) -> SignedGrant | BadRequest:
    try:
        return read_grant(row)
    except BadRequest as error:
        return error


def _decoded(text: str, name: str) -> object:
    """JSON in base64 of either alphabet, padded or not."""
    plain = text.strip().rstrip("=").replace("-", "+").replace("_", "/")
    try:
        raw = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
        return msgspec.json.decode(raw)
    except (ValueError, msgspec.DecodeError, RecursionError) as error:
        raise BadRequest(f"{name} is not the base64 of JSON", param=name) from error


def _wrong(name: str, problem: str) -> BadRequest:
    return BadRequest(f"{name} {problem}", param=name)
