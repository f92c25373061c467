"""Snapshots written by a model: prompted as for a leaf of a tree, within the same daily limits, and
checked like summaries."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from memtree.background.extracting.snapshots import read_start
from memtree.background.summarizing.spending import Spending
from memtree.conversation.history import History
from memtree.errors import SummarizerUnavailable
from memtree.ports.models import Summarizer, Usage
from memtree.summaries import prompts
from memtree.summaries.checks.check import check
from memtree.summaries.prompts import SourcePiece, Task
from memtree.summaries.replies import mended
from memtree.text import secrets, tokens

BODY, HEADLINE = 130, 18  # tokens; each may be exceeded by a fifth, 200 in all at most
MOST_TOKENS = 200
READ_MESSAGE, READ = 3_000, 24_000  # characters of one message, and of all
ROOM_TIMES, ROOM_BESIDE = 2, 40  # as in the summariser
ID = "1"


class ModelSnapshots:
    """A `SnapshotWriter` that calls a model."""

    def __init__(self, summarizer: Summarizer, spending: Spending) -> None:
        self._summarizer, self._spending = summarizer, spending

    async def write(self, history: History, start: int, end: int) -> str:
        task = await asyncio.to_thread(_task, history, start, end)
        if not task.sources:
            return ""
        messages = prompts.prompt([task])
        size = sum(tokens.count_many(message["content"] for message in messages))
        room = ROOM_TIMES * (BODY + HEADLINE) + ROOM_BESIDE
        reserved = await self._spending.reserve(history.tenant, size, room)
        if reserved is None:
            return ""
        try:
            written = await self._summarizer.write([task])
        except SummarizerUnavailable as error:
            counts = {"failed": 1, "calls": int(any(error.cost))}
            await self._spending.settle(reserved, Usage(*error.cost), counts)
            raise
        await self._spending.settle(reserved, written.usage, {"calls": 1})
        draft = written.drafts.get(ID)
        if draft is None:
            return ""
        draft = mended(draft)
        text = secrets.mask(f"{draft.headline.rstrip('.')}. {draft.body}")
        accepted = not await asyncio.to_thread(check, draft, task, tokens.count)
        return text if accepted and tokens.count(text) <= MOST_TOKENS else ""

    async def close(self) -> None:
        await self._summarizer.close()


def _task(history: History, start: int, end: int) -> Task:
    masked = prompts.leaf_task(ID, list(_pieces(history, start, end)))
    return Task(ID, masked.kind, 0, masked.sources, cap=BODY, headline_cap=HEADLINE)


def _pieces(history: History, start: int, end: int) -> Iterator[SourcePiece]:
    """Yield the texts of user and assistant, as far as there is room; tool results are left out."""
    room = READ
    for at in range(start, min(end, len(history))):
        if room <= 0:
            return
        role = history.facts[at].role
        if role not in ("user", "assistant"):
            continue
        text = history.view(at).text if role == "user" else history.messages[at].words
        text = read_start(text, min(READ_MESSAGE, room)).strip()
        room -= len(text)
        if text:
            yield SourcePiece(role, at, text)
