"""A chat body as read: what of it is for us, and what goes to the upstream."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from memtree.budget.packing import TokenLimits
from memtree.config import Settings
from memtree.context.answer import Answer
from memtree.context.request import CompressRequest
from memtree.context.state import State
from memtree.conversation import beginning, side_requests
from memtree.conversation.message import Message, Volatile
from memtree.errors import BadRequest
from memtree.memories.scope import Scope
from memtree.text.memory_lines import MemoryLine
from proxy.chat import context_overflow
from proxy.chat.memories import sources
from proxy.chat.memories.sources import ChatUser, WantedMemories
from proxy.chat.memories.turn_sources import others_spoke
from proxy.chat.memories.user_query import user_query
from proxy.chat.model_limits import ModelLimits
from proxy.dialects import openai_chat
from proxy.dialects.injection import PlacedMemories
from proxy.http import json_body
from proxy.http.json_body import Body
from proxy.request import chat_scope, fields, memory_options, memory_switch, rag_options
from proxy.request.patience import patience
from proxy.server_tools import offer
from proxy.server_tools.definitions import CHAT_MEMORY_TOOLS, CONTEXT_TOOLS, ToolGroup
from proxy.server_tools.offer import Offer


@dataclass(frozen=True, slots=True)
class ShadowRequest:
    """A request that goes through untouched, as far as it is needed to measure it later: no
    credential is in it. `headers`: those of ours."""

    body: Body
    suffix: memory_switch.Suffix
    headers: Mapping[str, str]

    def ask(self, tenant: str, settings: Settings) -> CompressRequest:
        """What memory would have been asked, in mode `stable`: `auto` sends most of a short chat
        as it is, which measures nothing. Raises `BadRequest`."""
        ask = fields.chat_ask(tenant, self.body, self.headers, settings, self.suffix.days)
        messages = self.body.messages(settings.max_messages)
        whole = side_requests.is_side(messages, tools=bool(ask.tools_tokens))
        return dataclasses.replace(ask, messages=messages, whole=whole, mode=fields.CONTEXT_MODE)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """`content`: the posted body, decoded. `plain`: the same for the upstream without memory's
    help; the very same object where nothing of it is ours.

    `ask` is None where memory is off (`state` says so), cannot be asked (`state` says why), or has
    no say (`shadow`). `offer`: the tools of ours that the model may be given, counted in `ask`.
    `memories`: which ones stand beside it; `messages`: as posted, where they or `ask` are to be
    read; `others_spoke`: a tool or a web page spoke in the present turn; `asked`: what its newest
    message of the user says; `conversation`: by what names it remembers what it was shown. `body`
    is there with either. `placed`: memories for what is sent, where nothing is folded; `ranked`:
    the same, those that matter most first.
    """

    content: bytes
    plain: bytes
    state: State = State.OFF
    body: Body | None = None
    ask: CompressRequest | None = None
    changed: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    model: str = ""
    streams: bool = False
    shadow: ShadowRequest | None = None
    offer: Offer | None = None
    memories: WantedMemories = sources.NONE
    messages: tuple[Message, ...] = ()
    others_spoke: bool = False
    asked: str = ""
    conversation: tuple[str, ...] = ()
    placed: PlacedMemories | None = None
    ranked: tuple[MemoryLine, ...] = ()

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
        changed = answer is not None and answer.changed
        placed = None if answer is not None and answer.folds else self.placed
        if self.body is None or not (changed or placed or more or also):
            return self.plain
        put = {**self.changed, **(also or {})}
        if answer is not None and self.ask is not None and changed:
            kept: Sequence[bytes] = openai_chat.messages(answer.items, self.ask.messages)
            kept = placed.among(kept) if placed else kept
            put["messages"] = json_body.joined((*kept, *more))
        elif placed or more:
            posted = self.body.fragment("messages") or b"[]"
            posted = placed.within(posted) if placed else posted
            put["messages"] = json_body.extended(posted, more) if more else posted
        return self.body.rewritten(put)


def room_beside(ask: CompressRequest, answer: Answer) -> int:
    """Tokens that the model's window has left beside what an answer sends."""
    limits = TokenLimits.of(
        target=ask.target, hard=ask.hard, window=ask.window, reserve=ask.reserve
    )
    return limits.prompt - ask.tools_tokens - answer.sent_tokens


