"""Check how far a history is indexed, and one that is posted once more."""

from __future__ import annotations

import gc
from dataclasses import replace
from functools import cache
from threading import Thread, current_thread, main_thread
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace as replace_frontier

from memtree.context.answer_state import Reason, State, is_degraded, with_size
from memtree.context.index_lookup import (
    LASTING,
    NOTHING_INDEXED,
    PROVISIONAL_SHARE,
    FinishedIndexes,
    IndexState,
    Trouble,
)
from memtree.context.warm_conversations import EMPTY_TREE, Conversations
from memtree.ranking.vectors import pack
from memtree.tree import extraction
from memtree.tree.node import Frontier, Node
from tests.properties.process import Clock, World, after, an_ask, story, user
from tests.properties.strategies import batch, conversation, history_of

# ------------------------------------------------------------------------------------------------
# A history that is posted once more is answered from its turn.


@cache
def posted_history():
    return history_of(conversation(3, 9_000))


@cache
def grown_batch():
    return batch(posted_history())


def indexed(nodes):
    tree = nodes.grown("t", EMPTY_TREE, grown_batch().frontier, grown_batch().nodes)
    return IndexState(grown_batch().frontier, tree, open=grown_batch().open)


def test_what_lacks_nothing_is_found_by_the_very_history():
    nodes, clock = Conversations(), Clock()
    kept = FinishedIndexes(nodes, clock)
    index = indexed(nodes)
    kept.add(posted_history(), index)
    assert kept.find(posted_history()) == index
    assert kept.find(replace(posted_history(), tenant="other")) is None
    assert kept.find(history_of(posted_history().messages[:-1])) is None
    assert kept.nbytes > 0
    clock.time += LASTING + 1
    assert kept.find(posted_history()) is None


def test_the_blocks_behind_a_prefix_are_found_by_its_words_however_old_they_are():
    nodes, clock = Conversations(), Clock()
    kept = FinishedIndexes(nodes, clock)
    index = replace(indexed(nodes), prefix=len(posted_history()), cut=grown_batch().cut)
    kept.add(posted_history(), index)
    clock.time += LASTING + 1
    without = replace(index, cut=None)
    assert kept.with_cut(posted_history(), without).cut == grown_batch().cut is not None
    other = replace(without, frontier=replace_frontier(index.frontier, tail=1))
    assert kept.with_cut(posted_history(), other).cut is None
    assert kept.with_cut(replace(posted_history(), tenant="other"), without).cut is None
    kept.forget("t")
    assert kept.with_cut(posted_history(), without).cut is None


def test_what_lacks_something_is_looked_up_again():
    nodes = Conversations()
    kept = FinishedIndexes(nodes, Clock())
    index = indexed(nodes)
    for lacking in (
        replace(index, trouble=Trouble.STORE),
        replace(index, trouble=Trouble.INDEXING),
        replace(index, unembedded_tokens=1),
        replace(index, unsummarised_tokens=1),
    ):
        kept.add(posted_history(), lacking)
        assert kept.find(posted_history()) is None


def test_it_holds_no_node_longer_than_the_cache_of_nodes():
    nodes = Conversations()
    kept = FinishedIndexes(nodes, Clock())
    kept.add(posted_history(), indexed(nodes))
    nodes.forget("t")
    assert kept.find(posted_history()) is None


async def test_it_finds_no_tree_without_its_vectors():
    nodes = Conversations()
    kept = FinishedIndexes(nodes, Clock(), embeds=True)
    index = indexed(nodes)
    kept.add(posted_history(), index)
    assert kept.find(posted_history()) is None
    corpus = await nodes.corpus(index.tree, 4)
    assert kept.find(posted_history()) is None
    await nodes.with_vectors(index.tree, corpus, {leaf.id: packed(leaf) for leaf in corpus.leaves})
    assert kept.find(posted_history()) == index
    assert kept.before(posted_history(), len(posted_history())) is not None


def packed(leaf):
    return pack(np.ones((len(leaf.passages), 4), np.float32), [1] * len(leaf.passages))


@pytest.mark.slow
def test_what_lacks_vectors_takes_no_more_for_each_of_them():
    nodes = Conversations()
    kept = FinishedIndexes(nodes, Clock(), 100_000)
    ids = frozenset(number.to_bytes(32, "big") for number in range(50_000))
    gc.collect()
    kept.add(posted_history(), replace(indexed(nodes), unembedded=ids, unembedded_tokens=1))
    held = [each for each in gc.get_referrers(ids) if each is not globals()]
    assert not [each for each in held if isinstance(each, IndexState)]


