"""Answer a model's calls of our tools, and join the rounds of the upstream's answer around them.

    reply of round 1 -> StreamedRounds or `_whole` -> the client
           calls of ours -> ToolSession.answer -> again() -> reply of round 2 -> ...

The thin shell around the dialect's `stream` and `whole`, which decide. One round runs at a time;
cancelling the answer cancels that round.

A `ToolSession` takes arguments as the model wrote them, and returns texts for it. The caller
chooses the tools: a `ToolHandler` by name. Errors in a call are reported to the model and never
fail the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Container,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from msgspec import Meta

from memtree.context.answer import Answer
from memtree.context.answer_details import FoldedReader
from memtree.context.answer_state import State
from memtree.context.turn_request import CompressRequest
from memtree.dialects.posted_history import DialectHistory
from memtree.dialects.tool_definitions import (
    CHAT_CHANGE_TOOLS,
    CHAT_MEMORY_TOOLS,
    CONTEXT_TOOLS,
    CORRECT,
    FORGET,
    READ,
    SAVE,
    SEARCH,
    ToolGroup,
)
from memtree.errors import BadRequest, Conflict, MemTreeError, SecretRejected, UpstreamFailed
from memtree.history.message import MESSAGE_OVERHEAD
from memtree.text import tokens
from memtree.unfolding.folded_history import EXCERPTS
from memtree_proxy.chat import keepalive
from memtree_proxy.chat.chat_memory_tools import ChatMemoryTools, Said, ToolArguments
from memtree_proxy.chat.chat_request import ChatRequest, room_beside
from memtree_proxy.chat.upstream_reply import (
    beginning,
    is_event_stream,
    is_json,
    plain_pieces,
    upstream_error,
)
from memtree_proxy.dialects import round_calls
from memtree_proxy.dialects.dialect import Dialect
from memtree_proxy.dialects.round_calls import StreamedCall, ToolHandler, ToolRound
from memtree_proxy.dialects.tool_offer import Offer
from memtree_proxy.http import log
from memtree_proxy.http.decoding import OrNull, converted
from memtree_proxy.http.headers import Headers
from memtree_proxy.upstream.relay import RelayedReply

Number = Annotated[int, Meta(ge=0, le=10**12)]


class FoldedSearch(ToolArguments, frozen=True):
    """Arguments of `memory_search`."""

    query: Said
    limit: OrNull[Number] = EXCERPTS


class FoldedPart(ToolArguments, frozen=True):
    """Arguments of `memory_read`: messages, and the character of the first to begin at."""

    first: Number
    last: Number | None = None
    start: OrNull[Number] = 0


def recall_handlers(folded: FoldedReader) -> dict[str, ToolHandler]:
    """Return the handlers of the calls with which a model reads the folded part (`memory_search`
    and `memory_read`), by the name of the tool."""

    async def search(arguments: Mapping[str, Any], room: int) -> str:
        call = converted(FoldedSearch, arguments, strict=False)
        return await folded.search(call.query, call.limit, room)

    async def read(arguments: Mapping[str, Any], room: int) -> str:
        call = converted(FoldedPart, arguments, strict=False)
        last = call.first if call.last is None else call.last
        # Reading a message of megabytes takes a while.
        return await asyncio.to_thread(folded.read, call.first, last, call.start, room)

    return {SEARCH: search, READ: read}


# Memory folded something, and has indexed all of it; ranking without vectors is fine
STATES = frozenset({State.PACKED, State.PROVISIONAL, State.NO_EMBEDDER})
MOST_ROUNDS = 8
MOST_CALLS = 8  # in one round
UNCOUNTED_ROOM = 8_000  # tokens for results if the prompt was not counted

BROKEN = "Error: the memory cannot be reached at the moment. Answer without it."
TOO_MANY = f"Error: at most {MOST_CALLS} calls at once are answered. Ask again with fewer."
# Errors of a call that may be reported to the model: their messages contain nothing that was saved.
_TOLD = (BadRequest, SecretRejected, Conflict)


@dataclass(slots=True)
class ToolSession:
    """`packed`: what memory sends, None without context memory. `handlers`: by the name of their
    tool. `saved`: the tools of chat memory, if the model has them. `room`: tokens left in the
    model's window. `messages`: the items that the rounds so far add to the prompt, raw JSON;
    `size`: their tokens. `withdrawn`: the upstream supports no tools."""

    dialect: Dialect
    offer: Offer
    packed: Answer | None
    handlers: Mapping[str, ToolHandler]
    room: int
    saved: ChatMemoryTools | None = None
    messages: list[bytes] = field(default_factory=list)
    size: int = 0
    rounds: int = 0
    withdrawn: bool = False

    @property
    def offered(self) -> bool:
        """Return True if the next round may call our tools."""
        return not self.withdrawn and self.rounds < MOST_ROUNDS

    @property
    def names(self) -> frozenset[str]:
        """Return the names of our tools."""
        return frozenset(self.handlers)

    def only(self, groups: Container[ToolGroup]) -> ToolSession | None:
        """Return a session with those tools only; None if none is left."""
        offer = self.offer.only(groups)
        if offer is None:
            return None
        names = frozenset().union(*(group.names for group in offer.groups))
        handlers = {name: handler for name, handler in self.handlers.items() if name in names}
        return replace(self, offer=offer, handlers=handlers)

    def body(self, chat: ChatRequest) -> bytes:
        """Return the request for the next round."""
        fields = {} if self.withdrawn else self.offer.fields(last=not self.offered)
        return chat.with_messages(self.packed, self.messages, fields)

    def repack(self, ask: CompressRequest, answer: Answer, folded: FoldedReader | None) -> None:
        """Use a new packing by memory, because the window is smaller than assumed. `ask` includes
        the tokens that the rounds have added."""
        self.packed, self.room = answer, room_beside(ask, answer) + self.size
        if folded is not None and CONTEXT_TOOLS in self.offer.groups:
            self.handlers = {**self.handlers, **recall_handlers(folded)}

    def unbind(self, history: DialectHistory) -> None:
        """Remove thinking from the rounds so far, because the prompt before them has changed."""
        self.messages = history.unbound(self.messages)

    async def answer(self, round_: ToolRound) -> None:
        """Add a round: the model's message, and the results of its calls."""
        self.rounds += 1
        self._count(round_.items)
        texts: list[str] = []
        for number, call in enumerate(round_.calls):
            text = TOO_MANY if number >= MOST_CALLS else await self._result(call)
            self._count(self.dialect.results(ToolRound((), (call,)), [text]))
            texts.append(text)
        self.messages += (*round_.items, *self.dialect.results(round_, texts))
        log.event("chat.recalled", round=self.rounds, calls=len(round_.calls), tokens=self.size)

    async def settle(self, calls: Sequence[StreamedCall]) -> None:
        """Answer the calls of a round that ends the answer, because the client must run its own
        calls first: the model never sees their results, but memories are saved and changed."""
        for call in calls[:MOST_CALLS]:
            if call.name in (SAVE, FORGET, CORRECT):
                await self._result(call)

    def _count(self, items: Iterable[bytes]) -> None:
        self.size += sum(tokens.count(raw.decode()) + MESSAGE_OVERHEAD for raw in items)

    async def _result(self, call: StreamedCall) -> str:
        arguments = round_calls.parsed(call.arguments)
        if arguments is None:
            return "Error: the arguments are not a JSON object"
        if self.saved is not None and call.name in CONTEXT_TOOLS.names:
            self.saved.others_spoke = True  # older tool messages may be part of what it reads
        try:
            return await self.handlers[call.name](arguments, self.room - self.size)
        except _TOLD as error:
            return f"Error: {error.message}"
        except Exception as error:  # noqa: BLE001  promise 10: the chat goes on without memory
            log.failure("chat.recall_failed", error)
            return BROKEN


