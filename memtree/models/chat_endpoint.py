"""A model behind any OpenAI-compatible chat endpoint, for work in the background.

    endpoint = ChatEndpoint("https://api.openai.com/v1", "gpt-5-nano", key)
    answer = await endpoint.answer(ModelQuestion(messages, schema, 300, fruitful, "parts"))
    written = await ChatSummarizer(endpoint).write([leaf_task("1", sources), leaf_task("2", more)])
    written.drafts["1"].headline, written.usage.input

A few calls at once, within limits per minute. What the server demands in answer to one call (wait,
slow down, leave this parameter out, think less) is applied to all. No part of a text or a key is
logged or put into an error.

Importing this module costs a second and 50 MB (the SDK), so it is imported only where it is used.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from memtree.errors import SummarizerUnavailable
from memtree.models import openai_client
from memtree.models.chat_reply import (
    TEXT_REFUSED,
    CallFailed,
    CallRefused,
    ChatReply,
    KnownFormats,
    ResponseFormat,
    body,
)
from memtree.models.openai_client import BrokenReply, CallDenied, ChatClient, ServerBusy
from memtree.ports.models import ModelAnswer, ModelQuestion, SummaryDrafts, Usage
from memtree.text import tokens
from memtree.tree import summary_prompts, summary_replies
from memtree.tree.summary_prompts import Task

MINUTE = 60.0
# seconds to wait after refusals without `Retry-After`; doubled each time
FIRST_REST, LONGEST_REST = 1.0, 60.0
FAILURES = 3  # in a row; then the server counts as down
FIRST_DOWN, LONGEST_DOWN = 30.0, 600.0  # seconds between two attempts at one that is down
LONGEST_RETRY_AFTER = 86_400.0  # seconds; a longer wait means that the server refuses for today


@dataclass(slots=True, eq=False)
class RateTicket:
    """One call: when it began, its tokens (first estimated, then actual), and True if it is the
    single call after a refusal."""

    begun: float
    size: int
    alone: bool = False
    ended: bool = False


class RateLimit:
    """Says when the next call may begin: limits per minute, the waits that the server demands
    (`Retry-After`), exponential backoff after failures. All calls that share a key share one.
    `requests`, `tokens`: at most so many in any minute; 0: no limit. Times are monotonic seconds
    given by the caller, who waits.

        limit = RateLimit(requests=60, tokens=90_000)
        limit.wait(now, size=2_000)              # 0.0: begin now
        ticket = limit.begin(now, size=2_000)
        limit.end(ticket, used=1_400)            # the actual tokens

    After a refusal no call begins until the wait is over. Then a single call is made, and the
    others follow once it has succeeded."""

    def __init__(self, requests: int = 0, tokens: int = 0) -> None:
        self._requests, self._tokens = requests, tokens
        self._minute: deque[RateTicket] = deque()
        self._until = 0.0
        self._rests = self._failures = 0  # in a row
        self._careful = False
        self._alone: RateTicket | None = None

    def wait(self, now: float, size: int) -> float:
        """Return the seconds until a call of `size` tokens may begin (0: now); `inf`: until a
        running one has ended."""
        if self._alone is not None:
            return math.inf
        return max(0.0, self._until - now, self._room(now, size))

    def rest(self, now: float) -> float:
        """Return the remaining seconds of backoff, regardless of the limits per minute."""
        return max(0.0, self._until - now)

    @property
    def down(self) -> bool:
        """Return True if several calls in a row have failed."""
        return self._failures >= FAILURES

    def begin(self, now: float, size: int) -> RateTicket:
        """Count a call of `size` tokens that begins now."""
        ticket = RateTicket(now, size, self._careful)
        if self._careful:
            self._alone = ticket
        self._minute.append(ticket)
        return ticket

    def end(self, ticket: RateTicket, used: int | None = None) -> None:
        """End a call, so that others may begin. `used`: its actual tokens; None if unknown.
        Repeating the call for the same ticket does nothing."""
        if ticket.ended:
            return
        ticket.ended = True
        if used is not None:
            ticket.size = used
        if self._alone is ticket:
            self._alone = None

    def worked(self) -> None:
        """Record that a call was answered: backoff ends."""
        self._careful = False
        self._rests = self._failures = 0

    def slowed(self, now: float, retry_after: float = 0.0) -> None:
        """Record that the server is busy, or limits us. `retry_after`: the seconds that it
        named."""
        if now >= self._until:  # concurrent refusals of several calls count once
            self._rests += 1
        self._rest(now, retry_after or _doubled(FIRST_REST, self._rests - 1, LONGEST_REST))

    def failed(self, now: float, retry_after: float = 0.0) -> None:
        """Record another failure; after some failures in a row the server counts as down."""
        if now >= self._until:
            self._failures += 1
        own = _doubled(FIRST_REST, self._failures - 1, LONGEST_REST)
        if self.down:
            own = _doubled(FIRST_DOWN, self._failures - FAILURES, LONGEST_DOWN)
        self._rest(now, max(own, retry_after))

    def _rest(self, now: float, seconds: float) -> None:
        self._careful = True
        self._until = max(self._until, now + min(seconds, LONGEST_RETRY_AFTER))

    def _room(self, now: float, size: int) -> float:
        """Return the seconds until the last minute has room for one more call."""
        while self._minute and self._minute[0].begun <= now - MINUTE:
            self._minute.popleft()
        calls, used = len(self._minute), sum(call.size for call in self._minute)
        wait = 0.0
        for call in self._minute:
            fits = not self._tokens or used + size <= self._tokens
            if fits and (not self._requests or calls < self._requests):
                return wait
            calls, used = calls - 1, used - call.size
            wait = call.begun + MINUTE - now
        return wait  # a call larger than the limit runs alone


def _doubled(first: float, times: int, most: float) -> float:
    return min(most, first * 2.0 ** min(max(times, 0), 20))


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
            summary_prompts.prompt(tasks),
            summary_prompts.json_schema(),
            sum(ROOM_TIMES * (task.cap + task.headline_cap) + ROOM_BESIDE for task in tasks),
            lambda text, finished: bool(summary_replies.read(text, ids, finished)),
            "headline",
        )
        said = await self._endpoint.answer(question)
        return SummaryDrafts(summary_replies.read(said.text, ids, said.finished), said.usage)

    async def close(self) -> None:
        """Close. Running and later calls raise `SummarizerUnavailable`."""
        await self._endpoint.close()


def prompt_version() -> str:
    """Return a short name for the wording and form of the prompts."""
    constant = [summary_prompts.constant(kind) for kind in summary_prompts.KINDS]
    rest = summary_prompts.prompt([summary_prompts.leaf_task("1", [], summary_prompts.CHAT)])[1]
    whole = json.dumps([constant, rest, summary_prompts.json_schema()], ensure_ascii=False)
    return hashlib.sha256(whole.encode()).hexdigest()[:8]