def test_a_deletion_takes_what_is_of_the_tenant_and_bytes_are_bounded():
    nodes = Conversations()
    kept = FinishedIndexes(nodes, Clock())
    kept.add(posted_history(), indexed(nodes))
    assert kept.tenants == {"t"}
    kept.forget("other")
    assert kept.find(posted_history()) is not None
    kept.forget("t")
    assert (kept.find(posted_history()), kept.tenants, kept.nbytes) == (None, set(), 0)
    small = FinishedIndexes(nodes, Clock(), 100)
    small.add(posted_history(), indexed(nodes))
    assert (small.find(posted_history()), small.nbytes) == (None, 0)


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


@pytest.mark.slow
async def test_two_processes_that_take_turns_read_only_what_the_other_made():
    world, alone, posted = World(), World(), story(321)
    memories = world.memory(), world.memory()
    for turn in range(8):
        answer = await world.ask(posted, memories[turn % 2])
        assert answer.messages == (await alone.ask(posted)).messages
        for each in range(6):
            posted = after(posted, 6 * turn + each, f"It was {each}, " * 40)
    assert world.store.calls.count("descendants") == 1
    assert world.store.calls.count("nodes") > 1


async def test_a_conversation_stays_one_when_it_is_asked_for_another_window_in_between():
    world, posted = World(), story()
    await world.ask(posted)
    longer = after(after(posted, 1), 2)
    await world.ask(longer, window=64_000)
    await world.ask(after(after(longer, 3), 4))
    listed = await world.used.conversations.page("t", 10)
    assert len(listed.conversations) == 1


# ------------------------------------------------------------------------------------------------
# Check what is indexed of a history, as the state of an answer tells it.


INDEXED = IndexState(Frontier(tokens=1_000), EMPTY_TREE)
BORDER = int(PROVISIONAL_SHARE * 1_000)


@pytest.mark.parametrize("trouble", Trouble)
def test_trouble_of_the_index_is_named_before_all_else(trouble: Trouble) -> None:
    index = replace(INDEXED, trouble=trouble, unembedded_tokens=1_000)
    assert index.state(by_words=True) == f"degraded:{trouble}"
    assert is_degraded(index.state())


def test_a_failed_embedder_is_named_before_missing_vectors() -> None:
    index = replace(INDEXED, unembedded_tokens=1_000)
    assert (index.state(by_words=True), index.state()) == (State.NO_EMBEDDER, State.PROVISIONAL)


@pytest.mark.parametrize(
    ("missing", "state"), [(BORDER, State.PACKED), (BORDER + 1, State.PROVISIONAL)]
)
def test_a_few_missing_vectors_do_not_count(missing: int, state: State) -> None:
    assert replace(INDEXED, unembedded_tokens=missing).state() is state


def test_only_a_tree_that_ends_early_is_not_whole() -> None:
    assert NOTHING_INDEXED.whole
    assert replace(NOTHING_INDEXED, trouble=Trouble.STORE).whole
    assert not replace(NOTHING_INDEXED, trouble=Trouble.INDEXING).whole


def test_what_stages_two_and_three_have_to_do_is_added_up() -> None:
    assert replace(INDEXED, unembedded_tokens=3, unsummarised_tokens=4).pending_tokens == 7


def test_a_cause_without_a_state_is_an_error() -> None:
    with pytest.raises(ValueError, match="degraded:sleepy"):
        State.degraded("sleepy")


def test_a_reason_keeps_its_name_in_front_of_its_size() -> None:
    """Metrics count by what stands before the semicolon."""
    for reason in Reason:
        assert with_size(reason, 53_000).partition(";")[0] == reason
    assert with_size(Reason.CHEAPER_WHOLE, 53_000) == "cheaper-whole; folds-at=53000"


@pytest.mark.slow
async def test_the_open_leaf_is_extracted_in_a_thread_and_once_for_all_searches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may stand in a message of megabytes, which is read for more than 10 ms."""
    extracted, threads = extraction.extracted, list[Thread]()

    def recorded(*given: Any) -> Node:
        threads.append(current_thread())
        return extracted(*given)

    monkeypatch.setattr(extraction, "extracted", recorded)
    world = World()
    posted = [*story(), user("Which port was it that the gateway listens on?")]
    _, details = await world.used.compress_with_details(an_ask(posted))
    await world.used.tree(an_ask(posted))
    assert len(threads) == 2
    assert details.folded is not None
    found = [await details.folded.search("gateway port") for _ in range(3)]
    assert found[0] == found[1] == found[2]
    assert len(threads) == 3
    assert main_thread() not in threads
