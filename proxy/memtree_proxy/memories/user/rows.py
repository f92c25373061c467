"""Build rows of user memories with their groups."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response

from memtree.memories.memory import Memory
from memtree.memories.scope import Scope
from memtree.memories.users.user_book import UserBook
from memtree.memories.users.user_memories import MemoryGroup
from memtree_proxy.memories.answers import answer
from memtree_proxy.wire.memory_rows import ShownRow
from memtree_proxy.wire.user_memories import user_memory


async def rows(
    users: UserBook,
    scope: Scope,
    memories: Sequence[Memory],
    groups: Sequence[MemoryGroup] | None = None,
    group: str | None = None,
) -> list[ShownRow]:
    """Return the memories' rows. `groups`: all groups of the scope, None to read them. `group`: id
    of the group to show in each row; None for the oldest group of each memory."""
    twins = await users.twins(scope, [memory.id for memory in memories])
    of = await users.groups_of(scope, [memory.id for memory in memories]) if memories else {}
    if groups is None:
        groups = await users.groups(scope) if of else ()
    now = users.clock.now()
    known = {group.id: group for group in groups}
    made = []
    for memory in memories:
        ids = [id_ for id_ in of.get(memory.id, ()) if id_ in known]
        named = group if group in ids else next(iter(ids), None)
        shown_group = known[named] if named else None
        made.append(ShownRow(memory, now, twins.get(memory.id, []), shown_group, ids))
    return made


async def shown_one(users: UserBook, scope: Scope, memory: Memory) -> Response:
    (row,) = await rows(users, scope, [memory])
    return answer(user_memory(row), of=memory)
