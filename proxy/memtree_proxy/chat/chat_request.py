"""Hold a chat request that was read, in any dialect: fields for us, a body for the upstream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memtree.budget.packing import TokenLimits
from memtree.config import Settings
from memtree.context.answer import Answer
from memtree.context.answer_state import State
from memtree.context.turn_request import CompressRequest
from memtree.dialects.openai_chat import PlacedMemories
from memtree.dialects.posted_history import DialectHistory
from memtree.dialects.tool_definitions import ToolGroup
from memtree.history import json_body
from memtree.history.json_body import Body
from memtree.history.message import Message
from memtree.text.memory_lines import MemoryLine
from memtree_proxy.chat import chat_memory_sources, memory_switch, request_fields
from memtree_proxy.chat.chat_memory_sources import WantedMemories
from memtree_proxy.dialects.dialect import Dialect
from memtree_proxy.dialects.tool_offer import Offer
from memtree_proxy.wire.request_options import ChatOptions


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """`content`: the posted body, decoded. `plain`: the body for the upstream without memory; the
    same object if it has no fields of ours.

    `ask` is None if memory is off or cannot be used (see `state`); `reason` explains the state.
    `offer`: our tools that the model may get, counted in `ask`. `memories`: those wanted for the
    request; `history`: as posted, set if `memories` or `ask` need it, and so is `body`;
    `others_spoke`: a tool or a web page contributed to the present turn; `queries`: texts of
    its newest user message and of its last few; `conversation`: names under which shown memories
    are remembered. `placed`: memories to insert if nothing is folded; `ranked`: the same, most
    important first. `off_record`: the user wants nothing of the newest message to be kept.
    `thinks_from`: the message (index in `messages`) before which no thinking is sent.
    """

    dialect: Dialect
    content: bytes
    plain: bytes
    state: State = State.OFF
    reason: str = ""
    body: Body | None = None
    ask: CompressRequest | None = None
    changed: Mapping[str, bytes] = field(default_factory=dict)
    model: str = ""
    streams: bool = False
    offer: Offer | None = None
    memories: WantedMemories = chat_memory_sources.NONE
    history: DialectHistory | None = None
    others_spoke: bool = False
    queries: tuple[str, str] = ("", "")
    conversation: tuple[str, ...] = ()
    placed: PlacedMemories | None = None
    ranked: tuple[MemoryLine, ...] = ()
    thinks_from: int = 0
    off_record: bool = False

    @property
    def messages(self) -> Sequence[Message]:
        """Return the canonical messages; none if the history was not read."""
        return self.history.messages if self.history else ()

    @property
    def output(self) -> int | None:
        """Return the posted limit of the answer, None without one."""
        return (
            request_fields.chat_output(self.body, self.dialect.output_fields) if self.body else None
        )

    def narrowed(self, ask: CompressRequest, window: int) -> CompressRequest:
        """Return a request to memory for a learned window."""
        if window >= ask.window:
            return ask
        reserve = request_fields.answer_reserve(self.output, window)
        return replace(ask, window=window, reserve=reserve)

    def without(self, group: ToolGroup) -> ChatRequest:
        """Return the request without an offer of some of our tools, and without their tokens."""
        if self.offer is None or group not in self.offer.groups:
            return self
        offer = self.offer.only([each for each in self.offer.groups if each is not group])
        less = self.offer.size - (offer.size if offer else 0)
        ask = self.ask and replace(self.ask, tools_tokens=self.ask.tools_tokens - less)
        return replace(self, offer=offer, ask=ask)

    def room(self, answer: Answer | None) -> int | None:
        """Return the tokens that the model's window has left beside an answer and its memories;
        None if the prompt was not counted."""
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
        """Return the body for the upstream with the messages of an answer (None: the posted ones),
        followed by `more`, and with other fields (raw JSON). Posted messages stay unchanged byte
        for byte, except the one that gets the memories."""
        placed = None if answer is not None and answer.folds else self.placed
        if self.body is None or self.history is None:
            return self.plain
        history = self.history.fields(answer, placed, more, no_thinking_before=self.thinks_from)
        if not (history or also):
            return self.plain
        return self.body.rewritten({**self.changed, **(also or {}), **history})


def unthinking(chat: ChatRequest, tenant: str) -> ChatRequest:
    """Return the request without any thinking in its history, which is read now if necessary.
    Raises `BadRequest`."""
    body = chat.body or json_body.split(chat.content, halves=True)
    history = chat.history or chat.dialect.read(body, tenant)
    thinks_from = len(history.messages)
    return replace(chat, body=body, history=history, thinks_from=thinks_from)


def room_beside(ask: CompressRequest, answer: Answer) -> int:
    """Return the tokens that the model's window has left beside what an answer sends."""
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
    options: ChatOptions,
) -> CompressRequest:
    """Build the request to memory, without the history. Raises `BadRequest`."""
    ask = request_fields.chat_ask(
        tenant, body, headers, settings, suffix.days, dialect.output_fields, options
    )
    if not dialect.prefix_bound:
        return ask
    prices = request_fields.vendors_prices(ask.prices, body)
    # The last two are for chat templates of local models.
    return replace(ask, dialect=dialect.name, prices=prices, alternate=False, keep_first=False)
