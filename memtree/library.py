"""Opens the memory of a program, over one store: conversations and saved memories.

    async with memtree.open("sqlite:///memory.db") as memory:
        answer = await memory.compress(messages, target=8_000)
        await memory.of("user:ann").save("Ann drinks green tea")

Messages are those of OpenAI's chat, of Anthropic's Messages API, or items of the Responses API; the
result has the same form. This module calls no model and knows nothing of HTTP.

Programs without an event loop use `open_memory_sync`. Connection pools and the embedder are bound
to the loop that opened them, so each open memory has one loop, in a thread of its own.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, ParamSpec, TypeVar

import msgspec

from memtree.config import Settings
from memtree.context.answer import Answer
from memtree.context.sent_requests import SentRequests
from memtree.context.turn_request import CompressRequest
from memtree.dialects import posted_history
from memtree.dialects.fragment_caches import markers, tools_tokens
from memtree.dialects.posted_history import PostedDialectHistory
from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.jobs.runtime import Runtime, open_runtime
from memtree.memories.book import ForgottenMemory, MemoryBook
from memtree.memories.draft import MemoryDraft
from memtree.memories.memory import Memory
from memtree.memories.scope import Scope, ScopeKind, checked_id
from memtree.memories.search.ranking import MemoryHit
from memtree.ports.context_store import Receipt
from memtree.process.threads import off_loop
from memtree.tenant_names import LOCAL
from memtree.unfolding.explain import ExplainedExcerpt, Explanation

MOST_LISTED = 1_000
KINDS = tuple(kind.value for kind in (ScopeKind.USER, ScopeKind.CHAT, ScopeKind.AGENT))


class SavedMemories:
    """Created by `MemTree.of`. All methods raise store errors."""

    def __init__(self, book: MemoryBook, scope: Scope) -> None:
        self._book, self._scope = book, scope

    async def save(
        self,
        text: str,
        *,
        category: str | None = None,
        tags: Sequence[str] = (),
        expires: float | None = None,
        standing: bool | None = None,
    ) -> Memory:
        """Save a text; a repeated text is saved once. `category` None: inferred from the text.
        `expires`: unix seconds. Raises `BadRequest`, `SecretRejected` and `MemoryLimit`."""
        draft = MemoryDraft(
            text, category=category, tags=tuple(tags), expires=expires, standing=standing
        )
        return (await self._book.save(self._scope, draft)).memory

    async def search(self, query: str, *, limit: int = 5) -> list[MemoryHit]:
        """Return the memories most relevant to a question, best first."""
        result = await self._book.search(self._scope, query, limit=limit, unhurried=True)
        return list(result.hits)

    async def list(self, *, limit: int = 100) -> list[Memory]:
        """Return the newest memories. Raises `BadRequest` for a limit out of range."""
        if not 1 <= limit <= MOST_LISTED:
            raise BadRequest(f"limit must be 1 to {MOST_LISTED:,}", param="limit")
        page = await self._book.page(self._scope, limit=limit)
        return [*page.memories]

    async def delete(self, memory: str) -> ForgottenMemory:
        """Delete a memory by its id, with its duplicates. Raises `NotFound`."""
        return await self._book.forget(self._scope, memory)


def scope_named(tenant: str, owner: str) -> Scope:
    """Return the scope of `user:ID`, `chat:ID` or `agent:ID`; the tenant's own for "". Raises
    `BadRequest`."""
    if not owner:
        return Scope.of_user(tenant)
    kind, _, name = owner.partition(":")
    if kind not in KINDS:
        raise BadRequest("owner must be user:ID, chat:ID or agent:ID", param="owner")
    return Scope(tenant, ScopeKind(kind), checked_id(name, kind))


# ---------------------------------------------------------------- the open store

MIN_TARGET = 1_000
MODE = "stable"
SEARCHED = 4_000  # tokens of the memory message from which `search` takes its passages

Dialect = Literal["chat", "messages", "responses"]
Posted = Sequence[Mapping[str, Any] | Any]


@dataclass(frozen=True, slots=True)
class Compressed:
    """Messages to send instead of a history. `messages`: in the form of the input. `state`:
    `packed` if it is folded, `below-threshold` or `passed` if it need not be; all values are those
    of `x-memtree-state`. `address`: identifies the history. `pending_tokens`: tokens without
    embeddings yet, which are ranked without vectors until then. `saved_tokens`: what the requests
    of this conversation have saved, in uncached input tokens at cautious prices; a loss is
    negative."""

    messages: list[dict[str, Any]]
    state: str
    raw_tokens: int
    sent_tokens: int
    saved_tokens: int
    pending_tokens: int
    address: str
    epoch: str | None


@dataclass(frozen=True, slots=True)
class Passage:
    """Verbatim text of a posted message: characters `start` to `end` of the string at `part`, such
    as `content` or `tool_calls[0].function.arguments`. `message`: counted as in a chat, where each
    tool result is a message."""

    message: int
    part: str
    text: str
    start: int
    end: int


class MemTree:
    """An open store, created by `open_memory`; several tasks may use it at once."""

    def __init__(self, runtime: Runtime, settings: Settings, tenant: str) -> None:
        self._runtime, self._settings, self._tenant = runtime, settings, tenant
        self._sent = SentRequests()
        runtime.memory.on_deletion(self._sent.forget)

    async def compress(
        self,
        messages: Posted,
        *,
        target: int | None = None,
        query: str | None = None,
        mode: str | None = None,
        window: int = 128_000,
        system: Any = None,
        tools: Sequence[Any] = (),
        dialect: Dialect | None = None,
    ) -> Compressed:
        """Return the history, shortened if it is long: at most `target` tokens, with changes from
        turn to turn at its end.

        `system`: Anthropic's system prompt, or the instructions of the Responses API; `tools`: also
        takes room in the model's `window`. `dialect`: of the messages; Anthropic's are recognised
        by their blocks, `responses` has to be named. Raises `BadRequest` and `ContextOverflow`.
        """
        read = await self._read(messages, system, tools, dialect)
        answer = await self._runtime.memory.compress(
            self._request(read, target=target, query=query, mode=mode, window=window)
        )
        now = time.time()
        saving = self._sent.saving(self._tenant, "", answer, now)
        self._sent.note(self._tenant, "", answer, now, saving)
        return await off_loop(
            len(read.body.raw), lambda: _compressed(answer, read.history, saving.total)
        )

    async def explain(
        self,
        messages: Posted,
        *,
        target: int | None = None,
        query: str | None = None,
        mode: str | None = None,
        window: int = 128_000,
        system: Any = None,
        tools: Sequence[Any] = (),
        dialect: Dialect | None = None,
    ) -> Explanation:
        """Return the reasons for what `compress` would send: nodes, excerpts with places and
        reasons, and the best passages that did not fit. Raises as `compress` does."""
        read = await self._read(messages, system, tools, dialect)
        _, details = await self._runtime.memory.compress_with_details(
            self._request(read, target=target, query=query, mode=mode, window=window)
        )
        return details.explain()

    async def search(
        self, messages: Posted, query: str, *, dialect: Dialect | None = None
    ) -> list[Passage]:
        """Return the passages of a long history that are relevant to a question, in the order of
        the history. Empty if the history is short enough to be sent whole. Raises as `compress`
        does."""
        read = await self._read(messages, None, (), dialect)
        request = self._request(read, target=SEARCHED, query=query, mode="fresh")
        _, details = await self._runtime.memory.compress_with_details(request)
        passages = [_passage(each, read.history) for each in details.explain().excerpts]
        return sorted(passages, key=lambda passage: (passage.message, passage.start))

    async def delete(self, messages: Posted, *, dialect: Dialect | None = None) -> Receipt:
        """Forget a history and everything derived from it; returns how many rows were deleted."""
        read = await self._read(messages, None, (), dialect)
        return await self._runtime.memory.forget_history(self._request(read))

    def of(self, owner: str) -> SavedMemories:
        """Return the saved memories of `user:ID`, `chat:ID` or `agent:ID`; for "", those of this
        program's own user. Raises `BadRequest`."""
        return SavedMemories(self._runtime.memory_services.book, scope_named(self._tenant, owner))

    async def settle(self) -> None:
        """Wait until everything that was posted is embedded and summarised."""
        await self._runtime.settle()

    async def _read(
        self, messages: Posted, system: Any, tools: Sequence[Any], dialect: Dialect | None
    ) -> _Messages:
        body: dict[str, Any] = {"input" if dialect == "responses" else "messages": messages}
        if system is not None:
            body["instructions" if dialect == "responses" else "system"] = system
        if tools:
            body["tools"] = tools
        if dialect is not None:
            body["dialect"] = dialect

        def parse() -> _Messages:
            split = json_body.split(_encoded(body), halves=True)
            most = self._settings.max_messages
            return _Messages(split, posted_history.read(split, self._tenant, most))

        return await off_loop(len(messages) * 1_000, parse)

    def _request(
        self,
        read: _Messages,
        *,
        target: int | None = None,
        query: str | None = None,
        mode: str | None = None,
        window: int = 128_000,
    ) -> CompressRequest:
        """Build the request. Raises `BadRequest` that names the argument."""
        if target is not None and not MIN_TARGET <= target <= window:
            raise BadRequest(f"target must be {MIN_TARGET:,} to {window:,} tokens", param="target")
        if mode not in (None, "stable", "auto", "fresh"):
            raise BadRequest(f"mode must be stable, auto or fresh, not {mode!r}", param="mode")
        request = CompressRequest(
            self._tenant,
            read.history.messages,
            target=target or min(self._settings.target_tokens, window),
            hard=target is not None,
            window=window,
            reserve=0,
            query=query,
            mode=mode or MODE,
            expiration_days=self._settings.expiration_days,
            tools_tokens=tools_tokens(read.body),
            markers=markers(read.body),
        )
        return read.history.complete(request)