def begin(
    chat: ChatRequest,
    answer: Answer | None,
    folded: FoldedReader | None,
    saved: ChatMemoryTools | None = None,
) -> ToolSession | None:
    """Begin a session. `answer`: of context memory, None without. `folded`: access to the folded
    part. `saved`: the tools of chat memory. Returns None if the model gets no tools of ours."""
    if chat.offer is None:
        return None
    handlers: dict[ToolGroup, Mapping[str, ToolHandler]] = {}
    if saved is not None:
        handlers[CHAT_MEMORY_TOOLS] = saved.handlers()
        handlers[CHAT_CHANGE_TOOLS] = saved.change_handlers()
    if folded is not None and answer is not None and answer.state in STATES:
        handlers[CONTEXT_TOOLS] = recall_handlers(folded)
    offer = chat.offer.only(handlers)
    if offer is None:
        return None
    room = chat.room(answer)
    return ToolSession(
        chat.dialect,
        offer,
        answer,
        {name: handler for group in offer.groups for name, handler in handlers[group].items()},
        UNCOUNTED_ROOM if room is None else room,
        saved,
    )


# Bytes of one event, or of an unstreamed answer; models answer with some 100,000
LONGEST = 64 * 1024 * 1024
LINGER_SECONDS = 0.5
_OF_THE_BYTES = frozenset({b"content-length", b"content-encoding", b"content-md5", b"digest"})

