"""Calls of our tools answered: arguments as a model wrote them in, a text for it out.

Whatever is wrong with a call is told to the model; nothing of it fails the answer.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import msgspec

from memtree.budget.packing import TokenLimits
from memtree.context.answer import Answer
from memtree.context.request import CompressRequest
from memtree.conversation.message import MESSAGE_OVERHEAD
from memtree.errors import BadRequest
from memtree.text import tokens
from memtree.unfolding.search import EXCERPTS, FoldedHistory
from proxy.chat.chat_request import ChatRequest
from proxy.observability import log
from proxy.request import fields
from proxy.server_tools import calls, offer
from proxy.server_tools.calls import StreamedCall
from proxy.server_tools.offer import Offer
from proxy.server_tools.stream import ToolRound

# Memory folded something, and knows all of it; whether words alone rank it does not matter
STATES = frozenset({"packed", "provisional", "degraded:embedder"})
MOST_ROUNDS = 8
MOST_CALLS = 8  # of one round
_MAX_NUMBER = 10**12

BROKEN = "Error: the record cannot be read at the moment. Answer without it."
TOO_MANY = f"Error: at most {MOST_CALLS} calls at once are answered. Ask again with fewer."


@dataclass(slots=True)
class Session:
    """One answer in which a model may search and read what `kept` folded. `room`: tokens that its
    window has left. `messages`: what the rounds so far add to the prompt, raw; `size`: their
    tokens. `withdrawn`: the upstream takes no tools."""

    offer: Offer
    kept: Answer
    folded: FoldedHistory
    room: int
    messages: list[bytes] = field(default_factory=list)
    size: int = 0
    rounds: int = 0
    withdrawn: bool = False

    @property
    def offered(self) -> bool:
        """Whether the round that comes may call our tools."""
        return not self.withdrawn and self.rounds < MOST_ROUNDS

    def body(self, turn: ChatRequest) -> bytes:
        """The request for the round that comes."""
        fields = {} if self.withdrawn else self.offer.fields(last=not self.offered)
        return turn.with_messages(self.kept, self.messages, fields)

    def packed(self, ask: CompressRequest, answer: Answer) -> None:
        """Memory answered anew: the window is smaller than it was thought. `ask` counts what the
        rounds have added."""
        self.kept, self.room = answer, _room(ask, answer) + self.size
        self.folded = answer.folded or self.folded

    async def answer(self, asked: ToolRound) -> None:
        """Add a round: what the model said, and what its calls found."""
        self.rounds += 1
        self._add(asked.message)
        for number, call in enumerate(asked.calls):
            found = TOO_MANY if number >= MOST_CALLS else await self._found(call)
            id_ = asked.message["tool_calls"][number]["id"]
            self._add({"role": "tool", "tool_call_id": id_, "content": found})
        log.event("chat.recalled", round=self.rounds, calls=len(asked.calls), tokens=self.size)

    def _add(self, message: dict[str, Any]) -> None:
        raw = msgspec.json.encode(message)
        self.messages.append(raw)
        self.size += tokens.count(raw.decode()) + MESSAGE_OVERHEAD

    async def _found(self, call: StreamedCall) -> str:
        try:
            return await self._called(call)
        except BadRequest as error:
            return f"Error: {error.message}"
        except Exception as error:  # noqa: BLE001  promise 10: the chat goes on without memory
            log.failure("chat.recall_failed", error)
            return BROKEN

    async def _called(self, call: StreamedCall) -> str:
        """Raises `BadRequest` for arguments that are none."""
        given = calls.parsed(call.arguments)
        if given is None:
            raise BadRequest("the arguments are not a JSON object")
        room = self.room - self.size
        if call.name == offer.SEARCH:
            query = fields.text(given.get("query"), "query")
            if not (query and query.strip()):
                raise BadRequest("query must be a string that is not empty")
            return await self.folded.search(query, _number(given, "limit", EXCERPTS), room)
        first = _number(given, "first", None)
        last = _number(given, "last", first)
        start = _number(given, "start", 0)
        # A message of megabytes takes a while to be read.
        return await asyncio.to_thread(self.folded.read, first, last, start, room)


def begin(turn: ChatRequest, answer: Answer) -> Session | None:
    """None where the model gets no tools of ours."""
    if turn.offer is None or turn.ask is None:
        return None
    if answer.folded is None or answer.state not in STATES:
        return None
    return Session(turn.offer, answer, answer.folded, _room(turn.ask, answer))


def _room(ask: CompressRequest, answer: Answer) -> int:
    limits = TokenLimits.of(
        target=ask.target, hard=ask.hard, window=ask.window, reserve=ask.reserve
    )
    return limits.prompt - ask.tools_tokens - answer.sent_tokens


def _number(given: dict[str, Any], name: str, default: int | None) -> int:
    """Raises `BadRequest` where it is no number, or lacks and has no default."""
    found = fields.integer(given.get(name), name, -1, _MAX_NUMBER)
    found = default if found is None else found
    if found is None:
        raise BadRequest(f"{name} is missing")
    return found
