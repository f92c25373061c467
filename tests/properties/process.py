"""One process of context memory over a store that can be watched, held and broken."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from memtree.context.context_memory import CompressRequest, ContextMemory
from memtree.context.read_histories import MessageCache
from memtree.history.message import Message
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.ports.context_store import Store
from memtree.ports.indexing_stages import Keep
from memtree.stores import RamStore, open_store
from memtree.text import tokens
from memtree.tree.growth import GrownTree, Tail
from memtree.unfolding import recall_block
from tests.answered import Answered, compressed
from tests.contracts.backends import stored_rows
from tests.fakes import HashingEmbedder
from tests.programs.sessions import chat

NEEDLE = "The launch code of project Marigold is ZETA."
QUESTION = "What is the launch code of project Marigold?"


class Clock:
    def __init__(self) -> None:
        self.time = 1_000_000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time


class Held(StageOne):
    """A builder that waits in each run until `go` is set."""

    def __init__(self) -> None:
        super().__init__(child=False)
        self.began, self.go = asyncio.Event(), asyncio.Event()

    async def grow(self, tail: Tail, size: int, keep: Keep | None = None) -> GrownTree:
        self.began.set()
        await self.go.wait()
        return await super().grow(tail, size, keep)


class Watched:
    """A real store that notes its calls; methods can be made to fail, lose, or wait."""

    def __init__(self, store: Store | None = None) -> None:
        self.store = store or open_store("memory:")
        self.calls: list[str] = []
        self.broken: dict[str, Exception] = {}
        self.waiting: dict[str, tuple[asyncio.Event, asyncio.Event]] = {}
        self.lost: set[str] = set()

    def hold(self, name: str) -> tuple[asyncio.Event, asyncio.Event]:
        self.waiting[name] = asyncio.Event(), asyncio.Event()
        return self.waiting[name]

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any, **named: Any) -> Any:
            self.calls.append(name)
            if name in self.broken:
                raise self.broken[name]
            found = await getattr(self.store, name)(*args, **named)
            if name in self.waiting:
                began, go = self.waiting[name]
                began.set()
                await go.wait()
            return {} if name in self.lost else found

        return call


class World:
    """One store and one clock; `memory()` is another process on them."""

    def __init__(self, *, embedding: bool = False) -> None:
        self.clock, self.store = Clock(), Watched()
        self.embedder = HashingEmbedder() if embedding else None
        self.used = self.memory()

    def memory(self, builder: StageOne | None = None, clock: Clock | None = None) -> ContextMemory:
        return ContextMemory(
            self.store,  # type: ignore[arg-type]
            builder or StageOne(child=False),
            NoQueue(),
            clock or self.clock,
            embedder=self.embedder,
            facts=MessageCache(7),
        )

    async def ask(
        self, posted: Sequence[dict[str, Any]], memory: Any = None, **named: Any
    ) -> Answered:
        answer: Answered = await compressed((memory or self.used), an_ask(posted, **named))
        return answer

    @property
    def rows(self) -> dict[str, set[Any]]:
        store = self.store.store
        assert isinstance(store, RamStore)
        return stored_rows(store.database.connection, "t")

    @property
    def empty(self) -> bool:
        return not any(self.rows.values())


def an_ask(posted: Sequence[dict[str, Any]], **named: Any) -> CompressRequest:
    options = {"target": 4_000, "mode": "stable", **named}
    return CompressRequest("t", tuple(map(Message.of, posted)), **options)


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def story(turns: int = 161, seed: int = 1) -> list[dict[str, Any]]:
    """About 70 tokens a message, the user's last; what is asked for stands near the beginning."""
    made = chat(turns, seed, words=60)
    made[7] = assistant(f"Please note: {NEEDLE}")
    return made


def after(
    posted: list[dict[str, Any]], number: int, words: str = "It was so"
) -> list[dict[str, Any]]:
    """One more turn."""
    return [*posted, assistant(f"{words}, {number}."), user(f"And {words.lower()} {number}.")]


def text_of(answer: Answered) -> str:
    return "\n".join(Message(raw).text for raw in answer.messages)


def begins(longer: Answered, shorter: Answered) -> bool:
    return longer.messages[: len(shorter.messages)] == shorter.messages


def size_of(answer: Answered) -> int:
    return sum(tokens.count(Message(raw).text) + 4 for raw in answer.messages)


def block_of(raw: bytes) -> str:
    return (
        Message(raw).text.partition(recall_block.CLOSING)[0]
        if recall_block.OPENING.encode() in raw
        else ""
    )