@asynccontextmanager
async def open_memory(
    store: str, *, tenant: str = LOCAL, **settings: Any
) -> AsyncIterator[MemTree]:
    """Open a store (`sqlite:///PATH`, `postgresql://...` or `memory:`) with its models and queues.

    `settings`: those of `memtree serve`, such as `embedder="none"`; neither the environment nor a
    file is read. `tenant`: owner of the memory; by default the tenant that commands in the terminal
    use. Raises `BadRequest` that names the setting, and `StoreUnavailable`.
    """
    chosen = Settings.of(store=store, **settings)
    async with open_runtime(replace(chosen, queue="inprocess"), lasting=True) as runtime:
        await runtime.load()
        yield MemTree(runtime, chosen, tenant)


@dataclass(frozen=True, slots=True)
class _Messages:
    body: json_body.Body
    history: PostedDialectHistory


def _compressed(answer: Answer, history: PostedDialectHistory, saved: int) -> Compressed:
    return Compressed(
        messages=json.loads(history.sent(answer)),
        state=str(answer.state),
        raw_tokens=answer.raw_tokens,
        sent_tokens=answer.sent_tokens,
        saved_tokens=saved,
        pending_tokens=answer.pending_tokens,
        address=answer.address.hex(),
        epoch=answer.epoch,
    )