def read(
    tenant: str,
    content: bytes,
    headers: Mapping[str, str],
    settings: Settings,
    learned: ModelLimits,
    user: ChatUser,
) -> ChatRequest:
    """Read a chat body. `user`: who asks. Raises `BadRequest` for a
    field of ours with a wrong type, if memory is on, and for a chat id that cannot be one.

    A body that is no sound JSON object goes on as it came: the upstream judges it.
    """
    scope = chat_scope.of(tenant, headers)
    try:
        body = json_body.split(content)
    except BadRequest:
        on = memory_switch.by_headers(headers, settings.memory)
        return ChatRequest(content, content, State.INVALID_HISTORY if on else State.OFF)
    suffix = memory_switch.suffix_of(body)
    changed = {"model": msgspec.json.encode(suffix.model)} if suffix.present else {}
    shadowed = fields.shadowed(body, headers, settings)
    on = memory_switch.wanted(body, headers, suffix, settings.memory or shadowed)
    options, rag = memory_options.of(body), rag_options.of(body)
    memories = sources.wanted(tenant, scope, user, options, rag)
    chat = ChatRequest(content, body.rewritten(changed), changed=changed, model=suffix.model)
    if on and shadowed:  # its history is not read now: it must not wait
        ours = {name: headers[name] for name in fields.OWN_HEADERS if name in headers}
        shadow = ShadowRequest(body, suffix, ours)
        chat = dataclasses.replace(chat, state=State.SHADOW, shadow=shadow)
    packed = on and not shadowed
    if not packed and not memories.any:
        return chat
    ask = fields.chat_ask(tenant, body, headers, settings, suffix.days) if packed else None
    try:
        messages = body.messages(settings.max_messages)
        whole = side_requests.is_side(messages, tools=fields.tools_tokens(body) > 0)
    except BadRequest:
        return dataclasses.replace(chat, state=State.INVALID_HISTORY) if packed else chat
    memories = sources.NONE if whole else memories
    groups = _groups(headers, settings, packed=packed and not whole, scope=memories.chat)
    usable = groups and learned.takes_tools(tenant, suffix.model)
    chat = dataclasses.replace(
        chat,
        body=body,
        streams=_streams(body),
        offer=offer.of(body, groups) if usable else None,
        messages=messages,
    )
    if memories.any:
        chat = _with_memories(chat, memories, body, tenant, settings)
    if ask is None:
        return chat
    silent = not chat.streams and settings.json_wait != "spaces"
    ask = dataclasses.replace(
        context_overflow.narrowed(ask, learned.window(tenant, suffix.model)),
        messages=messages,
        whole=whole,
        patience=patience(headers, settings, silent=silent),
        tools_tokens=ask.tools_tokens + (chat.offer.size if chat.offer else 0),
    )
    return dataclasses.replace(chat, state=State.UNDECIDED, ask=ask)


def _with_memories(
    chat: ChatRequest, memories: WantedMemories, body: Body, tenant: str, settings: Settings
) -> ChatRequest:
    """What has to be known of the messages to choose memories for them."""
    volatile = Volatile(settings.volatile_tags)
    named = memories.chat and (memories.chat.owner,)
    return dataclasses.replace(
        chat,
        memories=memories,
        others_spoke=memories.chat is not None and others_spoke(chat.messages, body, chat.model),
        asked=user_query(chat.messages, volatile),
        conversation=named or beginning.keys_of(tenant, chat.messages, volatile),
    )


def _groups(
    headers: Mapping[str, str], settings: Settings, *, packed: bool, scope: Scope | None
) -> tuple[ToolGroup, ...]:
    """The tools that may be offered. Those of chat memory stand first: they are there from the
    beginning, the others once something is folded."""
    recall = packed and memory_switch.recall_tools(headers, settings.recall_tools)
    saving = (CHAT_MEMORY_TOOLS,) if scope is not None else ()
    return (*saving, CONTEXT_TOOLS) if recall else saving


def _streams(body: Body) -> bool:
    try:
        return body.value("stream") is True
    except BadRequest:
        return False  # the upstream's to judge


def unread(posted: bytes, headers: Mapping[str, str], settings: Settings) -> ChatRequest:
    """A body that cannot be decoded: it goes on as it came."""
    on = memory_switch.by_headers(headers, settings.memory)
    return ChatRequest(posted, posted, State.ENCODED_BODY if on else State.OFF)
