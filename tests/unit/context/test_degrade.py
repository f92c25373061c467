"""Promise 10: when a part of ours fails, the answer still comes, and says so."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from memtree.context.context_memory import CompressRequest, ContextMemory
from memtree.errors import EmbedderUnavailable, StoreUnavailable, Unavailable
from memtree.history.message import Message
from memtree.jobs.embedding import InProcessQueue, NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import SystemClock
from memtree.ports.context_store import IndexBatch
from memtree.ports.indexing_stages import Keep
from memtree.stores import open_store
from memtree.text import tokens
from memtree.tree.extraction import Unsummarised
from memtree.tree.growth import GrownTree, Tail
from memtree.tree.node import Node, Summary
from tests.answered import compressed
from tests.fakes import HashingEmbedder
from tests.programs.sessions import chat

pytestmark = pytest.mark.slow  # some seconds in all

NEEDLE = "The vault code is 7319."


class BrokenStore:
    """Fails in the named methods and is a real store otherwise."""

    def __init__(self, *broken: str) -> None:
        self._broken = broken
        self._store = open_store("memory:")

    def __getattr__(self, name: str) -> Any:
        if name in self._broken:
            return self._fail
        return getattr(self._store, name)

    async def _fail(self, *_: object) -> Any:
        raise StoreUnavailable("gone")


class DumbEmbedder(HashingEmbedder):
    """Answers nothing."""

    async def embed(self, texts: Sequence[str]) -> Any:
        raise EmbedderUnavailable("gone")

    async def embed_query(self, text: str) -> Any:
        raise EmbedderUnavailable("gone")


class NoBuilder:
    """Stage 1 that cannot run."""

    def warm(self) -> None:
        pass

    async def grow(self, tail: Tail, size: int, keep: Keep | None = None) -> GrownTree:
        raise Unavailable("gone")

    async def summaries(self, nodes: Unsummarised) -> list[Summary]:
        raise Unavailable("gone")


class LostNodes:
    """A store that knows an address and has lost a node below it."""

    def __init__(self) -> None:
        self._store = open_store("memory:")
        self.lost: bytes | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, tenant: str, batch: IndexBatch) -> None:
        if self.lost is None:
            self.lost = next(node.id for node in batch.nodes if node.is_leaf)
        await self._store.commit(tenant, batch)

    async def descendants(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        found = await self._store.descendants(tenant, ids)
        return {id_: node for id_, node in found.items() if id_ != self.lost}


def posted() -> tuple[Message, ...]:
    fields = chat(160, words=60)
    fields[40] = {"role": "user", "content": f"Please note: {NEEDLE}"}
    fields.append({"role": "user", "content": "What is the vault code?"})
    return tuple(Message.of(one) for one in fields)


def memory(store: Any, builder: Any = None, embedder: Any = None) -> ContextMemory:
    return ContextMemory(
        store, builder or StageOne(child=False), NoQueue(), SystemClock(), embedder=embedder
    )


def size_of(messages: Sequence[bytes]) -> int:
    return sum(tokens.count(msgspec.json.decode(raw)["content"]) + 4 for raw in messages)


@pytest.mark.parametrize(
    "broken",
    [
        ("frontiers",),
        ("descendants",),
        ("commit",),
        ("vectors",),
        ("frontiers", "commit", "vectors"),
    ],
)
async def test_without_the_store_the_tree_is_built_for_the_request(broken: tuple[str, ...]) -> None:
    used = memory(BrokenStore(*broken), embedder=HashingEmbedder())
    ask = CompressRequest("t", posted(), target=4_000, hard=True)
    for _ in range(2):
        answer = await compressed(used, ask)
        assert answer.changed
        assert NEEDLE in msgspec.json.decode(answer.messages[0])["content"]
        assert size_of(answer.messages) <= 4_000
        if "vectors" not in broken and "descendants" not in broken:
            assert answer.state == "degraded:store"


async def test_without_the_embedder_words_rank() -> None:
    answer = await compressed(
        memory(open_store("memory:"), embedder=DumbEmbedder()),
        CompressRequest("t", posted(), target=4_000, hard=True),
    )
    assert NEEDLE in msgspec.json.decode(answer.messages[0])["content"]
    assert answer.state == "degraded:embedder"


class Deaf(HashingEmbedder):
    """Passages have their vectors; queries get none while it is `down`."""

    down = True

    async def embed_query(self, text: str) -> Any:
        if self.down:
            raise EmbedderUnavailable("gone")
        return await super().embed_query(text)


async def embedded(used: ContextMemory, queue: InProcessQueue, ask: CompressRequest) -> None:
    """Until every leaf has its vector."""
    queue.start()
    await used.index(ask)
    await queue.join()


@pytest.mark.parametrize("mode", ["fresh", "stable"])
async def test_a_query_that_was_ranked_by_words_alone_is_told(mode: str) -> None:
    store, embedder, clock = open_store("memory:"), Deaf(), SystemClock()
    queue = InProcessQueue(store, embedder, clock)
    used = ContextMemory(store, StageOne(child=False), queue, clock, embedder=embedder)
    ask = CompressRequest("t", posted(), target=4_000, hard=True, mode=mode)
    await embedded(used, queue, ask)
    first = await compressed(used, ask)
    assert (first.state, first.pending_tokens) == ("degraded:embedder", 0)
    again = await compressed(used, ask)
    assert again.state == ("packed" if mode == "stable" else "degraded:embedder")
    assert (again.epoch, again.messages) == (first.epoch, first.messages)
    said = {"role": "assistant", "content": "It is 7319."}
    asked = {"role": "user", "content": "And who wrote the code of the vault down, and when?"}
    ask = replace(ask, messages=(*ask.messages, Message.of(said), Message.of(asked)))
    assert (await compressed(used, ask)).state == "degraded:embedder"
    embedder.down = False
    asked = {"role": "user", "content": "Why was that code of the vault chosen at all?"}
    ask = replace(ask, messages=(*ask.messages, Message.of(said), Message.of(asked)))
    assert (await compressed(used, ask)).state == "packed"
    await queue.close(0)


class Late(HashingEmbedder):
    """Met in the very moment after somebody has asked how long its vectors are."""

    def __init__(self) -> None:
        super().__init__()
        self.recipe, self.met = "late/0", False

    @property
    def dimensions(self) -> int:  # type: ignore[override]
        met, self.met, self.recipe = self.met, True, HashingEmbedder.recipe
        return HashingEmbedder.dimensions if met else 0

    async def embed_query(self, text: str) -> Any:
        if not self.met:
            raise EmbedderUnavailable("gone")
        return await HashingEmbedder().embed_query(text)


async def test_a_corpus_that_was_begun_before_an_embedder_was_met_takes_no_vectors() -> None:
    store, clock, embedder = open_store("memory:"), SystemClock(), HashingEmbedder()
    queue = InProcessQueue(store, embedder, clock)
    used = ContextMemory(store, StageOne(child=False), queue, clock, embedder=embedder)
    ask = CompressRequest("t", posted(), target=4_000, hard=True, mode="fresh")
    await embedded(used, queue, ask)
    await queue.close(0)
    expected = await compressed(used, ask)
    used = memory(store, embedder=Late())
    first, second = await compressed(used, ask), await compressed(used, ask)
    assert (first.state, second.state) == ("provisional", "packed")
    assert (first.reason, second.reason) == ("embeddings-pending", "")
    assert NEEDLE in msgspec.json.decode(first.messages[0])["content"]
    assert second.messages == expected.messages


async def test_other_troubles_are_told_first() -> None:
    used = memory(BrokenStore("vectors", "commit"), embedder=DumbEmbedder())
    answer = await compressed(
        used, CompressRequest("t", posted(), target=4_000, hard=True, mode="fresh")
    )
    assert answer.state == "degraded:store"


@pytest.mark.parametrize("target", [1_000, 4_000, 9_000])
async def test_without_a_tree_older_rounds_decay_within_the_target(target: int) -> None:
    question = {"role": "user", "content": "What is the vault code?"}
    history = tuple(Message.of(one) for one in [*chat(40, words=500), question])
    answer = await compressed(
        memory(open_store("memory:"), NoBuilder()),
        CompressRequest("t", history, target=target, hard=True),
    )
    assert answer.state == "degraded:indexing"
    assert answer.messages[-1] == history[-1].raw
    assert size_of(answer.messages) <= target
    shown = msgspec.json.decode(answer.messages[0])["content"]
    assert "[...]" in shown
    for one in answer.explain()["excerpts"]:
        piece = history[one["message"]].text[one["start"] : one["end"]]
        assert piece in shown


async def test_a_lost_node_means_a_new_tree() -> None:
    store = LostNodes()
    ask = CompressRequest("t", posted(), target=4_000, hard=True)
    wanted = await compressed(memory(store), ask)
    again = await compressed(memory(store), ask)  # another process: nothing is kept in memory
    assert again.messages == wanted.messages
    assert again.state == "packed"


async def test_index_without_a_store_still_answers() -> None:
    answer = await memory(BrokenStore("frontiers", "commit")).index(CompressRequest("t", posted()))
    assert answer.state == "degraded:store"
    assert answer.indexed_tokens > 0
    assert answer.items == ()


@pytest.mark.parametrize("mode", ["fresh", "stable"])
async def test_where_the_newest_round_leaves_no_room_for_memory_the_state_says_so(
    mode: str,
) -> None:
    newest = Message.of({"role": "user", "content": "river " * 11_700})
    ask = CompressRequest("t", (*posted(), newest), window=12_000, reserve=0, mode=mode)
    answer = await compressed(memory(open_store("memory:")), ask)
    assert (answer.state, answer.reason) == ("degraded:no-room", "")
    assert answer.messages == (newest.raw,)


@pytest.mark.parametrize("mode", ["fresh", "stable", "auto"])
async def test_one_round_that_cannot_be_cut_passes(mode: str) -> None:
    only = Message.of({"role": "user", "content": "river " * 11_700})
    used = memory(open_store("memory:"))
    answer = await compressed(used, CompressRequest("t", (only,), target=4_000, mode=mode))
    await used.close()
    assert (answer.state, answer.changed) == ("passed", False)
    assert answer.reason.startswith("one-round; folds-at=")
    assert answer.messages == (only.raw,)


class SlowBuilder:
    """Stage 1 that takes `seconds`; remembers how long it was waited for."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._builder = StageOne(child=False)

    def warm(self) -> None:
        pass

    async def grow(self, tail: Any, size: int, keep: Any = None) -> Any:
        await asyncio.sleep(self._seconds)
        return await self._builder.grow(tail, size, keep)

    async def summaries(self, nodes: Unsummarised) -> list[Summary]:
        return await self._builder.summaries(nodes)


