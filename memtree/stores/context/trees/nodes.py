"""Write nodes, for trees and for plans."""

from __future__ import annotations

from collections.abc import Sequence

from memtree.stores.context.tenants import TENANT
from memtree.stores.rows import NodeRow
from memtree.stores.sql import Sql

STORED = f"SELECT id FROM nodes WHERE {TENANT} AND id IN :ids[bytes]"
_PUT = """
    INSERT INTO nodes (tenant, id, level, children, data)
    SELECT :number, id, level, children, data FROM :rows(id, level, children, data)
    WHERE true ON CONFLICT DO NOTHING"""


async def put_nodes(sql: Sql, number: int, nodes: Sequence[NodeRow]) -> None:
    """Store nodes in the order of their ids, as all rows are written, so that no two writers wait
    for each other in a circle."""
    await sql.put(_PUT, {"number": number}, sorted(nodes))
