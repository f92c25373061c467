"""Whatever is saved, changed and deleted in whatever order, the book is what a plain model says.

The model is a dictionary of texts; twins, what took the place of what, tombstones and times are
reckoned in it by hand.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
)

from memtree.errors import NotFound
from memtree.memories.book import MemoryRules
from memtree.memories.draft import DedupPolicy, Edit, MemoryDraft
from memtree.memories.scope import Scope, ScopeKind
from memtree.text.normal_form import canonical
from tests.fakes import HashingEmbedder
from tests.unit.memories.books import Opened

SCOPES = (Scope.of_chat("t", "c"), Scope.of_user("t"), Scope.of_agent("t", "a", "s"))
# Texts that are the same or have nothing to do with each other, so that the model needs no rule
# about what is near.
WORDS = ("Harbour", "quartz", "ВЕСНА", "lantern", "茶", "Glückspilz")
DAYS = 30


@dataclass
class Row:
    """`by`: the id of what took its place; `main`: of the twin that stands for it."""

    scope: Scope
    text: str
    expires: float | None = None
    deleted: float | None = None
    by: str = ""
    main: str = ""
    erased: bool = False

    @property
    def there(self) -> bool:
        return not self.erased and self.deleted is None

    @property
    def counts(self) -> bool:
        return self.there and not self.by and not self.main

    def live(self, now: float) -> bool:
        return self.counts and (self.expires is None or self.expires > now)

    def says(self, text: str) -> bool:
        return canonical(self.text) == canonical(text)


class Memories(RuleBasedStateMachine):
    saved = Bundle("saved")

    @initialize(embeds=st.booleans())
    def begin(self, embeds: bool) -> None:
        self.loop = asyncio.Runner()
        self.rows: dict[str, Row] = {}
        self.of = self.loop.run(self._opened(HashingEmbedder() if embeds else None))
        self.changed = dict.fromkeys(SCOPES, 0)

    async def _opened(self, embedder: HashingEmbedder | None) -> Opened:
        return Opened(embedder, MemoryRules(deleted_days=DAYS), None)

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.loop.run(self.of.book.close())
            self.loop.close()

    @property
    def now(self) -> float:
        return self.of.clock.time

    @rule(
        target=saved,
        scope=st.sampled_from(SCOPES),
        word=st.sampled_from(WORDS),
        policy=st.sampled_from(DedupPolicy),
        seconds=st.none() | st.integers(1, 100),
        ending=st.sampled_from(("", ".", " !", "  ")),
    )
    def save(self, scope, word, policy, seconds, ending):
        expires = None if seconds is None else self.now + seconds
        there = self._saying(scope, word)
        result = self.loop.run(
            self.of.book.save(scope, MemoryDraft(word + ending, expires=expires), policy)
        )
        skipped = policy is DedupPolicy.SKIP and bool(there)
        event(f"save {policy} {'skipped' if skipped else 'stored'}")
        assert result.existing == skipped
        if policy is DedupPolicy.ASK:
            assert {near.memory.id for near in result.near} <= set(there)
            assert bool(result.near) == bool(there)
        if skipped:
            assert result.memory.id in there
            return multiple()
        id_ = result.memory.id
        self.rows[id_] = Row(scope, (word + ending).strip(), expires)
        if there and scope.kind is not ScopeKind.AGENT:
            self._stands_for(id_, there[0])
        assert result.memory.expires == self.rows[id_].expires
        return id_

    def _saying(self, scope: Scope, word: str) -> list[str]:
        return [
            id_
            for id_, row in self.rows.items()
            if row.scope == scope and row.live(self.now) and row.says(word)
        ]

    def _stands_for(self, id_: str, twin: str) -> None:
        """The new one stands for the oldest that says the same, and lasts as long."""
        ends = [self.rows[id_].expires, self.rows[twin].expires]
        known = [end for end in ends if end is not None]
        self.rows[id_].expires = max(known) if len(known) == len(ends) else None
        for each in (twin, *self._twins(twin)):
            self.rows[each].main = id_

    def _twins(self, main: str) -> list[str]:
        return [id_ for id_, row in self.rows.items() if row.main == main and not row.erased]

    @rule(id_=saved, word=st.sampled_from(WORDS))
    def edit(self, id_, word):
        main, counting = self._main(id_), self._counting(id_)
        there = self._saying(counting.scope, word) if counting.live(self.now) else []
        edited = self.of.book.edit(counting.scope, id_, Edit(text=word))
        if self._expect(counting.there, edited) is not None:
            if there and main not in there and counting.scope.kind is not ScopeKind.AGENT:
                event("edited to what another says")
                self._stands_for(main, there[0])
            counting.text = word

    @rule(target=saved, id_=saved, word=st.sampled_from(WORDS))
    def correct(self, id_, word):
        main, row = self._main(id_), self._counting(id_)
        there = self._saying(row.scope, word)
        result = self._expect(
            row.live(self.now), self.of.book.correct(row.scope, id_, MemoryDraft(word))
        )
        if result is None:
            return multiple()
        if row.says(word):
            assert result.existing
            return multiple()
        assert result.memory.supersedes == main
        row.by = result.memory.id
        self.rows[result.memory.id] = Row(row.scope, word)
        if there and row.scope.kind is not ScopeKind.AGENT:
            self._stands_for(result.memory.id, there[0])
        stones = self.loop.run(self.of.store.tombstones(row.scope))
        assert (main, row.text) in {(stone.id, stone.text) for stone in stones}
        return result.memory.id

    @rule(id_=saved, reason=st.sampled_from(("", "wrong")))
    def forget(self, id_, reason):
        main, row = self._main(id_), self._counting(id_)
        counted = row.counts
        gone = self._expect(row.there, self.of.book.forget(row.scope, id_, reason))
        if gone is None:
            return
        assert {main, *gone.twins} == self._deleted(main)
        if counted:
            stones = self.loop.run(self.of.store.tombstones(row.scope))
            assert (main, reason, "") in {(each.id, each.reason, each.text) for each in stones}

    @rule(id_=saved)
    def delete(self, id_):
        main, row = self._main(id_), self._counting(id_)
        expected = self.loop.run(self.of.book.count(row.scope, [id_]))
        gone = self.loop.run(self.of.book.delete(row.scope, [id_]))
        assert len(gone) == expected
        assert set(gone) == (self._deleted(main) if row.there else set())
        event(f"delete {min(len(gone), 3)}")

    def _deleted(self, main: str) -> set[str]:
        """Delete it with all that say the same, what they stand for, and what they replaced."""
        gone = self._same(main, deleted=False)
        beside = {id_ for each in gone for id_ in self._twins(each)}
        past = {id_ for id_ in self._lineage(gone) if self.rows[id_].there}
        for id_ in gone | beside | past:
            self.rows[id_].deleted = self.now
        return gone

    def _same(self, main: str, *, deleted: bool) -> set[str]:
        row = self.rows[main]
        return {main} | {
            id_
            for id_, other in self.rows.items()
            if other.scope == row.scope and other.says(row.text)
            and not other.erased and (deleted or other.there)
        }  # fmt: skip

    def _lineage(self, ids: set[str]) -> set[str]:
        """These, what they stand for, and what they took the place of."""
        every, before = set(ids), set[str]()
        while every != before:
            before = set(every)
            every |= {
                id_
                for id_, row in self.rows.items()
                if not row.erased and before & {row.by, row.main}
            }
        return every

    @rule(id_=saved)
    def undelete(self, id_):
        main, row = self._main(id_), self._counting(id_)
        back = self.loop.run(self.of.book.undelete(row.scope, [id_]))
        comes = (
            row.deleted is not None
            and not row.erased
            and not (row.expires is not None and row.deleted < row.expires <= self.now)
            and not (row.by and not self.rows[row.by].there)
        )
        assert [memory.id for memory in back] == ([main] if comes else [])
        if comes:
            time = row.deleted
            past = {each for each in self._lineage({main}) if self.rows[each].deleted == time}
            for each in (main, *self._twins(main), *past):
                self.rows[each].deleted = None

    @rule(id_=consumes(saved))
    def purge(self, id_):
        main, row = self._main(id_), self._counting(id_)
        gone = self.loop.run(self.of.book.delete(row.scope, [id_], purge=True))
        assert set(gone) == (set() if row.erased else self._same(main, deleted=True))
        if not row.erased:
            self._erase({id_, *gone})
            every = [each for each, other in self.rows.items() if other.erased]
            assert self.loop.run(self.of.store.get(row.scope, every, deleted=True)) == []

    def _erase(self, ids: set[str]) -> None:
        for id_ in self._lineage(ids):
            self.rows[id_].erased = True

    @rule(days=st.sampled_from((0.0005, 1, DAYS + 1)))
    def time_goes_by(self, days):
        self.of.clock.time += days * 86_400
        self.loop.run(self.of.book.sweep())
        end = self.now - DAYS * 86_400
        self._erase(
            {
                id_
                for id_, row in self.rows.items()
                if not row.erased
                and any(time is not None and time <= end for time in (row.deleted, row.expires))
            }
        )

    @rule(scope=st.sampled_from(SCOPES), word=st.sampled_from(WORDS))
    def search(self, scope, word):
        found = self.loop.run(self.of.book.search(scope, word, limit=100))
        live = {id_ for id_, row in self.rows.items() if row.scope == scope and row.live(self.now)}
        hits = {hit.memory.id for hit in found.hits}
        assert hits <= live
        same = {id_ for id_ in live if self.rows[id_].says(word)}
        assert same <= hits

    @invariant()
    def pages_hold_what_is_live(self):
        if not hasattr(self, "loop"):
            return
        for scope in SCOPES:
            page = self.loop.run(self.of.book.page(scope, limit=1_000))
            live = {
                id_: row.text
                for id_, row in self.rows.items()
                if row.scope == scope and row.live(self.now)
            }
            assert {memory.id: memory.text for memory in page.memories} == live
            numbers = [memory.number for memory in page.memories]
            assert numbers == sorted(numbers, reverse=True)
            twins = self.loop.run(self.of.book.twins(scope, page.memories))
            told = {id_: [one for one in self._twins(id_) if self.rows[one].there] for id_ in live}
            assert twins == {id_: each for id_, each in told.items() if each}

    @invariant()
    def counters_never_go_back(self):
        if not hasattr(self, "loop"):
            return
        for scope in SCOPES:
            state = self.loop.run(self.of.book.state(scope))
            assert state.changed >= self.changed[scope]
            self.changed[scope] = state.changed

    def _main(self, id_: str) -> str:
        """Whose row an id means: of the twin that stands for it, until it is erased itself."""
        row = self.rows[id_]
        return id_ if row.erased else row.main or id_

    def _counting(self, id_: str) -> Row:
        return self.rows[self._main(id_)]

    def _expect(self, there: bool, call):
        """Return what the call gives, None where it must find nothing."""
        try:
            result = self.loop.run(call)
        except NotFound:
            assert not there
            return None
        assert there
        return result


TestMemories = Memories.TestCase
