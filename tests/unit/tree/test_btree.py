"""The tree, its blocks and leaves."""

from __future__ import annotations

import itertools
import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree.history import address_chain
from memtree.history.message import Message, Volatile
from memtree.history.posted_json import canonical
from memtree.text import terms, tokens
from memtree.tree import btree, chunking
from memtree.tree import node as parts
from memtree.tree.btree import SEAL_AT, Spine, walk
from memtree.tree.chunking import MAX_LEAF, MIN_LEAF
from memtree.tree.extraction import summarise
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
from tests.properties.strategies import code, conversation, exotic, history_of, prose

# ------------------------------------------------------------------------------------------------
# The tree: sealing, places, and a check that finds planted damage.


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


# ------------------------------------------------------------------------------------------------
# Blocks and leaves: lossless, cohesive, of the right size, the same however the text came.


def views(*messages):
    made = [
        Message.of(one if isinstance(one, dict) else {"role": "user", "content": one})
        for one in messages
    ]
    return [message.view(Volatile()) for message in made]


def answer(content):
    return {"role": "assistant", "content": content}


def texts_of(found, posted, first=0):
    """Return the texts of blocks of the views `posted`, which begin with message `first`."""
    return [posted[block.message - first].text[block.start : block.end] for block in found]


def leaves(posted):
    """Texts of the final leaves of views, and of what is not final yet."""
    found = chunking.blocks(posted, 0, 0)
    texts = texts_of(found, posted)
    cuts = list(chunking.cuts(found))
    end = cuts[-1].end if cuts else 0
    return ["".join(texts[cut.first : cut.end]) for cut in cuts], "".join(texts[end:])


def sizes(found):
    return [sum(b.tokens for b in found[cut.first : cut.end]) for cut in chunking.cuts(found)]


TEXTS = {
    "prose": prose(1, 3000),
    "code": code(2, 900),
    "one line": "word " * 4000,
    "no spaces": "x" * 30_000,
    "unicode": exotic(3, 4000),
    "chinese": "数据库连接失败。" * 600,
    "emoji": "👩‍👩‍👧" * 900,
    "json": json.dumps([{"id": n, "name": prose(n, 4)} for n in range(300)]),
    "log": "\n".join(f"2024-01-01 ERROR worker {n} failed" for n in range(600)),
    "markdown": "\n\n".join(
        f"## Part {n}\n\n{prose(n, 60)}\n\n```\n{code(n, 9)}\n```" for n in range(30)
    ),
    "unclosed": f"{prose(4, 200)}\n```python\n{code(5, 800)}",
    "separators": "a\x0b\x0cb\x85c\u2028d\r\ne\rf " * 800,
}


@pytest.mark.parametrize("name", TEXTS)
def test_blocks_and_leaves_give_the_text_again(name):
    posted = views(TEXTS[name])
    found = chunking.blocks(posted, 0, 0)
    assert "".join(texts_of(found, posted)) == posted[0].text
    assert [b.start for b in found] == [0, *(b.end for b in found[:-1])]
    texts, rest = leaves(posted)
    assert "".join(texts) + rest == posted[0].text


@pytest.mark.parametrize("name", TEXTS)
def test_leaves_have_300_to_900_tokens(name):
    found = sizes(chunking.blocks(views(TEXTS[name]), 0, 0))
    assert found
    assert max(found) <= MAX_LEAF
    # A fence or object that fits a leaf is worth a leaf that is too small before it.
    small = [size for size in found if size < MIN_LEAF]
    assert not small or name in ("markdown", "json", "unclosed")


@pytest.mark.slow
@settings(max_examples=30)
@given(st.text(max_size=400), st.sampled_from(["user", "assistant"]))
def test_any_text_is_kept(text, role):
    posted = views({"role": role, "content": text})
    found = chunking.blocks(posted, 3, 0)
    assert "".join(texts_of(found, posted, 3)) == posted[0].text
    assert {block.message for block in found} == {3}


@pytest.mark.slow
def test_a_message_of_200k_tokens_is_several_leaves():
    text = prose(6, 100_000)
    assert tokens.count(text) > 200_000
    texts, rest = leaves(views(text))
    assert 200_000 / MAX_LEAF < len(texts) < 200_000 / MIN_LEAF * 1.5
    assert "".join(texts) + rest == text


@pytest.mark.slow
def test_5000_messages_of_one_word_are_few_leaves():
    many = views(*[{"role": ("user", "assistant")[n % 2], "content": "ok"} for n in range(5_000)])
    texts, rest = leaves(many)
    assert 5 <= len(texts) <= 5_000 / MIN_LEAF
    assert len("".join(texts) + rest) == 10_000


def test_empty_messages_take_their_place():
    posted = views("a", answer(""), answer(None), "b")
    found = chunking.blocks(posted, 0, 0)
    assert texts_of(found, posted) == ["a", "", "", "b"]
    assert [(b.message, b.tokens) for b in found] == [(0, 1), (1, 0), (2, 0), (3, 1)]


