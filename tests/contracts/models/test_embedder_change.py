"""Another embedder over the same store: old trees stay, vectors are made anew in the background.
And one that comes late: until then words rank, then what it owes is made without a restart."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

import msgspec
import pytest

from memtree.config import Settings
from memtree.context.turn_request import CompressRequest
from memtree.history.message import Message
from memtree.jobs.runtime import Runtime, open_runtime
from memtree.models.remote_embedder import CALIBRATION, RemoteEmbedder, calibration_texts
from memtree.tree.node import decode_node
from tests.answered import Answered, compressed
from tests.made.embeddings import Embeddings, Status, serving
from tests.programs.sessions import chat

NEEDLE = "The vault code is 7319."
OWN = {text for name in CALIBRATION for text in calibration_texts(name)}


def asking() -> CompressRequest:
    fields = chat(160, words=60)
    fields[40] = {"role": "user", "content": f"Please note: {NEEDLE}"}
    fields.append({"role": "user", "content": "What is the vault code?"})
    posted = tuple(Message.of(one) for one in fields)
    return CompressRequest("t", posted, target=4_000, hard=True)


ASK = asking()
QUESTION = "What is the vault code?"


@pytest.fixture(autouse=True)
def _patient(monkeypatch) -> None:
    """A question has time for its vector: a busy machine must not fail a test."""
    monkeypatch.setitem(RemoteEmbedder.__init__.__kwdefaults__, "query_seconds", 600.0)


@pytest.fixture
async def servers() -> AsyncIterator[tuple[Embeddings, Embeddings]]:
    """Two models whose vectors differ in length."""
    async with serving(Embeddings(64)) as one, serving(Embeddings(32)) as other:
        yield one, other


@asynccontextmanager
async def opened(
    store: Path, endpoint: Embeddings, dimensions: int | None = None
) -> AsyncIterator[Runtime]:
    """A runtime that is warm; the endpoint's record is empty. `dimensions`: else the endpoint's."""
    settings = Settings(
        store=f"sqlite:///{store}",
        embedding_base_url=endpoint.url,
        embedding_model="m",
        embedding_dimensions=endpoint.width if dimensions is None else dimensions,
        index_processes=False,
    )
    async with open_runtime(settings) as runtime:
        endpoint.asked.clear()
        yield runtime


def passages(endpoint: Embeddings) -> Counter[str]:
    return Counter(text for text in endpoint.texts if QUESTION not in text and text not in OWN)


def rows(store: Path) -> dict[str, int]:
    """Leaves with vectors by recipe."""
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as base:
        return dict(base.execute("select recipe, count(*) from vectors group by recipe"))


def widths(store: Path) -> set[int]:
    """Bytes of the vectors of a leaf by its passages."""
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as base:
        joined = "select n.data, v.data from vectors v join nodes n on n.id = v.id"
        found = base.execute(joined).fetchall()
    return {len(vectors) // len(decode_node(node).passages) for node, vectors in found}


def ranked_by_meaning(answer: Answered) -> bool:
    return any("cosine" in one["scores"] for one in answer.explain()["candidates"])


def memory_of(answer: Answered) -> str:
    return str(msgspec.json.decode(answer.messages[0])["content"])


async def answered(runtime: Runtime, mode: str = "fresh") -> Answered:
    answer = await compressed(runtime.memory, replace(ASK, mode=mode))
    assert answer.changed
    assert NEEDLE in memory_of(answer)
    return answer


@pytest.mark.slow
async def test_vectors_are_made_anew_and_the_old_ones_serve_again(servers, tmp_path: Path) -> None:
    one, other = servers
    store = tmp_path / "m.db"
    async with opened(store, one) as runtime:
        await answered(runtime)
        await runtime.settle()
        first = await answered(runtime)
        assert (first.state, first.pending_tokens) == ("packed", 0)
        assert ranked_by_meaning(first)
        made = passages(one)
        (recipe,) = rows(store)
        nodes = (await runtime.store.stats()).nodes
    async with opened(store, other) as runtime:
        other.always = Status(500)  # the background gets nowhere yet
        between = await answered(runtime)
        assert between.state == "degraded:embedder"
        assert between.pending_tokens > 0.9 * first.indexed_tokens
        assert not ranked_by_meaning(between)
        other.always = None
        await runtime.settle()
        later = await answered(runtime)
        assert (later.state, later.pending_tokens) == ("packed", 0)
        assert ranked_by_meaning(later)
        assert set(made) <= set(passages(other))
        assert (await runtime.store.stats()).nodes == nodes
        kept = rows(store)
        assert len(kept) == 2
        assert len(set(kept.values())) == 1
        assert await runtime.store.check() == []
    async with opened(store, one) as runtime:
        assert runtime.embedder
        assert runtime.embedder.recipe == recipe
        again = await answered(runtime)
        assert (again.state, memory_of(again)) == ("packed", memory_of(first))
        await runtime.settle()
        assert not passages(one)
        await runtime.memory.forget_tenant("t")
        assert rows(store) == {}


async def test_an_answer_that_lasts_is_begun_anew_and_found_again(servers, tmp_path: Path) -> None:
    """The ranking model is part of an epoch's name: an epoch of one model is not gone on with by
    another, and is there, byte for byte, when the first comes back."""
    one, other = servers
    store = tmp_path / "m.db"
    async with opened(store, one) as runtime:
        await answered(runtime)
        await runtime.settle()
        first = await answered(runtime, "stable")
    async with opened(store, other) as runtime:
        second = await answered(runtime, "stable")
        assert second.epoch not in ("", first.epoch)
    async with opened(store, one) as runtime:
        again = await answered(runtime, "stable")
        assert (again.epoch, again.messages) == (first.epoch, first.messages)
    async with opened(store, other) as runtime:
        again = await answered(runtime, "stable")
        assert (again.epoch, again.messages) == (second.epoch, second.messages)


async def test_two_models_on_one_store_at_once(servers, tmp_path: Path) -> None:
    """Two models share a store while servers are replaced one by one."""
    one, other = servers
    store = tmp_path / "m.db"
    async with opened(store, one) as old, opened(store, other) as new:
        await asyncio.gather(answered(old), answered(new))
        await asyncio.gather(old.settle(), new.settle())
        for runtime in (old, new):
            answer = await answered(runtime)
            assert (answer.state, ranked_by_meaning(answer)) == ("packed", True)
        assert len(rows(store)) == 2
        assert await old.store.check() == []


@pytest.fixture
async def closed() -> Embeddings:
    """An endpoint that does not listen yet; `port` is its own."""
    endpoint = Embeddings(64)
    async with serving(endpoint):
        pass
    return endpoint


def port_of(endpoint: Embeddings) -> int:
    return int(endpoint.url.rpartition(":")[2].partition("/")[0])


async def met(runtime: Runtime, mode: str = "fresh") -> Answered:
    """The first answer to a new question that was ranked by meaning."""
    async with asyncio.timeout(120):
        for number in count():
            asked = Message.of({"role": "user", "content": f"{QUESTION} I ask {number} times."})
            posted = (*ASK.messages[:-1], asked)
            answer = await compressed(runtime.memory, replace(ASK, mode=mode, messages=posted))
            if answer.state == "packed":
                return answer
            assert answer.state == "degraded:embedder"
            await asyncio.sleep(0.05)  # a probe is under way, of which nobody outside knows
    raise AssertionError


@pytest.mark.slow
async def test_an_embedder_that_comes_late_is_met_without_a_restart(closed, tmp_path) -> None:
    store = tmp_path / "m.db"
    async with opened(store, closed, 0) as runtime:
        assert "cannot be reached" in runtime.opened.trouble
        for mode in ("fresh", "stable"):
            before = await answered(runtime, mode)
            assert before.state == "degraded:embedder"
            assert before.pending_tokens == before.indexed_tokens > 0
            assert not ranked_by_meaning(before)
        assert rows(store) == {}
        async with serving(closed, port_of(closed)):
            await runtime.settle()
            after = await answered(runtime, "stable")
            assert (after.epoch, after.messages) == (before.epoch, before.messages)
            assert (after.state, after.pending_tokens) == ("packed", 0)
            assert ranked_by_meaning(await met(runtime))
            assert runtime.embedder
            assert list(rows(store)) == [runtime.embedder.recipe]
            assert runtime.embedder.recipe.endswith("/64")
            assert widths(store) == {64}
            assert max(passages(closed).values()) == 1
            assert await runtime.store.check() == []


@pytest.mark.long
async def test_vectors_of_earlier_serve_when_a_late_embedder_is_met(closed, tmp_path) -> None:
    store, port = tmp_path / "m.db", port_of(closed)
    async with serving(closed, port), opened(store, closed, 0) as runtime:
        await answered(runtime)
        await runtime.settle()
        first = await answered(runtime)
        made = rows(store)
    async with opened(store, closed, 0) as runtime:
        assert (await answered(runtime)).state == "degraded:embedder"
        async with serving(closed, port):
            await runtime.settle()
            later = await met(runtime)
            assert later.pending_tokens == 0
            assert ranked_by_meaning(later)
            again = await answered(runtime)
            assert memory_of(again) == memory_of(first)
            assert not passages(closed), "what has vectors is not embedded again"
    assert rows(store) == made


@pytest.mark.long
async def test_a_command_does_without_an_embedder_that_is_not_there(closed, tmp_path) -> None:
    settings = Settings(
        store=f"sqlite:///{tmp_path}/m.db", embedding_base_url=closed.url, embedding_model="m"
    )
    async with open_runtime(settings, drain=0) as runtime:
        assert runtime.embedder is None
        assert "cannot be reached" in runtime.opened.trouble
        await answered(runtime)
        assert (await runtime.memory.pending("t")).jobs == 0