async def test_without_a_tree_a_history_that_fits_the_model_goes_whole() -> None:
    answer = await compressed(
        memory(open_store("memory:"), NoBuilder()), CompressRequest("t", posted(), target=4_000)
    )
    assert answer.state == "degraded:indexing"
    assert answer.reason == f"tree-pending; folds-at={answer.raw_tokens}"
    assert answer.messages == tuple(message.raw for message in posted())


@pytest.mark.parametrize(("builder", "whole"), [(NoBuilder(), False), (None, True)])
async def test_a_tree_says_whether_it_reaches_the_end(builder: Any, whole: bool) -> None:
    tree = await memory(open_store("memory:"), builder).tree(CompressRequest("t", posted()))
    assert (tree.whole, bool(tree.nodes)) == (whole, whole)


@pytest.mark.parametrize(
    ("patience", "seconds", "state"),
    [(0.05, 3_600.0, "degraded:indexing"), (3_600.0, 0.05, "packed")],
)
@pytest.mark.parametrize("mode", ["fresh", "stable"])
async def test_who_needs_the_tree_waits_as_long_as_the_request_says(
    patience: float, seconds: float, state: str, mode: str
) -> None:
    ask = CompressRequest("t", posted(), target=4_000, window=11_000, patience=patience, mode=mode)
    answer = await compressed(memory(open_store("memory:"), SlowBuilder(seconds)), ask)
    assert answer.state == state
    assert answer.changed
    assert size_of(answer.messages) <= 11_000


@pytest.mark.parametrize("mode", ["fresh", "stable", "auto"])
async def test_a_side_request_goes_whole_where_it_fits_and_leaves_nothing(mode: str) -> None:
    store = open_store("memory:")
    ask = CompressRequest("t", posted(), target=4_000, whole=True, mode=mode)
    answer = await compressed(memory(store), ask)
    assert (answer.state, answer.changed, answer.epoch) == ("passed", False, None)
    assert answer.reason == "side-request"
    assert (await store.stats()).nodes == 0
    packed = await compressed(memory(store), replace(ask, window=11_000))
    assert packed.changed


async def test_a_tree_that_comes_too_late_for_one_request_is_kept_for_the_next() -> None:
    store = open_store("memory:")
    used = memory(store, SlowBuilder(0.3))
    ask = CompressRequest("t", posted(), target=4_000, window=11_000, patience=0.05)
    assert (await compressed(used, ask)).state == "degraded:indexing"
    assert (await store.stats()).leaves == 0
    await used.close()
    assert (await store.stats()).leaves > 0
