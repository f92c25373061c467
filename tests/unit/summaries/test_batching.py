"""Check which nodes go into a call: ready, of one kind, parents soon after their children."""

from __future__ import annotations

import pytest

from memtree.summaries import batching
from memtree.summaries.batching import CallBatch, CompletedSummaries, Kinds, batch, ready, shares
from memtree.summaries.prompts import CHAT, CODING, FICTION
from memtree.summaries.replies import Draft
from memtree.tree.btree import walk
from memtree.tree.node import Node, NodePlace, NodeWork, Summary
from tests.properties.strategies import batch as grown_of
from tests.properties.strategies import history_of
from tests.unit.background.refined import said


def node(name: str, children: str = "", level: int = 0, tokens: int = 500) -> Node:
    ids = tuple(child.encode() for child in children)
    return Node(name.encode(), level, tokens, 1, 0, Summary("h", "b"), children=ids)


def works(*nodes: Node) -> dict[bytes, NodeWork]:
    """In reading order: each node begins where the one before it ended."""
    return {one.id: NodeWork(one, NodePlace(n, 0, n + 1, 0)) for n, one in enumerate(nodes)}


def names(found: list[NodeWork] | tuple[NodeWork, ...]) -> str:
    return "".join(one.id.decode() for one in found)


LEAVES = [node(name) for name in "abcd"]
PARENT = node("P", "abcd", 1)


def test_a_parent_waits_for_all_its_children():
    work = works(*LEAVES, PARENT)
    assert names(ready(work, ())) == "abcd"
    assert names(ready(work, {b"b", b"c"})) == "ad"
    for id_ in (b"a", b"b", b"d"):
        del work[id_]
    assert names(ready(work, ())) == "c"
    assert names(ready(work, {b"c"})) == "", "a child that is under way is not done"
    del work[b"c"]
    assert names(ready(work, ())) == "P"


def test_parents_go_first_and_leaves_in_reading_order():
    work = works(node("x"), PARENT, node("y"), node("Q", "P", 2))
    assert names(ready(work, ())) == "Pxy"
    assert names(ready(work, (), 2)) == "Px"


def kinds(**named: str):
    return lambda one: named.get(one.id.decode(), CHAT)


def test_a_call_holds_parts_of_one_kind():
    found = list(works(*(node(name) for name in "abcdef")).values())
    assert batch(found, kinds(b=CODING, d=CODING), (), 3) == CallBatch(
        (found[0], found[2], found[4]), CHAT, True
    )
    mixed = batch(found, kinds(b=CODING, d=CODING, e=CODING), (), 3)
    assert mixed is not None
    assert (names(mixed.work), mixed.kind) == ("bde", CODING), "the first one that is full"
    few = batch(found[:2], kinds(b=FICTION), (), 3)
    assert few == CallBatch((found[0],), CHAT, False)
    assert batch([], kinds(), (), 3) is None


def test_a_call_holds_no_more_than_its_tokens():
    found = list(works(*(node(name, tokens=400) for name in "abc")).values())
    full = batch(found, kinds(), (), 4, 1_000)
    assert full == CallBatch((found[0], found[1]), CHAT, True)
    huge = list(works(node("h", tokens=9_000), node("i")).values())
    assert batch(huge, kinds(), (), 4, 1_000) == CallBatch((huge[0],), CHAT, True)


def test_what_was_rejected_gets_a_call_of_its_own():
    found = list(works(*(node(name) for name in "abcd")).values())
    assert batch(found, kinds(), {b"b"}, 4) == CallBatch((found[1],), CHAT, True)


@pytest.mark.slow
def test_the_kind_of_a_node_is_that_of_most_leaves():
    code = "```python\ndef parse_row(line):\n    return line.split()\n```\nrun_all() in src/a_b.py "
    messages = said(60)
    messages[4:9] = [
        type(one).of({"role": one.role, "content": code * 20}) for one in messages[4:9]
    ]
    history = history_of(messages)
    grown = grown_of(history)
    nodes = {one.id: one for one in grown.nodes}
    known: dict[bytes, str] = {}
    found = Kinds(history, nodes, known)
    spots = [NodeWork(one, place) for one, place in walk(grown.frontier.nodes, nodes)]
    by_leaf = [found.of(one) for one in spots if one.node.is_leaf]
    assert {CODING, CHAT} == set(by_leaf), "this test sees both"
    for one in spots:
        if not one.node.is_leaf:
            below = [known[id_] for id_ in one.node.children]
            assert found.of(one) == max(set(below), key=below.count)
    assert known.keys() == nodes.keys()


