"""Plan what becomes of what was found in messages: memories to be written, or why not.

A memory is held against its schema and joined with the one whose place it takes. It is left out
where the scope knows it already.

For tenants without schemas, "my FIELD is VALUE" becomes data instead of a sentence:

    >>> named_field("My favorite color is blue.")
    {'favoriteColor': 'blue'}
    >>> named_field("my time zone is CET"), named_field("My name is Ada Lovelace")
    ({'timeZone': 'CET'}, {'name': 'Ada Lovelace'})

The value must be a name, or one word of a favourite. Whatever says more stays a sentence:

    >>> named_field("My job is stressful"), named_field("My favorite color is not blue")
    (None, None)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple, Protocol

from memtree.agents.agent_memory import NOBODY, AgentMemories, StructuredWrite
from memtree.agents.agent_messages import StructuredReading, ToldMessage
from memtree.agents.grounded_values import (
    StructuredCandidate,
    gathered,
    lacking,
    merged,
    one_day,
    same_data,
)
from memtree.agents.memory_schema import MemorySchema, unique_key
from memtree.agents.schema_book import SchemaBook
from memtree.agents.schema_prompt import kind_fields
from memtree.agents.structured_memory import structured_memory
from memtree.clock import Clock
from memtree.errors import BadRequest, SecretRejected
from memtree.memories.duplicates import MOST_NEAR, NearMemory
from memtree.memories.memory import (
    EXTRACTED,
    MAX_TEXT_CHARS,
    Memory,
    MemoryFields,
    MemorySource,
    NewMemory,
)
from memtree.memories.memory_store import MemoryFilter, MemoryStore
from memtree.memories.message_extraction import (
    EXPIRED,
    PER_MESSAGE,
    REQUEST_CAP,
    TOLD,
    UNSTORABLE,
    ReadMessage,
    SkippedText,
)
from memtree.memories.relation.relation import Relation
from memtree.memories.rule_extraction import Candidate
from memtree.memories.saving import MemorySaving, Vector
from memtree.memories.scope import Scope
from memtree.memories.user_memories import ExtractedMessages
from memtree.ranking.relevance_scale import CHANCE
from memtree.statements.grammar import SkipReason

PROFILE = "UserProfile"  # the kind of such data
LONGEST = 200  # characters of a clause
_CLAUSE = re.compile(
    r"[Mm]y (?P<field>[^\W\d_]+(?: [^\W\d_]+){0,3}) is "
    r"(?P<value>(?P<name>[A-ZÀ-ÖØ-Þ][\w'’+#-]*(?: [A-ZÀ-ÖØ-Þ][\w'’+#-]*){0,3})|[\w'’+#-]+)[.!]*"
)
_FAVORITE = re.compile(r"favou?rite ")


def named_field(clause: str) -> dict[str, str] | None:
    """Return the one field that a clause of the user names; None if it says anything else."""
    match = _CLAUSE.fullmatch(clause.strip()) if len(clause) <= LONGEST else None
    if match is None or not (match["name"] or _FAVORITE.match(match["field"])):
        return None
    first, *rest = match["field"].lower().split()
    return {first + "".join(map(str.capitalize, rest)): match["value"]}


INCOMPLETE, INVALID = "incomplete", "invalid"
MODEL = "model"
NAMED = 0.95  # confidence of a field that the user calls by its name
# Of the sentences that rules store, the share that was right at first sight, by category.
_SURE = {"fact": 0.85, "preference": 0.9, "schedule": 0.85, "general": 0.8}
_WORDS_KEPT = 0.75  # what could not be told of the user stands there in their words
_FORMS = ("User's name is ", "User is allergic ", "User lives in ", "User works ")

Found = StructuredReading | ReadMessage


class ExtractionStore(AgentMemories, ExtractedMessages, MemoryStore, Protocol):
    """Store as this plan needs it."""


class ExtractionRequest(NamedTuple):
    """Request of one call. `schemas`: of the kinds to be found, () for sentences. `mode`: who reads
    it, the `capture_mode` of the memories."""

    scope: Scope
    schemas: tuple[MemorySchema, ...]
    thread: str | None = None
    expires: float | None = None
    mode: str = "rule"


@dataclass(slots=True)
class ExtractionPlan:
    """Plan of what an extraction writes of a batch, and what it leaves out. `planned`: place of the
    write with a unique key. `live`: the newest two memories of a kind. `cut`: messages of which
    something is left for another time. `parts`: messages that say a part of a memory whose rest is
    missing; `settled`: messages that say anything else. `near`: what a memory may replace, by its
    id."""

    request: ExtractionRequest
    batch: Sequence[ToldMessage]
    skipped: list[SkippedText] = field(default_factory=list)
    writes: list[StructuredWrite] = field(default_factory=list)
    vectors: list[Vector | None] = field(default_factory=list)
    planned: dict[bytes, int] = field(default_factory=dict)
    live: dict[str, Sequence[Memory]] = field(default_factory=dict)
    cut: set[int] = field(default_factory=set)
    parts: set[int] = field(default_factory=set)
    settled: set[int] = field(default_factory=set)
    near: dict[str, Sequence[NearMemory]] = field(default_factory=dict)


class ExtractionPlanner:
    """Bound to its ports."""

    def __init__(
        self,
        store: ExtractionStore,
        schemas: SchemaBook,
        saving: MemorySaving,
        clock: Clock,
        new_id: Callable[[], str],
        max_text_chars: int = MAX_TEXT_CHARS,
    ) -> None:
        self.store, self.schemas, self.saving = store, schemas, saving
        self.clock, self._new_id, self._max_text_chars = clock, new_id, max_text_chars

    async def sentence_vectors(
        self,
        request: ExtractionRequest,
        batch: Sequence[ToldMessage],
        read: Sequence[Found],
        most: int,
    ) -> dict[str, Vector | None]:
        """Embed the first `most` sentences that can be stored, by their text, in one call: planning
        holds the turn of the scope and must not wait for the embedder. Data needs no vectors to be
        planned."""
        if request.schemas:
            return {}
        plan = ExtractionPlan(request, batch)
        taken = Counter[int]()
        texts: dict[str, None] = {}
        for candidate in _sentences(batch, read):
            taken[candidate.message] += 1
            if len(texts) >= most or taken[candidate.message] > PER_MESSAGE:
                continue
            made = self._made(plan, candidate)
            if not isinstance(made, str):  # no secret is shown to an embedder
                texts[made.memory.text] = None
        return dict(zip(texts, await self.saving.vectors(list(texts)), strict=True))

    async def plan(
        self,
        request: ExtractionRequest,
        batch: Sequence[ToldMessage],
        read: Sequence[Found],
        most: int,
        vectors: Mapping[str, Vector | None],
    ) -> ExtractionPlan:
        """`batch` and `read` belong together. `most`: memories that may come of them. `vectors`: of
        sentences; one that has none is compared by its words, and its vector follows."""
        skipped = [skip for reading in read for skip in reading.skipped]
        plan = ExtractionPlan(request, batch, skipped)
        if request.schemas:
            findings = [
                (at, finding)
                for at, reading in enumerate(read)
                if isinstance(reading, StructuredReading)
                for finding in reading.findings
            ]
            candidates = gathered(findings, request.schemas)
        else:
            candidates = _sentences(batch, read)
        taken = Counter[int]()
        for candidate in candidates:
            taken[candidate.message] += 1
            reason: str
            if len(plan.writes) >= most:
                plan.cut.update(candidate.messages)
                reason = REQUEST_CAP
            elif taken[candidate.message] > PER_MESSAGE:
                reason = SkipReason.CAP
            elif request.schemas:
                reason = await self._add_data(plan, candidate)
            else:
                reason = await self._add_sentence(plan, candidate, vectors)
            (plan.parts if reason == INCOMPLETE else plan.settled).update(candidate.messages)
            if reason:
                said = batch[candidate.message].read.text[candidate.start : candidate.end]
                plan.skipped.append(SkippedText.cut(said, reason))
        if request.schemas:
            texts = [write.memory.text for write in plan.writes]
            plan.vectors = list(await self.saving.vectors(texts))
        return plan

    # -- sentences ---------------------------------------------------------------------------

    async def _add_sentence(
        self,
        plan: ExtractionPlan,
        new: StructuredCandidate,
        vectors: Mapping[str, Vector | None],
    ) -> str:
        """Put one more memory into the plan; why not, where it is none."""
        made = self._made(plan, new)
        if isinstance(made, str):
            return made
        text = made.memory.text
        vector = vectors.get(text)
        said = zip(plan.writes, plan.vectors, strict=True)
        if any(
            self.saving.says_the_same(text, vector, each.memory.text, other) for each, other in said
        ):
            return SkipReason.DUPLICATE
        near = await self.saving.near(plan.request.scope, text, vector)
        if near and near[0].says_the_same:
            return SkipReason.DUPLICATE
        plan.near[made.memory.id] = near
        plan.writes.append(made)
        plan.vectors.append(vector)
        return ""

    # -- data of schemas ---------------------------------------------------------------------

    async def _add_data(self, plan: ExtractionPlan, new: StructuredCandidate) -> str:
        """Put one more memory into the plan, or what it says to one that is there; why not, where
        it is none."""
        scope = plan.request.scope
        schema = next(each for each in plan.request.schemas if each.kind == new.kind)
        base = await self._base(scope, schema, new, plan)
        data = merged(_data_of(base), new.data)
        key = unique_key(schema, data)
        at = plan.planned.get(key) if key else None
        if at is not None:
            base = plan.writes[at].memory  # it knows more than what is stored
            data = merged(_data_of(base), new.data)
        if base and same_data(_data_of(base), data):
            return SkipReason.DUPLICATE
        if lacking(data, kind_fields(schema).required):
            return INCOMPLETE
        fitting = await self._fitting(scope.tenant, schema, new, _data_of(base))
        if fitting is None:
            return INVALID
        data = merged(_data_of(base), fitting)
        made = self._made(plan, replace(new, data=data), key, base)
        if isinstance(made, str):
            return made
        left_out = [value for name, value in new.data.items() if name not in fitting]
        plan.skipped += [SkippedText.cut(str(value), INVALID) for value in left_out]
        if base and same_data(_data_of(base), data):
            return SkipReason.DUPLICATE
        if at is not None:
            plan.writes[at] = replace(made, expected=plan.writes[at].expected)
            return ""
        if not base and await self._known(scope, made, plan):
            return SkipReason.DUPLICATE
        if not schema.unique_on and not new.alone:
            plan.near[made.memory.id] = await self._rivals(scope, made.memory)
        if key:
            plan.planned[key] = len(plan.writes)
        plan.writes.append(replace(made, expected=_expected(schema, base)))
        return ""

    async def _fitting(
        self,
        tenant: str,
        schema: MemorySchema,
        new: StructuredCandidate,
        known: Mapping[str, Any],
    ) -> Mapping[str, Any] | None:
        """Return what was found, without the fields that the schema refuses beside what is known.
        None where nothing is left, or where one is refused that tells which memory is meant."""
        data = dict(new.data)
        while data:
            whole = merged(known, data)
            [(_, broken)] = await self.schemas.violations(tenant, [(new.kind, whole, "")])
            if broken is None:
                required = kind_fields(schema).required
                return None if lacking(whole, required) else data
            name = broken_field(broken.param or "", data)
            if name is None or name in schema.unique_on:
                return None
            del data[name]
        return None

    async def _base(
        self, scope: Scope, schema: MemorySchema, new: StructuredCandidate, plan: ExtractionPlan
    ) -> Memory | NewMemory | None:
        """The memory whose place this one takes: that with the same unique values; where it does
        not tell them, the only one of its kind, unless it is a thing of its own."""
        if not schema.unique_on:
            return None
        key = unique_key(schema, new.data)
        if key in plan.planned:
            return plan.writes[plan.planned[key]].memory
        if key:
            return (await self.store.unique_holders(scope, schema.kind, [key])).get(key)
        if new.alone:
            return None
        if schema.kind not in plan.live:
            page = await self.store.page(scope, MemoryFilter(kind=schema.kind), limit=2)
            plan.live[schema.kind] = page.memories
        rows = plan.live[schema.kind]
        return rows[0] if len(rows) == 1 and unique_key(schema, rows[0].data or {}) else None

    async def _rivals(self, scope: Scope, new: NewMemory) -> list[NearMemory]:
        """Memories of the kind in which a field has another value."""
        page = await self.store.page(scope, MemoryFilter(kind=new.kind), limit=MOST_NEAR)
        rivals = []
        for memory in page.memories:
            known, data = memory.data or {}, new.data or {}
            differs = tuple(
                f"{known[name]} -> {value}"[:TOLD]
                for name, value in data.items()
                if isinstance(value, str | int | float) and known.get(name, value) != value
            )
            if differs:
                rivals.append(NearMemory(memory, CHANCE, Relation.POSSIBLE_UPDATE, differs))
        return rivals

    async def _known(self, scope: Scope, made: StructuredWrite, plan: ExtractionPlan) -> bool:
        """Return True if a memory has the same data, or another of the plan has."""
        new = made.memory
        near = await self.saving.near(scope, new.text, None)
        rows: list[Memory | NewMemory] = [each.memory for each in plan.writes]
        rows += [row.memory for row in near]
        return any(
            row.kind == new.kind and same_data(row.data or {}, new.data or {}) for row in rows
        )

    # -- what is stored ----------------------------------------------------------------------

    def _made(
        self,
        plan: ExtractionPlan,
        new: StructuredCandidate,
        key: bytes = b"",
        base: Memory | NewMemory | None = None,
    ) -> StructuredWrite | str:
        """Make what is to be written; a reason where that cannot be. `base`: the memory whose data
        it took over. With the data come its tags and its expiry, and the new memory is not surer
        and not cleaner than the old one."""
        now, request, message = self.clock.now(), plan.request, plan.batch[new.message]
        if request.expires is not None and request.expires <= now:
            return EXPIRED
        source = MemorySource(
            message=message.id if message.id.isprintable() else "",  # else no text to a store
            start=new.start,
            end=new.end,
            digest=message.key.hex(),
            recorded=now,
        )
        try:
            given = MemoryFields(
                kind=new.kind,
                data=new.data,
                tags=base.tags if base else (),
                thread_id=request.thread,
                expires=base.expires if base and request.expires is None else request.expires,
                source_type=EXTRACTED,
                source=source,
                confidence=min(new.confidence, base.confidence) if base else new.confidence,
                happened=new.happened,
                capture_mode=request.mode,
                tainted=base is not None and base.tainted,
            )
            return structured_memory(
                self._new_id(), given, now, most=self._max_text_chars, unique_key=key
            )
        except SecretRejected:
            return SkipReason.SECRET
        except BadRequest:
            return UNSTORABLE


def _data_of(memory: Memory | NewMemory | None) -> Mapping[str, Any]:
    return (memory.data or {}) if memory else {}


def broken_field(place: str, names: Iterable[str]) -> str | None:
    """The outermost field in which the data of a memory breaks its schema.

    >>> broken_field("data.address.lines[0]", ["name", "address"])
    'address'
    >>> broken_field("data", ["name"])  # as a whole
    """
    fits = (
        name
        for name in names
        if place == f"data.{name}" or place.startswith((f"data.{name}.", f"data.{name}["))
    )
    return max(fits, key=len, default=None)


def _expected(schema: MemorySchema, base: Memory | NewMemory | None) -> tuple[str, int] | None:
    """Return what must be as it was looked at when the memory is stored. A base that is planned
    itself is nobody else's to change."""
    if isinstance(base, Memory):
        return base.id, base.version
    return NOBODY if schema.unique_on and base is None else None


