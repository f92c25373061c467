"""Choose the memories that stand beside a conversation: those that fit its newest message, and
those that were shown before.

A line that comes and goes with each message would change the prompt each time, and the provider
would read all of it anew. So what was shown stays until it is deleted, expires or is crowded out,
and stands in the order in which it was saved: the text changes only where the set does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from memtree.days import DAY
from memtree.memories.injection import rendering
from memtree.memories.memory import SNAPSHOT, WORDING, Memory
from memtree.memories.ports import ShownMemory
from memtree.text.memory_lines import MOST, said

KEPT = 30 * DAY  # seconds for which a shown set is kept after its last hit


class Choice(NamedTuple):
    """`memories`: by number. `shown`: what is known of them from now on; `changed`: it says other
    things than what is stored."""

    memories: tuple[Memory, ...]
    shown: tuple[ShownMemory, ...]
    changed: bool


def chosen(
    hits: Iterable[Memory],
    shown: Sequence[ShownMemory],
    live: Mapping[str, Memory],
    now: float,
    most: int = MOST,
    line: Callable[[Memory], str] = rendering.line,
    away: Collection[str] = (),
) -> Choice:
    """At most `most` memories: `hits` (best first) and, as far as there is room, those of `shown`
    that are in `live` still, the latest hits first. `line`: how one reads. `away`: ids of `live`
    that do not stand beside this branch of the conversation, and are remembered for the others."""
    fitting = _unlike([memory for memory in hits if memory.id not in away], line)
    fitting = _newest_values(fitting)[:most]
    taken = {memory.id for memory in fitting}
    older = [known for known in _latest(shown) if known.id in live and known.id not in taken]
    here = [live[known.id] for known in older if known.id not in away]
    memories = _newest_values([*fitting, *here])[:most]
    elsewhere = [live[known.id] for known in older if known.id in away][:most]
    before = {known.id: known.hit for known in shown}
    after = [
        ShownMemory(memory.id, memory.version, now if memory.id in taken else before[memory.id])
        for memory in sorted((*memories, *elsewhere), key=lambda memory: memory.number)
    ]
    return Choice(
        tuple(sorted(memories, key=lambda memory: memory.number)),
        tuple(after),
        _differ(shown, after),
    )


def _unlike(hits: Iterable[Memory], line: Callable[[Memory], str]) -> list[Memory]:
    """Those that may be injected, of several that read the same the best."""
    by_line: dict[str, Memory] = {}
    for memory in hits:
        shown = line(memory) if memory.kind != SNAPSHOT else ""
        if shown:
            by_line.setdefault(said(shown), memory)
    return list(by_line.values())


def _newest_values(memories: Sequence[Memory]) -> list[Memory]:
    """Without those of which another one here says that it changed their value."""
    over = {
        update.id
        for memory in memories
        for update in memory.updates
        if update.differs and update.differs != (WORDING,)
    }
    return [memory for memory in memories if memory.id not in over]


def _latest(shown: Iterable[ShownMemory]) -> list[ShownMemory]:
    """Latest hits first; of equal ones the order stays."""
    return sorted(shown, key=lambda known: -known.hit)


def _differ(before: Sequence[ShownMemory], after: Sequence[ShownMemory]) -> bool:
    """Return True if `after` has to be stored. A hit alone is no reason, as long as the next one to
    be crowded out is the same: else each message would be a write."""
    if [known[:2] for known in before] != [known[:2] for known in after]:
        return True
    if [known.id for known in _latest(before)] != [known.id for known in _latest(after)]:
        return True
    newest = max((known.hit for known in after), default=0.0)
    return newest - max((known.hit for known in before), default=0.0) > DAY
