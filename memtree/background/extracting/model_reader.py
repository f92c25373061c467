"""Candidates for memories by a model: the prompt, its cost, and which parts of the answer are
accepted.

    the user's own sentences -> reserve the money -> one call for several messages -> notes that
    are grounded in the message that they name

If the model fails, the caller (`queue.py`) repeats the call later; until then the messages stay
unread. Rules do not replace the model, because a message is read only once. A day's limit works the
same way. If an answer cannot be read, or was cut off, each of its messages is sent once more by
itself; if that fails too, the message waits for the next request.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from memtree.background.extracting.metered_model import AskedModel
from memtree.memories.extraction import gate, model_grounding, model_prompt
from memtree.memories.extraction.candidates import Candidate, SkipReason
from memtree.memories.extraction.model_prompt import ModelNote, ModelNotes, ShownMessage
from memtree.memories.extraction.schedule import with_day
from memtree.memories.extraction.statements import heads, without_lead
from memtree.memories.extraction.third_person import told_of_user
from memtree.memories.message_extraction import PER_MESSAGE, ReadMessage, SkippedText, UserMessage
from memtree.memories.scope import Scope
from memtree.ports.models import ModelQuestion
from memtree.text.instructions.standing_rules import standing_rules

_FIRST_PERSON = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Ww]e|[Oo]ur|[Uu]s)\b")
_BOTH = re.compile(r"^(?:The )?[Uu]ser[:,]? (?=(?:I|[Mm]y|[Ww]e|[Oo]ur)\b)")

NOT_GROUNDED, NO_ANSWER = "not_grounded", "no_answer"


@dataclass(frozen=True, slots=True)
class _CallItem:
    """A message of a call. `secret`: sentences that are withheld from the model."""

    message: UserMessage
    shown: ShownMessage
    secret: tuple[str, ...] = ()


class ModelReader:
    """A `CandidateReader`."""

    mode = "model"

    def __init__(self, model: AskedModel) -> None:
        self._model = model

    async def read(self, scope: Scope, messages: Sequence[UserMessage]) -> Sequence[ReadMessage]:
        prepared = await asyncio.to_thread(
            lambda: [_prepared(str(at + 1), message) for at, message in enumerate(messages)]
        )
        done = {row.message.digest: row for row in prepared if isinstance(row, ReadMessage)}
        pending = [row for row in prepared if isinstance(row, _CallItem)]
        if pending:
            done |= await self._ask(scope.tenant, pending)
        return [done[message.digest] for message in messages if message.digest in done]

    async def _ask(
        self, tenant: str, pending: Sequence[_CallItem], *, again: bool = False
    ) -> dict[bytes, ReadMessage]:
        said = await self._call(tenant, pending)
        if said is None or (again and not said.readable):
            return {}
        if not said.readable:
            done: dict[bytes, ReadMessage] = {}
            for message in pending:
                done |= await self._ask(tenant, [message], again=True)
            return done
        return await asyncio.to_thread(_judged, pending, said)

    async def _call(self, tenant: str, pending: Sequence[_CallItem]) -> ModelNotes | None:
        """Call the model. Returns None if the day's limit is reached."""
        shown = [message.shown for message in pending]
        ids = [message.id for message in shown]
        messages = model_prompt.prompt(shown)
        room = model_prompt.room(shown)
        question = ModelQuestion(
            messages,
            model_prompt.json_schema(),
            room,
            lambda text, _: model_prompt.read(text, ids).readable,
            model_prompt.KEY,
        )
        said = await self._model.ask(tenant, question)
        if said is None:
            return None
        read = model_prompt.read(said.text, ids)
        if not said.finished and len(pending) > 1:
            # the answer was cut off, so its notes on the last messages are missing
            return ModelNotes()
        return read


def _prepared(id_: str, message: UserMessage) -> ReadMessage | _CallItem:
    reason = SkipReason.FICTION if message.fiction else gate.message_reason(message.text)
    if reason:
        return ReadMessage(message, (), (SkippedText(message.text, reason),))
    spans, secret = model_prompt.shown_spans(message.text)
    hidden = tuple(message.text[start:end] for start, end in secret)
    if not spans:
        return ReadMessage(message, (), _secrets(hidden))
    return _CallItem(message, ShownMessage(id_, message.text, spans, message.said), hidden)


def _secrets(sentences: Sequence[str]) -> tuple[SkippedText, ...]:
    return tuple(SkippedText(sentence, SkipReason.SECRET) for sentence in sentences)


def _judged(pending: Sequence[_CallItem], said: ModelNotes) -> dict[bytes, ReadMessage]:
    """Accept the trustworthy parts of an answer, by message digest."""
    notes: dict[str, list[ModelNote]] = {item.shown.id: [] for item in pending}
    for note in said.notes:
        notes[note.message or _quoted(pending, note.quote)].append(note)
    return {item.message.digest: _believed(item, notes[item.shown.id]) for item in pending}


def _quoted(pending: Sequence[_CallItem], quote: str) -> str:
    """Return the id of the message that contains a quotation; of the first one, if none does."""
    for message in pending:
        if model_grounding.grounds(message.shown.text, message.shown.spans, quote):
            return message.shown.id
    return pending[0].shown.id


def _believed(message: _CallItem, notes: Sequence[ModelNote]) -> ReadMessage:
    candidates: list[Candidate] = []
    skipped = list(_secrets(message.secret))
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
        place = model_grounding.grounds(shown.text, shown.spans, quote)
        if place is None:
            continue
        sentence = shown.text[place.sentence.start : place.sentence.end]
        clause = shown.text[place.clause.start : place.clause.end]
        if model_grounding.grounded(note.text, sentence, clause, shown.shown):
            asks = any(
                low < place.sentence.end and place.sentence.start < end for low, end in rules
            )
            if passing := None if asks else gate.passing(_stated(sentence)):
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
    return told_of_user(text) or f"User said: {text}"
