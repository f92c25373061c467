"""Check what is indexed of a history, as the state of an answer tells it."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread, current_thread, main_thread
from typing import Any

import pytest

from memtree.context.caches.known_tree import EMPTY_TREE
from memtree.context.indexing.index_state import (
    NOTHING_INDEXED,
    PROVISIONAL_SHARE,
    IndexState,
    Trouble,
)
from memtree.context.state import Reason, State, is_degraded, with_size
from memtree.tree import growth
from memtree.tree.node import Frontier, Node
from tests.properties.process import World, an_ask, story, user

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
    extracted, threads = growth.extracted, list[Thread]()

    def recorded(*given: Any) -> Node:
        threads.append(current_thread())
        return extracted(*given)

    monkeypatch.setattr(growth, "extracted", recorded)
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
