"""Caches of trees and texts, and what a deletion leaves in them."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Iterator
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

from memtree.budget.epoch import Epoch
from memtree.context import epoch_turns, warm_conversations
from memtree.context.context_memory import CompressRequest
from memtree.context.warm_conversations import (
    CONVERSATION_BYTES,
    EMPTY_TREE,
    PLACE_BYTES,
    TREE_BYTES,
    Conversations,
    KnownTree,
    NodeLayers,
)
from memtree.history.derived import EPOCHS
from memtree.history.message import Message
from memtree.process.bounded import SizedRows
from memtree.ranking.corpus import Speakers
from memtree.ranking.vectors import pack
from memtree.text.speakers import spoken_by
from memtree.text.terms import is_common
from memtree.tree import growth
from memtree.tree.btree import walk
from memtree.tree.node import EMPTY, node_bytes
from memtree.unfolding import recall_block
from memtree.unfolding.memory_plan import Plan, RecallPlan, TextSpan
from memtree.unfolding.memory_text import render
from tests.answered import compressed
from tests.programs.sessions import chat
from tests.properties.process import World
from tests.properties.strategies import batch, conversation, history_of, tail_of
from tests.work_counts import counting

# ------------------------------------------------------------------------------------------------
# Trees that share their nodes: each has its own, whatever grew from it since.


def steps(history, ends):
    """The trees of a history that grows, by their ends, with what each step made."""
    tree, found = EMPTY_TREE, {}
    frontier = EMPTY
    for end in ends:
        loose = {id_: tree[id_] for id_ in frontier.nodes}
        part = history_of(history.messages[:end])
        made = growth.grow(tail_of(part, frontier, loose))
        tree = tree.grown("t", made.frontier, made.nodes)
        frontier = made.frontier
        found[end] = (tree, made)
    return found


def check(tree, frontier):
    """It is the tree below the frontier, and nothing else."""
    walked = list(walk(frontier.nodes, tree))
    leaves = [(node, place) for node, place in walked if node.is_leaf]
    assert set(tree) == {node.id for node, _ in walked}
    assert len(tree) == len(set(tree))
    assert list(zip(*tree.leaves_from(0), strict=True)) == leaves
    assert tree.leaves == frontier.leaves
    for node, _ in walked:
        below = [n for n, _ in walk([node.id], tree) if n.is_leaf]
        assert tree.leaf_count(node.id) == len(below)


@pytest.fixture(scope="module")
def history():
    return history_of(conversation(3, 30_000))


@pytest.mark.slow
def test_each_turn_has_the_tree_below_its_frontier_and_shares_the_rest(history):
    ends = range(8, len(history), 9)
    found = steps(history, ends)
    for tree, made in found.values():
        check(tree, made.frontier)
    trees = [tree for tree, _ in found.values() if tree.leaves]
    assert len(trees) > 3
    assert all(tree.conversation is trees[0].conversation for tree in trees)
    assert trees[-1].is_newest
    assert not trees[0].is_newest
    assert trees[0].conversation.nbytes == size_of(trees[-1])


@pytest.mark.slow
def test_a_branch_has_a_copy_and_changes_nothing_of_the_trees_that_were_there(history):
    middle = len(history) // 2
    found = steps(history, [middle, len(history)])
    (early, made), (late, last) = found[middle], found[len(history)]
    other = history_of([*history.messages[:middle], *conversation(9, 9_000)])
    loose = {id_: early[id_] for id_ in made.frontier.nodes}
    branch = growth.grow(tail_of(other, made.frontier, loose))
    tree = early.grown("t", branch.frontier, branch.nodes)
    check(tree, branch.frontier)
    check(early, made.frontier)
    check(late, last.frontier)
    assert tree.conversation is not late.conversation


@pytest.mark.slow
def test_nodes_of_a_run_that_began_earlier_give_the_same_tree(history):
    """A request that joins a run gets all that the run has made, from its own beginning on."""
    middle = len(history) // 2
    early, _ = steps(history, [middle])[middle]
    whole = batch(history)
    tree = early.grown("t", whole.frontier, whole.nodes)
    check(tree, whole.frontier)


@pytest.mark.slow
def test_nothing_is_ever_added_to_the_empty_tree(history):
    made = batch(history)
    tree = EMPTY_TREE.grown("t", made.frontier, made.nodes)
    check(tree, made.frontier)
    assert len(EMPTY_TREE) == EMPTY_TREE.conversation.nbytes == 0
    assert tree.conversation is not EMPTY_TREE.conversation
    assert EMPTY_TREE.grown("t", EMPTY, ()) is EMPTY_TREE


@pytest.mark.slow
def test_a_text_that_stands_twice_makes_two_leaves_of_one_node():
    said = conversation(4, 6_000)
    history = history_of([*said, *said, *said])
    found = steps(history, range(6, len(history), 7))
    for tree, made in found.values():
        check(tree, made.frontier)


@pytest.mark.slow
def test_of_nodes_in_two_layers_the_first_counts(history):
    made = batch(history)
    tree = KnownTree.of("t", made.frontier, {node.id: node for node in made.nodes})
    first = next(iter(tree))
    layers = NodeLayers({first: made.open, b"other": made.open}, tree)
    assert layers[first] is made.open
    assert layers.get(b"nothing") is None
    assert set(layers) == {*tree, b"other"}
    assert len(layers) == len(tree) + 1
    with pytest.raises(KeyError):
        layers[b"nothing"]


@pytest.mark.slow
def test_the_cache_walks_no_tree_that_it_has_seen_grow(history):
    """A turn costs what is new in it: the tree of the turn before is at hand as it is."""
    cache = Conversations()
    found = steps(history, [len(history) // 2, len(history)])
    (_, first), (_, second) = found.values()
    tree = cache.grown("t", EMPTY_TREE, first.frontier, first.nodes)
    assert cache.tree("t", first.frontier) is tree
    later = cache.grown("t", tree, second.frontier, second.nodes)
    assert later.conversation is tree.conversation
    assert cache.tree("t", second.frontier) is later
    assert cache.tree("other", first.frontier) is None
    cache.forget("t")
    assert cache.tree("t", second.frontier) is None
    assert cache.tenants == set()


@pytest.mark.slow
def test_the_cache_keeps_no_more_nodes_than_it_may(history):
    made = batch(history)
    size = size_of(KnownTree.of("t", made.frontier, by_id(made)))
    most = size + TREE_BYTES + CONVERSATION_BYTES
    cache = Conversations(most)
    cache.grown("t", EMPTY_TREE, made.frontier, made.nodes)
    assert cache.tree("t", made.frontier) is not None
    other = batch(history_of(conversation(5, 30_000)))
    cache.grown("t", EMPTY_TREE, other.frontier, other.nodes)
    assert cache.tree("t", other.frontier) is not None
    assert cache.tree("t", made.frontier) is None
    assert cache.nbytes <= most
    Conversations(0).grown("t", EMPTY_TREE, made.frontier, made.nodes)
    assert Conversations(0).tree("t", made.frontier) is None


@pytest.mark.slow
def test_nodes_that_trees_share_count_once_however_many_trees_there_are(history):
    cache, tree = Conversations(), EMPTY_TREE
    for made in (made for _, made in steps(history, range(8, len(history), 9)).values()):
        tree = cache.grown("t", tree, made.frontier, made.nodes)
        assert cache.tree("t", made.frontier) is tree
    known = len(set(steps(history, range(8, len(history), 9))))
    assert 0 < cache.nbytes - size_of(tree) <= known * TREE_BYTES + CONVERSATION_BYTES
    cache.forget("other")
    assert cache.nbytes > size_of(tree)
    cache.forget("t")
    assert cache.nbytes == 0


def held(corpus):
    return [leaf.id for leaf in corpus.leaves]


def ids_of(tree):
    return [leaf.id for leaf in tree.leaves_from(0)[0]]


@pytest.mark.slow
async def test_an_earlier_turn_has_a_corpus_of_its_own_leaves_alone(history):
    cache = Conversations()
    (_, first), (_, second) = steps(history, [len(history) // 2, len(history)]).values()
    early = cache.grown("t", EMPTY_TREE, first.frontier, first.nodes)
    late = cache.grown("t", early, second.frontier, second.nodes)
    corpus = await cache.corpus(early, 4)
    grown = await cache.corpus(late, 4)
    assert (held(corpus), held(grown)) == (ids_of(early), ids_of(late))
    own = await cache.corpus(early, 4)
    assert held(own) == ids_of(early)
    assert await cache.corpus(early, 4) is own
    assert await cache.corpus(late, 4) is grown
    wider = await cache.corpus(early, 8)  # the dimensions became known
    assert (held(wider), wider.dimensions) == (ids_of(early), 8)
    cache.forget("t")
    assert cache.nbytes == 0


@pytest.mark.slow
@pytest.mark.parametrize("inline", [0, 1_000], ids=["in threads", "on the loop"])
async def test_requests_of_earlier_and_later_turns_at_once_get_their_own_leaves(
    history, monkeypatch, inline
):
    monkeypatch.setattr(warm_conversations, "INLINE_LEAVES", inline)
    cache = Conversations()
    (_, first), (_, second) = steps(history, [len(history) // 2, len(history)]).values()
    early = cache.grown("t", EMPTY_TREE, first.frontier, first.nodes)
    late = cache.grown("t", early, second.frontier, second.nodes)
    trees = [late, early, late, early]
    made = await asyncio.gather(*[cache.corpus(tree, 4) for tree in trees])
    assert [held(corpus) for corpus in made] == [ids_of(tree) for tree in trees]
    assert await cache.corpus(late, 4) is made[0]


@pytest.mark.slow
async def test_vectors_and_speakers_of_one_request_are_there_for_the_next(history):
    cache = Conversations()
    (_, first), (_, second) = steps(history, [len(history) // 2, len(history)]).values()
    early = cache.grown("t", EMPTY_TREE, first.frontier, first.nodes)
    corpus = await cache.corpus(early, 4)
    packed = {
        leaf.id: pack(np.eye(len(leaf.passages), 4, dtype=np.float32), [1] * len(leaf.passages))
        for leaf in corpus.leaves
    }
    late = cache.grown("t", early, second.frontier, second.nodes)
    grown = await cache.corpus(late, 4)  # another request, meanwhile
    assert (await cache.with_vectors(early, corpus, packed)).lacking() == []
    assert not late.has_vectors
    heard = corpus.with_speakers(Speakers().extended([spoken_by("Ada: hello")]))
    cache.keep_speakers(late, heard)
    known = await cache.corpus(late, 4)
    assert (len(known.speakers), len(known.lacking())) == (1, len(grown.leaves) - len(packed))
    cache.keep_speakers(late, corpus)
    assert len((await cache.corpus(late, 4)).speakers) == 1


@pytest.mark.slow
@pytest.mark.parametrize("inline", [0, 1_000], ids=["in threads", "on the loop"])
async def test_two_requests_that_read_vectors_at_once_get_all(history, monkeypatch, inline):
    monkeypatch.setattr(warm_conversations, "INLINE_LEAVES", inline)
    cache, dice = Conversations(), np.random.default_rng(1)
    made = batch(history)
    tree = cache.grown("t", EMPTY_TREE, made.frontier, made.nodes)
    corpus = await cache.corpus(tree, 4)
    packed = {
        leaf.id: pack(dice.normal(size=(size, 4)).astype(np.float32), [1] * size)
        for leaf in corpus.leaves
        if (size := len(leaf.passages))
    }
    half = dict(list(packed.items())[len(packed) // 2 :])
    wanted = corpus.with_vectors(packed).cosines(np.eye(4, dtype=np.float32)[0])
    given = (packed, packed, half)
    read = await asyncio.gather(*[cache.with_vectors(tree, corpus, each) for each in given])
    kept = await cache.with_vectors(tree, await cache.corpus(tree, 4), packed)
    for each in (*read[:2], kept):
        assert each.lacking() == []
        cosines = each.cosines(np.eye(4, dtype=np.float32)[0])
        np.testing.assert_allclose(cosines.nearest, wanted.nearest, atol=1e-6)
        np.testing.assert_allclose(cosines.meaning, wanted.meaning, atol=1e-4)
    assert tree.has_vectors


@pytest.mark.slow
def test_a_tree_within_a_known_conversation_is_not_read_again(history):
    """A client that goes back to a turn of long ago."""
    cache = Conversations()
    (_, first), (_, second) = steps(history, [len(history) // 2, len(history)]).values()
    both = [*first.nodes, *second.nodes]
    cache.grown("t", EMPTY_TREE, second.frontier, both)
    tree = cache.tree("t", first.frontier)
    check(tree, first.frontier)
    assert cache.tree("t", first.frontier) is tree
    assert cache.tree("other", first.frontier) is None


@pytest.mark.slow
async def test_a_conversation_that_was_forgotten_in_use_does_not_come_back(history):
    cache = Conversations()
    made = batch(history)
    tree = cache.grown("t", EMPTY_TREE, made.frontier, made.nodes)
    corpus = await cache.corpus(tree, 4)
    cache.forget("t")
    cache.keep_speakers(tree, corpus.with_speakers(Speakers().extended([spoken_by("Ada: hello")])))
    assert held(await cache.corpus(tree, 4)) == ids_of(tree)
    assert cache.tenants == set()
    assert cache.nbytes == 0


def size_of(tree):
    return sum(node_bytes(node) + PLACE_BYTES for node in tree.values())


def by_id(made):
    return {node.id: node for node in made.nodes}


# ------------------------------------------------------------------------------------------------
# After a deletion no module of ours holds a word of what was posted.


WORD = "zanzibar"


def process_caches_history() -> tuple[Message, ...]:
    """A chat in which a word stands in the title, in names and in lines."""
    told: list[dict[str, Any]] = [
        {"role": "user", "content": f"Why did the {WORD} service fail in {WORD}/core.py?"}
    ]
    for number, one in enumerate(chat(200, words=70)):
        error = f"{WORD.title()}Error: {WORD}_{number}.py failed. {one['content']}"
        told.append({**one, "content": error} if number % 4 == 0 else one)
    return tuple(map(Message.of, [*told, {"role": "user", "content": "Continue."}]))


def holders(word: str) -> list[str]:
    """Names of module-level caches in which the word stands."""
    modules = [module for name, module in sys.modules.items() if name.startswith("memtree")]
    return sorted(
        {
            f"{module.__name__}.{name}"
            for module in modules
            for name, value in vars(module).items()
            if isinstance(value, (type(is_common), SizedRows, dict))
            and name[:2] != "__"
            and any(word in text.lower() for text in texts(value))
        }
    )


def texts(holder: object) -> Iterator[str]:
    seen: set[int] = set()
    waiting = [holder]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif id(value) not in seen and not isinstance(value, (ModuleType, FunctionType, type)):
            seen.add(id(value))
            waiting += gc.get_referents(value)


async def test_no_cache_of_a_module_outlives_a_deletion() -> None:
    world = World()
    ask = CompressRequest("t", process_caches_history(), target=3_000, hard=True, mode="stable")
    await compressed(world.used, ask)
    await compressed(world.used, replace(ask, mode="fresh"))
    assert len(holders(WORD)) > 2
    await world.used.forget_tenant("t")
    assert holders(WORD) == []


# ------------------------------------------------------------------------------------------------
# Check what was rendered of an epoch is sent again as it is, and anew when what it quotes changed.


def said(role, content, **more):
    return Message.of({"role": role, "content": content, **more})


CALL = {
    "id": "c",
    "type": "function",
    "function": {"name": "read", "arguments": '{"path": "a.py"}'},
}
POSTED = [
    said("system", "Be brief."),
    said("user", "The harbour opens at seven."),
    said("assistant", None, tool_calls=[CALL]),
    said("tool", "one = 1\ntwo = 2", tool_call_id="c"),
    said("assistant", "It opens at seven."),
    said("user", "And when does it close?"),
]
PLAN = Plan(4, excerpts=(TextSpan(0, 0, 27), TextSpan(2, 0, 15)))
EPOCH = Epoch(b"an epoch", 5, 100, 50, PLAN, 0.0)
BLOCK = RecallPlan((TextSpan(0, 0, 27),))


def memory(history, epoch=EPOCH):
    return epoch_turns.memory_message(history, epoch, {}).text


@pytest.mark.slow
def test_an_epoch_is_rendered_once_for_all_histories_that_continue_it():
    history = history_of(POSTED)
    with counting() as first:
        one = memory(history)
    later = history.first(len(POSTED)).extended([*POSTED, said("assistant", "At nine.")])
    with counting() as second:
        two, three = memory(history), memory(later)
    assert one == two == three == render(PLAN, later, {})
    assert (first.of["renders"], second.of["renders"]) == (1, 0)
    assert later.derived.nbytes > len(one)


@pytest.mark.parametrize(
    ("at", "other"),
    [
        (1, said("user", "The harbour opens at eight.")),
        (3, said("tool", "one = 1\ntwo = 3", tool_call_id="c")),
        (2, said("assistant", None, tool_calls=[{**CALL, "function": {
            "name": "read", "arguments": '{"path":  "a.py"}'}}])),
        (2, said("assistant", None, tool_calls=[{**CALL, "function": {
            "name": "read", "arguments": '{"path": "b.py"}'}}])),
        (3, said("system", "Be kind.")),
    ],
    ids=["a quoted message", "a quoted result", "another spelling", "the call it answers",
         "other numbers"],
)  # fmt: skip
def test_what_is_quoted_is_never_that_of_another_history(at, other):
    history = history_of(POSTED)
    memory(history)
    changed = [*POSTED[:at], other, *POSTED[at + 1 :]]
    if other.role == "system":
        changed.insert(at + 1, POSTED[at])
    branch = history.first(at).extended(changed)
    assert memory(branch) == render(PLAN, history_of(changed), {})


def test_what_stands_behind_the_cut_is_not_in_the_text():
    history, epoch = history_of(POSTED), replace_epoch(b"another", 3)
    one = memory(history, epoch)
    branch = history.first(5).extended([*POSTED[:5], said("user", "Is it deep?")])
    with counting() as work:
        assert memory(branch, epoch) == one
    assert work.of["renders"] == 0


def test_a_block_is_rendered_once_and_belongs_to_its_epoch():
    history = history_of(POSTED)
    with counting() as work:
        one = epoch_turns.rendered_block(history, EPOCH, BLOCK, {}, behind=False)
    with counting() as again:
        assert epoch_turns.rendered_block(history, EPOCH, BLOCK, {}, behind=False) == one
    assert again.lines < work.lines
    assert one == recall_block.text_of(BLOCK, history, {})
    other = replace_epoch(b"another", 2)
    assert epoch_turns.rendered_block(history, other, BLOCK, {}, behind=False) == one
    behind = epoch_turns.rendered_block(history, EPOCH, BLOCK, {}, behind=True)
    assert behind == recall_block.text_of(BLOCK, history, {}, behind=True)
    assert epoch_turns.rendered_block(history, EPOCH, RecallPlan(), {}, behind=False) == ""


def replace_epoch(id_, cut):
    return Epoch(id_, 5, 100, 50, Plan(cut, excerpts=PLAN.excerpts[:1]), 0.0)


def test_the_texts_of_the_epochs_that_were_used_last_are_kept():
    history, sizes = history_of(POSTED), []
    memory(history)
    for number in range(9):
        memory(history, replace_epoch(bytes([number]), 4))
        sizes.append(history.derived.nbytes)
        with counting() as work:
            memory(history)
        assert work.of["renders"] == 0
    assert sizes[0] < sizes[EPOCHS - 2] == sizes[-1]
