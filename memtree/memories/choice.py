"""Choose the memories that stand beside a conversation: those that fit its newest message, and
those that were shown before.

A line that comes and goes with each message would change the prompt each time, and the provider
would read all of it anew. So what was shown stays until it is deleted, expires or is crowded out,
and stands in the order in which it was saved: the text changes only where the set does.

Where a memory was said, seen from the history of a request: in it, in another branch of the same
conversation, or in another conversation.

A user who takes a message back, edits it or asks for another answer leaves a branch behind. What
was said there counts no more in this conversation; in a new one it is as good as any other memory.
The histories of both branches begin alike, so a memory keeps the address of that beginning.

What a history says itself is not said once more beside it: a line that follows from the message
before would change the prompt's beginning for nothing. But where that message may be folded away,
the history says it no more, and the memory stands.

Chooses the standing memories of a prompt: wishes before facts, of each topic the newest, as many
as their budget takes.

They are chosen anew for each request, of the same memories to the same lines: the text changes
where the set does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from memtree.days import DAY
from memtree.memories import rendering
from memtree.memories.memory import SNAPSHOT, WORDING, Memory, MemorySource, PossibleUpdate
from memtree.memories.memory_store import ShownMemory
from memtree.memories.standing import WISH
from memtree.text import tokens
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
        if is_shown(memory, line):
            by_line.setdefault(said(line(memory)), memory)
    return list(by_line.values())


def is_shown(memory: Memory, line: Callable[[Memory], str]) -> bool:
    """Return True if the memory may be shown at all. `line`: how one reads."""
    return memory.kind != SNAPSHOT and bool(line(memory))


def _newest_values(memories: Sequence[Memory]) -> list[Memory]:
    """Without those of which another one here says that it changed their value. What waits for a
    person takes no place of what does not."""
    over = {
        (update.id, memory.tainted)
        for memory in memories
        for update in memory.updates
        if _names_value(update)
    }
    return [m for m in memories if over.isdisjoint({(m.id, False), (m.id, m.tainted)})]


def _names_value(update: PossibleUpdate) -> bool:
    return bool(update.differs) and update.differs != (WORDING,)


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


SAME, STRICT, OFF = "same", "strict", "off"
BRANCHES = (SAME, STRICT, OFF)  # values of the setting `memories_branches`


def depends(source: MemorySource | None, rule: str) -> bool:
    """Return True if it has to be known where a memory was said."""
    return source is not None and bool(source.address) and rule != OFF


def fits(
    source: MemorySource | None,
    addresses: Container[str],
    rule: str,
    folded: Container[str] = (),
) -> bool:
    """Return True if a memory may stand beside a history. `addresses`: hex, of all its prefixes;
    `folded`: of those whose last message may be folded away. With `strict`, only beside one in
    which it was said; else not beside one that shows it, nor beside another branch of it."""
    if source is None or not depends(source, rule):
        return True
    if rule == STRICT:
        return source.address in addresses
    if source.address in addresses:
        return source.address in folded
    return source.origin not in addresses


def stands(source: MemorySource | None, addresses: Container[str], rule: str) -> bool:
    """Return True if a standing memory may stand beside a history, which may show it as well:
    unless it was said in another branch of it, or with `strict`, elsewhere."""
    if source is None or not depends(source, rule) or source.address in addresses:
        return True
    return rule != STRICT and source.origin not in addresses


def heirs(standing: Iterable[Memory], newer: Iterable[Memory]) -> list[Memory]:
    """Those of `newer` that changed a value of a standing memory, or of another heir, and stand in
    its place. What waits for a person takes no place."""
    places = {memory.id for memory in standing}
    kept = []
    for memory in sorted(newer, key=lambda memory: memory.number):
        changes = {update.id for update in memory.updates if _names_value(update)}
        if not memory.tainted and memory.id not in places and not places.isdisjoint(changes):
            places.add(memory.id)
            kept.append(memory)
    return kept


STANDING_BUDGET = 300  # tokens of the lines of a request: of the user, then of the chat
OVERVIEW_BUDGET = 600  # tokens of the lines of a request that asks for all that is remembered
MOST_STANDING = 100  # that are read


def standing_ones(
    memories: Iterable[Memory], line: Callable[[Memory], str], budget: int = STANDING_BUDGET
) -> list[Memory]:
    """In the order of numbers. `memories`: those and the `heirs` that stand in their places.
    `line`: how one reads, "" where it cannot be shown."""
    newest = sorted(_newest_values(list(memories)), key=lambda memory: -memory.number)
    newest.sort(key=lambda memory: not memory.standing.startswith(WISH))
    seen: set[str] = set()
    kept: list[Memory] = []
    for memory in newest:
        if ":" in memory.standing and memory.standing in seen:
            continue
        cost = standing_size([memory], line)
        if not line(memory) or cost > budget:
            continue
        seen.add(memory.standing)
        budget -= cost
        kept.append(memory)
    return sorted(kept, key=lambda memory: memory.number)


def standing_size(memories: Iterable[Memory], line: Callable[[Memory], str]) -> int:
    """Tokens of their lines."""
    return sum(tokens.count(line(memory)) + _NUMBER for memory in memories)


def overview(
    memories: Iterable[Memory], line: Callable[[Memory], str], budget: int
) -> list[Memory]:
    """Return the first memories that may be shown, as many as the budget of tokens takes, by their
    categories, and oldest first in each."""
    kept: list[Memory] = []
    for memory in memories:
        cost = standing_size([memory], line)
        if memory.kind == SNAPSHOT or not line(memory):
            continue
        budget -= cost
        if budget < 0:
            break
        kept.append(memory)
    return sorted(kept, key=lambda memory: (memory.category or "", memory.number))


_NUMBER = 4  # tokens of a line's number and its end
