"""Fill schemas by a model.

    the user's own sentences, the kinds -> one call for several messages -> records of which each
    value is grounded in the message that they name

If the model fails, the caller repeats the call later: its messages stay unread. A day's limit works
the same way. If an answer cannot be read, or was cut off, each of its messages is sent once more by
itself; if that fails too, the next request reads the message again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtree.background.extracting.metered_model import AskedModel
from memtree.background.extracting.model_reader import NO_ANSWER, NOT_GROUNDED
from memtree.memories.agents.extraction import schema_prompt
from memtree.memories.agents.extraction.agent_messages import StructuredReading
from memtree.memories.agents.extraction.fillable_fields import KindFields, kind_fields
from memtree.memories.agents.extraction.merging import Finding
from memtree.memories.agents.extraction.schema_prompt import ModelRecord, ModelRecords
from memtree.memories.agents.extraction.value_grounding import Believed, believed
from memtree.memories.agents.schemas.memory_schema import MemorySchema
from memtree.memories.extraction import gate
from memtree.memories.extraction.candidates import SkipReason
from memtree.memories.extraction.model_prompt import ShownMessage, shown_spans
from memtree.memories.message_extraction import PER_MESSAGE, READ, SkippedText, UserMessage
from memtree.memories.scope import Scope
from memtree.ports.models import ModelQuestion

NO_SCHEMA = "no_schema"  # no kind can be filled
Kinds = Mapping[str, tuple[KindFields, str]]  # by name, each with its line of the prompt


@dataclass(frozen=True, slots=True)
class _CallItem:
    """A message of a call. `skipped`: what the model is not shown, and why."""

    message: UserMessage
    shown: ShownMessage
    skipped: tuple[SkippedText, ...] = ()


class StructuredModelReader:
    """A `StructuredReader`."""

    mode = "model"

    def __init__(self, model: AskedModel) -> None:
        self._model = model

    async def read(
        self, scope: Scope, messages: Sequence[UserMessage], schemas: Sequence[MemorySchema]
    ) -> Sequence[StructuredReading]:
        shown = schema_prompt.shown_kinds(schemas, [kind_fields(schema) for schema in schemas])
        kinds = {kind.kind: (kind, line) for kind, line in shown}
        prepared = await asyncio.to_thread(
            lambda: [_prepared(str(at + 1), item, kinds) for at, item in enumerate(messages)]
        )
        done = {row.message.digest: row for row in prepared if isinstance(row, StructuredReading)}
        pending = [row for row in prepared if isinstance(row, _CallItem)]
        if pending:
            done |= await self._ask(scope.tenant, pending, kinds)
        return [done[message.digest] for message in messages if message.digest in done]

    async def _ask(
        self, tenant: str, pending: Sequence[_CallItem], kinds: Kinds, *, again: bool = False
    ) -> dict[bytes, StructuredReading]:
        said = await self._call(tenant, pending, [line for _, line in kinds.values()])
        if said is None:
            return {}
        if not said.readable and not again:
            done: dict[bytes, StructuredReading] = {}
            for message in pending:
                done |= await self._ask(tenant, [message], kinds, again=True)
            return done
        known = {name: kind for name, (kind, _) in kinds.items()}
        return await asyncio.to_thread(_judged, pending, said, known)

    async def _call(
        self, tenant: str, pending: Sequence[_CallItem], lines: Sequence[str]
    ) -> ModelRecords | None:
        """Call the model. Returns None if the day's limit is reached."""
        shown = [message.shown for message in pending]
        ids = [message.id for message in shown]
        question = ModelQuestion(
            schema_prompt.prompt(lines, shown),
            schema_prompt.json_schema(),
            schema_prompt.room(shown),
            lambda text, _: schema_prompt.read(text, ids).readable,
            schema_prompt.KEY,
        )
        said = await self._model.ask(tenant, question)
        if said is None:
            return None
        if not said.finished and len(pending) > 1:
            # the answer was cut off, so its records of the last messages are missing
            return ModelRecords()
        return schema_prompt.read(said.text, ids)


def _prepared(id_: str, message: UserMessage, kinds: Kinds) -> StructuredReading | _CallItem:
    text = message.text[:READ]
    reason = SkipReason.FICTION if message.fiction else gate.message_reason(text)
    if reason or not kinds:
        skipped_text = SkippedText.cut(text, reason or NO_SCHEMA)
        return StructuredReading(message, (), (skipped_text,), done=bool(kinds))
    spans, secret = shown_spans(text)
    skipped = (SkippedText("", SkipReason.SECRET),) * len(secret)
    if not spans:
        return StructuredReading(message, (), skipped)
    return _CallItem(message, ShownMessage(id_, text, spans, message.said), skipped)


def _judged(
    pending: Sequence[_CallItem], said: ModelRecords, kinds: Mapping[str, KindFields]
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
