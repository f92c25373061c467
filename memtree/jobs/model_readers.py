"""Memories from the user's messages by a model: candidates for memories, and records of schemas.

    the user's own sentences -> reserve the money -> one call for several messages -> notes, or
    records, of which the parts that are grounded in the message that they name are accepted

If the model fails, the caller (`extraction_queue.py`) repeats the call later; until then the
messages stay unread. Rules do not replace the model, because a message is read only once. A day's
limit works the same way. If an answer cannot be read, or was cut off, each of its messages is sent
once more by itself; if that fails too, the message waits for the next request.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, TypeVar

from memtree.agents import schema_prompt
from memtree.agents.agent_messages import StructuredReading
from memtree.agents.grounded_values import Believed, Finding, believed
from memtree.agents.memory_schema import MemorySchema
from memtree.agents.schema_prompt import KindFields, ModelRecord, ModelRecords, kind_fields
from memtree.jobs.spending import AskedModel
from memtree.memories import model_extraction
from memtree.memories.message_extraction import (
    PER_MESSAGE,
    READ,
    ReadMessage,
    SkippedText,
    UserMessage,
)
from memtree.memories.model_extraction import ModelNote, ModelNotes, ShownMessage
from memtree.memories.rule_extraction import Candidate, told_abroad, told_of_user
from memtree.memories.scope import Scope
from memtree.ports.models import ModelQuestion
from memtree.statements import memory_gate
from memtree.statements.calendar_dates import with_day
from memtree.statements.grammar import SkipReason, heads, without_lead
from memtree.text.rule_sentences import standing_rules

_FIRST_PERSON = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Ww]e|[Oo]ur|[Uu]s)\b")
_BOTH = re.compile(r"^(?:The )?[Uu]ser[:,]? (?=(?:I|[Mm]y|[Ww]e|[Oo]ur)\b)")

NOT_GROUNDED, NO_ANSWER = "not_grounded", "no_answer"


@dataclass(frozen=True, slots=True)
class _CallItem:
    """A message of a call. `skipped`: what the model is not shown, and why."""

    message: UserMessage
    shown: ShownMessage
    skipped: tuple[SkippedText, ...] = ()


class _Reply(Protocol):
    @property
    def readable(self) -> bool: ...


class _Reading(Protocol):
    @property
    def message(self) -> UserMessage: ...


ReplyT = TypeVar("ReplyT", bound=_Reply)
ReadingT = TypeVar("ReadingT", bound=_Reading)


@dataclass(frozen=True, slots=True)
class _MessageCalls(Generic[ReplyT, ReadingT]):
    """Calls for the messages of one tenant. `prepare`: a message's part of a call, by its id there,
    or its reading if no call is needed; `question`: of a call; `reply`: reads an answer's text;
    `judged`: the trustworthy parts of a reply, by message digest."""

    model: AskedModel
    tenant: str
    prepare: Callable[[str, UserMessage], ReadingT | _CallItem]
    question: Callable[[Sequence[ShownMessage], Callable[[str, bool], bool]], ModelQuestion]
    reply: Callable[[str, Sequence[str]], ReplyT]
    judged: Callable[[Sequence[_CallItem], ReplyT], dict[bytes, ReadingT]]

    async def read(self, messages: Sequence[UserMessage]) -> Sequence[ReadingT]:
        prepared = await asyncio.to_thread(
            lambda: [self.prepare(str(at + 1), message) for at, message in enumerate(messages)]
        )
        done = {row.message.digest: row for row in prepared if not isinstance(row, _CallItem)}
        pending = [row for row in prepared if isinstance(row, _CallItem)]
        if pending:
            done |= await self._ask(pending)
        return [done[message.digest] for message in messages if message.digest in done]

    async def _ask(
        self, pending: Sequence[_CallItem], *, again: bool = False
    ) -> dict[bytes, ReadingT]:
        """Make one call, or one more for each message; nothing if the day's limit is reached."""
        shown = [item.shown for item in pending]
        ids = [message.id for message in shown]
        question = self.question(shown, lambda text, _: self.reply(text, ids).readable)
        said = await self.model.ask(self.tenant, question)
        if said is None:
            return {}
        reply = self.reply(said.text, ids)
        # an answer that was cut off says nothing of the last messages
        cut = not said.finished and len(pending) > 1
        if again or (reply.readable and not cut):
            return await asyncio.to_thread(self.judged, pending, reply)
        done: dict[bytes, ReadingT] = {}
        for item in pending:
            done |= await self._ask([item], again=True)
        return done


