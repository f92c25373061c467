"""A history that is posted once more is answered from its turn."""

from __future__ import annotations

import gc
from dataclasses import replace
from weakref import ref

import pytest
from msgspec.structs import replace as replace_frontier

from memtree.context.caches.caches import NodeCache
from memtree.context.caches.known_tree import EMPTY_TREE
from memtree.context.indexing.finished_indexes import LASTING, FinishedIndexes
from memtree.context.indexing.index_state import IndexState, Trouble
from memtree.ranking.corpus import Corpus
from tests.properties.process import Clock, World, after, story
from tests.properties.strategies import batch, conversation, history_of

HISTORY = history_of(conversation(3, 9_000))
GROWN = batch(HISTORY)


def indexed(nodes):
    tree = nodes.grown("t", EMPTY_TREE, GROWN.frontier, GROWN.nodes)
    return IndexState(GROWN.frontier, tree, open=GROWN.open)


def test_what_lacks_nothing_is_found_by_the_very_history():
    nodes, clock = NodeCache(), Clock()
    kept = FinishedIndexes(nodes, clock)
    index = indexed(nodes)
    kept.add(HISTORY, index)
    assert kept.find(HISTORY) == index
    assert kept.find(replace(HISTORY, tenant="other")) is None
    assert kept.find(history_of(HISTORY.messages[:-1])) is None
    assert kept.nbytes > 0
    clock.time += LASTING + 1
    assert kept.find(HISTORY) is None


def test_the_blocks_behind_a_prefix_are_found_by_its_words_however_old_they_are():
    nodes, clock = NodeCache(), Clock()
    kept = FinishedIndexes(nodes, clock)
    index = replace(indexed(nodes), prefix=len(HISTORY), cut=GROWN.cut)
    kept.add(HISTORY, index)
    clock.time += LASTING + 1
    without = replace(index, cut=None)
    assert kept.with_cut(HISTORY, without).cut == GROWN.cut is not None
    other = replace(without, frontier=replace_frontier(index.frontier, tail=1))
    assert kept.with_cut(HISTORY, other).cut is None
    assert kept.with_cut(replace(HISTORY, tenant="other"), without).cut is None
    kept.forget("t")
    assert kept.with_cut(HISTORY, without).cut is None


def test_what_lacks_something_is_looked_up_again():
    nodes = NodeCache()
    kept = FinishedIndexes(nodes, Clock())
    index = indexed(nodes)
    for lacking in (
        replace(index, trouble=Trouble.STORE),
        replace(index, trouble=Trouble.INDEXING),
        replace(index, unembedded_tokens=1),
        replace(index, unsummarised_tokens=1),
    ):
        kept.add(HISTORY, lacking)
        assert kept.find(HISTORY) is None


def test_it_holds_no_node_longer_than_the_cache_of_nodes():
    nodes = NodeCache()
    kept = FinishedIndexes(nodes, Clock())
    kept.add(HISTORY, indexed(nodes))
    nodes.forget("t")
    assert kept.find(HISTORY) is None


def test_it_holds_no_corpus_and_finds_none_without_its_vectors():
    nodes, corpus = NodeCache(), Corpus(4)
    kept = FinishedIndexes(nodes, Clock())
    kept.add(HISTORY, replace(indexed(nodes), corpus=corpus))
    found = kept.find(HISTORY)
    assert found is not None
    assert found.corpus is corpus
    held = ref(corpus)
    del found, corpus
    gc.collect()
    assert held() is None
    assert kept.find(HISTORY) is None
    assert kept.before(HISTORY, len(HISTORY)) is not None


@pytest.mark.slow
def test_what_lacks_vectors_takes_no_more_for_each_of_them():
    nodes = NodeCache()
    kept = FinishedIndexes(nodes, Clock(), 100_000)
    ids = frozenset(number.to_bytes(32, "big") for number in range(50_000))
    gc.collect()
    kept.add(HISTORY, replace(indexed(nodes), unembedded=ids, unembedded_tokens=1))
    held = [each for each in gc.get_referrers(ids) if each is not globals()]
    assert not [each for each in held if isinstance(each, IndexState)]


def test_a_deletion_takes_what_is_of_the_tenant_and_bytes_are_bounded():
    nodes = NodeCache()
    kept = FinishedIndexes(nodes, Clock())
    kept.add(HISTORY, indexed(nodes))
    assert kept.tenants == {"t"}
    kept.forget("other")
    assert kept.find(HISTORY) is not None
    kept.forget("t")
    assert (kept.find(HISTORY), kept.tenants, kept.nbytes) == (None, set(), 0)
    small = FinishedIndexes(nodes, Clock(), 100)
    small.add(HISTORY, indexed(nodes))
    assert (small.find(HISTORY), small.nbytes) == (None, 0)


@pytest.mark.slow
async def test_a_request_that_comes_again_reads_its_turn_and_nothing_else():
    world, posted = World(), story()
    first = await world.ask(posted)
    world.store.calls.clear()
    again = await world.ask(posted)
    assert again.messages == first.messages
    assert world.store.calls == ["latest"]
    world.clock.time += LASTING + 1
    later = await world.ask(posted)
    assert later.messages == first.messages
    assert {"frontiers", "put_turn"} <= set(world.store.calls)


@pytest.mark.slow
async def test_after_a_deletion_nothing_is_answered_from_before_it():
    world, posted = World(), story()
    first = await world.ask(posted)
    await world.used.forget_tenant("t")
    assert world.used.cached_tenants == set()
    assert world.empty
    again = await world.ask(after(posted, 1))
    assert again.epoch != first.epoch
    assert not world.empty


async def test_a_conversation_stays_one_when_it_is_asked_for_another_window_in_between():
    world, posted = World(), story()
    await world.ask(posted)
    longer = after(after(posted, 1), 2)
    await world.ask(longer, window=64_000)
    await world.ask(after(after(longer, 3), 4))
    listed = await world.used.conversations.page("t", 10)
    assert len(listed.conversations) == 1
