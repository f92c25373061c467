"""Check what stage 1 has sealed when it is cut off is stored, and the next request goes on from
there."""

from __future__ import annotations

import asyncio
import os
from itertools import pairwise

import msgspec
import pytest

from memtree.context.context_memory import CompressRequest, ContextMemory
from memtree.errors import StoreUnavailable
from memtree.jobs import child_process
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import SystemClock
from memtree.stores import RamStore
from memtree.tree import extraction, growth
from tests.programs.processes import alive, descendants, needs_proc
from tests.properties.strategies import conversation, history_of, tail_of

pytestmark = pytest.mark.slow  # trees of ten thousand tokens and more, some in child processes

TENANT = "t"
GRACE = 0.05
SECONDS = 300  # longer than any machine takes; a request that is given up is still waiting then


@pytest.fixture(scope="module")
def messages():
    return tuple(conversation(1, 90_000))


@pytest.fixture(scope="module")
def whole(messages):
    return growth.grow(tail_of(history_of(messages, TENANT)))


class Counting:
    """Stage 1 in this process: `leaves` that were made, and a stop after some steps."""

    def __init__(self, monkeypatch):
        self.leaves, self.steps = 0, 0
        self.most = 10**9  # steps before it fails
        self.reached = asyncio.Event()
        self._grow = growth.grow
        monkeypatch.setattr(growth, "grow", self.grow)

    def grow(self, tail, lines=None):
        if self.steps >= self.most:
            raise EOFError("cut off")
        self.steps += 1
        grown = self._grow(tail, lines)
        self.leaves += sum(node.is_leaf for node in grown.nodes)
        return grown


def memory(store, builder) -> ContextMemory:
    return ContextMemory(store, builder, NoQueue(), SystemClock())


async def indexed(store, builder, messages):
    return await memory(store, builder).index(CompressRequest(TENANT, messages, patience=SECONDS))


async def nodes(store, messages, whole):
    """Return the nodes of the stored tree, without the summaries, which may come later."""
    history = history_of(messages, TENANT)
    found = await store.frontiers(TENANT, [history.addresses[-1]])
    frontier = found[history.addresses[-1]].frontier
    assert frontier == whole.frontier
    return bare((await store.descendants(TENANT, frontier.nodes)).values())


def bare(nodes):
    return {node.id: msgspec.structs.replace(node, summary=extraction.NOT_YET) for node in nodes}


async def test_a_retry_goes_on_from_what_was_sealed(messages, whole, monkeypatch):
    store, builder, counting = RamStore(), StageOne(child=False), Counting(monkeypatch)
    leaves = sum(node.is_leaf for node in whole.nodes)
    counting.most = 3
    answer = await indexed(store, builder, messages)
    assert answer.state == "degraded:indexing"
    done, counting.leaves, counting.most = counting.leaves, 0, 10**9
    assert 0 < done < leaves
    answer = await indexed(store, builder, messages)
    assert answer.indexed_messages == whole.frontier.messages
    assert counting.leaves == leaves - done
    assert await nodes(store, messages, whole) == bare(whole.nodes)
    await builder.close()


async def test_it_is_stored_while_the_run_goes_on(messages, whole, monkeypatch):
    """So that not even the end of the process takes it away. In the end the tree is the same."""
    store = RamStore()
    builder, commits = StageOne(child=False, keep_every=0.001), []
    commit = store.commit

    async def noted(tenant, batch):
        commits.append(batch)
        await commit(tenant, batch)

    monkeypatch.setattr(store, "commit", noted)
    real = growth.grow

    def slowly(tail, lines=None):
        grown = real(tail, lines)
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0.05), loop).result()
        return grown

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(growth, "grow", slowly)
    await indexed(store, builder, messages)
    assert len(commits) > 2
    assert await nodes(store, messages, whole) == bare(whole.nodes)
    # One chain: each commit goes on behind the last address of the one before it.
    for one, other in pairwise(commits):
        assert other.previous == list(one.frontiers)[-1]
        assert not one.frontiers.keys() & other.frontiers.keys()
    await builder.close()


async def test_two_that_share_a_run_store_each_address_once(messages, whole, monkeypatch):
    store, builder = RamStore(), StageOne(child=False, keep_every=0.001)
    written = []
    commit = store.commit

    async def noted(tenant, batch):
        written.extend(batch.frontiers)
        await commit(tenant, batch)

    monkeypatch.setattr(store, "commit", noted)
    context = memory(store, builder)
    request = CompressRequest(TENANT, messages, patience=SECONDS)
    await asyncio.gather(context.index(request), context.index(request))
    assert len(written) == len(set(written)) > 0
    assert await nodes(store, messages, whole) == bare(whole.nodes)
    await builder.close()