def test_a_leaf_is_shown_as_it_stands_in_this_history():
    history = history_of(said(12))
    grown = grown_of(history)
    nodes = {one.id: one for one in grown.nodes}
    text = ""
    for one, place in walk(grown.frontier.nodes, nodes):
        if one.is_leaf:
            for source in batching.sources(history, NodeWork(one, place)):
                assert source.role == history.facts[source.number].role
                assert source.text in history.messages[source.number].text
                text += source.text
    whole = "".join(history.view(index).text for index in range(len(history)))
    assert whole.startswith(text)
    assert len(text) > len(whole) / 2


def test_what_is_kept_of_a_node():
    one = node("n")
    draft = Draft("new", "text")
    model = batching.written(one, draft, "r", (3, 4), both=False)
    assert (model.by_model, model.shown, model.version, model.by) == (True, "text", 1, "r")
    both = batching.written(one, draft, "r", (3, 4), both=True)
    assert (both.body, both.shown, both.cost) == ("text", "text b", (3, 4))
    kept = batching.settled(one, "r", (3, 4))
    assert (kept.by_model, kept.headline, kept.shown, kept.version) == (False, "h", "b", 1)


@pytest.mark.parametrize(
    ("total", "weights"),
    [(0, [3, 4]), (7, [1, 1]), (1, [5, 5, 5]), (1_001, [643] * 8), (9, [0, 0])],
)
def test_shares_add_up(total: int, weights: list[int]):
    found = shares(total, weights)
    assert sum(found) == total
    assert len(found) == len(weights)
    assert min(found) >= 0
    if sum(weights):
        fair = [total * weight / sum(weights) for weight in weights]
        assert all(abs(one - other) <= 1 for one, other in zip(found, fair, strict=True))


# ---------------------------------------------------------------- what is known to be settled


def grown_tree():
    grown = grown_of(history_of(said(60)))
    nodes = {one.id: one for one in grown.nodes}
    return grown.frontier, nodes, [one for one, _ in walk(grown.frontier.nodes, nodes)]


@pytest.mark.slow
def test_all_is_lacking_at_first_with_its_place():
    frontier, nodes, every = grown_tree()
    found = CompletedSummaries().work("t", frontier.nodes, nodes)
    spots = [(one, place) for one, place in walk(frontier.nodes, nodes)]
    assert [(one.node, one.place) for one in found] == spots
    assert any(not one.is_leaf for one in every)


@pytest.mark.slow
def test_below_what_is_settled_nothing_is_lacking():
    frontier, nodes, every = grown_tree()
    settled = CompletedSummaries()
    top = next(one for one in every if not one.is_leaf)
    settled.add("t", [top.id])
    left = {one.id for one in settled.lacking("t", frontier.nodes, nodes)}
    assert left == {one.id for one in every} - {top.id, *top.children}
    assert left == {one.id for one in settled.work("t", frontier.nodes, nodes)}
    assert len(settled.lacking("other", frontier.nodes, nodes)) == len(every)
    settled.discard("t", [top.id])
    assert len(settled.lacking("t", frontier.nodes, nodes)) == len(every)


@pytest.mark.slow
def test_what_is_known_is_bounded_and_what_is_used_stays():
    frontier, nodes, every = grown_tree()
    settled = CompletedSummaries(kept=len(frontier.nodes) + 1)
    settled.add("t", frontier.nodes)
    for number in range(10):
        settled.add("u", [bytes([number])])
        assert settled.lacking("t", frontier.nodes, nodes) == []
    settled.add("u", [bytes([number]) for number in range(10, 20)])
    assert settled.lacking("t", frontier.nodes, nodes)
    settled.add("t", [one.id for one in every])
    settled.forget("t")
    assert len(settled.lacking("t", frontier.nodes, nodes)) == len(every)
