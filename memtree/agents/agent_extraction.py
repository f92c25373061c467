"""Extract memories of an agent from a conversation that a caller posts, from each message once.

    new messages of the user -> what they say -> memories that fit the schemas
    -> those that are not known yet; with them, in one step, that the messages are done

Without schemas a memory is a sentence, or a field that the user calls by its name. With schemas it
is data of their kinds, which only a model can find.

A message is known by the id that the caller gave it, else by its text. So branches, retries,
restarts and other processes extract nothing twice, and what was deleted does not come back.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memtree.agents.agent_memory import StructuredResult, WriteOutcome
from memtree.agents.agent_messages import (
    AgentMessage,
    ConversationReaders,
    StructuredReading,
    ToldMessage,
    batches,
    told_by_user,
)
from memtree.agents.extraction_plan import (
    MODEL,
    ExtractionPlan,
    ExtractionPlanner,
    ExtractionRequest,
    Found,
)
from memtree.agents.memory_schema import MemorySchema, nearest_kind
from memtree.errors import (
    Conflict,
    MemoryLimit,
    MemTreeError,
    ModelNeeded,
    SchemaViolation,
    Unavailable,
    UpstreamFailed,
    UpstreamTimeout,
)
from memtree.memories.message_extraction import LIMIT, PER_REQUEST, REQUEST_CAP, SkippedText, within
from memtree.memories.scope import Scope
from memtree.statements.grammar import SkipReason

__all__ = ["AgentExtraction", "AgentExtractionReport", "AgentMessage"]

PER_CALL = 200  # memories of one conversation that is posted
RULE_BATCH, MODEL_BATCH = (100, 16_000), (16, 32_000)  # messages and characters read at once
SECONDS = 30.0  # after which a request begins to read no further messages
READS = 5  # of a message that says parts of memories only: the rest may come with the next ones
ATTEMPTS = 5  # against others who write the same
# Why a message is read another time: a day's limit is reached, the time of a request is over, or
# the model or the store fails, or others write all the time, after something was read.
MODEL_LIMIT, TIME_LIMIT = "model_limit", "time_limit"
UNAVAILABLE, CONFLICT = "unavailable", "conflict"
_MODEL_NEEDED = (
    "There are schemas, and only a model can fill them from a conversation. Name one of your "
    "upstream in `model`, which is asked with your own credential; or configure one on the server "
    "(`summary_model`); or post the data yourself in `memories`. Nothing was stored."
)


@dataclass(frozen=True, slots=True)
class AgentExtractionReport:
    """`messages`: how many were read. `skipped`: texts of which nothing was made, and why."""

    created: tuple[StructuredResult, ...] = ()
    updated: tuple[StructuredResult, ...] = ()
    skipped: tuple[SkippedText, ...] = ()
    messages: int = 0

    def __add__(self, other: AgentExtractionReport) -> AgentExtractionReport:
        return AgentExtractionReport(
            (*self.created, *other.created),
            (*self.updated, *other.updated),
            (*self.skipped, *other.skipped),
            self.messages + other.messages,
        )


class AgentExtraction:
    """Safe for concurrent calls; `planner` is bound to the ports. `most`: memories that a tenant
    may have; `per_call`: that come of one conversation, the rest of which is read with the next
    call. `seconds`: after which a call begins to read no further messages; what it began, it ends.
    """

    def __init__(
        self,
        planner: ExtractionPlanner,
        *,
        most: int = 0,
        per_call: int = PER_CALL,
        most_chars: int = PER_REQUEST,
        seconds: float = SECONDS,
    ) -> None:
        self.planner = planner
        self._store, self._schemas = planner.store, planner.schemas
        self._saving, self._clock = planner.saving, planner.clock
        self._most, self._most_chars = most, most_chars
        self._per_call, self._seconds = per_call, seconds

    async def extract(
        self,
        scope: Scope,
        messages: Sequence[AgentMessage],
        readers: ConversationReaders,
        *,
        thread: str | None = None,
        schemas: Sequence[str] | None = None,
        expires: float | None = None,
        force: bool = False,
    ) -> AgentExtractionReport:
        """Read what the user says in a conversation, and keep it. `schemas`: names of those to be
        filled; None or none: all that the tenant has. `expires`: unix seconds, of all memories.
        `force`: read what was read before, too.

        Raises `SchemaViolation` for a schema that there is not (`schemas[i]`); `ModelNeeded` where
        there are schemas and no model; `MemoryLimit`, store errors, and `Unavailable`,
        `UpstreamFailed` and `UpstreamTimeout` where a model does not answer, if nothing was read
        before it: else the messages that were not read are told in `skipped`."""
        chosen = await self._chosen(scope.tenant, schemas)
        reader = readers.structured if chosen else readers.free
        if reader is None:
            raise ModelNeeded(_MODEL_NEEDED, param="model")
        request = ExtractionRequest(scope, chosen, thread, expires, reader.mode)
        today = datetime.fromtimestamp(self._clock.now(), UTC).date()
        said = await asyncio.to_thread(told_by_user, messages, thread or "", today)
        known = await self._store.extracted(scope, {item.key for item in said}) if said else set()
        fresh = [item for item in said if force or item.key not in known]
        began = self._clock.monotonic()
        report, read, reason = AgentExtractionReport(), 0, ""
        now = fresh[: within((item.read for item in fresh), self._most_chars)]
        for batch in batches(now, MODEL_BATCH if reader.mode == MODEL else RULE_BATCH):
            room = self._per_call - len(report.created) - len(report.updated)
            if room <= 0:
                reason = REQUEST_CAP
            elif read and self._clock.monotonic() - began >= self._seconds:
                reason = TIME_LIMIT
            if reason:
                break
            try:
                done = await self._read(request, batch, readers)
                report += await self._kept(request, batch, done, room, force)
            except (Conflict, Unavailable, UpstreamFailed, UpstreamTimeout) as error:
                if not (report.messages or report.created or report.updated):
                    raise
                reason = _why(error)  # the caller must hear of what is stored
                break
            read += len(batch)
        return report + _unread(fresh[read:], reason or REQUEST_CAP)

    async def _chosen(self, tenant: str, names: Sequence[str] | None) -> tuple[MemorySchema, ...]:
        have = {schema.kind: schema for schema in await self._schemas.list(tenant)}
        if not names:
            return tuple(have.values())
        for at, name in enumerate(names):
            if name not in have:
                near = nearest_kind(name, list(have))
                meant = f" The nearest is {near}." if near else ""
                place = f"schemas[{at}]"
                text = f"{place}: there is no schema of this name.{meant}"
                raise SchemaViolation(text, param=place)
        return tuple(have[name] for name in dict.fromkeys(names))

    # -- reading -----------------------------------------------------------------------------

    async def _read(
        self, request: ExtractionRequest, batch: Sequence[ToldMessage], readers: ConversationReaders
    ) -> dict[bytes, Found]:
        read = [message.read for message in batch]
        rows: Sequence[Found]
        if request.schemas and readers.structured is not None:
            rows = await readers.structured.read(request.scope, read, request.schemas)
        else:
            rows = await readers.free.read(request.scope, read)
        return {row.message.digest: row for row in rows}

    # -- keeping -----------------------------------------------------------------------------

    async def _kept(
        self,
        request: ExtractionRequest,
        batch: Sequence[ToldMessage],
        done: Mapping[bytes, Found],
        most: int,
        force: bool,
    ) -> AgentExtractionReport:
        """Write what was read, unless somebody else did meanwhile. What is not in `done` is read
        another time."""
        unread = _unread([message for message in batch if message.key not in done], MODEL_LIMIT)
        batch = [message for message in batch if message.key in done]
        read = [done[item.key] for item in batch]
        vectors = await self.planner.sentence_vectors(request, batch, read, most)
        for _ in range(ATTEMPTS):
            known = await self._store.extracted(request.scope, {item.key for item in batch})
            mine = [item for item in batch if force or item.key not in known]
            if not mine:
                break
            async with self._saving.turn(request.scope):
                reads = [done[item.key] for item in mine]
                plan = await self.planner.plan(request, mine, reads, most, vectors)
                whole = [
                    one for at, one in enumerate(mine) if at not in plan.cut and _is_done(reads[at])
                ]
                keys = await self._marks(
                    request.scope,
                    [item.key for item in whole if item.key not in known],
                    {mine[at].key for at in plan.parts - plan.settled},
                )
                written = await self._store.write(
                    request.scope, plan.writes, done=keys, most=self._most
                )
                if written is not None:
                    return unread + await self._report(request, plan, written, len(whole))
        else:
            raise Conflict("Others write memories of this scope at the same time: try again.")
        return unread

    async def _marks(
        self, scope: Scope, keys: Sequence[bytes], parts: Collection[bytes]
    ) -> list[bytes]:
        """Return the marks of messages that were read: that they are done; of one that says `parts`
        of memories only, how often it was read, until that is enough."""
        times = {
            key: [_nth_reading(key, nth) for nth in range(1, READS)] for key in keys if key in parts
        }
        every = {mark for marks in times.values() for mark in marks}
        there = await self._store.extracted(scope, every) if every else set()
        return [
            next((mark for mark in times.get(key, ()) if mark not in there), key) for key in keys
        ]

    async def _report(
        self,
        request: ExtractionRequest,
        plan: ExtractionPlan,
        written: Sequence[StructuredResult],
        messages: int,
    ) -> AgentExtractionReport:
        stored = [
            (row.memory, vector)
            for row, vector in zip(written, plan.vectors, strict=True)
            if row.outcome is not WriteOutcome.UNCHANGED
        ]
        if stored:
            await self._saving.keep_vectors(request.scope, stored, check=not request.schemas)
        same = [
            SkippedText.cut(row.memory.text, SkipReason.DUPLICATE)
            for row in written
            if row.outcome is WriteOutcome.UNCHANGED
        ]
        created = [
            row._replace(
                memory=await self._saving.keep_updates(
                    request.scope, row.memory, plan.near.get(row.memory.id, ())
                )
            )
            for row in written
            if row.outcome is WriteOutcome.CREATED
        ]
        return AgentExtractionReport(
            tuple(created),
            tuple(row for row in written if row.outcome is WriteOutcome.UPDATED),
            (*plan.skipped, *same),
            messages,
        )


def _is_done(reading: Found) -> bool:
    return not isinstance(reading, StructuredReading) or reading.done


def _nth_reading(key: bytes, nth: int) -> bytes:
    """Return the mark of a message that was read so many times, and is not done."""
    said = json.dumps(["memtree agent message read", key.hex(), nth])
    return hashlib.sha256(said.encode()).digest()


def _unread(rest: Sequence[ToldMessage], reason: str) -> AgentExtractionReport:
    """Messages that the next call reads."""
    return AgentExtractionReport(
        skipped=tuple(SkippedText.cut(message.read.text, reason) for message in rest)
    )


def _why(error: MemTreeError) -> str:
    if isinstance(error, MemoryLimit):
        return LIMIT
    return CONFLICT if isinstance(error, Conflict) else UNAVAILABLE
