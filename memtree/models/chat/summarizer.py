"""The summariser: any OpenAI-compatible chat endpoint.

    endpoint = ChatEndpoint("https://api.openai.com/v1", "gpt-5-nano", key)
    summariser = ChatSummarizer(endpoint)
    written = await summariser.write([leaf_task("1", sources), leaf_task("2", more)])
    written.drafts["1"].headline, written.usage.input

Calls and their failures are handled in `chat_endpoint.py`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from memtree.models.chat.chat_endpoint import ChatEndpoint
from memtree.models.chat.response_format import ResponseFormat
from memtree.ports.models import ModelQuestion, SummaryDrafts
from memtree.summaries import prompts, replies
from memtree.summaries.prompts import Task

# Room for an answer: twice its caps, since models count other tokens, plus its JSON.
ROOM_TIMES, ROOM_BESIDE = 2, 40


class ChatSummarizer:
    """A `Summarizer` on a server; closes its endpoint."""

    def __init__(self, endpoint: ChatEndpoint) -> None:
        self._endpoint = endpoint
        self.recipe = f"{endpoint.recipe}/{prompt_version()}"

    @property
    def form(self) -> ResponseFormat:
        """Response format that the server accepts, as far as it is known."""
        return self._endpoint.form

    async def write(self, tasks: Sequence[Task]) -> SummaryDrafts:
        """Write the drafts, as the port describes. A text that the server refuses, or that is too
        long, gets no draft."""
        ids = [task.id for task in tasks]
        question = ModelQuestion(
            prompts.prompt(tasks),
            prompts.json_schema(),
            sum(ROOM_TIMES * (task.cap + task.headline_cap) + ROOM_BESIDE for task in tasks),
            lambda text, finished: bool(replies.read(text, ids, finished)),
            "headline",
        )
        said = await self._endpoint.answer(question)
        return SummaryDrafts(replies.read(said.text, ids, said.finished), said.usage)

    async def close(self) -> None:
        """Close. Running and later calls raise `SummarizerUnavailable`."""
        await self._endpoint.close()


def prompt_version() -> str:
    """Return a short name for the wording and form of the prompts."""
    constant = [prompts.constant(kind) for kind in prompts.KINDS]
    rest = prompts.prompt([prompts.leaf_task("1", [], prompts.CHAT)])[1]
    whole = json.dumps([constant, rest, prompts.json_schema()], ensure_ascii=False)
    return hashlib.sha256(whole.encode()).hexdigest()[:8]