# ---------------------------------------------------------------- candidates for memories


class ModelReader:
    """A `CandidateReader`."""

    mode = "model"

    def __init__(self, model: AskedModel) -> None:
        self._model = model

    async def read(self, scope: Scope, messages: Sequence[UserMessage]) -> Sequence[ReadMessage]:
        calls = _MessageCalls(
            self._model, scope.tenant, _prepared, _note_question, model_extraction.read, _judged
        )
        return await calls.read(messages)


def _note_question(
    shown: Sequence[ShownMessage], fruitful: Callable[[str, bool], bool]
) -> ModelQuestion:
    return ModelQuestion(
        model_extraction.prompt(shown),
        model_extraction.json_schema(),
        model_extraction.room(shown),
        fruitful,
        model_extraction.KEY,
    )


def _prepared(id_: str, message: UserMessage) -> ReadMessage | _CallItem:
    reason = SkipReason.FICTION if message.fiction else memory_gate.message_reason(message.text)
    if reason:
        return ReadMessage(message, (), (SkippedText(message.text, reason),))
    spans, secret = model_extraction.shown_spans(message.text)
    hidden = tuple(SkippedText(message.text[start:end], SkipReason.SECRET) for start, end in secret)
    if not spans:
        return ReadMessage(message, (), hidden)
    return _CallItem(message, ShownMessage(id_, message.text, spans, message.said), hidden)


def _judged(pending: Sequence[_CallItem], said: ModelNotes) -> dict[bytes, ReadMessage]:
    """Accept the trustworthy parts of an answer, by message digest."""
    if not said.readable:
        return {}
    notes: dict[str, list[ModelNote]] = {item.shown.id: [] for item in pending}
    for note in said.notes:
        notes[note.message or _quoted(pending, note.quote)].append(note)
    return {item.message.digest: _believed(item, notes[item.shown.id]) for item in pending}


def _quoted(pending: Sequence[_CallItem], quote: str) -> str:
    """Return the id of the message that contains a quotation; of the first one, if none does."""
    for message in pending:
        if model_extraction.grounds(message.shown.text, message.shown.spans, quote):
            return message.shown.id
    return pending[0].shown.id


def _believed(message: _CallItem, notes: Sequence[ModelNote]) -> ReadMessage:
    candidates: list[Candidate] = []
    skipped = list(message.skipped)
    rules = standing_rules(message.shown.text) if notes else ()
    for note in notes:
        candidate = _candidate(message.shown, note, rules)
        if not isinstance(candidate, Candidate):
            skipped.append(SkippedText(note.text, candidate))
        elif len(candidates) >= PER_MESSAGE:
            skipped.append(SkippedText(note.text, SkipReason.CAP))
        else:
            candidates.append(candidate)
    return ReadMessage(message.message, tuple(candidates), tuple(skipped))


def _candidate(
    shown: ShownMessage, note: ModelNote, rules: Sequence[tuple[int, int]]
) -> Candidate | str:
    """Turn the note into a memory, or return the reason for rejecting it: it must be grounded in
    the message that it names. Small models often return the user's own sentence with an unrelated
    quotation, or a task. `rules`: spans in which the message gives instructions for future answers.
    """
    reason = NOT_GROUNDED
    for quote in (note.quote, note.text):
        place = model_extraction.grounds(shown.text, shown.spans, quote)
        if place is None:
            continue
        sentence = shown.text[place.sentence.start : place.sentence.end]
        clause = shown.text[place.clause.start : place.clause.end]
        if model_extraction.grounded(note.text, sentence, clause, shown.shown):
            asks = any(
                low < place.sentence.end and place.sentence.start < end for low, end in rules
            )
            if passing := None if asks else memory_gate.passing(_stated(sentence)):
                reason = passing
                continue
            statement = with_day(_told(note.text), shown.said)
            return Candidate(statement, note.category, place.quote.start, place.quote.end)
    return reason


