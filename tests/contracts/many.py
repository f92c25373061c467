"""Several stores on one PostgreSQL schema, as several processes have them, and what they hold."""

from __future__ import annotations

import psycopg

from memtree.ports.context_store import IndexBatch
from memtree.stores.postgres import PostgresStore
from tests.contracts.backends import (
    A,
    OnPostgres,
    address,
    epoch,
    frontier,
    garbage,
    leaf,
    over,
    turn,
    version,
)

LEAVES = [leaf(number) for number in range(48)]
LOW = [over(LEAVES[at : at + 4]) for at in range(0, 48, 4)]
TOP = over(LOW)
KEY, RECIPE = b"key", "minilm/1"
IDS = [node.id for node in (*LEAVES, *LOW)]

LOOK = OnPostgres()  # past the stores


async def sound(store: PostgresStore, *tenants: str) -> None:
    assert await store.check() == []
    for tenant in tenants or (A,):
        assert garbage(LOOK.rows(store, tenant)) == []


def store_url_of(store: PostgresStore) -> str:
    info = psycopg.conninfo.conninfo_to_dict(store.database.dsn.conninfo)
    place = f"{info['host']}:{info['port']}/{info['dbname']}"
    return (
        f"postgresql://{info['user']}@{place}?schema={store.database.dsn.schema}&connect_timeout=60"
    )


async def every_call(store: PostgresStore) -> None:
    """All ports once."""
    await store.commit(A, IndexBatch((*LEAVES, *LOW), {address(0): frontier(LOW, 48)}, 50.0))
    await store.frontiers(A, [address(0)])
    await store.nodes(A, IDS)
    await store.descendants(A, [LOW[0].id])
    await store.renew(A, [address(0)], 60.0)
    await store.put_vectors(A, RECIPE, {LEAVES[0].id: b"1234"})
    await store.vectors(A, RECIPE, IDS)
    await store.put_summaries(A, {LOW[0].id: version(1)})
    await store.newest_summaries(A, IDS)
    await store.summaries(A, [(LOW[0].id, 1)])
    one = epoch(1, LOW[0].id)
    await store.put_turn(A, KEY, address(0), turn(one), epoch=one, expires=50.0)
    await store.latest(A, KEY, [address(0)])
    await store.chain(A, address(0))
    await store.claim(A, IDS, "me", 1.0, 2.0)
    await store.release(A, IDS, "me")
    await store.add(A, 1, {"n": 1}, {"n": 10**9})
    await store.tallies(A, 1, 1)
    await store.tenant_of("nobody")
    await store.list_keys()
    await store.stats()
    await store.keep_recipe(RECIPE, 1.0)
    await store.sweep(10.0)
    await store.forget(A, [address(5)])
    await store.check()
