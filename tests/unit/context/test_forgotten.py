"""Histories that are forgotten, and those whose end comes and goes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchmarks.costs.ledger import Ledger
from memtree.budget.prices import Prices
from memtree.config import Settings
from memtree.context.context_memory import CompressRequest, ContextMemory
from memtree.context.index_lookup import STRIDE
from memtree.context.read_histories import MessageCache
from memtree.history.message import Message
from memtree.jobs.embedding import InProcessQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import Runtime, SystemClock, open_runtime
from memtree.unfolding.recall_block import OPENING
from tests.answered import compressed
from tests.fakes import HashingEmbedder
from tests.programs.sessions import chat, coding
from tests.properties.process import an_ask, assistant, begins, user
from tests.unit.context.test_rewritten import Desk, Posted, desk

# ------------------------------------------------------------------------------------------------
# After a deletion nothing is found: not in the store's files, the queue, or what a process keeps.
#
# On a whole runtime with its SQLite file; one tenant is deleted, another one stays.


pytestmark = pytest.mark.slow
WORD = "zanzibar"


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[tuple[Runtime, ContextMemory]]:
    """A runtime whose queue works only when it is started."""
    settings = Settings(store=f"sqlite:///{path}", upstream=None, embedder="none")
    async with open_runtime(settings) as runtime:
        embedder = HashingEmbedder()
        queue = InProcessQueue(runtime.store, embedder, SystemClock())
        memory = ContextMemory(
            runtime.store,
            StageOne(child=False),
            queue,
            SystemClock(),
            embedder=embedder,
            facts=MessageCache(1),
        )
        yield replace(runtime, memory=memory, queue=queue), memory


def history(word: str) -> tuple[Message, ...]:
    """A chat in which a word stands wherever an extract may pick it up."""
    told = [{"role": "user", "content": f"From now on, always call the service {word}."}]
    for number, one in enumerate(chat(200, words=60)):
        error = f"{word.title()}Error: {word}/part{number}.py failed with {word.upper()}-{number}."
        told.append({**one, "content": f"{error} {one['content']}"} if number % 5 == 0 else one)
    asked = {"role": "user", "content": f"Why did {word} fail?"}
    return tuple(Message.of(one) for one in (*told, asked))


async def used(runtime: Runtime, tenant: str, word: str) -> list[Any]:
    """Two turns in an epoch, all vectors; then a third whose vectors still wait."""
    posted = history(word)
    ask = CompressRequest(tenant, posted[:-3], target=3_000, hard=True, mode="stable")
    answers = [await compressed(runtime.memory, ask)]
    answers.append(await compressed(runtime.memory, replace(ask, messages=posted)))
    return answers


def everything(path: Path) -> bytes:
    files = sorted(path.parent.glob(f"{path.name}*"))
    return b"".join(file.read_bytes() for file in files)


@pytest.mark.parametrize(
    "how", ["history", pytest.param("address", marks=pytest.mark.long), "tenant"]
)
async def test_nothing_of_it_is_found_anywhere(tmp_path: Path, how: str) -> None:
    path = tmp_path / "m.db"
    async with opened(path) as (runtime, memory):
        queue = runtime.queue
        assert isinstance(queue, InProcessQueue)
        answers = await used(runtime, "gone", WORD)
        await used(runtime, "stays", "ouagadougou")
        assert all(answer.epoch for answer in answers)
        assert (await queue.pending("gone")).jobs == 1
        assert WORD.encode() in everything(path).lower()
        assert answers[-1].address in everything(path)
        if how == "history":
            receipt = await memory.forget_history(CompressRequest("gone", history(WORD)))
        elif how == "address":
            receipt = await memory.forget_address("gone", answers[-1].address)
        else:
            receipt = await memory.forget_tenant("gone")
        assert min(receipt.addresses, receipt.nodes, receipt.epochs, receipt.turns) > 0
        assert (await queue.pending("gone")).jobs == 0
        assert (await queue.pending("stays")).jobs == 1
        assert memory.cached_tenants == {"stays"}
        queue.start()
        await queue.join()
        left = everything(path)
        assert WORD.encode() not in left.lower()
        assert answers[-1].address not in left
        assert answers[0].address not in left
        assert b"ouagadougou" in left.lower()
        assert await runtime.store.check() == []
        again = await used(runtime, "stays", "ouagadougou")
        assert again[-1].cached_tokens > 0
        await queue.close()


# ------------------------------------------------------------------------------------------------
# Clients that put something behind the history of one request and leave it out of the next one: an
# internal context (OpenClaw), the files of the chat (aider), now and then a note (Hermes).
#
# On a whole `ContextMemory` with its queue, over the store in memory and over SQLite.


__all__ = ["desk"]
Sent = Callable[[Posted, int], Posted]
REQUESTS = 12
MOST_EPOCHS = 4
TOOLS, PRICES = 6_000, Prices(1.25, 0.10)
SIZE = 40_000  # tokens of an agent's session


def internal_context(history: Posted, number: int) -> Posted:
    words = f"Internal context: request {number}. " + "Answer briefly and use the tools. " * 12
    return [*history, user(words)]


def now_and_then(history: Posted, number: int) -> Posted:
    return internal_context(history, number) if number % 2 == 0 else history


def files_before_the_question(history: Posted, number: int) -> Posted:
    files = "\n".join(f"def f{n}(): return {n + number}" for n in range(60))
    return [*history[:-1], user(files), assistant("Ok, these are the files."), history[-1]]


def agent() -> list[Posted]:
    """Return what an agent has at each of its last requests, most of them in a loop of tools."""
    full = coding(SIZE, 1)
    asked = [at for at, one in enumerate(full) if one["role"] == "assistant" and at]
    return [full[:at] for at in asked[-REQUESTS:]]


def talk() -> list[Posted]:
    full = chat(601, 3, words=60)
    return [full[: at + 1] for at, one in enumerate(full) if one["role"] == "user"][-REQUESTS:]


def text_of(raw: bytes) -> str:
    return Message(raw).text


SHAPES = [
    pytest.param(internal_context, agent, id="OpenClaw"),
    pytest.param(internal_context, talk, id="OpenClaw in a chat"),
    pytest.param(now_and_then, agent, id="Hermes"),
    pytest.param(files_before_the_question, talk, id="aider"),
]


def common(one: Any, two: Any) -> int:
    """Return how many messages two lists begin with alike."""
    return next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), len(one))


@pytest.mark.parametrize(("sent", "histories"), SHAPES)
async def test_its_epochs_last(desk: Desk, sent: Sent, histories: Callable[[], list[Posted]]):
    direct, ours = Ledger(PRICES, TOOLS), Ledger(PRICES, TOOLS)
    requests, answers = [], []
    for number, history in enumerate(histories()):
        posted = sent(history, number)
        answer = await desk.ask(posted, target=20_000, tools_tokens=TOOLS, prices=PRICES)
        assert text_of(answer.messages[-1]).endswith(Message.of(posted[-1]).text)
        direct.add([json.dumps(one).encode() for one in posted])
        ours.add(answer.messages)
        requests.append(posted)
        answers.append(answer)
    assert len({answer.epoch for answer in answers}) <= MOST_EPOCHS
    assert None not in {answer.epoch for answer in answers}
    assert ours.total < direct.total
    for (before, one), (after, two) in pairwise(zip(requests, answers, strict=True)):
        if one.epoch == two.epoch:
            left_out = len(before) - common(before, after)
            assert two.messages[: len(one.messages) - left_out] == one.messages[: -left_out or None]


async def test_another_process_finds_the_epoch_in_the_store(desk: Desk):
    one, two = agent()[:2]
    first = await desk.ask(internal_context(one, 1))
    other = Desk(desk.store)
    other.queue.start()
    second = await other.ask(internal_context(two, 2))
    await other.queue.close()
    assert second.epoch == first.epoch


async def test_it_lasts_as_long_as_it_is_used(desk: Desk):
    """The turn at the cut is renewed with each request that goes on from there."""
    epochs = set()
    for number, history in enumerate(talk()):
        answer = await desk.ask(files_before_the_question(history, number), target=20_000)
        epochs.add(answer.epoch)
        desk.clock.time += 200  # seconds; a cache lives for 300
    assert len(epochs) == 1


async def test_who_goes_back_to_the_cut_begins_anew(desk: Desk):
    """Nothing that an epoch has folded is the newest message: that one is sent whole."""
    history = talk()[0]
    answer = await desk.ask(history)
    cut = len(history) - (len(answer.messages) - 1)
    for length in range(cut, cut + STRIDE):
        back = await desk.ask(history[:length])
        assert json.loads(back.messages[-1])["role"] == history[length - 1]["role"]
        assert text_of(back.messages[-1]).endswith(history[length - 1]["content"])
        again = await desk.ask(history[:length])
        assert again.messages == back.messages
    assert begins(await desk.ask([*history, assistant("Yes."), user("And then?")]), answer)


async def test_a_branch_from_the_cut_is_shown_no_block_of_another(desk: Desk):
    history = talk()[0]
    secret = "the blue heron of Lake Vättern"
    history[7] = assistant(f"Please note: {secret}.")
    answer = await desk.ask([*history[:-1], user(f"What about {secret}?")])
    cut = len(history) - (len(answer.messages) - 1)
    branch = [*history[: cut + 2], user("Thanks.")]
    other = await desk.ask(branch)
    assert not any(OPENING in text_of(raw) for raw in other.messages)
    own = await desk.ask([*branch, assistant("Yes."), user(f"And {secret}?")])
    assert begins(own, other)


async def test_a_real_request_takes_the_place_of_a_turn_without_its_end(desk: Desk):
    history = talk()[0]
    await desk.ask(internal_context(history, 1))
    alone = await desk.ask(history)
    calls = desk.watched.calls.count("put_turn")
    again = await desk.ask(history)
    assert (again.messages, again.epoch) == (alone.messages, alone.epoch)
    assert desk.watched.calls.count("put_turn") == calls, "it stands there as it was sent"


async def test_deletion_leaves_no_turn_at_a_cut(desk: Desk):
    for history in talk()[:3]:
        answer = await desk.ask(history)
    await desk.memory.forget_address("t", answer.address)
    assert await desk.rows() == (0, 0, 0)
    for number, history in enumerate(agent()[:3]):
        posted = internal_context(history, number)
        await desk.ask(posted)
    for number, history in enumerate(agent()[:3]):
        await desk.memory.forget_history(an_ask(internal_context(history, number)))
    assert await desk.rows() == (0, 0, 0)