Again = Callable[[], Awaitable[RelayedReply]]


async def answered(reply: RelayedReply, session: ToolSession, again: Again) -> RelayedReply:
    """Return the reply for the client. `again`: sends the request with the results that `session`
    has by then. Raises the errors of `again`, if nothing was sent to the client yet.
    """
    if reply.status != 200:
        return reply
    if is_event_stream(reply):
        return StreamedRounds(reply, session, again)
    if is_json(reply):
        return await _whole(reply, session, again)
    return reply


class StreamedRounds:
    """A streamed answer of several rounds. An error in a later round becomes an event, as in every
    stream that has begun; if the upstream breaks off, so does the answer."""

    def __init__(self, reply: RelayedReply, session: ToolSession, again: Again) -> None:
        self._reply = reply
        self._session = session
        self._again = again
        self.status = reply.status
        self.headers = _other_bytes(reply.headers)

    async def chunks(self) -> AsyncIterator[bytes]:
        stream = self._session.dialect.stream(self._session.names)
        while True:
            pieces = plain_pieces(self._reply)
            async for chunk in pieces:
                shown = stream.feed(chunk)
                # Before the end of the answer: the client may disconnect as soon as it has that.
                if calls := stream.unanswered():
                    await self._session.settle(calls)
                if shown:
                    yield shown
                if stream.waiting > LONGEST:
                    raise _too_long()
                if stream.asks:
                    await _drained(pieces)
                    break
            shown, round_ = stream.end()
            await self._session.settle(stream.unanswered())
            if shown:
                yield shown
            if round_ is None:
                return
            self._reply.close()
            # The client got nothing from this round: a heartbeat keeps it waiting for the next.
            yield self._session.dialect.sign
            await self._session.answer(round_)
            stream.offered = self._session.offered
            if (error := await self._next()) is not None:
                yield stream.failed(error)
                return

    async def _next(self) -> Mapping[str, Any] | None:
        """Begin the next round; returns the error if that fails."""
        try:
            self._reply = await self._again()
        except MemTreeError as error:
            return keepalive.named(error)
        if self._reply.status == 200 and is_event_stream(self._reply):
            return None
        body = await beginning(self._reply, keepalive.MAX_ERROR)
        return upstream_error(self._reply.status, body)

    def close(self) -> None:
        self._reply.close()


class FinishedReply:
    """An answer whose bytes are complete."""

    def __init__(self, status: int, headers: Headers, body: bytes) -> None:
        self.status = status
        self.headers = [*headers, (b"content-length", str(len(body)).encode())]
        self._body = body

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self._body

    def close(self) -> None:
        pass


async def _drained(pieces: AsyncIterator[bytes]) -> None:
    """Read an answer to its end after its last event, so that its connection can be reused; only
    briefly, since some servers keep it open."""
    with suppress(TimeoutError, MemTreeError):
        async with asyncio.timeout(LINGER_SECONDS):
            async for _ in pieces:
                pass


async def _whole(reply: RelayedReply, session: ToolSession, again: Again) -> RelayedReply:
    whole = session.dialect.whole(session.names)
    while True:
        try:
            outcome = whole.take(await _read(reply))
        finally:
            reply.close()
        if isinstance(outcome, bytes):
            await session.settle(whole.unanswered)
            return FinishedReply(reply.status, _other_bytes(reply.headers), outcome)
        await session.answer(outcome)
        whole.offered = session.offered
        reply = await again()
        if reply.status != 200 or not is_json(reply):
            return reply


async def _read(reply: RelayedReply) -> bytes:
    body = bytearray()
    async for piece in plain_pieces(reply):
        body += piece
        if len(body) > LONGEST:
            raise _too_long()
    return bytes(body)


def _other_bytes(headers: Headers) -> Headers:
    """Return the headers of an answer whose bytes may differ from the upstream's."""
    return [(name, value) for name, value in headers if name.lower() not in _OF_THE_BYTES]


def _too_long() -> UpstreamFailed:
    return UpstreamFailed(f"The upstream's answer has an event of more than {LONGEST} bytes.")
