"""Hand-written stand-ins for what the edge is built on, and the edge built on them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import Any, cast

import httpx

from memtree.budget.prices import Prices
from memtree.config import Settings
from memtree.context.answer import AnswerItem, KeptMessage, MemoryText, PostedSizes
from memtree.context.answer_state import State
from memtree.context.context_memory import Answer, AnswerDetails, CompressRequest, ContextMemory
from memtree.context.known_conversations import KnownConversations
from memtree.errors import MemTreeError, NotFound
from memtree.history import chat_history
from memtree.history.message import Volatile
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.memory_services import open_memory_services
from memtree.jobs.runtime import SystemClock
from memtree.memories.book import MemoryBook
from memtree.ports.context_store import Credentials, Receipt, Tallies
from memtree.ports.indexing_stages import Pending, SummaryStatus
from memtree.ports.models import ModelAnswer, ModelQuestion, Usage
from memtree.stores import Memories, RamStore, open_memories, open_store
from memtree.text import tokens
from memtree.unfolding.explain import TreeNode, TreeView
from memtree_proxy.chat.keepalive import PACE, KeepalivePace
from memtree_proxy.server.app import Services, create_app
from memtree_proxy.upstream.upstreams import Upstreams
from tests.fakes import LONG

MEMORY = "<context_memory>short</context_memory>"
MEMORY_MESSAGE = b'{"role":"user","content":"<context_memory>short</context_memory>"}'


class FakeMemory:
    """Keeps system messages and the newest message, and puts one line in place of the rest.

    Below `threshold` messages nothing changes. `before` runs ahead of each answer and deletion:
    raise from it, or wait in it. `told`: fields of the next answers, `folded`: of their details.
    Each history that was answered or indexed counts as one node until it is forgotten.
    """

    def __init__(self, threshold: int = 3) -> None:
        self.threshold = threshold
        self.asks: list[CompressRequest] = []
        self.before: Callable[[], Any] | None = None
        self.waiting = Pending(0, 0)
        self.summaries = SummaryStatus("off")
        self.told: dict[str, Any] = {}
        self.folded: Any = None
        self.kept: set[tuple[str, bytes]] = set()
        self.conversations = KnownConversations(RamStore(), SystemClock())  # it knows none

    def on_deletion(self, forget: Callable[[str | None], object]) -> None:
        """Nothing is deleted behind the routes' back."""

    async def compress(self, ask: CompressRequest) -> Answer:
        return (await self.compress_with_details(ask))[0]

    async def compress_with_details(self, ask: CompressRequest) -> tuple[Answer, AnswerDetails]:
        self.asks.append(ask)
        await self._pause()
        read = chat_history.read(ask.tenant, ask.messages, Volatile(), None, tokens.count)
        items: list[AnswerItem] = [KeptMessage(index) for index in range(len(ask.messages))]
        changed = len(read) > self.threshold
        if changed:
            system = [KeptMessage(index) for index, _ in read.system]
            items = [*system, MemoryText(MEMORY), KeptMessage(read.posted[len(read) - 1])]
        size = read.tokens + read.system_tokens
        self.kept.add((ask.tenant, read.addresses[-1]))
        answer = Answer(
            state=State.PACKED if changed else State.BELOW_THRESHOLD,
            changed=changed,
            items=tuple(items),
            address=read.addresses[-1],
            raw_tokens=size,
            sent_tokens=20 if changed else size,
            system_tokens=read.system_tokens,
            cached_tokens=size - 20 if changed else 0,
            outline_tokens=4,
            recent_tokens=6,
            excerpts=2,
            mode=ask.mode,
        )
        told = dict(self.told)
        if (gain := told.pop("gain", None)) is not None:
            told["sizes"] = self._saving(read, answer, gain)
        return dataclasses.replace(answer, **told), AnswerDetails(folded=self.folded)

    def _saving(self, read: chat_history.History, answer: Answer, gain: int) -> PostedSizes:
        """A history so much longer than what is sent, whatever was cached of both."""
        posted = answer.sent_tokens - answer.system_tokens + gain
        prices = Prices(1.0, 1.0)
        return PostedSizes(read.addresses, (0,) * len(read) + (posted,), 0, prices)

    async def read(self, ask: CompressRequest) -> chat_history.History:
        return chat_history.read(ask.tenant, ask.messages, Volatile(), None, tokens.count)

    async def index(self, ask: CompressRequest) -> Answer:
        return dataclasses.replace(await self.compress(ask), items=())

    async def tree(self, ask: CompressRequest) -> TreeView:
        await self.compress(ask)
        leaf = TreeNode(b"\xab", 0, (), 0, 1, 9, "short", "", (), by_model=False, sealed=True)
        return TreeView((leaf,), (leaf.id,))

    async def pending(self, tenant: str) -> Pending:
        return self.waiting

    async def summary_status(self, tenant: str) -> SummaryStatus:
        return self.summaries

    async def forget_history(self, ask: CompressRequest, *, dry_run: bool = False) -> Receipt:
        await self._pause()
        read = chat_history.read(ask.tenant, ask.messages, Volatile(), None, tokens.count)
        return self._forget({(ask.tenant, address) for address in read.addresses}, dry_run)

    async def forget_address(
        self, tenant: str, address: bytes, *, dry_run: bool = False
    ) -> Receipt:
        await self._pause()
        if (tenant, address) not in self.kept:
            raise NotFound("there is no such address", param="address")
        return self._forget({(tenant, address)}, dry_run)

    async def forget_tenant(self, tenant: str, *, dry_run: bool = False) -> Receipt:
        await self._pause()
        return self._forget({row for row in self.kept if row[0] == tenant}, dry_run)

    def _forget(self, rows: set[tuple[str, bytes]], dry_run: bool) -> Receipt:
        gone = len(self.kept & rows)
        if not dry_run:
            self.kept -= rows
        return Receipt(addresses=gone, nodes=gone)

    async def _pause(self) -> None:
        if self.before and (pause := self.before()):
            await pause


