"""Memories with schemas, by rules and a model: rules extract first, and the model adds to the
result.

    the user's own sentences, the kinds -> reserve the money -> one call for several messages ->
    records of which each value is grounded in the message that they name

If the model fails, the caller repeats the call later: its messages stay unread. A day's limit works
the same way. If an answer cannot be read, or was cut off, each of its messages is sent once more by
itself; if that fails too, the message keeps what rules extracted, and the next request reads it
again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memtree.background.extracting.metered_model import MeteredModel
from memtree.background.extracting.model_reader import NO_ANSWER, NOT_GROUNDED
from memtree.memories.agents.extraction.structured_readers import (
    TOLD,
    StructuredReading,
    read_by_rules,
)
from memtree.memories.agents.schemas.memory_schema import MemorySchema
from memtree.memories.agents.slot_filling.model import schema_prompt, schema_reply
from memtree.memories.agents.slot_filling.model.schema_reply import ModelRecords
from memtree.memories.agents.slot_filling.model.value_grounding import believed
from memtree.memories.agents.slot_filling.rule_reader import Finding
from memtree.memories.agents.slot_filling.schema_fields import KindFields, kind_fields
from memtree.memories.extraction import gate
from memtree.memories.extraction.model.prompt import ShownMessage, shown_spans
from memtree.memories.message_extraction import PER_MESSAGE, SkippedText, UserMessage
from memtree.memories.scope import Scope
from memtree.ports.chat_model import ModelQuestion


@dataclass(frozen=True, slots=True)
class _RuleItem:
    """A message of a call, and what rules extracted from it."""

    shown: ShownMessage
    rules: StructuredReading


class StructuredModelReader:
    """A `StructuredReader`."""

    mode = "model"

    def __init__(self, model: MeteredModel) -> None:
        self._model = model

    async def read(
        self, scope: Scope, messages: Sequence[UserMessage], schemas: Sequence[MemorySchema]
    ) -> Sequence[StructuredReading]:
        prepared = await asyncio.to_thread(
            lambda: [_prepared(str(at + 1), item, schemas) for at, item in enumerate(messages)]
        )
        done = {row.message.digest: row for row in prepared if isinstance(row, StructuredReading)}
        pending = [row for row in prepared if isinstance(row, _RuleItem)]
        kinds = schema_prompt.shown_kinds(schemas, [kind_fields(schema) for schema in schemas])
        if pending and kinds:
            done |= await self._ask(
                scope.tenant, pending, {kind.kind: (kind, line) for kind, line in kinds}
            )
        elif pending:
            done |= {message.rules.message.digest: message.rules for message in pending}
        return [done[message.digest] for message in messages if message.digest in done]

    async def _ask(
        self,
        tenant: str,
        pending: Sequence[_RuleItem],
        kinds: Mapping[str, tuple[KindFields, str]],
        *,
        again: bool = False,
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
        self, tenant: str, pending: Sequence[_RuleItem], lines: Sequence[str]
    ) -> ModelRecords | None:
        """Call the model. Returns None if the day's limit is reached."""
        shown = [message.shown for message in pending]
        ids = [message.id for message in shown]
        question = ModelQuestion(
            schema_prompt.prompt(lines, shown),
            schema_prompt.json_schema(),
            schema_prompt.room(shown),
            lambda text, _: schema_reply.read(text, ids).readable,
            schema_prompt.KEY,
        )
        said = await self._model.ask(tenant, question)
        if said is None:
            return None
        if not said.finished and len(pending) > 1:
            # the answer was cut off, so its records of the last messages are missing
            return ModelRecords()
        return schema_reply.read(said.text, ids)


def _prepared(
    id_: str, message: UserMessage, schemas: Sequence[MemorySchema]
) -> StructuredReading | _RuleItem:
    rules = read_by_rules(message, schemas)
    if message.fiction or gate.message_reason(message.text):
        return rules
    spans, _ = shown_spans(message.text)
    if not spans:
        return rules
    return _RuleItem(ShownMessage(id_, message.text, spans, message.said), rules)


def _judged(
    pending: Sequence[_RuleItem], said: ModelRecords, kinds: Mapping[str, KindFields]
) -> dict[bytes, StructuredReading]:
    """Accept the trustworthy parts of an answer, by message digest."""
    by_id = {message.shown.id: message for message in pending}
    findings: dict[str, list[Finding]] = {id_: [] for id_ in by_id}
    skipped: dict[str, list[SkippedText]] = {id_: [] for id_ in by_id}
    for record in said.records:
        named = [by_id[record.message]] if record.message else list(pending)
        for message in named:
            finding = believed(record, message.shown, kinds)
            if finding is not None:
                if len(findings[message.shown.id]) < PER_MESSAGE:
                    findings[message.shown.id].append(finding)
                break
        else:
            skipped[named[0].shown.id].append(SkippedText(record.quote[:TOLD], NOT_GROUNDED))
    return {
        message.rules.message.digest: _joined(
            message, findings[message.shown.id], skipped[message.shown.id], said.readable
        )
        for message in pending
    }


def _joined(
    item: _RuleItem, more: Sequence[Finding], skipped: Sequence[SkippedText], readable: bool
) -> StructuredReading:
    """Add the model's findings to those of rules: no value of a field twice; a memory that rules
    made from the same sentence gets the fields it lacks."""
    findings = list(item.rules.findings)
    known = {(each.kind, path) for each in findings if not each.alone for path, _ in each.values}
    added: list[Finding] = []
    for each in more:
        if not each.alone:
            values = tuple(pair for pair in each.values if (each.kind, pair[0]) not in known)
            if values:
                added.append(replace(each, values=values))
            continue
        rivals = [at for at, other in enumerate(findings) if _overlap(each, other)]
        same = next((at for at in rivals if _agree(each, findings[at])), None)
        if same is not None:
            findings[same] = _with_values(findings[same], each)
        elif not rivals:
            added.append(each)
    both = sorted([*findings, *added], key=lambda each: each.start)
    quoted = [item.shown.text[each.start : each.end] for each in both]
    left = [skip for skip in item.rules.skipped if not any(text in skip.text for text in quoted)]
    if not readable:
        left.append(SkippedText(item.shown.shown[:TOLD], NO_ANSWER))
    return StructuredReading(item.rules.message, tuple(both), (*left, *skipped), done=readable)


def _overlap(finding: Finding, other: Finding) -> bool:
    return finding.kind == other.kind and finding.start < other.end and other.start < finding.end


def _agree(finding: Finding, other: Finding) -> bool:
    """Return True if the two give no field different values."""
    known = dict(other.values)
    return all(known.get(path, value) == value for path, value in finding.values)


def _with_values(finding: Finding, more: Finding) -> Finding:
    start, end = min(finding.start, more.start), max(finding.end, more.end)
    values = tuple((dict(more.values) | dict(finding.values)).items())
    return replace(finding, values=values, start=start, end=end)
