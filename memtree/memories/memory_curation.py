"""Tell the past of memories, delete many with a receipt, and forget the one that words mean.

A user's order to forget takes the one memory that its words mean, or nothing:

    words -> search -> those that fit -> one: it goes; none or several: nothing goes

A memory fits if its words hold all words of the order that say something, in whatever form, and if
it begins with one of them: "I live in Graz" means "User lives in Graz, near the station", neither
"User works in Graz" nor "User's sister lives in Graz". No relevance is asked for: that of two
values of one thing is as high as that of a paraphrase. Whether one fits depends on no other memory,
so an order that was obeyed fits nothing when it comes again.

    >>> fits("I live in Graz", "User lives in Graz, near the station")
    True
    >>> fits("I live in Graz", "User's sister lives in Graz"), fits("my port", "The port is 8091")
    (False, True)

What else a memory says stays, where it can be parted before a verb. A memory that cannot be parted
is not deleted by an order.

    >>> rest("I live in Graz", "User lives in Graz and works as a nurse")
    'User works as a nurse'
    >>> rest("I like tea", "User likes tea and coffee") is None
    True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

from memtree.clock import DAY
from memtree.errors import NotFound
from memtree.memories.book import ForgottenMemory, MemoryBook
from memtree.memories.deletion_check import MOST_SEARCHED
from memtree.memories.draft import MemoryDraft
from memtree.memories.duplicates import NearMemory
from memtree.memories.memory import WORDING, Memory, Tombstone
from memtree.memories.memory_store import MemoryFilter, MemoryRef, MemoryStore
from memtree.memories.relation import lexicon, other_languages
from memtree.memories.relation.reading import Token, read
from memtree.memories.relation.relation import Relation
from memtree.memories.rule_extraction import joined, predicates
from memtree.memories.scope import Scope
from memtree.memories.user_memories import ExtractedMessages, ForgetOrder
from memtree.statements import forget_orders
from memtree.statements.grammar import REFERS_BACK, SkipReason
from memtree.statements.user_statements import own_sentences

_MOST_REPLACED = 50  # memories in one line of succession


class DeletionReceipt(NamedTuple):
    """`verified`: no list, search, history or export tells one of them, or a twin, any more (looked
    for are up to `MOST_SEARCHED`). What stands apart: `undelete_until`, unix seconds, None where
    nothing brings them back; `tombstones`, which have no texts; `snapshots` that quote one."""

    deleted: tuple[str, ...]
    verified: bool
    undelete_until: float | None = None
    tombstones: int = 0
    snapshots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplacedMemory:
    """A memory that another one replaced. `versions`: newest first."""

    tombstone: Tombstone
    versions: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class MemoryPast:
    """`versions`: newest first, the present one among them. `replaced`: newest first."""

    versions: tuple[Memory, ...]
    replaced: tuple[ReplacedMemory, ...] = ()


class MemoryCuration:
    """Bound to its ports; safe for concurrent calls. `book`: of the same store; its rules hold."""

    def __init__(self, store: MemoryStore, book: MemoryBook) -> None:
        self._store, self.book = store, book

    # -- the past ------------------------------------------------------------------------------

    async def past(self, scope: Scope, ref: MemoryRef) -> MemoryPast:
        """Return all versions of a memory and of those that it replaced. Raises `NotFound`."""
        versions = await self._store.history(scope, ref)
        if not versions:
            raise NotFound("There is no memory with this id.", param="id")
        stones = await self._store.tombstones(scope)
        replaced: list[ReplacedMemory] = []
        ids = {versions[0].id}
        newer = versions[0]
        while len(replaced) < _MOST_REPLACED:
            stone = next(
                (one for one in stones if one.replaced_by in ids and one.id not in ids), None
            )
            link: MemoryRef | None = newer.supersedes if stone is None else stone.number
            older = [] if link is None else await self._store.history(scope, link)
            if stone is None and (not older or older[0].id in ids):
                break
            if stone is None:  # by what its schema says of unique values: it leaves no tombstone
                first = older[0]
                stone = Tombstone(first.id, first.number, newer.created, replaced_by=newer.id)
            newer = older[0] if older else newer
            ids.add(stone.id)
            replaced.append(ReplacedMemory(stone, tuple(older)))
        return MemoryPast(tuple(versions), tuple(replaced))

    async def tombstones(self, scope: Scope, limit: int = 1_000) -> list[Tombstone]:
        """List the tombstones of what was forgotten or replaced, newest first."""
        return await self._store.tombstones(scope, limit)

    # -- deleting many -------------------------------------------------------------------------

    async def count(self, scope: Scope, wanted: MemoryFilter) -> int:
        """Count the memories that `delete_matching` would take."""
        return len(await self._store.deletable(scope, wanted, purge=wanted.deleted))

    async def known(self, scope: Scope, refs: Sequence[MemoryRef], *, purge: bool = False) -> int:
        """Count the memories that `delete` would take."""
        return await self.book.count(scope, refs, purge=purge)

    async def delete_matching(
        self, scope: Scope, wanted: MemoryFilter, *, purge: bool = False
    ) -> DeletionReceipt:
        """Delete all that a filter means, or none."""
        page = await self._store.page(scope, wanted, limit=MOST_SEARCHED)
        purge = purge or not self.book.rules.deleted_days
        gone = await self._store.delete_matching(scope, wanted, purge=purge)
        self.book.announce(scope, erased=purge)
        return await self._receipt(scope, gone, page.memories, purge)

    async def delete(
        self, scope: Scope, refs: Sequence[MemoryRef], *, purge: bool = False
    ) -> DeletionReceipt:
        """Delete all of these that are there, or none."""
        known = await self._store.get(scope, list(refs)[:MOST_SEARCHED], over=True)
        gone = await self.book.delete(scope, refs, purge=purge)
        return await self._receipt(scope, gone, known, purge or not self.book.rules.deleted_days)

    async def _receipt(
        self, scope: Scope, gone: Sequence[str], before: Sequence[Memory], purge: bool
    ) -> DeletionReceipt:
        left = await self.book.deletions.trace(scope, gone, before)
        until = None if purge else self.book.clock.now() + self.book.rules.deleted_days * DAY
        ends = until if gone else None
        snapshots = tuple(sorted(left.snapshots))
        return DeletionReceipt(tuple(gone), not left.visible, ends, left.tombstones, snapshots)


LOOKED_AT = 20  # hits of a search, among which those that fit are looked for
MOST_TOLD = 5  # candidates
NEAR = 0.3  # relevance of a memory that may be meant where none fits
READ = 2_000  # characters of a memory
REASON = "the user asked to forget it"
_SAID = "User said: "
_PARTICLE = "of"  # as which `reading` reads endings and particles of Japanese and Chinese


class MemoryWishes(NamedTuple):
    """The requests of a message to the memory. `forget`: what each order is about, "" if it says
    nothing. `off_record`: nothing of it is to be kept. `overview`: it asks for all there is."""

    forget: tuple[str, ...] = ()
    off_record: bool = False
    overview: bool = False


NO_WISHES = MemoryWishes()


def wishes(text: str, *, in_play: bool = False) -> MemoryWishes:
    """Read what the user asks in their own words. `in_play`: as for `own_sentences`. Linear."""
    if not forget_orders.may_ask(text):
        return NO_WISHES
    own = own_sentences(text, in_play=in_play)
    if any(skip.reason is SkipReason.OFF_RECORD for skip in own.skipped):
        return MemoryWishes(off_record=True)
    overview = any(forget_orders.asks_overview(text[low:high]) for low, high in own.readable)
    return MemoryWishes(forget_orders.orders(text, own.readable), False, overview)


def fits(about: str, text: str) -> bool:
    """Return True if a memory with this text says what the words of an order mean, be it beside
    other things."""
    subject, clauses = predicates(text[:READ])
    said = [text, *(subject + each for _, each in clauses[1:])]
    return any(_fits(about, each) for each in said)


def _fits(about: str, text: str) -> bool:
    meant, said = _tokens(about), _tokens(text)
    if weighty := [token for token in meant if token.key not in lexicon.light()]:
        meant, said = weighty, [each for each in said if each.key not in lexicon.light()] or said
    if not meant or not said:
        return False
    return any(_same(said[0], token) for token in meant) and all(
        any(_same(token, other) for other in said) for token in meant
    )


def rest(about: str, text: str) -> str | None:
    """Return what a memory says beside that which the words of an order mean: "" for nothing, None
    where the two cannot be parted."""
    subject, clauses = predicates(text)
    meant, named = _weighty(about), _weighty(subject)
    if meant and all(any(_same(token, other) for other in named) for token in meant):
        return ""  # it is about all that is said of the subject: "my dog"
    if len(clauses) < 2:
        return "" if _names_all(about, text) else None
    goes = [_fits(about, subject + said) for _, said in clauses]
    if not any(goes):
        goes = [_shares(about, said) for _, said in clauses]
    gone = [said for (_, said), each in zip(clauses, goes, strict=True) if each]
    kept = [clause for clause, each in zip(clauses, goes, strict=True) if not each]
    if not all(_names_all(about, said) for said in gone):
        return None
    if any(REFERS_BACK.search(said) for _, said in kept):
        return None
    return subject + kept[0][1] + "".join(map("".join, kept[1:])) if kept else ""


def rest_of(about: str, memory: Memory) -> str | None:
    """Like `rest`, for a memory. One that has data of its own goes as a whole."""
    return "" if memory.kind or memory.data else rest(about, memory.text[:READ])


def _names_all(about: str, text: str) -> bool:
    """Return True if an order names each of the things that words may join in a text."""
    parts = joined(text)
    return len(parts) == 1 or all(_shares(about, part) for part in parts)


def _shares(about: str, text: str) -> bool:
    said = _weighty(text)
    return any(_same(token, other) for token in _weighty(about) for other in said)


def _weighty(text: str) -> list[Token]:
    light = lexicon.light()
    return [each for each in _tokens(text) if each.key not in light and each.key != _PARTICLE]


def _tokens(text: str) -> list[Token]:
    tokens = read(text[:READ].removeprefix(_SAID)).tokens
    return [token for token in tokens if token.key != "user"]


def _same(one: Token, other: Token) -> bool:
    if one.negated != other.negated:
        return False
    return one.key == other.key or other_languages.same_verb(one.key, other.key)


class Obeyed(StrEnum):
    """The outcome of an order."""

    FORGOTTEN = "forgotten"  # now, or when it came before
    SHORTENED = "shortened"  # likewise; what else the memory says stays
    SEVERAL = "several"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Obedience:
    """`gone`: what was deleted just now. `candidates`: several that fit."""

    outcome: Obeyed
    gone: ForgottenMemory | None = None
    candidates: tuple[Memory, ...] = ()


class Meant(NamedTuple):
    """`fitting`: memories that words mean. `near`: others that they may mean, best first."""

    fitting: tuple[Memory, ...] = ()
    near: tuple[Memory, ...] = ()


class MemoryForgetting:
    """Bound to its ports; safe for concurrent calls. Never leaves its scope. `clock`: of the
    memories."""

    def __init__(self, book: MemoryBook, done: ExtractedMessages) -> None:
        self._book, self._done, self.clock = book, done, book.clock

    async def meant(self, scope: Scope, about: str) -> Meant:
        """Return the memories that these words mean. Raises store errors."""
        if not about.strip():
            return Meant()
        result = await self._book.search(scope, about, limit=LOOKED_AT)
        fitting = tuple(hit.memory for hit in result.hits if fits(about, hit.memory.text))
        near = [hit.memory for hit in result.hits if hit.relevance >= NEAR]
        return Meant(fitting, tuple(each for each in near if each not in fitting)[:MOST_TOLD])

    async def propose(self, scope: Scope, old: Memory, draft: MemoryDraft) -> Memory:
        """Save a text that may replace a memory, which counts until a person settles it. Raises as
        `MemoryBook.save` does."""
        saved = await self._book.save(scope, draft)
        if saved.memory.id == old.id or old.id in {each.id for each in saved.memory.updates}:
            return saved.memory
        update = NearMemory(old, 1.0, Relation.POSSIBLE_UPDATE, (WORDING,))
        return await self._book.saving.keep_updates(scope, saved.memory, [update])

    async def obey(self, scope: Scope, digest: bytes, about: str) -> Obedience:
        """Forget what an order in the message with this digest is about, once: not again when the
        message is sent again, nor the last one of several that it did not tell apart. Raises store
        errors; then nothing is forgotten."""
        keys = {_key(each, digest, about): each for each in Obeyed}
        known = {keys[key] for key in await self._done.extracted(scope, list(keys))}
        for done in known & {Obeyed.FORGOTTEN, Obeyed.SHORTENED}:
            return Obedience(done)
        fitting = (await self.meant(scope, about)).fitting
        if not fitting:
            return Obedience(Obeyed.SEVERAL if known else Obeyed.NONE)
        left = None if known or len(fitting) > 1 else rest_of(about, fitting[0])
        if left is None:
            if not known:
                key = _key(Obeyed.SEVERAL, digest, about)
                await self._done.add_extracted(scope, key, [], most=0)
            return Obedience(Obeyed.SEVERAL, candidates=fitting[:MOST_TOLD])
        memory, purge = fitting[0], not self._book.rules.deleted_days
        outcome = Obeyed.SHORTENED if left else Obeyed.FORGOTTEN
        stays = self._book.made_in_place(memory, left) if left else None
        order = ForgetOrder(_key(outcome, digest, about), memory.id, stays, REASON)
        gone = await self._done.forget_once(scope, order, purge=purge)
        if left and gone:
            self._book.saving.without_vectors(scope)
        self._book.announce(scope, erased=purge)
        twins = tuple(id_ for id_ in gone if id_ != memory.id)
        return Obedience(outcome, ForgottenMemory(memory, twins) if gone else None)


def _key(outcome: Obeyed, digest: bytes, about: str) -> bytes:
    """Return the key under which the store knows what became of an order. It tells nothing of the
    words."""
    return sha256(b"\0".join((outcome.encode(), digest, about.encode(errors="replace")))).digest()