def _passage(excerpt: ExplainedExcerpt, history: PostedDialectHistory) -> Passage:
    value: Any = history.messages[excerpt.message].fields
    for step in excerpt.part.replace("[", ".").replace("]", "").split("."):
        if isinstance(value, str):  # the arguments of a call
            value = json.loads(value)
        value = value[int(step) if isinstance(value, list) else step]
    if isinstance(value, dict):  # a part of the content: use its text
        value = value["text"]
    text = value[excerpt.start : excerpt.end]
    return Passage(excerpt.message, excerpt.part, text, excerpt.start, excerpt.end)


def _encoded(body: Mapping[str, Any]) -> bytes:
    """Encode as JSON. Raises `BadRequest` if that is impossible."""
    try:
        try:
            return msgspec.json.encode(body, enc_hook=_plain)
        except (UnicodeEncodeError, OverflowError):  # half a surrogate pair, a huge number
            return json.dumps(body, default=_plain).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadRequest(f"messages: {error}", param="messages") from error


def _plain(value: Any) -> Any:
    """Convert an object of an SDK into plain JSON values. Raises `TypeError`."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, Iterable):
        return list(value)
    raise TypeError(f"{type(value).__name__} cannot be encoded as JSON")


P = ParamSpec("P")
T = TypeVar("T")


class LoopThread:
    """A thread that runs an event loop until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="memtree", daemon=True)
        self._thread.start()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`, which runs in the thread. Ctrl-C cancels it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def blocking(self, method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            return self.wait(method(*args, **kwargs))

        return call

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


class SavedMemoriesSync:
    """`SavedMemories` with blocking methods."""

    def __init__(self, memories: SavedMemories, thread: LoopThread) -> None:
        self.save = thread.blocking(memories.save)
        self.search = thread.blocking(memories.search)
        self.list = thread.blocking(memories.list)
        self.delete = thread.blocking(memories.delete)


class MemTreeSync:
    """`MemTree` with blocking methods. Several threads may use it at once."""

    def __init__(self, memory: MemTree, thread: LoopThread) -> None:
        self._memory, self._thread = memory, thread
        self.compress = thread.blocking(memory.compress)
        self.explain = thread.blocking(memory.explain)
        self.search = thread.blocking(memory.search)
        self.delete = thread.blocking(memory.delete)
        self.settle = thread.blocking(memory.settle)

    def of(self, owner: str) -> SavedMemoriesSync:
        return SavedMemoriesSync(self._memory.of(owner), self._thread)


@contextmanager
def open_memory_sync(store: str, *, tenant: str = LOCAL, **settings: Any) -> Iterator[MemTreeSync]:
    """Open a store as `open_memory` does, for code that does not await."""
    thread = LoopThread()
    try:
        opened = open_memory(store, tenant=tenant, **settings)
        memory = thread.wait(opened.__aenter__())
        try:
            yield MemTreeSync(memory, thread)
        finally:
            thread.wait(opened.__aexit__(None, None, None))
    finally:
        thread.close()
