"""Advisory locks of PostgreSQL, held to the end of a transaction.

| who | takes |
|---|---|
| changes access keys, or moves a tenant | the keys |
| says that a recipe is in use, or drops vectors that nobody uses | the recipes |
| adds to a tenant (commit, put_turn, vectors, summaries, claims, renew) | the tenant, shared |
| deletes of a tenant (forget, sweep) | the tenant, alone |
| decides which turn stands | also the place of that turn |
| adds to a day's tallies | that tenant's day |
| saves, changes or erases memories | the row of the scope, then that of the tenant's counters |

Transactions take them in this order, before they read anything, so none wait for each other in a
circle. Rows are written in the order of their keys for the same reason.
"""

from __future__ import annotations

from hashlib import sha256

SHARED = "SELECT pg_advisory_xact_lock_shared(%s)"
ALONE = "SELECT pg_advisory_xact_lock(%s)"


def lock_key(*names: str | bytes) -> int:
    """Hash names to a signed 64-bit integer. Two names with the same hash would only wait for each
    other."""
    digest = sha256()
    for name in names:
        data = name.encode() if isinstance(name, str) else name
        digest.update(len(data).to_bytes(8, "big") + data)
    return int.from_bytes(digest.digest()[:8], "big", signed=True)
