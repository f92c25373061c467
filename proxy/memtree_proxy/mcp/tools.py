"""Carry out the tools: every call returns an answer, whatever happens.

A refusal is an answer too, so that the model can read the reason and try again. Exceptions must not
reach the SDK: it sends their messages to older clients, and a message may quote a memory.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import msgspec

from memtree.errors import MemTreeError
from memtree.memories.book import ForgottenMemory, MemoryBook
from memtree.memories.draft import DedupPolicy
from memtree.memories.memory import MAX_TEXT_CHARS
from memtree.memories.scope import Scope
from memtree.process.tracing import Tracer, watched
from memtree.text.own_lines import in_values
from memtree_proxy.http import log
from memtree_proxy.mcp import tool_answers, tool_arguments
from memtree_proxy.mcp.listed_tools import RECALL, SEARCH_SESSIONS, TOOLS, Json
from memtree_proxy.mcp.tool_answers import INTERNAL, Conversations, Quoted, Said
from memtree_proxy.mcp.tool_arguments import (
    Confirm,
    Correct,
    Forget,
    ListMemories,
    Recall,
    Remember,
    SearchSessions,
    Settle,
    kept_reason,
    reference,
)
from memtree_proxy.wire.values import Answer


@dataclass(frozen=True, slots=True)
class Caller:
    """Caller of a tool. `scope`: whose memories the call reaches. `watch`: the request's
    tracer, passed here since the SDK answers in another task."""

    scope: Scope
    watch: Tracer | None = None


class PastSessions(Protocol):
    """Searches transcripts of coding agents on this machine."""

    async def search(self, query: str, project: str | None, limit: int) -> Json:
        """Return the tool's whole answer. Raises `MemTreeError`."""
        ...


class ToolAnswer(NamedTuple):
    content: Json
    failed: bool = False


class MemoryTools:
    """Tools over one memory book. `max_text_chars`: the setting. `conversations`: None if the
    server offers no resources. `sessions`: past sessions of coding agents; None over HTTP, where
    servers read no files."""

    def __init__(
        self,
        book: MemoryBook,
        max_text_chars: int = MAX_TEXT_CHARS,
        conversations: Conversations | None = None,
        sessions: PastSessions | None = None,
    ) -> None:
        self._book, self.conversations = book, conversations
        self._max_chars = max_text_chars
        self._carried: dict[str, Callable[[Any, Caller], Awaitable[Answer]]] = {
            "remember": self._remember,
            "recall": self._recall,
            "forget": self._forget,
            "correct": self._correct,
            "confirm": self._confirm,
            "list_memories": self._list,
            "settle": self._settle,
        }
        self.definitions = {tool.name: tool for tool in TOOLS}
        if sessions is not None:
            self._carried[SEARCH_SESSIONS.name] = partial(self._search_sessions, sessions)
            self.definitions[SEARCH_SESSIONS.name] = SEARCH_SESSIONS

    async def call(self, name: str, given: Mapping[str, Any], caller: Caller) -> ToolAnswer:
        """Call the tool `name`, which must be in `self.definitions`. Raises nothing."""
        begun = time.perf_counter()
        failure: str | None = None
        try:
            with watched(caller.watch):
                longest = self._max_chars if name == RECALL.name else MAX_TEXT_CHARS
                call = tool_arguments.read(self.definitions[name].arguments, given, longest)
                answer = await self._carried[name](call, caller)
        except MemTreeError as error:
            answer, failure = tool_answers.refused(error), tool_answers.code(error)
        except Exception as error:  # noqa: BLE001  the last handler: nothing may reach the SDK
            log.failure("mcp.internal_error", error, tool=name)
            message = "The server had an error while processing the call."
            answer, failure = Said(ok=False, error=INTERNAL, message=message), INTERNAL
        log.event(
            "mcp.call",
            tool=name,
            tenant=caller.scope.tenant[:10],
            error=failure,
            ms=(time.perf_counter() - begun) * 1000,
        )
        return ToolAnswer(in_values(msgspec.to_builtins(answer)), failure is not None)

    async def _remember(self, call: Remember, caller: Caller) -> Answer:
        policy = DedupPolicy(call.dedup_policy)
        result = await self._book.save(caller.scope, call.draft, policy)
        return tool_answers.saved(result, policy)

    async def _recall(self, call: Recall, caller: Caller) -> Answer:
        result = await self._book.search(
            caller.scope, call.query, wanted=call.wanted, limit=call.limit
        )
        return tool_answers.recalled(result, self._book.outdated)

    async def _forget(self, call: Forget, caller: Caller) -> Answer:
        if call.dry_run:
            memory = await self._book.get(caller.scope, reference(call.id))
            return tool_answers.forgotten(ForgottenMemory(memory), "Would be forgotten")
        return tool_answers.forgotten(
            await self._book.forget(caller.scope, reference(call.id), kept_reason(call.reason))
        )

    async def _correct(self, call: Correct, caller: Caller) -> Answer:
        why = kept_reason(call.reason)
        return tool_answers.corrected(
            await self._book.correct(caller.scope, reference(call.id), call.draft, why)
        )

    async def _confirm(self, call: Confirm, caller: Caller) -> Answer:
        return tool_answers.confirmed(
            await self._book.confirm(caller.scope, reference(call.id), by_person=False)
        )

    async def _search_sessions(
        self, sessions: PastSessions, call: SearchSessions, caller: Caller
    ) -> Answer:
        quoted = await sessions.search(call.query, call.project or None, call.limit)
        return msgspec.convert(quoted, Quoted)

    async def _settle(self, call: Settle, caller: Caller) -> Answer:
        replaces = call.action == "replace"
        ids = reference(call.id), reference(call.other)
        memory = await self._book.settle(caller.scope, *ids, replaces=replaces, by_person=False)
        return tool_answers.settled(memory)

    async def _list(self, call: ListMemories, caller: Caller) -> Answer:
        return tool_answers.listed(
            await self._book.page(caller.scope, call.wanted, cursor=call.cursor, limit=call.limit)
        )
