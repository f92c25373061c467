"""Tell how a new memory relates to a stored one: the same, a duplicate, or what it may replace.

Vectors cannot tell: "the port is 8090" and "the port is 8091" have a cosine of 0.97, a paraphrase
often less than 0.8. So a duplicate needs a high relevance *and* the same words once both are read
(`reading`): numbers, dates, names, markers such as before and from, negations, and their order. A
changed value that is thrown away is worse than a paraphrase that is kept twice.

    >>> compare("The port is 8091.", "The port is 8090.", 0.97)
    Comparison(relation=<Relation.POSSIBLE_UPDATE: 'possible_update'>, differs=('8090 -> 8091',))
    >>> compare("I have two cats.", "The user owns 2 cats", 0.9).relation.value
    'duplicate'
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from memtree.memories.relation import lexicon, other_languages
from memtree.memories.relation.lexicon import base_form, light
from memtree.memories.relation.reading import (
    ARTICLE,
    COMMA,
    CONJUNCTION,
    COPULA,
    MODAL,
    PREPOSITION,
    TextReading,
    Token,
    read,
)
from memtree.ranking.relevance_scale import CHANCE, STRONG
from memtree.statements.attributes import changed
from memtree.text.normal_form import canonical

# Has a nut allergy, is allergic to nuts; mostly reads, reads mostly; a daily call, a call each day.
_ANYWHERE = frozenset(
    """
    have occur allergy afraid name usually often sometimes rarely recently now daily weekly monthly
    yearly
    """.split()
)
_TIMES = ("d:", "t:", "wd:", "wds:", "n:", "time:", "month:")


def common(new: Sequence[Token], old: Sequence[Token]) -> tuple[list[Token], list[Token]]:
    """Return the tokens that both have, as often as both have them, each text's in its own
    order."""
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
    """Return the parts of two texts with the same keys that stand in another order, so that they
    say something else; None where they say the same: equal, a list in another order, or one part
    that went to the front: "on Mondays I run", "green is my favourite"."""
    new, old = _listed(_placed(new)), _listed(_placed(old))
    start, end = 0, len(new)
    while start < end and new[start].key == old[start].key:
        start += 1
    while end > start and new[end - 1].key == old[end - 1].key:
        end -= 1
    if start == end:
        return None
    ours, theirs = list(new[start:end]), list(old[start:end])
    if _after_markers(new) != _after_markers(old):
        return ours, theirs
    if _turned(list(new[:end]), list(old[:end])) or _turned(ours, theirs):
        return None
    return ours, theirs


def _placed(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens without the verbs whose place says nothing: my flat has a balcony, I have a
    flat with one."""
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


def _after_markers(tokens: Sequence[Token]) -> Counter[tuple[str, str]]:
    keys = [token.key for token in tokens]
    return Counter(
        (key, keys[at + 1] if at + 1 < len(keys) else "")
        for at, key in enumerate(keys)
        if key[0] == "="
    )


def _listed(tokens: Sequence[Token]) -> list[Token]:
    """Sort the members of each list (tea, milk and juice) by their keys. The end of the list must
    be seen: "Ann and Ben met Tom" may go on with what belongs to Ben alone."""
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


SHARED = 0.5  # of the content of the shorter text: so much two texts on one thing have in common
ALIKE = CHANCE  # relevance of two texts of which nothing says that they differ
READ = 4_000  # characters of a text that is read closely; 0.1 s at worst
SHOWN = 80  # characters of one side of a difference
NOTHING = "(nothing)"
_WORD = re.compile(r"\w+|[^\w\s]")


class Relation(enum.StrEnum):
    SAME = "same"
    DUPLICATE = "duplicate"
    POSSIBLE_UPDATE = "possible_update"
    OTHER = "other"


class Comparison(NamedTuple):
    """The relation of a new text to an older one. `differs`: what a possible update changes, as
    "old -> new"."""

    relation: Relation
    differs: tuple[str, ...] = ()


