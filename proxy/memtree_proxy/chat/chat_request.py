"""The body of a conversation's request as read, in whatever dialect: what of it is for us, and what
goes to the upstream."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtree.budget.packing import TokenLimits
from memtree.config import Settings
from memtree.context.answer import Answer
from memtree.context.request import CompressRequest
from memtree.context.state import State
from memtree.conversation import side_requests
from memtree.conversation.message import Message
from memtree.dialects.dialect_history import DialectHistory
from memtree.dialects.placed_memories import PlacedMemories
from memtree.errors import BadRequest
from memtree.text.memory_lines import MemoryLine
from memtree.wire import json_body
from memtree.wire.json_body import Body
from memtree_proxy.chat.memories import sources
from memtree_proxy.chat.memories.sources import WantedMemories
from memtree_proxy.dialects.dialect import Dialect
from memtree_proxy.request import fields, memory_switch
from memtree_proxy.server_tools.offer import Offer


@dataclass(frozen=True, slots=True)
class ShadowRequest:
    """A request that goes through untouched, as far as it is needed to measure it later: no
    credential is in it. `headers`: those of ours."""

    dialect: Dialect
    body: Body
    suffix: memory_switch.Suffix
    headers: Mapping[str, str]

    def ask(self, tenant: str, settings: Settings) -> CompressRequest:
        """Build the request that memory would have got, in mode `stable`: `auto` sends most of a
        short chat as it is, which measures nothing. Raises `BadRequest`."""
        ask = ask_of(self.dialect, tenant, self.body, self.headers, settings, self.suffix)
        history = self.dialect.read(self.body, tenant, settings.max_messages)
        if history.passes:
            raise BadRequest("the history is not in the request", param=self.dialect.history)
        ask = with_history(ask, history, whole=is_side(history))
        return dataclasses.replace(ask, mode=fields.CONTEXT_MODE)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """`content`: the posted body, decoded. `plain`: the same for the upstream without memory's
    help; the very same object where nothing of it is ours.

    `ask` is None where memory is off (`state` says so), cannot be asked (`state` says why), or has
    no say (`shadow`); `reason` says more of the state. `offer`: the tools of ours that the model
    may be given, counted in `ask`. `memories`: which ones stand beside it; `history`: as posted,
    where they or `ask` are to be read; `others_spoke`: a tool or a web page spoke in the present
    turn; `query`: what its newest message of the user says; `conversation`: by what names it
    remembers what it was shown. `body` is there with either. `placed`: memories for what is sent,
    where nothing is folded; `ranked`: the same, those that matter most first. `thinks_from`: the
    message (index in `messages`) before which no thinking is sent.
    """

    dialect: Dialect
    content: bytes
    plain: bytes
    state: State = State.OFF
    reason: str = ""
    body: Body | None = None
    ask: CompressRequest | None = None
    changed: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    model: str = ""
    streams: bool = False
    shadow: ShadowRequest | None = None
    offer: Offer | None = None
    memories: WantedMemories = sources.NONE
    history: DialectHistory | None = None
    others_spoke: bool = False
    query: str = ""
    conversation: tuple[str, ...] = ()
    placed: PlacedMemories | None = None
    ranked: tuple[MemoryLine, ...] = ()
    thinks_from: int = 0

    @property
    def messages(self) -> Sequence[Message]:
        """Return the canonical messages; none where the history is not read."""
        return self.history.messages if self.history else ()

    def room(self, answer: Answer | None) -> int | None:
        """Tokens that the model's window has left beside an answer and the memories with it; None
        where nobody has counted the prompt."""
        if self.ask is None or answer is None:
            return None
        placed = self.placed.tokens if self.placed and not answer.folds else 0
        return room_beside(self.ask, answer) - placed

    def with_messages(
        self,
        answer: Answer | None,
        more: Sequence[bytes] = (),
        also: Mapping[str, bytes] | None = None,
    ) -> bytes:
        """The body for the upstream with the messages of an answer (None: those that were posted),
        with `more` behind them, and with other fields (raw JSON). Posted messages stay as they are,
        byte for byte, but for the one that gets the memories."""
        placed = None if answer is not None and answer.folds else self.placed
        if self.body is None or self.history is None:
            return self.plain
        history = self.history.fields(answer, placed, more, no_thinking_before=self.thinks_from)
        if not (history or also):
            return self.plain
        return self.body.rewritten({**self.changed, **(also or {}), **history})


def unthinking(chat: ChatRequest, tenant: str) -> ChatRequest:
    """The request without any thinking in its history, which is read where nobody has yet. Raises
    `BadRequest`."""
    body = chat.body or json_body.split(chat.content)
    history = chat.history or chat.dialect.read(body, tenant)
    thinks_from = len(history.messages)
    return dataclasses.replace(chat, body=body, history=history, thinks_from=thinks_from)


def room_beside(ask: CompressRequest, answer: Answer) -> int:
    """Tokens that the model's window has left beside what an answer sends."""
    limits = TokenLimits.of(
        target=ask.target, hard=ask.hard, window=ask.window, reserve=ask.reserve
    )
    return limits.prompt - ask.tools_tokens - answer.sent_tokens


def ask_of(
    dialect: Dialect,
    tenant: str,
    body: Body,
    headers: Mapping[str, str],
    settings: Settings,
    suffix: memory_switch.Suffix,
) -> CompressRequest:
    """Build the request to memory, without what stands in the history. Raises `BadRequest`."""
    ask = fields.chat_ask(tenant, body, headers, settings, suffix.days, dialect.output_fields)
    if not dialect.prefix_bound:
        return ask
    prices = fields.vendors_prices(ask.prices, body)
    # The latter two are for templates of local models.
    return dataclasses.replace(
        ask, dialect=dialect.name, prices=prices, alternate=False, keep_first=False
    )


def with_history(ask: CompressRequest, history: DialectHistory, *, whole: bool) -> CompressRequest:
    return dataclasses.replace(
        ask,
        messages=history.messages,
        whole=whole,
        tools_tokens=history.tools_tokens,
        markers=history.markers,
    )


def is_side(history: DialectHistory) -> bool:
    """Raises `BadRequest` where a message cannot be read."""
    return history.side or side_requests.is_side(history.messages, tools=history.tools_tokens > 0)
