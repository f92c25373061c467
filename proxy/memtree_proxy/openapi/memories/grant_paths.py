"""Operations of grants, and of the wallets that sign them."""

from __future__ import annotations

from memtree.config import Settings
from memtree.memories.grants.wallet_proof import (
    ADDRESS_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    WINDOW_SECONDS,
)
from memtree_proxy.http import content_encoding
from memtree_proxy.openapi import failures
from memtree_proxy.openapi.memories import parts
from memtree_proxy.openapi.memories.grant_shapes import ADDRESS
from memtree_proxy.openapi.memories.parts import answer, delete_operation, memory_operation, named
from memtree_proxy.wire.json_schema import STRING, Json
from memtree_proxy.wire.operation import KNOWN, READING

TAG = "Grants"
_ADDRESS = "address"
_PROOF = (ADDRESS_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER)


def parameters() -> dict[str, Json]:
    """`components.parameters`, by name."""
    given = [
        parts.path(_ADDRESS, "The address of a wallet.", STRING),
        parts.header(
            ADDRESS_HEADER,
            "The wallet that the tenant proves to own. Every route of memories, schemas, grants "
            "and wallets takes the three headers of a proof, all of them or none: the wallet is "
            "the tenant's from then on. Without access keys a proof is a credential by itself, "
            "and the tenant is the wallet's own.",
            ADDRESS,
        ),
        parts.header(
            TIMESTAMP_HEADER,
            f"Unix milliseconds, at most {WINDOW_SECONDS} seconds from the server's time.",
            {"type": "string", "pattern": "^[0-9]{1,16}$", "examples": ["1760000000000"]},
        ),
        parts.header(
            SIGNATURE_HEADER,
            "Of `METHOD|path|sha256 of the body in hex|timestamp`, the path with or without "
            "query and prefix: `personal_sign` in hex, or ed25519 in base64. It counts for one "
            "tenant only.",
            STRING,
        ),
    ]
    return {one["name"]: one for one in given}


def paths(settings: Settings) -> dict[str, Json]:
    return {
        "/grants/inspect": {"post": _inspect(settings)},
        "/grants/revoke": {"post": _revoke(settings)},
        "/wallets": {"get": _list(settings), "post": _bind(settings)},
        "/wallets/{address}": {"delete": _release(settings)},
    }


def _inspect(settings: Settings) -> Json:
    return memory_operation(
        TAG,
        "inspectGrant",
        "Inspect a grant",
        "What it would open for the tenant that asks, in a search that names no agent, or why "
        "nothing.",
        {"200": answer("What it says.", "GrantReport"), **failures.of(settings, *READING)},
        named(content_encoding.HEADER),
        "Grant",
    )


def _revoke(settings: Settings) -> Json:
    return memory_operation(
        TAG,
        "revokeGrant",
        "Revoke a grant",
        "From the answer on it opens nothing. Only the tenant of its grantor's wallet may (403).",
        {"200": answer("It opens nothing.", "RevokedGrant"), **failures.of(settings, *READING)},
        named(content_encoding.HEADER),
        "Grant",
    )


def _list(settings: Settings) -> Json:
    return memory_operation(
        TAG,
        "listWallets",
        "List wallets",
        "Those that the tenant has proved to own, the oldest first.",
        {"200": answer("The wallets.", "Wallets"), **failures.of(settings, 400, 409, *KNOWN)},
        named(*_PROOF),
    )


def _bind(settings: Settings) -> Json:
    required = [{**one, "required": True} for one in _proof_parameters()]
    return memory_operation(
        TAG,
        "bindWallet",
        "Prove a wallet",
        "By the three headers; there is no body. A wallet of another tenant is a 409 until that "
        "one releases it, a proof that another tenant used a 403.",
        {"200": answer("All its wallets.", "Wallets"), **failures.of(settings, 409, *READING)},
        required,
    )


def _release(settings: Settings) -> Json:
    return delete_operation(
        TAG,
        "releaseWallet",
        "Release a wallet",
        "Its grants open nothing of this tenant any more, nor do those to it; another tenant may "
        "prove it from now on.",
        {"200": answer("It is nobody's.", "Success"), **failures.of(settings, 400, 404, *KNOWN)},
        named(_ADDRESS),
        purged=False,
    )


def _proof_parameters() -> list[Json]:
    return [parameters()[name] for name in _PROOF]
