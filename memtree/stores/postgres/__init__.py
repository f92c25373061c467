"""The store in PostgreSQL, for many processes on many machines. Needs the extra `postgres`.

Every statement takes any number of rows, given as arrays. A write takes its tenant's lock
(`locks`): shared to add, exclusive to delete, so no row can refer to a node that is being deleted.
Isolation is READ COMMITTED: each statement after the lock sees everything committed before it. The
reasons are in docs/decisions/archive.md#0011.
"""

from memtree.stores.postgres.postgres_database import PostgresStore, has_tables

__all__ = ["PostgresStore", "has_tables"]