class FakeKeys:
    """`Credentials` in a dict; `error` is raised by each look-up."""

    def __init__(self, **tenants: Sequence[str]) -> None:
        self.tenants = {value: tenant for tenant, values in tenants.items() for value in values}
        self.error: MemTreeError | None = None
        self.lookups = 0
        self.named_anew: dict[str, str] = {}

    async def tenant_of(self, credential: str) -> str | None:
        self.lookups += 1
        if self.error:
            raise self.error
        return self.tenants.get(credential)

    async def has_keys(self) -> bool:
        if self.error:
            raise self.error
        return bool(self.tenants)

    async def add_key(self, label: str, values: Sequence[str]) -> str:
        self.tenants.update(dict.fromkeys(values, label))
        return label

    async def aliases(self) -> dict[str, str]:
        if self.error:
            raise self.error
        return self.named_anew

    async def revoke_key(self, key_id: str) -> bool:
        self.tenants = {v: t for v, t in self.tenants.items() if t != key_id}
        return True


def real_memory(builder: Any = None) -> ContextMemory:
    """Context memory over a store that is gone with it."""
    return ContextMemory(
        open_store("memory:"), builder or StageOne(child=False), NoQueue(), SystemClock()
    )


def services(
    base: str | None,
    fake: FakeMemory | ContextMemory | None = None,
    keys: Credentials | None = None,
    pace: KeepalivePace = PACE,
    book: MemoryBook | None = None,
    memories: Memories | None = None,
    tallies: Tallies | None = None,
    **changes: Any,
) -> Services:
    """`book`: None for one without an embedder; `memories`: None for an empty store. `tallies`: of
    models that memories ask."""
    settings = dataclasses.replace(Settings(upstream=base, embedding_seconds=LONG), **changes)
    return Services(
        memory=cast(ContextMemory, fake or FakeMemory()),
        memory_services=open_memory_services(
            settings,
            memories or open_memories(RamStore()),
            SystemClock(),
            None,
            book,
            tallies=tallies,
        ),
        keys=keys or FakeKeys(),
        upstreams=Upstreams.of_settings(settings),
        settings=settings,
        pace=pace,
    )


@asynccontextmanager
async def client_of(
    built: Services, host: str = "edge", *, lives: bool = False
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of these services' app in this process. `lives`: with its beginning and its end."""
    app = create_app(built)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app) if lives else nullcontext(),
        httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client,
    ):
        client.headers.clear()
        yield client
    await built.upstreams.close()


def raising(error: Exception) -> Callable[[], Any]:
    """Return what fake memory may do `before` its answers."""

    def fail() -> None:
        raise error

    return fail


@asynccontextmanager
async def edge(
    base: str | None,
    fake: FakeMemory | ContextMemory | None = None,
    keys: Credentials | None = None,
    **changes: Any,
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the app in this process. `base`: the upstream's address."""
    built = services(base, fake, keys, **changes)
    async with client_of(built) as client:
        yield client
    for close in built.memory_services.extracting.closing:
        await close()


def turn(count: int = 9, **fields: Any) -> dict[str, Any]:
    """A chat body with `count` messages, a system message first and one in the middle."""
    roles = ["user", "assistant"]
    said = [{"role": roles[i % 2], "content": f"message {i}"} for i in range(count)]
    said.insert(count // 2, {"role": "system", "content": "in the middle"})
    return {
        "model": "gpt-4o",
        "messages": [{"role": "system", "content": "be brief"}, *said],
        **fields,
    }


def dumps(value: Any) -> bytes:
    return json.dumps(value).encode()


class AnsweringModel:
    """A `ChatModel` that says this."""

    recipe = "scripted"

    def __init__(self, said: str) -> None:
        self.said = said
        self.asked: list[ModelQuestion] = []

    async def answer(self, question: ModelQuestion) -> ModelAnswer:
        self.asked.append(question)
        return ModelAnswer(self.said, True, Usage(10, 10))

    async def close(self) -> None: ...
