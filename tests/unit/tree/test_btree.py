"""The tree: sealing, places, and a check that finds planted damage."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from memtree.conversation import address_chain
from memtree.text import terms
from memtree.tree import btree
from memtree.tree.btree import SEAL_AT, Spine, walk
from memtree.tree.growth import summarise
from memtree.tree.node import (
    MAX_CHILDREN,
    MIN_CHILDREN,
    Node,
    NodePlace,
    Passage,
    Summary,
    decode_frontier,
    decode_node,
    encode,
)
from tests.made.trees import places, tree_problems


def leaf(n, topic="cache disk", messages=1, tail=0):
    counts = terms.terms(f"{topic} item{n}")
    return Node(
        id=address_chain.node_id("leaf", n),
        level=0,
        tokens=400,
        messages=messages,
        tail=tail,
        summary=Summary(f"leaf {n}", f"what leaf {n} says"),
        profile=terms.profile(counts),
        passages=(Passage(0, 0, 50, 400, 0),),
        terms=terms.pack([counts]),
    )


def grown(count, make=leaf):
    spine, nodes = Spine(), {}
    for n in range(count):
        one = make(n)
        for node in [one, *spine.append(one, summarise)]:
            nodes[node.id] = node
    return spine.frontier(), nodes


@pytest.mark.parametrize("count", [0, 1, 4, 12, 13, 14, 40, 200, 700])
def test_trees_of_every_size_are_sound(count):
    frontier, nodes = grown(count)
    assert tree_problems(frontier, nodes) == []
    assert frontier.leaves == count
    assert [n.summary.headline for n, _ in walk(frontier.nodes, nodes) if n.is_leaf] == [
        f"leaf {n}" for n in range(count)
    ]
    inner = [node for node in nodes.values() if not node.is_leaf]
    assert all(MIN_CHILDREN <= len(node.children) <= MAX_CHILDREN for node in inner)
    assert list(frontier.levels) == sorted(frontier.levels, reverse=True)


def test_nothing_is_sealed_before_the_thirteenth():
    assert grown(SEAL_AT - 1)[0].levels == (0,) * 12
    assert max(grown(SEAL_AT)[0].levels) == 1


def test_an_append_changes_no_sealed_node():
    _, before = grown(150)
    _, after = grown(151)
    assert before.items() <= after.items()


def test_growing_goes_on_from_a_stored_frontier():
    whole, all_nodes = grown(120)
    part, nodes = grown(47)
    spine = Spine(decode_frontier(encode(part)), {id_: nodes[id_] for id_ in part.nodes})
    for n in range(47, 120):
        one = leaf(n)
        nodes |= {node.id: node for node in [one, *spine.append(one, summarise)]}
    assert spine.frontier() == whole
    assert nodes == all_nodes


def test_what_was_sealed_before_is_taken_and_nothing_else_changes():
    plain, spine = Spine(), Spine(sealed=(known := grown(40)[1]))
    for n in range(60):
        made, taken = plain.append(leaf(n), summarise), spine.append(leaf(n), summarise)
        assert taken == made
        assert all(node is known.get(node.id, node) for node in taken)


def test_growing_from_a_frontier_needs_its_nodes():
    frontier, _ = grown(3)
    with pytest.raises(KeyError):
        Spine(frontier, {})


@pytest.mark.parametrize("change", [4, 7, 12])
def test_nodes_are_cut_at_the_weakest_link(change):
    topics = ["cache disk"] * change + ["violin opera"] * (SEAL_AT - change)
    made = [leaf(n, topic) for n, topic in enumerate(topics)]
    assert btree.weakest_link(made) == change


def test_equal_links_fill_the_node():
    made = [msgspec.structs.replace(leaf(n), profile=leaf(0).profile) for n in range(SEAL_AT)]
    assert btree.weakest_link(made) == MAX_CHILDREN


def test_sealing_depends_on_the_oldest_thirteen_only():
    made = [leaf(n, ("cache", "opera")[n // 5 % 2]) for n in range(30)]
    assert btree.weakest_link(made) == btree.weakest_link(made[:SEAL_AT])


def test_a_node_sums_its_children_up():
    children = [leaf(n, messages=n, tail=n) for n in range(4)]
    node = btree.seal(children, summarise)
    assert (node.level, node.tokens, node.messages, node.tail) == (1, 1600, 6, 3)
    assert node.children == tuple(child.id for child in children)
    assert btree.seal(children[::-1], summarise).id != node.id
    assert decode_node(encode(node)) == node


def test_places_follow_each_other():
    made = [leaf(0, messages=2, tail=30), leaf(1, messages=0, tail=80), leaf(2, messages=1, tail=0)]
    assert places(made) == [NodePlace(0, 0, 2, 30), NodePlace(2, 30, 2, 80), NodePlace(2, 80, 3, 0)]
    assert [place.last for place in places(made)] == [2, 2, 2]
    assert places(made[:1], NodePlace(0, 0, 5, 7)) == [NodePlace(5, 7, 7, 30)]


def test_walk_gives_the_places_of_all_levels():
    frontier, nodes = grown(60, lambda n: leaf(n, messages=n % 3, tail=n % 5 * 10))
    below: dict[int, list] = {}
    for node, place in walk(frontier.nodes, nodes):
        below.setdefault(node.level, []).append(place)
        assert (place.end - place.first, place.tail) == (node.messages, node.tail)
    leaves = below[0]
    assert all((a.end, a.tail) == (b.first, b.start) for a, b in itertools.pairwise(leaves))
    assert (leaves[-1].end, leaves[-1].tail) == (frontier.messages, frontier.tail)


def change(node, **fields):
    return msgspec.structs.replace(node, **fields)


INNER = [
    ("messages do not add up", lambda node: change(node, messages=node.messages + 1)),
    ("tokens do not add up", lambda node: change(node, tokens=node.tokens - 1)),
    ("its end is not that of its last part", lambda node: change(node, tail=7)),
    (
        "its id is not the hash of its children",
        lambda node: change(node, children=node.children[::-1]),
    ),
    ("3 children", lambda node: change(node, children=node.children[:3])),
    ("a child is not of level", lambda node: change(node, level=node.level + 1)),
    ("is unknown", lambda node: change(node, children=(*node.children[:-1], b"?" * 16))),
]


def passages(*more):
    """Damage: other passages behind the first."""
    return lambda one: change(one, passages=(one.passages[0], *more))


LEAF = [
    ("no passages", lambda one: change(one, passages=())),
    ("statistics of 1 passages", passages(Passage(0, 50, 60, 0, 0))),
    ("do not add up to its tokens", passages(Passage(0, 50, 60, 1, 0))),
    ("a gap at character 50", passages(Passage(0, 51, 60, 0, 0))),
    ("out of order", passages(Passage(1, 0, 9, 0, 0), Passage(0, 0, 9, 0, 0))),
    ("out of order", passages(Passage(1, 5, 9, 0, 0))),
]


@pytest.mark.parametrize(
    ("words", "damage"), INNER, ids=lambda one: one if isinstance(one, str) else ""
)
def test_damage_to_a_node_is_found(words, damage):
    frontier, nodes = grown(60)
    victim = next(node for node in nodes.values() if node.level == 1)
    nodes[victim.id] = damage(victim)
    assert any(words in problem for problem in tree_problems(frontier, nodes))


@pytest.mark.parametrize(
    ("words", "damage"), LEAF, ids=lambda one: one if isinstance(one, str) else ""
)
def test_damage_to_a_leaf_is_found(words, damage):
    frontier, nodes = grown(60)
    victim = leaf(11)
    nodes[victim.id] = damage(victim)
    assert any(words in problem for problem in tree_problems(frontier, nodes))


@pytest.mark.parametrize(
    ("words", "damage"),
    [
        ("unknown node", lambda f: change(f, nodes=(*f.nodes[:-1], b"?" * 16))),
        ("left of a higher one", lambda f: change(f, nodes=f.nodes[::-1])),
        ("messages do not add up", lambda f: change(f, messages=f.messages + 1)),
        ("tokens do not add up", lambda f: change(f, tokens=f.tokens + 1)),
        ("its end is not", lambda f: change(f, tail=3)),
    ],
)
def test_damage_to_a_frontier_is_found(words, damage):
    frontier, nodes = grown(60)
    assert any(words in problem for problem in tree_problems(damage(frontier), nodes))


def test_too_many_loose_nodes_are_found():
    frontier, nodes = grown(12)
    extra = leaf(12)
    nodes[extra.id] = extra
    loose = change(
        frontier, nodes=(*frontier.nodes, extra.id), messages=13, tokens=frontier.tokens + 400
    )
    assert tree_problems(loose, nodes) == ["frontier: 13 nodes of level 0 wait for a parent"]
