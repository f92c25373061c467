"""Wire the use cases of agents' memories, and answer questions from memories with a model.

`MemoryAnswers` asks the configured model, within daily limits:

    relevant memories -> reserve the money -> one call -> the grounded part of the answer

Without a relevant memory the model is not called. A model that fails or is too slow is an error:
rules cannot replace it, since they write no answers.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from memtree.agents import grounded_answers
from memtree.agents.agent_book import AgentBook, AgentCuration
from memtree.agents.agent_extraction import AgentExtraction
from memtree.agents.agent_search import AgentSearch
from memtree.agents.extraction_plan import ExtractionPlanner
from memtree.agents.grant_book import GrantBook
from memtree.agents.grounded_answers import UNKNOWN, GroundedAnswer
from memtree.agents.schema_book import SchemaBook
from memtree.clock import Clock
from memtree.config import Settings
from memtree.errors import SummarizerUnavailable, Unavailable, UpstreamTimeout
from memtree.jobs.spending import DailyLimits, Spending, SummaryPrices
from memtree.jobs.summary_stage import open_endpoint
from memtree.memories.book import MemoryBook
from memtree.memories.memory import Memory
from memtree.ports.context_store import Tallies
from memtree.ports.models import ChatModel, ModelAnswer, ModelQuestion
from memtree.stores import Memories
from memtree.text import tokens

SECONDS = 60.0  # how long a caller waits for an answer
PARALLEL = 4


class MemoryAnswers:
    """Answers questions. `totals`: calls of this process by outcome."""

    def __init__(self, model: ChatModel, spending: Spending, *, seconds: float = SECONDS) -> None:
        self._model, self._spending, self._seconds = model, spending, seconds
        self.totals: Counter[str] = Counter()

    async def answer(
        self,
        tenant: str,
        question: str,
        memories: Sequence[Memory],
        shared: Collection[int] = (),
    ) -> GroundedAnswer:
        """Answer a question from memories. `memories`: best first. `shared`: indexes of those that
        belong to other tenants. Raises `Unavailable` if the model fails or the day's limit is
        reached, and `UpstreamTimeout`."""
        if not memories:
            return UNKNOWN
        shown = memories[: grounded_answers.MOST]
        messages = await asyncio.to_thread(grounded_answers.prompt, question, shown, shared)
        size = sum(tokens.count_many(message["content"] for message in messages))
        model_question = ModelQuestion(
            messages,
            grounded_answers.json_schema(),
            grounded_answers.ROOM,
            lambda text, _: grounded_answers.readable(text),
            grounded_answers.KEY,
        )
        try:
            said = await self._spending.paid(
                tenant, size, grounded_answers.ROOM, lambda: self._asked(model_question)
            )
        except SummarizerUnavailable:
            self.totals["failed"] += 1
            raise
        if said is None:
            self.totals["limited"] += 1
            raise Unavailable("mode=answer: the day's limit of the model is reached")
        answer = await asyncio.to_thread(grounded_answers.grounded, said.text, question, shown)
        if answer is None:
            self.totals["unreadable"] += 1
            raise Unavailable("mode=answer: the model's answer could not be read; try again")
        self.totals["grounded" if answer.sources else "unknown"] += 1
        return answer

    async def _asked(self, question: ModelQuestion) -> ModelAnswer:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._model.answer(question)
        except TimeoutError:  # the reservation stays counted: the call may have been charged
            self.totals["late"] += 1
            raise UpstreamTimeout("mode=answer: the model did not answer in time") from None

    async def close(self) -> None:
        await self._model.close()


def open_answers(settings: Settings, tallies: Tallies | None, clock: Clock) -> MemoryAnswers | None:
    """Open the service; None if no model is configured. `tallies`: store of the daily totals."""
    if tallies is None or not (settings.summary_model and settings.summary_base_url):
        return None
    limits, prices = DailyLimits.of(settings), SummaryPrices.of(settings)
    spending = Spending(tallies, clock, prices, limits)
    return MemoryAnswers(open_endpoint(settings, PARALLEL), spending)


@dataclass(frozen=True, slots=True)
class AgentServices:
    """The services for agents' memories. `book`: the structured memories themselves; `schemas`:
    their kinds; `curation`: deletes memories of several agents; `answers`: None if no model is
    configured."""

    book: AgentBook
    schemas: SchemaBook
    curation: AgentCuration
    search: AgentSearch
    extraction: AgentExtraction
    grants: GrantBook
    answers: MemoryAnswers | None = None


def open_agent_services(
    settings: Settings,
    memories: Memories,
    clock: Clock,
    book: MemoryBook,
    new_id: Callable[[], str],
    tallies: Tallies | None,
) -> AgentServices:
    """Open the services over the store and the book of all memories. `tallies`: daily totals of
    model calls."""
    schemas = SchemaBook(memories, book.clock, strict=settings.strict_schemas)
    secrets = settings.agent_secrets == "allow"
    planner = ExtractionPlanner(
        memories, schemas, book.saving, book.clock, new_id, settings.max_text_chars
    )
    return AgentServices(
        book=AgentBook(memories, memories, book, schemas, new_id, secrets=secrets),
        schemas=schemas,
        curation=AgentCuration(memories, book),
        search=AgentSearch(
            memories, book.searching, now=book.clock.now, patience=settings.embedding_seconds
        ),
        extraction=AgentExtraction(
            planner, most=settings.max_memories, most_chars=settings.extraction_chars
        ),
        grants=GrantBook(memories, book.clock),
        answers=open_answers(settings, tallies, clock),
    )
