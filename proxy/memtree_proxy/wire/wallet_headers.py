"""A wallet, and the headers of its proof, as the document has them."""

from __future__ import annotations

from memtree.memories.grants.wallet_proof import (
    ADDRESS_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    WINDOW_SECONDS,
)
from memtree_proxy.wire import parameter
from memtree_proxy.wire.json_schema import STRING, Json

ADDRESS: Json = {
    "type": "string",
    "pattern": "^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$",
    "description": "`0x` and 40 hex digits, or base58 of 32 bytes.",
    "examples": ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"],
}
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