def _sentences(batch: Sequence[ToldMessage], read: Sequence[Found]) -> list[StructuredCandidate]:
    """The memories of a tenant without schemas: each is one sentence, or a field that it names."""
    made: list[StructuredCandidate] = []
    for at, reading in enumerate(read):
        message = batch[at].read
        for candidate in reading.candidates if isinstance(reading, ReadMessage) else ():
            said = message.text[candidate.start : candidate.end]
            field = named_field(said)
            new = StructuredCandidate(
                PROFILE if field else candidate.category,
                field or {"text": candidate.text},
                at,
                candidate.start,
                candidate.end,
                NAMED if field else _confidence(candidate),
                alone=True,
                happened=_happened(said, message.said),
            )
            made.append(new)
    return made


def _confidence(candidate: Candidate) -> float:
    """How sure a sentence is that rules took for a memory."""
    if candidate.text.startswith("User said:"):
        return _WORDS_KEPT
    if candidate.text.startswith(_FORMS):
        return NAMED
    return _SURE.get(candidate.category, _WORDS_KEPT)


def _happened(text: str, said: date | None) -> float | None:
    """The beginning (UTC) of the one day that a sentence names. `said`: when it was said."""
    named = one_day(text, said)
    if named is None or named.day is None:
        return None
    return datetime.combine(named.day, time(), UTC).timestamp()
