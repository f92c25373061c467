"""Stage 1: nodes and frontiers from text alone; and which stored prefix a history finds."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from memtree.context.indexing.prefix_lookup import CoveredPrefix, between, covering, first_probes
from memtree.conversation.message import Message
from memtree.digests import summarize
from memtree.digests.clauses.clause import SourcePassage
from memtree.ports.store import IndexBatch
from memtree.stores import RamStore
from memtree.tree import chunking, growth
from memtree.tree.growth import GrownTree
from memtree.tree.node import EMPTY
from tests.made.trees import places, tree_problems
from tests.properties.strategies import (
    batch,
    conversation,
    history_of,
    history_text,
    leaf_text,
    leaves_of,
    prose,
    tail_of,
)


def nodes_of(grown: GrownTree):
    return {node.id: node for node in grown.nodes}


def user(content):
    return Message.of({"role": "user", "content": content})


def test_a_short_history_is_one_open_leaf():
    history = history_of([user("hello"), user("world")])
    grown = batch(history)
    assert (grown.nodes, grown.frontier, dict(grown.frontiers)) == ((), EMPTY, {})
    assert grown.open is not None
    assert (grown.open.messages, grown.open.tail, len(grown.open.passages)) == (2, 0, 2)
    assert leaf_text(history, [grown.open]) == "helloworld"


def test_nothing_gives_nothing():
    grown = batch(history_of([]))
    assert (grown.nodes, grown.open) == ((), None)


@pytest.mark.slow
def test_leaves_and_the_open_one_give_the_text_again():
    history = history_of(conversation(1, 9_000))
    grown = batch(history)
    leaves = [*leaves_of(grown.frontier, nodes_of(grown)), grown.open]
    assert tree_problems(grown.frontier, nodes_of(grown)) == []
    assert leaf_text(history, leaves) == history_text(history)
    assert sum(leaf.messages for leaf in leaves) == len(history)
    assert leaves[-1].tail == 0


@pytest.mark.slow
def test_going_on_from_any_prefix_gives_the_same():
    posted = conversation(2, 9_000)
    history = history_of(posted)
    whole = batch(history)
    known = nodes_of(whole)
    for length in range(1, len(history), 7):
        frontier = whole.frontiers.get(history.addresses[length])
        if frontier is None:
            continue
        loose = {id_: known[id_] for id_ in frontier.nodes}
        grown = growth.grow(tail_of(history, frontier, loose, length))
        assert grown.frontier == whole.frontier
        assert grown.open == whole.open
        assert all(known[node.id] == node for node in grown.nodes)
        assert all(whole.frontiers[one] == found for one, found in grown.frontiers.items())


@pytest.mark.slow
def test_equal_content_has_equal_leaves_wherever_it_stands():
    """And whoever posts it: ids say what is covered, not where."""
    same = [user(prose(n, 400)) for n in range(8)]
    one = batch(history_of(same))
    other = batch(history_of([user(prose(50, 2_000)), *same], tenant="other"))
    assert len(nodes_of(one).keys() & nodes_of(other).keys()) >= len(one.nodes) - 3


def test_standing_rules_are_marked_in_leaves():
    rule = "Always answer in French."
    history = history_of([user(f"{rule} Do you? {prose(2, 900)}"), user(prose(3, 900))])
    grown = batch(history)
    found = [
        history.view(message).text[start:end]
        for leaf in leaves_of(grown.frontier, nodes_of(grown))
        for message, start, end in leaf.rules
    ]
    assert found == [rule]


@pytest.mark.slow
def test_summary_and_rules_of_a_leaf_can_be_made_again_from_the_text():
    posted = [user(f"Never use emojis. Do you? {prose(n, 400)}") for n in range(4)]
    history = history_of([*posted, *conversation(3, 6_000)])
    grown = batch(history)
    leaves = leaves_of(grown.frontier, nodes_of(grown))
    assert any(leaf.rules for leaf in leaves)
    texts = growth.MessageTexts(history.view)
    first = 0
    for leaf in leaves:
        again = growth.leaf_extract(leaf.passages, first, texts)
        assert (again.summary, again.rules) == (leaf.summary, leaf.rules)
        first += leaf.messages


@pytest.mark.slow
def test_summaries_are_of_version_0_and_name_what_is_there():
    history = history_of([user(f"deploy service{n} failed with E{n}1. " * 60) for n in range(40)])
    grown = batch(history)
    assert any(node.level for node in grown.nodes)
    for node in grown.nodes:
        assert node.summary.version == 0
        assert node.summary.headline
        assert all(anchor in history_text(history) for anchor in node.summary.anchors)


# ---------------------------------------------------------------- probes


@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, 200, 5_000, 1_000_000])
def test_first_probes_are_few_newest_first_and_within_the_history(length):
    probes = first_probes(length)
    assert len(probes) <= 70
    assert probes == sorted(set(probes), reverse=True)
    assert all(1 <= probe <= length for probe in probes)
    assert set(range(max(1, length - 31), length + 1)) <= set(probes) | {0}


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 5), (10, 75), (10, 5_000)])
def test_probes_between_lie_between(low, high):
    probes = between(low, high)
    assert len(probes) <= 64
    assert all(low < probe < high for probe in probes)
    assert probes or high - low == 1


@pytest.mark.slow
@pytest.mark.parametrize("known", [1, 5, 60, 99, 150])
async def test_the_longest_known_prefix_is_found(known):
    """A branch may leave the known part anywhere; here it leaves at message `known`."""
    history = history_of([user(f"{n} {prose(n, 60)}") for n in range(150)])
    grown = batch(history)
    store = RamStore()
    kept = {a: f for a, f in grown.frontiers.items() if a in history.addresses[: known + 1]}
    await store.commit("t", IndexBatch(grown.nodes, kept, 2e10))
    found = await covering(store, history)
    assert found == (CoveredPrefix(known, kept[history.addresses[known]], 2e10) if kept else None)
    assert await covering(store, history_of(history.messages, tenant="u")) is None


def without_extract(leaf):
    return msgspec.structs.replace(leaf, summary=growth.NOT_EXTRACTED, rules=(), profile=(b"", b""))


@pytest.mark.slow
def test_an_open_leaf_has_its_words_and_gets_the_rest_from_its_text():
    history = history_of(conversation(4, 9_000))
    grown = batch(history)
    assert grown.open == without_extract(grown.open)
    leaves = leaves_of(grown.frontier, nodes_of(grown))
    for leaf, place in zip(leaves, places(leaves), strict=True):
        if not place.start:
            made = growth.extracted(without_extract(leaf), place.first, history.view)
            assert made == leaf
    whole = growth.extracted(grown.open, grown.frontier.messages, history.view)
    assert whole.summary.body
    assert whole.profile[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_what_was_cut_into_blocks_is_not_cut_again(monkeypatch, seed):
    """And comes to the same, a message at a time."""
    history = history_of(conversation(seed, 9_000))
    whole, cut, seen = batch(history), None, []
    blocks = chunking.blocks

    def watched(views, first, skip):
        seen.append(len(views))
        return blocks(views, first, skip)

    monkeypatch.setattr(chunking, "blocks", watched)
    known, frontier, nodes, reused = nodes_of(whole), EMPTY, [], 0
    for length in range(1, len(history) + 1):
        part = history_of(history.messages[:length])
        loose = {id_: known[id_] for id_ in frontier.nodes}
        tail = tail_of(part, frontier, loose, length - 1)
        grown = growth.grow(replace(tail, cut=cut))
        assert grown == growth.grow(tail)
        reused += cut is not None and seen[-2] == 1 < seen[-1]
        frontier, cut = grown.frontier, grown.cut
        nodes += grown.nodes
    assert (tuple(nodes), frontier, grown.open) == (whole.nodes, whole.frontier, whole.open)
    assert reused > length / 4


def test_counts_that_were_capped_are_counted_again():
    """A packed count ends at 255."""
    found = batch(history_of([user("q " * 270)]))
    assert found.open is not None
    assert found.cut is None
    assert batch(history_of([user("spam")])).cut is not None


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_leaves_of_a_long_message_do_not_each_read_all_of_it(
    role: str, monkeypatch: pytest.MonkeyPatch
):
    read: list[int] = []

    def summary(sources: list[SourcePassage], _: object) -> summarize.Extract:
        read.extend(len(source.message or source.text) for source in sources)
        return summarize.Extract("", "", ())

    monkeypatch.setattr(summarize, "READ_MESSAGE", 10_000)
    monkeypatch.setattr(summarize, "leaf_summary", summary)
    text = "\n".join(f"line {number} of the log" for number in range(2_000))
    batch(history_of([Message.of({"role": role, "content": text})]))
    assert 0 < sum(read) <= len(text)
