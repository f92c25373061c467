"""Rows of user memories with their groups, as the store has both."""

from __future__ import annotations

from collections.abc import Sequence

from memtree.memories.memory import Memory
from memtree.memories.scope import Scope
from memtree.memories.users.user_book import UserBook
from memtree.memories.users.user_memories import MemoryGroup
from memtree_proxy.memories.user.rendering import Json, memory_json


async def rows(
    users: UserBook,
    scope: Scope,
    memories: Sequence[Memory],
    groups: Sequence[MemoryGroup] | None = None,
    shown: str | None = None,
) -> list[Json]:
    """`groups`: all of the scope, None: to be read. `shown`: the id of the group that each row
    shows; None: the oldest one that it is in."""
    twins = await users.twins(scope, [memory.id for memory in memories])
    of = await users.groups_of(scope, [memory.id for memory in memories]) if memories else {}
    if groups is None:
        groups = await users.groups(scope) if of else ()
    now = users.clock.now()
    known = {group.id: group for group in groups}
    made = []
    for memory in memories:
        ids = [id_ for id_ in of.get(memory.id, ()) if id_ in known]
        named = shown if shown in ids else next(iter(ids), None)
        shown_row = memory_json(memory, now, known[named] if named else None, ids)
        made.append({**shown_row, "twins": twins.get(memory.id, [])})
    return made


async def row(users: UserBook, scope: Scope, memory: Memory) -> Json:
    return (await rows(users, scope, [memory]))[0]