@pytest.mark.long
async def test_a_store_that_fails_meanwhile_costs_nothing_but_time(messages, whole, monkeypatch):
    store, builder, counting = RamStore(), StageOne(child=False), Counting(monkeypatch)
    commit, failures = store.commit, [StoreUnavailable("away")]

    async def failing(tenant, batch):
        if failures:
            raise failures.pop()
        await commit(tenant, batch)

    monkeypatch.setattr(store, "commit", failing)
    counting.most = 3
    assert (await indexed(store, builder, messages)).state == "degraded:indexing"
    assert not failures
    counting.most = 10**9
    assert (await indexed(store, builder, messages)).state == "packed"
    assert await nodes(store, messages, whole) == bare(whole.nodes)
    await builder.close()


async def test_of_a_deleted_history_nothing_is_stored(messages, monkeypatch):
    store, builder, counting = RamStore(), StageOne(child=False), Counting(monkeypatch)
    context = memory(store, builder)
    counting.most = 3
    work = asyncio.create_task(context.index(CompressRequest(TENANT, messages, patience=SECONDS)))
    await until(lambda: counting.steps)
    await context.forget_tenant(TENANT)
    await work
    assert (await store.stats()).addresses == 0
    await builder.close()


# ---------------------------------------------------------------- clients that hang up

# A child that seals three steps and comes to no end.
STUCK = """
from memtree.tree import extraction, growth
real, steps = growth.grow, []
def grow(tail, lines=None):
    steps.append(1)
    while len(steps) > 3: pass
    return real(tail, lines)
growth.grow = grow
main()
"""


@pytest.fixture
def stuck(monkeypatch):
    start = child_process.START.replace("; ", "\n").replace("main()", STUCK)
    monkeypatch.setattr(child_process, "START", start)


async def until(condition) -> None:
    async with asyncio.timeout(SECONDS):
        while not condition():  # noqa: ASYNC110  what is waited for is in another process
            await asyncio.sleep(0.01)


async def hangs_up(work: asyncio.Task) -> None:
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work


def run_of(builder):
    (run,) = builder.runs.values()
    return run


@needs_proc
async def test_a_client_that_hangs_up_frees_the_child_and_a_retry_goes_on(messages, whole, stuck):
    store, builder = RamStore(), StageOne(parts=1, grace=GRACE)
    before = descendants(os.getpid())
    request = CompressRequest(TENANT, messages, patience=SECONDS)
    work = asyncio.create_task(memory(store, builder).index(request))
    await until(lambda: builder.runs and len(run_of(builder).sealed.parts) == 3)
    made = descendants(os.getpid()) - before
    assert len(made) == 1
    await hangs_up(work)
    await until(lambda: not alive(made) and not builder.runs)
    await until(lambda: not builder.children.busy)
    stats = await store.stats()
    assert 0 < stats.leaves < sum(node.is_leaf for node in whole.nodes)
    sizes = []
    other = StageOne(child=False)
    grow = other.grow
    other.grow = lambda tail, size, keep: sizes.append(size) or grow(tail, size, keep)
    await indexed(store, other, messages)
    assert sizes[0] < 0.6 * whole.frontier.tokens
    assert await nodes(store, messages, whole) == bare(whole.nodes)
    await builder.close()


@pytest.mark.long
@needs_proc
async def test_another_that_waits_for_the_same_history_keeps_the_child(messages, stuck):
    store, builder = RamStore(), StageOne(parts=1, grace=GRACE, keep_every=0.01)
    before = descendants(os.getpid())
    context, request = memory(store, builder), CompressRequest(TENANT, messages, patience=SECONDS)
    work = asyncio.create_task(context.index(request))
    await until(lambda: builder.runs and len(run_of(builder).sealed.parts) == 3)
    made = descendants(os.getpid()) - before
    second = asyncio.create_task(context.index(request))  # finds some of it in the store
    await until(lambda: run_of(builder).waiting == 2)
    await hangs_up(work)
    await asyncio.sleep(4 * GRACE)
    assert alive(made) == made
    await hangs_up(second)
    await until(lambda: not alive(made))
    await builder.close()
