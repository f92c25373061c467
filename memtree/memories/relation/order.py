"""Tell whether two texts that share their words put them into the same places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from memtree.memories.relation import lexicon
from memtree.memories.relation.reading import (
    COMMA,
    CONJUNCTION,
    COPULA,
    MODAL,
    PREPOSITION,
    Token,
)

# Has a nut allergy, is allergic to nuts; mostly reads, reads mostly; a daily call, a call each day.
_ANYWHERE = frozenset(
    """
    have occur allergy afraid name usually often sometimes rarely recently now daily weekly monthly
    yearly
    """.split()
)
_TIMES = ("d:", "t:", "wd:", "wds:", "n:", "time:", "month:")


def common(new: Sequence[Token], old: Sequence[Token]) -> tuple[list[Token], list[Token]]:
    """The tokens that both have, as often as both have them, each in its own order."""
    shared = Counter(token.key for token in new) & Counter(token.key for token in old)
    return _of(new, shared), _of(old, shared)


def _of(tokens: Sequence[Token], shared: Counter[str]) -> list[Token]:
    left = shared.copy()
    kept = []
    for token in tokens:
        if left[token.key] > 0:
            left[token.key] -= 1
            kept.append(token)
    return kept


def moved(new: Sequence[Token], old: Sequence[Token]) -> tuple[list[Token], list[Token]] | None:
    """The parts of two texts with the same keys that stand in another order, so that they say
    something else; None where they say the same: equal, a list in another order, or one part that
    went to the front: "on Mondays I run", "green is my favourite"."""
    new, old = _listed(_placed(new)), _listed(_placed(old))
    start, end = 0, len(new)
    while start < end and new[start].key == old[start].key:
        start += 1
    while end > start and new[end - 1].key == old[end - 1].key:
        end -= 1
    if start == end:
        return None
    ours, theirs = list(new[start:end]), list(old[start:end])
    if not _markers_kept(new, old):
        return ours, theirs
    if _turned(list(new[:end]), list(old[:end])) or _turned(ours, theirs):
        return None
    return ours, theirs


def _placed(tokens: Sequence[Token]) -> list[Token]:
    """Without the verbs whose place says nothing: my flat has a balcony, I have a flat with one."""
    return [token for token in tokens if token.key not in _ANYWHERE]


def _turned(new: list[Token], old: list[Token]) -> bool:
    """Return True if `new` is `old` with its two halves changed over, in one of the ways that keep
    the meaning."""
    keys, olds = [token.key for token in new], [token.key for token in old]
    at = _rotation(keys, olds)
    if not at or at == len(olds):
        return False
    # old = A B, new = B A.
    head, tail = old[:at], old[at:]
    new_tail, new_head = new[: len(tail)], new[len(tail) :]
    if len(head) == len(tail) == 1:  # keep logs, logs are kept; not: chocolate milk
        return any(
            token.lead & MODAL or (token.lead & COPULA and (token.form == "done" or token.value))
            for token in (*new, *old)
        )
    marked = "=" in (tail[0].key[0], new_head[0].key[0])
    # Spelling is British English: British English spelling. Luna, my cat: my cat Luna.
    about = (tail[0].lead | new_head[0].lead) & (COPULA | MODAL | COMMA)
    adverbial = tail[0].lead & PREPOSITION or new_head[0].lead & PREPOSITION
    timed = tail[0].key.startswith(_TIMES) or head[0].key.startswith(_TIMES)
    # Write tests in Go; tests are written in Go.
    ordered = any(
        len(part) == 1 and (part[0].lead | part_of_new[0].lead) & (COPULA | MODAL)
        for part, part_of_new in ((head, new_head), (tail, new_tail))
    )
    return bool(marked or about or adverbial or timed or ordered)


def _rotation(new: list[str], old: list[str]) -> int:
    """Where `old` is to be cut so that its halves, changed over, are `new`; 0: nowhere."""
    doubled, wanted = "".join(f"{key}\n" for key in old * 2), "".join(f"{key}\n" for key in new)
    at = f"\n{doubled}".find(f"\n{wanted}")
    return doubled.count("\n", 0, at) if at > 0 else 0


def _markers_kept(new: Sequence[Token], old: Sequence[Token]) -> bool:
    """Return True if each marker (from, before, than) is followed by the same in both."""
    return _after_markers(new) == _after_markers(old)


def _after_markers(tokens: Sequence[Token]) -> Counter[tuple[str, str]]:
    keys = [token.key for token in tokens]
    return Counter(
        (key, keys[at + 1] if at + 1 < len(keys) else "")
        for at, key in enumerate(keys)
        if key[0] == "="
    )


def _listed(tokens: Sequence[Token]) -> list[Token]:
    """The members of each list (tea, milk and juice) by their keys. The end of the list must be
    seen: "Ann and Ben met Tom" may go on with what belongs to Ben alone."""
    made = list(tokens)
    at = 0
    while at < len(made):
        end = at + 1
        joined = 0
        while end < len(made) and made[end].lead and not made[end].lead & ~(COMMA | CONJUNCTION):
            joined |= made[end].lead
            end += 1
        if joined & CONJUNCTION and (end == len(made) or made[end].lead):
            made[at:end] = sorted(made[at:end], key=lambda token: token.key)
        at = end
    return made


def prepositions_agree(new: Sequence[Token], old: Sequence[Token]) -> bool:
    """Return True if the words that both have stand behind prepositions that may mean the same."""
    places: dict[str, str] = {}
    for token in old:
        places.setdefault(token.key, token.preposition)
    seen: set[str] = set()
    for token in new:
        if token.key in seen or token.key not in places:
            continue
        seen.add(token.key)
        one, other = token.preposition, places[token.key]
        if not one or not other or one == other or token.key.startswith(_TIMES):
            continue
        if frozenset((one, other)) not in lexicon.ALIKE_PREPOSITIONS:
            return False
    return True
