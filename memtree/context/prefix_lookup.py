"""Find the indexed prefix of a history with a bounded number of store reads, whatever its length.

One read looks up about 64 addresses: the newest ones, and others spread over the history, because a
branch may leave the known part anywhere and the known part may have gaps. Further reads narrow down
between the longest known prefix and the next unknown one.

Not every prefix is stored: a client that drops its oldest message with every request would write a
row for each message each time. A branch between two stored prefixes processes at most `STRIDE`
messages again, whose leaves are stored already.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memtree.history.chat_history import History
from memtree.ports.store import TreeStore
from memtree.tree.node import Frontier

NEWEST, SPREAD, STEPS = 32, 16, 3
STRIDE = 8  # messages; and LEAVES, some 4,000 tokens, if messages are long
LEAVES = 5
TAIL = 3  # messages at the end of a history, each of whose prefixes is stored


class CoveredPrefix(NamedTuple):
    """The longest prefix found; `expires`: the earliest expiry of all found on its chain."""

    length: int
    frontier: Frontier
    expires: float


async def covering(store: TreeStore, history: History) -> CoveredPrefix | None:
    """Return the longest indexed prefix, or None."""
    addresses = history.addresses
    best: CoveredPrefix | None = None
    above = len(history) + 1
    probes = first_probes(len(history))
    for _ in range(STEPS):
        stored = await store.frontiers(history.tenant, [addresses[i] for i in probes])
        hits = {i: stored[addresses[i]] for i in probes if addresses[i] in stored}
        if hits:
            longest = max(hits)
            soonest = min(prefix.expires for prefix in hits.values())
            if best is None or longest > best.length:
                best = CoveredPrefix(longest, hits[longest].frontier, soonest)
        low = best.length if best else 0
        above = min((i for i in probes if i > low), default=above)
        probes = between(low, above)
        if not probes or best is None:
            break
    return best


def first_probes(length: int) -> list[int]:
    """Return the prefix lengths of the first read, longest first: the newest ones, then some at
    doubling and at even distances."""
    spread: set[int] = set(range(max(1, length - NEWEST + 1), length + 1))
    distance = NEWEST
    while distance < length:
        spread.add(_stored(length - distance))
        distance *= 2
    spread.update(_stored(length * part // (SPREAD + 1)) for part in range(1, SPREAD + 1))
    return _ordered(spread)


def between(low: int, high: int) -> list[int]:
    """Return up to 64 prefix lengths strictly between two others."""
    gap = high - low - 1
    if gap <= NEWEST * 2:
        return _ordered(range(low + 1, high))
    spread = (_stored(low + gap * part // (NEWEST * 2)) for part in range(1, NEWEST * 2 + 1))
    return _ordered(length for length in spread if low < length < high)


def thinned(frontiers: Mapping[bytes, Frontier], last: int) -> dict[bytes, Frontier]:
    """Choose which frontiers of a chain are stored. `last`: length of the last prefix; the earlier
    lengths have no gaps. Wherever a turn may be stored (`turn_content.beginnings`), a frontier must
    be stored, or a deletion would not find the turn."""
    kept: dict[bytes, Frontier] = {}
    leaves = 0
    for length, (address, frontier) in enumerate(frontiers.items(), last - len(frontiers) + 1):
        far = frontier.leaves // LEAVES > leaves // LEAVES
        if far or length >= last - TAIL or length % STRIDE == 0:
            kept[address] = frontier
        leaves = frontier.leaves
    return kept


def _stored(length: int) -> int:
    """Return the longest prefix up to `length` that is stored wherever the history ends."""
    return length - length % STRIDE


def stored_from(length: int) -> int:
    """Return the shortest prefix of at least `length` that is stored wherever the history ends."""
    return -(-length // STRIDE) * STRIDE


def _ordered(lengths: Iterable[int]) -> list[int]:
    return sorted({length for length in lengths if length > 0}, reverse=True)
