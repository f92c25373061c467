"""Stage 1 in one run and in several, passages, and the size of nodes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from memtree.context.index_lookup import CoveredPrefix, between, covering, first_probes
from memtree.digests import summarize
from memtree.digests.clause import SourcePassage
from memtree.history.message import Message
from memtree.ports.context_store import IndexBatch
from memtree.stores import RamStore
from memtree.tree import chunking, extraction, growth
from memtree.tree.chunking import LEAST, MOST, passages
from memtree.tree.growth import GrownTree
from memtree.tree.node import EMPTY, node_bytes
from tests.made.real_sizes import real_size
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

# ------------------------------------------------------------------------------------------------
# Stage 1: nodes and frontiers from text alone; and which stored prefix a history finds.


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
    texts = extraction.MessageTexts(history.view)
    first = 0
    for leaf in leaves:
        again = extraction.leaf_extract(leaf.passages, first, texts)
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
    return msgspec.structs.replace(
        leaf, summary=extraction.NOT_EXTRACTED, rules=(), profile=(b"", b"")
    )


@pytest.mark.slow
def test_an_open_leaf_has_its_words_and_gets_the_rest_from_its_text():
    history = history_of(conversation(4, 9_000))
    grown = batch(history)
    assert grown.open == without_extract(grown.open)
    leaves = leaves_of(grown.frontier, nodes_of(grown))
    for leaf, place in zip(leaves, places(leaves), strict=True):
        if not place.start:
            made = extraction.extracted(without_extract(leaf), place.first, history.view)
            assert made == leaf
    whole = extraction.extracted(grown.open, grown.frontier.messages, history.view)
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


# ------------------------------------------------------------------------------------------------
# Stage 1 in several stretches gives what one run gives, or says how far they agree.


OVERLAP = 8_000  # bytes: test histories are small


def in_stretches(tail, parts: int, overlap: int = OVERLAP) -> tuple[GrownTree, int]:
    stretches = growth.split(tail, parts, overlap)
    return join(tail, stretches, [growth.grow(one.tail) for one in stretches])


def join(tail, stretches, grown) -> tuple[GrownTree, int]:
    """Join the trees of the stretches as far as they agree."""
    whole, end = grown[0], stretches[0].end
    for stretch, next_tree in zip(stretches[1:], grown[1:], strict=True):
        added = growth.join_next(tail, whole, end, stretch, next_tree)
        if added is None:
            break
        whole, end = growth.concat([whole, added]), stretch.end
    return whole, end


def finished(tail, grown: GrownTree, end: int) -> GrownTree:
    if end == len(tail.messages):
        return grown
    return growth.concat([grown, growth.grow(growth.rest(tail, grown, end))])


def test_stretches_follow_each_other_and_overlap():
    tail = tail_of(history_of(conversation(1, 20_000)))
    stretches = growth.split(tail, 3, OVERLAP)
    assert (stretches[0].start, stretches[-1].end) == (0, len(tail.messages))
    for one, other in pairwise(stretches):
        assert one.start < other.start < one.end <= other.end
        shared = tail.messages[other.start : one.end]
        assert sum(map(len, shared)) >= OVERLAP > sum(map(len, shared[:-1]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts",
    [1, pytest.param(2, marks=pytest.mark.long), 3, pytest.param(5, marks=pytest.mark.long)],
)
def test_together_they_find_what_one_run_finds(parts):
    tail = tail_of(history_of(conversation(2, 30_000)))
    assert in_stretches(tail, parts) == (growth.grow(tail), len(tail.messages))


@given(
    seed=st.integers(0, 10_000),
    parts=st.integers(2, 4),
    size=st.integers(2_000, 20_000),
    overlap=st.integers(1, OVERLAP),
    few=st.booleans(),
)
@pytest.mark.slow
def test_in_step_or_not_the_result_is_that_of_one_run(seed, parts, size, overlap, few):
    tail = replace(tail_of(history_of(conversation(seed, size))), sparse=few)
    grown, end = in_stretches(tail, parts, overlap)
    event(f"in step: {end == len(tail.messages)}")
    assert finished(tail, grown, end) == growth.grow(tail)


@pytest.mark.slow
def test_a_tail_may_go_on_from_a_frontier_and_a_longer_known_prefix():
    history = history_of(conversation(3, 30_000))
    whole = growth.grow(tail_of(history))
    known = {node.id: node for node in whole.nodes}
    length = len(history) // 4
    frontier = whole.frontiers[history.addresses[length]]
    assert frontier.messages < length
    tail = tail_of(history, frontier, {id_: known[id_] for id_ in frontier.nodes}, length)
    assert in_stretches(tail, 3) == (growth.grow(tail), len(tail.messages))


@pytest.mark.slow
def test_where_borders_do_not_agree_it_says_so():
    """Nothing to fall in step in: the first stretch ends where the second begins."""
    history = history_of(
        [Message.of({"role": "user", "content": prose(n, 150)}) for n in range(90)]
    )
    tail = tail_of(history)
    grown, end = in_stretches(tail, 2, overlap=1)
    assert 0 < end < len(tail.messages)
    assert finished(tail, grown, end) == growth.grow(tail)


@pytest.mark.slow
def test_one_message_is_one_stretch():
    tail = tail_of(history_of([Message.of({"role": "user", "content": prose(1, 9_000)})]))
    assert [(one.start, one.end) for one in growth.split(tail, 4)] == [(0, 1)]
    assert in_stretches(tail, 4) == (growth.grow(tail), 1)


@pytest.mark.slow
def test_what_a_stretch_has_sealed_is_not_sealed_again(monkeypatch):
    tail = tail_of(history_of(conversation(4, 150_000)))
    stretches = growth.split(tail, 2)
    grown = [growth.grow(one.tail) for one in stretches]
    made = []
    summarise = extraction.summarise
    monkeypatch.setattr(
        extraction, "summarise", lambda *given: made.append(given) or summarise(*given)
    )
    whole, _ = join(tail, stretches, grown)
    new = len([n for n in whole.nodes if n.level]) - len([n for n in grown[0].nodes if n.level])
    assert 0 < len(made) < new / 2


def test_a_part_is_a_history_of_its_own():
    tail = tail_of(history_of(conversation(5, 12_000)))
    _, second = growth.split(tail, 2)
    assert second.tail.frontier == EMPTY
    assert second.tail.addresses[-1] == tail.addresses[-1]
    assert len(second.tail.messages) == len(second.tail.digests) == len(second.tail.addresses)


# ---------------------------------------------------------------- in steps


@pytest.mark.slow
@given(
    seed=st.integers(0, 10_000),
    size=st.integers(500, 12_000),
    step=st.integers(1, 30_000),
    known=st.floats(0, 1),
    stopped=st.integers(0, 20),
    few=st.booleans(),
)
def test_in_steps_the_result_is_that_of_one_run(seed, size, step, known, stopped, few):
    """From any known prefix on, and where a run is cut off and another one goes on from there."""
    history = history_of(conversation(seed, size))
    before = growth.grow(tail_of(history))
    length = int(known * len(history))
    frontier = before.frontiers.get(history.addresses[length], EMPTY)
    if not frontier.nodes:
        length = 0
    nodes = {node.id: node for node in before.nodes}
    tail = tail_of(history, frontier, {id_: nodes[id_] for id_ in frontier.nodes}, length)
    tail = replace(tail, sparse=few)
    steps = list(growth.in_steps(tail, step))
    event(f"steps: {min(len(steps), 3)}")
    assert growth.concat(steps) == growth.grow(tail)
    done = steps[: 1 + stopped]
    rest = growth.rest_after(tail, growth.concat(done))
    assert growth.concat([*done, growth.grow(rest)]) == growth.grow(tail)


def test_nothing_new_is_one_step():
    tail = tail_of(history_of(conversation(1, 3_000)))
    left = growth.rest(tail, growth.grow(tail), len(tail.messages))
    (step,) = growth.in_steps(left)
    assert step == growth.grow(left)


def test_steps_are_of_about_equal_size():
    tail = tail_of(history_of(conversation(5, 30_000)))
    size = sum(map(len, tail.messages))
    longest = max(map(len, tail.messages))
    end = growth.reach(tail, size // 3 + 1)
    assert abs(sum(map(len, tail.messages[:end])) - size / 3) <= longest
    assert growth.reach(tail, 1) == 1
    assert growth.reach(tail, size) == len(tail.messages)


# ------------------------------------------------------------------------------------------------
# Check what a node takes in memory, estimated within a third.


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_leaves_and_inner_nodes(seed: int) -> None:
    nodes = batch(history_of(conversation(seed, 30_000))).nodes
    for some in ([n for n in nodes if n.is_leaf], [n for n in nodes if not n.is_leaf]):
        assert len(some) > 2
        estimated = sum(map(node_bytes, some))
        assert 0.67 < estimated / real_size(list(some)) < 1.5


# ------------------------------------------------------------------------------------------------
# Passages cover a document, end where it does, and fit an embedder and a line.


PARAGRAPH = "The proxy listens on 8787 and answers nobody else but its owner. " * 5 + "\n\n"


def texts(text: str) -> list[str]:
    return [text[start:end] for start, end in passages(text)]


def test_what_fits_one_passage_is_one():
    assert passages("# Ports\n\nStaging listens on 8090.\n") == [(0, 34)]


def test_a_passage_ends_before_a_heading_rather_than_after_a_paragraph():
    found = texts(PARAGRAPH * 2 + "## Next\n\n" + PARAGRAPH * 2)
    assert found[1].startswith("## Next")
    assert len(found) == 2


def test_paragraphs_are_joined_until_they_say_enough():
    found = texts("One short paragraph.\n\n" * 200)
    assert all(LEAST <= len(text) <= MOST for text in found[:-1])
    assert all(text.endswith("\n\n") for text in found)


def test_a_function_stays_whole_where_it_fits():
    function = "def port():\n" + "    work()\n" * 45 + "    return 8090\n\n\n"
    found = texts("```python\n" + function * 4 + "```\n")
    assert sum("return 8090" in text for text in found) == 4
    assert all(text.lstrip("`python\n").startswith("def ") for text in found)


def test_an_endless_line_is_cut_at_words():
    found = texts("lorem ipsum " * 1_000)
    assert all(text.endswith(" ") for text in found)
    assert max(map(len, found)) <= MOST


def test_white_space_is_no_passage_of_its_own():
    found = texts("begin" + "\n" * 5_000 + "end")
    assert all(text.strip() for text in found)
    assert found[-1].strip() == "end"


PIECES = st.lists(
    st.sampled_from(
        ["word ", "# Head\n", "\n", "```\n", "漢字", "é. ", "a" * 700, "{", "}", "😀" * 90, " "]
    ),
    max_size=120,
)


@given(PIECES)
@settings(deadline=None)
@example(["😀" * 90] * 30)
@example(["a" * 700] * 5)
@example(["\n"] * 120)
@example([])
def test_passages_cover_the_text_and_are_neither_long_nor_many(pieces: list[str]):
    text = "".join(pieces)
    found = passages(text)
    assert "".join(text[start:end] for start, end in found) == text
    assert all(start < end for start, end in found) or not text
    assert all(text[start:end].strip() for start, end in found) or not text.strip()
    sizes = [len(text[start:end].strip().encode()) for start, end in found]
    assert max(sizes, default=0) <= MOST
    # Two in a row say more than one may hold.
    assert len(found) <= 2 * len(text.encode()) / MOST + 2
