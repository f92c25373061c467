"""A model behind any OpenAI-compatible chat endpoint, for work in the background.

    model = ChatEndpoint("https://api.openai.com/v1", "gpt-5-nano", key)
    answer = await model.answer(ModelQuestion(messages, schema, 300, fruitful, "parts"))

A few calls at once, within limits per minute. What the server demands in answer to one call (wait,
slow down, leave this parameter out, think less) is applied to all. No part of a text or a key is
logged or put into an error.

Importing this file costs a second and 50 MB (the SDK), so it is imported only where it is used.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from memtree.errors import SummarizerUnavailable
from memtree.models import openai_client
from memtree.models.chat.chat_completion import (
    BrokenReply,
    CallDenied,
    ChatClient,
    ServerBusy,
)
from memtree.models.chat.chat_reply import CallFailed, CallRefused, ChatReply
from memtree.models.chat.known_formats import TEXT_REFUSED, KnownFormats
from memtree.models.chat.response_format import ResponseFormat, body
from memtree.models.rate_limit import RateLimit, RateTicket
from memtree.ports.models import ModelAnswer, ModelQuestion, Usage
from memtree.text import tokens

log = logging.getLogger("memtree")

PARALLEL = 4
CALL_SECONDS = 120.0
TRIES = 4  # for one call, while the server is busy or broken
LONGEST_WAIT = 120.0  # seconds; a call that would have to wait longer fails instead
NOTHING = Usage()


class ChatEndpoint:
    """A `ChatModel` on a server.

    Args:
        url, model, key: the endpoint up to and with `/v1`; `key`: None to send none.
        parallel, seconds: calls at once, and how long each may take.
        requests_per_minute, tokens_per_minute: 0: no limit but the server's own.
        clock, sleep: monotonic seconds, and how to wait; for tests.
    """

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
        self.recipe = f"chat/{openai_client.place(url)}/{model}"
        self._chat, self._model, self._seconds = ChatClient(url, key), model, seconds
        self._forms = KnownFormats()
        self._pace = RateLimit(requests_per_minute, tokens_per_minute)
        self._slots = asyncio.Semaphore(parallel)
        # the holder waits for the rate limit, the others queue for the lock: first come, first
        # served
        self._door = asyncio.Lock()
        self._ended = asyncio.Event()
        self._clock, self._sleep = clock, sleep
        self._closing = asyncio.Event()

    @property
    def form(self) -> ResponseFormat:
        """Response format that the server accepts, as far as it is known."""
        return self._forms.form

    async def answer(self, question: ModelQuestion) -> ModelAnswer:
        """Answer a question, as the port describes. Returns no text if the server refuses the
        prompt, or it is too long."""
        call = _Call.of(question)
        async with self._slots:
            try:
                said = await self._forms.ask(question, lambda form: self._patient(call, form))
                if said is TEXT_REFUSED:
                    log.warning("summariser.text_refused")
                return ModelAnswer(said.text, not said.cut, call.usage)
            except CallFailed as error:
                wait = max(error.wait, self._pace.rest(self._clock()))
                raise SummarizerUnavailable(error.message, wait=wait, cost=call.cost) from None

    async def close(self) -> None:
        """Close. Running and later calls raise `SummarizerUnavailable`."""
        self._closing.set()
        self._ended.set()
        await self._chat.close()

    async def _patient(self, call: _Call, form: ResponseFormat) -> ChatReply:
        """Return the reply in this form, with retries while the server is busy or broken."""
        for left in reversed(range(TRIES)):
            try:
                return await self._once(call, form)
            except (ServerBusy, BrokenReply) as error:
                again = not isinstance(error, BrokenReply) or (error.again and not self._pace.down)
                if not left or not again or self._closing.is_set():
                    raise
        raise AssertionError("the last try raises")  # pragma: no cover

    async def _once(self, call: _Call, form: ResponseFormat) -> ChatReply:
        question = call.question
        ticket = await self._turn(call.input + question.room)
        used: int | None = None
        try:
            request = body(form, self._model, question.messages, question.room, question.schema)
            said = await self._chat.ask(request, seconds=self._seconds)
            used = call.spend(said)
        except CallFailed as error:
            used = call.lost(form) if error.billed else 0
            self._slowed(error)
            raise
        except RuntimeError:  # raised by a client that was closed meanwhile
            self._open()
            raise
        finally:
            self._pace.end(ticket, used)
            self._ended.set()
        self._pace.worked()
        return said

    async def _turn(self, size: int) -> RateTicket:
        """Wait until a call of `size` tokens may begin."""
        async with self._door:
            while True:
                self._open()
                wait = self._pace.wait(self._clock(), size)
                if wait <= 0:
                    return self._pace.begin(self._clock(), size)
                if self._pace.rest(self._clock()) > LONGEST_WAIT or (
                    self._pace.down and wait < math.inf
                ):
                    raise BrokenReply(f"{self._chat.host} is paused after a failure", again=False)
                if wait < math.inf:
                    await self._pause(wait)
                else:
                    self._ended.clear()
                    await self._ended.wait()

    async def _pause(self, seconds: float) -> None:
        """Sleep; ends early when the model is closed."""
        pause = asyncio.ensure_future(self._sleep(seconds))
        closing = asyncio.ensure_future(self._closing.wait())
        try:
            await asyncio.wait([pause, closing], return_when=asyncio.FIRST_COMPLETED)
        finally:
            pause.cancel()
            closing.cancel()

    def _slowed(self, error: CallFailed) -> None:
        now = self._clock()
        if isinstance(error, ServerBusy):
            self._pace.slowed(now, error.wait)
        elif isinstance(error, CallRefused):
            self._pace.worked()  # the server answers
        else:
            self._pace.failed(now, error.wait)
        if isinstance(error, ServerBusy | BrokenReply | CallDenied):
            log.info("summariser.failed", extra={"error": type(error).__name__})

    def _open(self) -> None:
        if self._closing.is_set():
            raise BrokenReply("the model is closed", again=False)


@dataclass(slots=True)
class _Call:
    """One call with all its attempts. `spent`: tokens of those that were answered; `risked`: upper
    bound for the others."""

    question: ModelQuestion
    input: int
    spent: Usage = NOTHING
    risked: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, question: ModelQuestion) -> _Call:
        size = sum(tokens.count_many(message["content"] for message in question.messages))
        return cls(question, size)

    def spend(self, said: ChatReply) -> int:
        """Add an answer's tokens, counted here if the server reports none; returns how many."""
        usage = said.used(self.input)
        self.spent += usage
        return usage.input + usage.output

    def lost(self, form: ResponseFormat) -> int:
        """Add the upper bound of an attempt that may have been billed without an answer; returns
        it."""
        room = self.question.room + form.spare
        self.risked = (self.risked[0] + self.input, self.risked[1] + room)
        return self.input + room

    @property
    def cost(self) -> tuple[int, int]:
        return self.spent.input + self.risked[0], self.spent.output + self.risked[1]

    @property
    def usage(self) -> Usage:
        """Return the usage of a call that was answered in the end."""
        return Usage(*self.cost, self.spent.cached, self.spent.counted or self.risked != (0, 0))
