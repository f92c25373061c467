"""The summariser: any OpenAI-compatible chat endpoint.

    summariser = ChatSummarizer("https://api.openai.com/v1", "gpt-5-nano", key)
    written = await summariser.write([leaf_task("1", sources), leaf_task("2", more)])
    written.drafts["1"].headline, written.usage.input

How it is asked, and what is done about its failures: `chat_endpoint.py`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Sequence

from memtree.models.chat_endpoint import CALL_SECONDS, PARALLEL, ChatEndpoint
from memtree.models.response_format import ResponseFormat
from memtree.ports.chat_model import ModelQuestion
from memtree.ports.models import SummaryDrafts
from memtree.summaries import prompts, replies
from memtree.summaries.prompts import Task

# Room for an answer: twice its caps, since models count in other tokens, and its JSON.
ROOM_TIMES, ROOM_BESIDE = 2, 40


class ChatSummarizer:
    """`Summarizer` on a server. Arguments: those of `ChatEndpoint`."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        *,
        parallel: int = PARALLEL,
        seconds: float = CALL_SECONDS,
        requests_per_minute: int = 0,
        tokens_per_minute: int = 0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._endpoint = ChatEndpoint(
            url,
            model,
            key,
            parallel=parallel,
            seconds=seconds,
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            clock=clock,
            sleep=sleep,
        )
        self.recipe = f"{self._endpoint.recipe}/{prompt_version()}"

    @property
    def form(self) -> ResponseFormat:
        """What the server takes, as far as is known."""
        return self._endpoint.form

    async def write(self, tasks: Sequence[Task]) -> SummaryDrafts:
        """As the port says. A text that the server refuses, or cannot take whole, has no draft."""
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
        """Later calls get `SummarizerUnavailable`, and so do open ones."""
        await self._endpoint.close()


def prompt_version() -> str:
    """A short name for the words and the form of what is asked."""
    constant = [prompts.constant(kind) for kind in prompts.KINDS]
    rest = prompts.prompt([prompts.leaf_task("1", [], prompts.CHAT)])[1]
    whole = json.dumps([constant, rest, prompts.json_schema()], ensure_ascii=False)
    return hashlib.sha256(whole.encode()).hexdigest()[:8]