def compare(new: str, old: str, relevance: float | None) -> Comparison:
    """Tell how a new text relates to an old one. `relevance`: of the two by the embedder, in [0,
    1]; None: words alone decide, and the two must have the same ones. Another value of one
    attribute needs neither. Linear in the texts."""
    if canonical(new) == canonical(old):
        return Comparison(Relation.SAME)
    change = changed(new, old)
    if change.differs:
        return Comparison(Relation.POSSIBLE_UPDATE, (change.differs,))
    if change.apart:
        return Comparison(Relation.OTHER)
    if relevance is not None and relevance < CHANCE:
        # Before the texts are read: that takes half a millisecond.
        return Comparison(Relation.OTHER)
    if max(len(new), len(old)) > READ:
        return _of_long(new, old, relevance)
    news, olds = read(new), read(old)
    came, gone = _left(news.tokens, olds.tokens), _left(olds.tokens, news.tokens)
    came, gone = _without_forms(came, gone)
    # A number or a date is all that changed: the port is 8090, is 8091.
    swapped = len(came) == len(gone) == 1 and came[0].value and gone[0].value
    alone = relevance is None and swapped and min(len(news.tokens), len(olds.tokens)) > 1
    if not alone and not _near(news, olds, relevance):
        return Comparison(Relation.OTHER)
    differs = _differences(news, olds, came, gone)
    if not differs and (relevance is None or relevance >= ALIKE):
        return Comparison(Relation.DUPLICATE)
    return Comparison(Relation.POSSIBLE_UPDATE, differs)


def _of_long(new: str, old: str, relevance: float | None) -> Comparison:
    """Compare pages: a difference of one word is no news there, but no duplicate either."""
    ours, theirs = _WORD.findall(new.lower()), _WORD.findall(old.lower())
    if ours == theirs and (relevance is None or relevance >= STRONG):
        return Comparison(Relation.DUPLICATE)
    shared = (Counter(ours) & Counter(theirs)).total()
    near = relevance is not None or shared > SHARED * min(len(ours), len(theirs))
    return Comparison(Relation.POSSIBLE_UPDATE if near else Relation.OTHER)


def _near(new: TextReading, old: TextReading, relevance: float | None) -> bool:
    """Return True if the two are about one thing."""
    free = light()
    ours = [token for token in new.tokens if token.key not in free]
    theirs = [token for token in old.tokens if token.key not in free]
    shared = len(common(ours, theirs)[0])
    enough = SHARED * min(len(ours), len(theirs))
    if relevance is None:
        return shared > 1 and shared > enough
    return relevance >= STRONG or shared >= max(1, enough)


def _differences(
    new: TextReading, old: TextReading, came: list[Token], gone: list[Token]
) -> tuple[str, ...]:
    """Return what says that the two are not one; empty: nothing does."""
    came = [token for token in came if token.key not in _GHOSTS]
    gone = [token for token in gone if token.key not in _GHOSTS]
    keys = {token.key for token in (*came, *gone)}
    if came and gone and (not keys <= _VERBS or keys >= _DUTIES):
        return (_difference(gone, came),)
    free = _EXCHANGED if came and gone else frozenset[str]()
    heavy = [
        token
        for token in (*came, *gone)
        if token.negated or (token.key not in free and not _is_light(token, new, old))
    ]
    if heavy:
        return (_difference(gone, came),)
    if new.past != old.past:
        return ("then -> now",) if old.past else ("now -> then",)
    if new.gender and old.gender and new.gender != old.gender:
        return (f"{old.gender} -> {new.gender}",)
    ours, theirs = common(new.tokens, old.tokens)
    if not _negations_agree(ours, theirs):
        return (_negated(theirs, ours),)
    if changed := _changed_form(ours, theirs):
        return (changed,)
    if not prepositions_agree(ours, theirs):
        return (_difference(theirs, ours),)
    if parts := moved(ours, theirs):
        return (_difference(parts[1], parts[0]),)
    return ()


def _left(tokens: Sequence[Token], others: Sequence[Token]) -> list[Token]:
    """Return the tokens that the others lack."""
    kept = {id(token) for token in common(tokens, others)[0]}
    return [token for token in tokens if id(token) not in kept]


