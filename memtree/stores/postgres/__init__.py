"""The store in PostgreSQL, for many processes on many machines. Needs the extra `postgres`.

Every statement takes any number of rows: what goes in comes as arrays. A write
takes its tenant's lock (`locks`): shared for what adds, exclusive for what deletes, so a node is
never named while it goes. Isolation is READ COMMITTED: each statement after the lock sees all that
was committed before it. The reasons are in docs/decisions/0011-postgresql.md.
"""

from memtree.stores.postgres.database import PostgresStore

__all__ = ["PostgresStore"]
