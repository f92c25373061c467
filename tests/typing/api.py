"""The library as its callers see it, for the type checker alone: `make types` reads this, nothing
runs it. A public function that changes what it takes or returns fails here before it fails there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never, assert_type

import memtree
from memtree.budget.prices import UNKNOWN, Prices
from memtree.clock import Clock
from memtree.config import Settings
from memtree.context.answer import Answer
from memtree.context.answer_details import AnswerDetails, FoldedReader
from memtree.context.answer_state import State
from memtree.context.context_memory import ContextMemory
from memtree.context.turn_request import CompressRequest
from memtree.dialects import openai_chat
from memtree.errors import BadRequest, ContextOverflow, StoreUnavailable
from memtree.history.chat_history import History
from memtree.history.message import ToolCall, View, Volatile
from memtree.jobs.runtime import Runtime, SystemClock, open_runtime
from memtree.memories.memory import Memory
from memtree.ports.context_store import ContextStore, KeyStore, Receipt, Store
from memtree.ports.indexing_stages import IndexQueue, Pending, SummaryStatus
from memtree.ports.models import Embedder
from memtree.stores import SqliteStore, open_store, shown_store
from memtree.stores.postgres import PostgresStore
from memtree.tree.node import Frontier, Node
from memtree.unfolding.explain import Explanation, TreeView


def messages() -> None:
    assert_type(memtree.__version__, str)
    posted = memtree.read_messages(b'[{"role":"user","content":"hi"}]')
    assert_type(posted, tuple[memtree.Message, ...])
    assert_type(
        memtree.read_messages([b'{"role":"user","content":"hi"}']), tuple[memtree.Message, ...]
    )
    message = posted[0]
    assert_type(message.raw, bytes)
    assert_type(message.role, str)
    assert_type(message.text, str)
    assert_type(message.calls, tuple[ToolCall, ...])
    assert_type(message.fields, dict[str, Any])
    assert_type(message.view(Volatile()), View)


async def library(posted: list[dict[str, Any]]) -> None:
    async with memtree.open("memory:", embedder="none") as opened:
        assert_type(opened, memtree.MemTree)
        answer = await opened.compress(posted, target=8_000, dialect="messages", system="Be brief")
        assert_type(answer, memtree.Compressed)
        assert_type(answer.messages, list[dict[str, Any]])
        assert_type(await opened.explain(posted), Explanation)
        assert_type(await opened.search(posted, "which port?"), list[memtree.Passage])
        assert_type(await opened.delete(posted), Receipt)
        ann = opened.of("user:ann")
        assert_type(ann, memtree.SavedMemories)
        assert_type(await ann.save("Ann drinks tea", tags=["tea"]), Memory)
        assert_type(await ann.list(), list[Memory])
    with memtree.open_sync("memory:", tenant="t") as waiting:
        assert_type(waiting, memtree.MemTreeSync)
        assert_type(waiting.compress(posted, target=8_000), memtree.Compressed)
        assert_type(waiting.of("user:ann"), memtree.SavedMemoriesSync)
        assert_type(waiting.of("user:ann").save("Ann drinks tea"), Memory)


def requests(posted: tuple[memtree.Message, ...]) -> CompressRequest:
    assert_type(CompressRequest("tenant", posted).prices, Prices)
    assert_type(UNKNOWN.cost(cached=10, written=2), float)
    return CompressRequest(
        tenant="tenant",
        messages=posted,
        target=20_000,
        hard=True,
        window=200_000,
        reserve=4_096,
        query="which port?",
        mode="stable",
        expiration_days=90,
        prices=Prices(write=1.25, read=0.1, lifetime=300),
    )


async def runtime(request: CompressRequest) -> None:
    settings = Settings.from_env({"store": "memory:"}, env={})
    assert_type(settings, Settings)
    assert_type(Settings().store, str)
    async with open_runtime(settings, drain=5.0) as opened:
        assert_type(opened, Runtime)
        assert_type(opened.memory, ContextMemory)
        assert_type(opened.store, Store)
        assert_type(opened.embedder, Embedder | None)
        await memory(opened.memory, request)
        await opened.settle()


async def memory(context: ContextMemory, request: CompressRequest) -> None:
    try:
        answer = await context.compress(request)
    except ContextOverflow as error:
        assert_type(error.code, str)
        raise
    except BadRequest as error:
        assert_type(error.param, str | None)
        assert_type(error.status, int)
        raise
    assert_type(answer, Answer)
    assert_type(await context.index(request), Answer)
    assert_type(await context.compress_with_details(request), tuple[Answer, AnswerDetails])
    assert_type(await context.tree(request), TreeView)
    assert_type(await context.outline(request), tuple[History, Frontier, Mapping[bytes, Node]])
    assert_type(await context.pending("tenant"), Pending)
    assert_type(await context.summary_status("tenant"), SummaryStatus)
    assert_type(await context.forget_history(request), Receipt)
    assert_type(await context.forget_address("tenant", answer.address), Receipt)
    assert_type(await context.forget_tenant("tenant"), Receipt)
    assert_type(await context.sweep(), Receipt)


async def answers(request: CompressRequest, answer: Answer, details: AnswerDetails) -> str:
    assert_type(answer.state, State)
    assert_type(openai_chat.messages(answer.items, request.messages), tuple[bytes, ...])
    assert_type(answer.changed, bool)
    assert_type(answer.sent_tokens, int)
    assert_type(answer.epoch, str | None)
    assert_type(details.explain(), Explanation)
    assert_type(details.folded, FoldedReader | None)
    if details.folded is None:
        return ""
    return assert_type(await details.folded.search("which port?"), str)


async def stores(url: str) -> None:
    store = open_store(url)
    assert_type(shown_store(url), str)
    match store:
        case SqliteStore() | PostgresStore():
            context: ContextStore = store  # each of them is every port of storage
            keys: KeyStore = store
            assert_type(await context.check(), list[str])
            assert_type(await keys.tenant_of("credential"), str | None)
            assert_type(await keys.add_key("label", ["value"]), str)
            await store.close()
        case _:
            assert_never(store)


def ports(store: Store, queue: IndexQueue, embedder: Embedder, texts: Sequence[str]) -> None:
    """A caller may bring adapters of its own: whatever has the methods will do."""
    clock: Clock = SystemClock()
    assert_type(clock.now(), float)
    assert_type(embedder.recipe, str)
    assert_type(StoreUnavailable("down").status, int)