def _stated(sentence: str) -> str:
    """Return the part of a sentence that may be a statement, in lower case."""
    lower = " ".join(sentence.lower().replace("’", "'").split())
    return next(heads(lower[without_lead(lower, 0, len(lower)) :]))


def _told(text: str) -> str:
    """Rewrite a first-person sentence in the third person, as rules write memories."""
    if not _FIRST_PERSON.search(text):
        return text
    text = _BOTH.sub("", text)
    return told_of_user(text) or told_abroad(text) or f"User said: {text}"


# ---------------------------------------------------------------- records of schemas

NO_SCHEMA = "no_schema"  # no kind can be filled


class StructuredModelReader:
    """A `StructuredReader`."""

    mode = "model"

    def __init__(self, model: AskedModel) -> None:
        self._model = model

    async def read(
        self, scope: Scope, messages: Sequence[UserMessage], schemas: Sequence[MemorySchema]
    ) -> Sequence[StructuredReading]:
        kinds = schema_prompt.shown_kinds(schemas, [kind_fields(schema) for schema in schemas])
        by_name = {kind.kind: kind for kind, _ in kinds}
        calls = _MessageCalls(
            self._model,
            scope.tenant,
            partial(_prepared_record, bool(kinds)),
            partial(_record_question, [line for _, line in kinds]),
            schema_prompt.read,
            partial(_judged_records, by_name),
        )
        return await calls.read(messages)


def _record_question(
    lines: Sequence[str], shown: Sequence[ShownMessage], fruitful: Callable[[str, bool], bool]
) -> ModelQuestion:
    return ModelQuestion(
        schema_prompt.prompt(lines, shown),
        schema_prompt.json_schema(),
        schema_prompt.room(shown),
        fruitful,
        schema_prompt.KEY,
    )


def _prepared_record(some: bool, id_: str, message: UserMessage) -> StructuredReading | _CallItem:
    """Prepare a message. `some`: there are kinds that can be filled."""
    text = message.text[:READ]
    reason = SkipReason.FICTION if message.fiction else memory_gate.message_reason(text)
    if reason or not some:
        skipped_text = SkippedText.cut(text, reason or NO_SCHEMA)
        return StructuredReading(message, (), (skipped_text,), done=some)
    spans, secret = model_extraction.shown_spans(text)
    skipped = (SkippedText("", SkipReason.SECRET),) * len(secret)
    if not spans:
        return StructuredReading(message, (), skipped)
    return _CallItem(message, ShownMessage(id_, text, spans, message.said), skipped)


def _judged_records(
    kinds: Mapping[str, KindFields], pending: Sequence[_CallItem], said: ModelRecords
) -> dict[bytes, StructuredReading]:
    """Accept the trustworthy parts of an answer, by message digest."""
    by_id = {item.shown.id: item for item in pending}
    findings: dict[str, list[Finding]] = {id_: [] for id_ in by_id}
    skipped = {id_: list(item.skipped) for id_, item in by_id.items()}
    for record in said.records:
        named = [by_id[record.message]] if record.message else pending
        id_, judged = _place(record, named, kinds)
        if judged.finding is None:
            skipped[id_].append(SkippedText.cut(record.quote, NOT_GROUNDED))
        elif len(findings[id_]) >= PER_MESSAGE:
            skipped[id_].append(SkippedText.cut(record.quote, SkipReason.CAP))
        else:
            findings[id_].append(judged.finding)
            skipped[id_] += [SkippedText.cut(text, NOT_GROUNDED) for text in judged.dropped]
    for id_, item in by_id.items():
        if not said.readable:
            skipped[id_].append(SkippedText.cut(item.shown.shown, NO_ANSWER))
    return {
        item.message.digest: StructuredReading(
            item.message,
            tuple(sorted(findings[id_], key=lambda finding: finding.start)),
            tuple(skipped[id_]),
            done=said.readable,
        )
        for id_, item in by_id.items()
    }


def _place(
    record: ModelRecord, messages: Sequence[_CallItem], kinds: Mapping[str, KindFields]
) -> tuple[str, Believed]:
    """Return the id of the message that says a record, with what of it was said; of the first
    message where none says it."""
    for item in messages:
        judged = believed(record, item.shown, kinds)
        if judged.finding is not None:
            return item.shown.id, judged
    return messages[0].shown.id, Believed()
