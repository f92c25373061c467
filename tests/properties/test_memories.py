"""Whatever is saved, changed and deleted in whatever order, the book is what a plain model says.

The model is a dictionary of texts; duplicates, tombstones and times are reckoned in it by hand.
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
from memtree.memories.rules.canonical import canonical
from memtree.memories.scope import Scope
from tests.fakes import HashingEmbedder
from tests.unit.memories.books import Opened

SCOPES = (Scope.of_chat("t", "c"), Scope.of_user("t"), Scope.of_agent("t", "a", "s"))
# Texts that are the same or have nothing to do with each other, so that the model needs no rule
# about what is near.
WORDS = ("Harbour", "quartz", "ВЕСНА", "lantern", "茶", "Glückspilz")
DAYS = 30


@dataclass
class Row:
    scope: Scope
    text: str
    expires: float | None = None
    deleted: float | None = None
    superseded: bool = False
    erased: bool = False

    def live(self, now: float) -> bool:
        ended = self.expires is not None and self.expires <= now
        return not (ended or self.superseded or self.erased) and self.deleted is None


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
        there = [
            id_
            for id_, row in self.rows.items()
            if row.scope == scope and row.live(self.now) and canonical(row.text) == canonical(word)
        ]
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
        self.rows[result.memory.id] = Row(scope, (word + ending).strip(), expires)
        return result.memory.id

    @rule(id_=saved, word=st.sampled_from(WORDS))
    def edit(self, id_, word):
        self._expect(id_, lambda row: self.of.book.edit(row.scope, id_, Edit(text=word)))
        if self.rows[id_].live(self.now):
            self.rows[id_].text = word

    @rule(target=saved, id_=saved, word=st.sampled_from(WORDS))
    def correct(self, id_, word):
        row = self.rows[id_]
        same = canonical(row.text) == canonical(word)
        result = self._expect(
            id_, lambda row: self.of.book.correct(row.scope, id_, MemoryDraft(word))
        )
        if result is None:
            return multiple()
        if same:
            assert result.existing
            return multiple()
        assert result.memory.supersedes == id_
        row.superseded = True
        self.rows[result.memory.id] = Row(row.scope, word)
        stones = self.loop.run(self.of.store.tombstones(row.scope))
        assert (id_, row.text) in {(stone.id, stone.text) for stone in stones}
        return result.memory.id

    @rule(id_=saved, reason=st.sampled_from(("", "wrong")))
    def forget(self, id_, reason):
        row = self.rows[id_]
        if self._expect(id_, lambda row: self.of.book.forget(row.scope, id_, reason)):
            row.deleted = self.now
            stones = self.loop.run(self.of.store.tombstones(row.scope))
            assert (id_, reason, "") in {(each.id, each.reason, each.text) for each in stones}

    @rule(id_=saved)
    def delete(self, id_):
        row = self.rows[id_]
        gone = self.loop.run(self.of.book.delete(row.scope, [id_]))
        assert gone == ([id_] if row.live(self.now) else [])
        if gone:
            row.deleted = self.now

    @rule(id_=saved)
    def undelete(self, id_):
        row = self.rows[id_]
        back = self.loop.run(self.of.book.undelete(row.scope, [id_]))
        if row.deleted is None or row.erased:
            assert back == []
            return
        row.deleted = None
        assert bool(back) == row.live(self.now) or not row.live(self.now)

    @rule(id_=consumes(saved))
    def purge(self, id_):
        row = self.rows[id_]
        self.loop.run(self.of.book.delete(row.scope, [id_], purge=True))
        if row.live(self.now) or row.deleted is not None:
            row.erased = True
            assert self.loop.run(self.of.store.get(row.scope, [id_], deleted=True)) == []

    @rule(days=st.sampled_from((0.0005, 1, DAYS + 1)))
    def time_goes_by(self, days):
        self.of.clock.time += days * 86_400
        self.loop.run(self.of.book.sweep())
        end = self.now - DAYS * 86_400
        for row in self.rows.values():
            ended = (row.deleted, row.expires)
            if any(time is not None and time <= end for time in ended):
                row.erased = True

    @rule(scope=st.sampled_from(SCOPES), word=st.sampled_from(WORDS))
    def search(self, scope, word):
        found = self.loop.run(self.of.book.search(scope, word, limit=100))
        live = {id_ for id_, row in self.rows.items() if row.scope == scope and row.live(self.now)}
        hits = {hit.memory.id for hit in found.hits}
        assert hits <= live
        same = {id_ for id_ in live if canonical(self.rows[id_].text) == canonical(word)}
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

    @invariant()
    def counters_never_go_back(self):
        if not hasattr(self, "loop"):
            return
        for scope in SCOPES:
            state = self.loop.run(self.of.book.state(scope))
            assert state.changed >= self.changed[scope]
            self.changed[scope] = state.changed

    def _expect(self, id_, call):
        """What the call gives, None where it must find nothing."""
        row = self.rows[id_]
        live = row.live(self.now)
        try:
            result = self.loop.run(call(row))
        except NotFound:
            assert not live
            return None
        assert live
        return result


TestMemories = Memories.TestCase
