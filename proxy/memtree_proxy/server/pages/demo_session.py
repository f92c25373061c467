"""`GET /ui/demo.json`: the demo session of `memtree demo`, for the page that draws trees.

It is the same for everybody and contains nobody's data, so it needs no credential. It is made on
the first request, and kept.
"""

from __future__ import annotations

import asyncio

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.errors import NotFound
from memtree_proxy.demo.session import session
from memtree_proxy.server.pages.web_pages import WebFile, answer

PATH = "/ui/demo.json"
TOKENS = 100_000  # its tree is ready within a second or two, even if embeddings take a minute
QUESTIONS = 4


class DemoSession:
    """Answers with the session if the pages are on."""

    def __init__(self, settings: Settings) -> None:
        self._on = settings.ui
        self._making = asyncio.Lock()
        self._file: WebFile | None = None

    async def show(self, request: Request) -> Response:
        """Answer with the session. Raises `NotFound` if the pages are off."""
        if not self._on:
            raise NotFound(f"There is no {request.method} {PATH} here.")
        async with self._making:
            if self._file is None:
                self._file = await asyncio.to_thread(demo_file)
        return answer(self._file, request.headers)


def demo_file(tokens: int = TOKENS) -> WebFile:
    """Return `{"messages": [...], "questions": [...]}` as a file; the questions are spread over the
    session."""
    messages, facts = session(tokens)
    step = max(1, len(facts) // QUESTIONS)
    shown = {
        "messages": [message.fields for message in messages],
        "questions": [fact.question for fact in facts[step // 2 :: step][:QUESTIONS]],
    }
    return WebFile.of("application/json", msgspec.json.encode(shown))