def unsplit(piece, around=12):
    """Return True if the piece lies in one leaf, wherever in a leaf's length it begins."""
    for words in range(0, 60 * around, 60):
        text = f"{prose(1, words)}\n\n{piece}\n\n{prose(2, 1500)}"
        texts, rest = leaves(views(text))
        if not any(piece in one for one in [*texts, rest]):
            return False
    return True


@pytest.mark.parametrize("lines", [5, 40, 80, 115])
@pytest.mark.parametrize("mark", ["```", "~~~", "````"])
def test_fences_that_fit_stay_in_one_leaf(mark, lines):
    assert unsplit(f"{mark}python\n{code(3, lines)[: chunking.UNIT - 60]}\n{mark}")


def test_a_fence_inside_a_longer_fence_does_not_close_it():
    assert unsplit(f"````\n{code(1, 20)}\n```\ninner\n```\n{code(2, 20)}\n````")


def objects(size):
    """A JSON object of about `size` characters."""
    rows = [{"id": n, "text": prose(n, 9)} for n in range(size // 75)]
    return json.dumps({"rows": rows}, indent=1)


def test_json_that_fits_stays_in_one_leaf():
    value = objects(1_500)
    result = {"role": "tool", "tool_call_id": "c", "content": value}
    for words in range(0, 700, 70):
        many = views(f"go {prose(1, words)}", answer("yes"), result, prose(2, 1500))
        texts, rest = leaves(many)
        assert any(value in one for one in [*texts, rest])


def test_arguments_of_a_call_that_fit_stay_in_one_leaf():
    value = objects(1_500)
    call = {"id": "c", "type": "function", "function": {"name": "put", "arguments": value}}
    for words in range(0, 700, 70):
        many = views(
            f"go {prose(1, words)}", {**answer(None), "tool_calls": [call]}, prose(2, 1500)
        )
        texts, rest = leaves(many)
        assert any(canonical(value) in one for one in [*texts, rest])


def test_functions_stay_in_one_leaf():
    """Code without a fence, as tools print it: every leaf of it begins with a definition."""
    source = "\n".join(
        f"def step_{n}(value):\n    {f'value += {n}; ' * 20}\n    return value\n" for n in range(60)
    )
    texts, _ = leaves(views({"role": "tool", "tool_call_id": "c", "content": source}))
    assert len(texts) > 3
    assert all(text.startswith("def step_") for text in texts)


def test_leaves_prefer_the_borders_of_asks():
    many = []
    for n in range(40):
        many += [prose(n, 30), answer(prose(n, 120))]
    found = chunking.blocks(views(*many), 0, 0)
    borders = [found[cut.first].border for cut in chunking.cuts(found)][1:]
    assert len(borders) > 5
    assert borders.count(chunking.ASK) > 0.9 * len(borders)


def test_leaves_end_where_the_topic_changes():
    """Among equal borders the weakest cohesion wins."""
    one, other = (
        [f"{word} {n} " * 12 for n in range(6)]
        for word in ("database index query", "violin concert opera")
    )
    texts, _ = leaves(views(*one, *other, *one, *other))
    assert texts
    assert not any("query" in text.split("violin")[0] and "violin" in text for text in texts[:1])


def test_kinds_of_blocks():
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    found = chunking.blocks(
        views(
            "ask",
            {**answer("Now\n```\ncode\n```\n"), "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "```\nout\n```"},
        ),
        0,
        0,
    )
    assert [(b.message, b.kind) for b in found] == [
        (0, parts.USER), (1, parts.ASSISTANT), (1, parts.CODE), (1, parts.CALL), (2, parts.TOOL)
    ]  # fmt: skip


def test_volatile_blocks_are_no_border_and_no_text():
    plain = prose(1, 900)
    noisy = plain[:700] + "<system-reminder>x</system-reminder>" + plain[700:]
    one, other = (chunking.blocks(views(text), 0, 0) for text in (plain, noisy))
    assert one == other


def test_blocks_from_the_middle_of_a_message_are_those_of_the_whole():
    text = prose(8, 2000)
    whole = chunking.blocks(views(text, "next"), 5, 0)
    skip = whole[4].start
    assert chunking.blocks(views(text, "next"), 5, skip) == whole[4:]


def test_a_leaf_is_final_once_900_tokens_follow_its_start():
    found = chunking.blocks(views(prose(9, 6000)), 0, 0)
    for cut in chunking.cuts(found):
        assert sum(b.tokens for b in found[cut.first : cut.seen]) >= MAX_LEAF
        assert cut.end <= cut.seen
        early = list(chunking.cuts(found[cut.first : cut.seen]))
        assert early == []
        (one, *_) = chunking.cuts(found[cut.first : cut.seen + 1])
        assert one.end == cut.end - cut.first


@pytest.mark.parametrize("seed", range(4))
def test_borders_fall_in_step_again_after_an_insertion(seed):
    history = history_of(conversation(seed, 12_000))
    old = [history.view(index) for index in range(len(history))]
    new = [*views(f"inserted {prose(seed, 40)}"), *old]
    before, _ = leaves(old)
    after, _ = leaves(new)
    assert before[-1] == after[-1]
    assert len(set(after) - set(before)) <= 8