def _without_forms(came: list[Token], gone: list[Token]) -> tuple[list[Token], list[Token]]:
    """Leave out forms of one verb in languages whose inflections are not known (wohne, wohnt), and
    the user whom a verb may imply (vivo, el usuario vive)."""
    if len(came) + len(gone) == 3:
        came = [token for token in came if token.key != "user" or token.negated]
        gone = [token for token in gone if token.key != "user" or token.negated]
    if len(came) != 1 or len(gone) != 1:
        return came, gone
    one, other = came[0].surface, gone[0].surface
    if one.lower() == one and other.lower() == other and other_languages.same_verb(one, other):
        return [], []
    return came, gone


def _is_light(token: Token, new: TextReading, old: TextReading) -> bool:
    if token.negated:
        return False
    if token.key in _DUTIES:  # of the assistant; of the user it is a fact
        return not any(each.key == "user" for each in (*new.tokens, *old.tokens))
    if token.key == "n:1":
        return token.surface.lower() == "one"
    return not token.value and token.key in light()


def _negations_agree(new: Sequence[Token], old: Sequence[Token]) -> bool:
    """Return True if both have as many negations, each at the same word or one beside it: eats no
    meat, does not eat meat."""
    ours = [at for at, token in enumerate(new) if token.negated]
    theirs = [at for at, token in enumerate(old) if token.negated]
    return len(ours) == len(theirs) and all(
        new[at].key in _around(old, other) and old[other].key in _around(new, at)
        for at, other in zip(ours, theirs, strict=True)
    )


def _around(tokens: Sequence[Token], at: int) -> list[str]:
    return [token.key for token in tokens[max(0, at - 1) : at + 2]]


def _changed_form(new: Sequence[Token], old: Sequence[Token]) -> str:
    """Return the first word whose form changed the meaning, as a difference: lives, lived; is
    paying, is paid; a cat, cats. "" for none."""
    forms = {token.key: token for token in old}
    for token in new:
        other = forms.get(token.key, token)
        forms_of_both = frozenset((token.form, other.form))
        counted = (
            (token.lead | other.lead) & ARTICLE
            and len(forms_of_both) > 1
            and "allergy" not in (_after(token, new), _after(other, old))  # a nut allergy: to nuts
        )
        # Is paid, pays; but "is employed" says "works".
        turned = forms_of_both == _ACTIVE_PASSIVE and (
            base_form(token.surface.lower()) == base_form(other.surface.lower())
        )
        if counted or turned or forms_of_both in _FORMS_APART:
            return _difference([other], [token])
    return ""


def _after(token: Token, tokens: Sequence[Token]) -> str:
    """Return the key of the token after this one."""
    return next((after.key for each, after in pairwise(tokens) if each is token), "")


def _difference(old: Sequence[Token], new: Sequence[Token]) -> str:
    return f"{_shown(old)} -> {_shown(new)}"


def _negated(old: Sequence[Token], new: Sequence[Token]) -> str:
    def said(tokens: Sequence[Token]) -> str:
        negated = [token for token in tokens if token.negated]
        return _shown(negated) if negated else NOTHING

    return f"{said(old)} -> {said(new)}"


def _shown(tokens: Sequence[Token]) -> str:
    pieces: list[str] = []
    for token in tokens:
        piece = f"not {token.surface}" if token.negated and token.surface else token.surface
        if piece and (not pieces or pieces[-1] != piece):
            pieces.append(piece)
        if sum(map(len, pieces[-3:])) > SHOWN or len(pieces) > SHOWN:
            break
    text = " ".join(pieces)
    return (text[: SHOWN - 1] + "…" if len(text) > SHOWN else text) or NOTHING


_FORMS_APART = frozenset((frozenset(("does", "past")), frozenset(("doing", "done"))))
_ACTIVE_PASSIVE = frozenset(("does", "done"))
# What may stand for each other where nothing else differs: has, uses; "use X", "X should be".
_VERBS = frozenset(("have", "use", "occur", "run", "keep", "=must", "=should"))
_EXCHANGED = frozenset(("run", "keep"))  # of those: never to be left out
_DUTIES = frozenset(("=must", "=should"))
_GHOSTS = frozenset(("we", "you", "they"))
