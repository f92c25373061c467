"""Check which summaries are old, and in which order they are made anew."""

from __future__ import annotations

import msgspec
import pytest

from memtree.context.index_state import with_summary
from memtree.extraction.summarize import VERSION
from memtree.tree import growth, renewal
from memtree.tree.growth import MessageTexts
from memtree.tree.node import NodePlace, Summary, decode_node, encode
from tests import hostile


def grown():
    texts = [
        hostile.fields("user" if n % 2 else "assistant", f"Part {n} of Oslo. " * 90)
        for n in range(70)
    ]
    tail = hostile.tail(texts)
    return tail, growth.grow(tail)


@pytest.mark.slow
def test_a_summary_of_today_is_current_and_one_without_a_version_is_not():
    _, tree = grown()
    assert renewal.outdated(tree.nodes) == []
    assert renewal.is_outdated(Summary("h", "b"))
    assert not renewal.is_outdated(Summary("h", "b", extraction=VERSION))
    assert not renewal.is_outdated(Summary("h", "b", (), 1, "model"))


@pytest.mark.slow
def test_a_node_that_was_stored_before_is_read_as_outdated():
    _, tree = grown()
    stored = msgspec.msgpack.decode(encode(tree.nodes[0]))
    stored[5] = stored[5][:8]  # the fields of a summary as they were
    assert renewal.outdated([decode_node(msgspec.msgpack.encode(stored))]) == [tree.nodes[0].id]


def test_a_parent_is_as_old_as_its_oldest_child():
    new, old = Summary("h", "b", ("a",), extraction=VERSION), Summary("h", "b", ("a",))
    assert growth.summarise([new, old], 1).extraction == 0
    assert growth.summarise([new, new], 1).extraction == VERSION


@pytest.mark.slow
def test_pieces_hold_children_before_parents_and_give_what_growth_gives():
    tail, tree = grown()
    nodes = {node.id: node for node in tree.nodes}
    views = [hostile.view(raw) for raw in tail.messages]
    known = {}
    levels = []
    for piece in renewal.in_pieces(tree.frontier, nodes, set(nodes), 7):
        assert len(piece) <= 7
        levels += [node.level for node, _ in piece]
        known |= renewal.renewed(piece, nodes, known, MessageTexts(views.__getitem__))
    assert levels == sorted(levels)
    assert levels[-1] > 0
    assert {id_: each.headline for id_, each in known.items()} == {
        id_: node.summary.headline for id_, node in nodes.items()
    }
    assert {each.version for each in known.values()} == {renewal.newest_version()}


def test_the_rules_of_a_leaf_are_found_anew_as_well():
    said = "Never use emojis."
    raw = hostile.fields("user", f"{said} {'The boats were out. ' * 600}")
    leaf = growth.grow(hostile.tail([raw])).nodes[0]
    assert leaf.rules == ((0, 0, len(said)),)
    stored = msgspec.structs.replace(leaf, rules=())
    piece = [(stored, NodePlace(0, 0, 0, 0))]
    summary = renewal.renewed(piece, {}, {}, MessageTexts([hostile.view(raw)].__getitem__))[leaf.id]
    assert with_summary(stored, summary).rules == leaf.rules
    assert with_summary(stored, Summary("h", "b")).rules == ()
