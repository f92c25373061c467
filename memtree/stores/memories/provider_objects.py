"""Digests of objects at the provider, each with the time until which it is kept."""

from __future__ import annotations

from collections.abc import Collection

from memtree.stores.sql import Ids, Sql

# The later expiry wins, so that a delayed write shortens nothing.
_PUT = """
    INSERT INTO provider_objects (digest, expires) VALUES (:digest, :expires)
    ON CONFLICT (digest) DO UPDATE SET expires = excluded.expires
    WHERE excluded.expires > provider_objects.expires"""
_KNOWN = "SELECT digest FROM provider_objects WHERE expires > :now AND digest IN :digests[bytes]"


async def put_objects(sql: Sql, digests: Collection[bytes], expires: float) -> None:
    """Store digests in their order, so that no two writers wait for each other in a circle."""
    rows = [{"digest": digest, "expires": expires} for digest in sorted(set(digests))]
    await sql.run_many(_PUT, rows)


async def known_objects(sql: Sql, digests: Collection[bytes], now: float) -> set[bytes]:
    values = {"now": now, "digests": Ids(digests)}
    return {digest for (digest,) in await sql.many("h", _KNOWN, values)}
