"""The header fields of a request that are for this server: one table, which their readers import.

None of them is sent to the upstream, on any route: some contain credentials or signed proofs, and
others describe a person's memories.
"""

from __future__ import annotations

from memtree.memories.grants.grant_json import HEADER as GRANTS_HEADER
from memtree.memories.grants.wallet_proof import ADDRESS_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER

# The credential for this server only, of a client whose own one is for the upstream, or changes.
TENANT_KEY = b"x-memtree-key"
MEMORY_HEADER, FLAG_HEADER = "x-polychat-memory", "memory"
TOOLS_HEADER = "x-memtree-recall-tools"
MODE_HEADER = "x-memtree-mode"
KEEP_HEADER = "x-memtree-keep"
# Front proxies drop headers with underscores, so the hyphenated forms count as well.
EXPIRATION_HEADERS = (
    "memory_expiration_days",
    "memory-expiration-days",
    "x-memory-expiration-days",
)
CHAT_HEADER, SWITCH_HEADER = "x-chat-id", "x-chat-memory"
USER_HEADER = "x-user-id"
WALLET_HEADERS = (ADDRESS_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER)

OWN_HEADERS = frozenset(
    name.encode()
    for name in (
        MEMORY_HEADER, FLAG_HEADER, TOOLS_HEADER, MODE_HEADER, KEEP_HEADER, *EXPIRATION_HEADERS,
        CHAT_HEADER, SWITCH_HEADER, USER_HEADER, GRANTS_HEADER, *WALLET_HEADERS,
        TENANT_KEY.decode(),
    )
)  # fmt: skip
_OWN_FAMILIES = (b"x-memtree-", b"x-polychat-", b"x-wallet-")  # includes names of later versions


def is_own(name: bytes) -> bool:
    """Return True if a header field of this name (in lower case) is for this server."""
    return name in OWN_HEADERS or name.startswith(_OWN_FAMILIES)
