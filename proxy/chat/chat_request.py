"""A chat body as read: what of it is for us, and what goes to the upstream."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from memtree.config import Settings
from memtree.context.answer import Answer
from memtree.context.request import CompressRequest
from memtree.context.state import State
from memtree.conversation import side_requests
from memtree.errors import BadRequest
from proxy.chat import context_overflow
from proxy.chat.model_limits import ModelLimits
from proxy.dialects import openai_chat
from proxy.http import json_body
from proxy.request import fields, memory_switch
from proxy.request.patience import patience
from proxy.server_tools import offer
from proxy.server_tools.offer import Offer


@dataclass(frozen=True, slots=True)
class ShadowRequest:
    """A request that goes through untouched, as far as it is needed to measure it later: no
    credential is in it. `headers`: those of ours."""

    body: json_body.Body
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
    """

    content: bytes
    plain: bytes
    state: State = State.OFF
    body: json_body.Body | None = None
    ask: CompressRequest | None = None
    changed: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    model: str = ""
    streams: bool = False
    shadow: ShadowRequest | None = None
    offer: Offer | None = None

    def with_messages(
        self,
        answer: Answer,
        more: Sequence[bytes] = (),
        also: Mapping[str, bytes] | None = None,
    ) -> bytes:
        """The body for the upstream with the messages of an answer, with `more` behind them, and
        with other fields (raw JSON)."""
        if self.body is None or self.ask is None or not (answer.changed or more or also):
            return self.plain
        messages = json_body.joined((*openai_chat.messages(answer.items, self.ask.messages), *more))
        return self.body.rewritten({**self.changed, "messages": messages, **(also or {})})


def read(
    tenant: str,
    content: bytes,
    headers: Mapping[str, str],
    settings: Settings,
    learned: ModelLimits,
) -> ChatRequest:
    """Read a chat body. Raises `BadRequest` for a field of ours with a wrong type, if memory is on.

    A body that is no sound JSON object goes on as it came: the upstream judges it.
    """
    try:
        body = json_body.split(content)
    except BadRequest:
        on = memory_switch.by_headers(headers, settings.memory)
        return ChatRequest(content, content, State.INVALID_HISTORY if on else State.OFF)
    suffix = memory_switch.suffix_of(body)
    changed = {"model": msgspec.json.encode(suffix.model)} if suffix.present else {}
    plain = body.rewritten(changed)
    shadowed = fields.shadowed(body, headers, settings)
    if not memory_switch.wanted(body, headers, suffix, settings.memory or shadowed):
        return ChatRequest(content, plain)
    if shadowed:  # nothing else of it is read now: it must not wait
        ours = {name: headers[name] for name in fields.OWN_HEADERS if name in headers}
        return ChatRequest(content, plain, State.SHADOW, shadow=ShadowRequest(body, suffix, ours))
    ask = fields.chat_ask(tenant, body, headers, settings, suffix.days)
    window = learned.window(tenant, suffix.model)
    streams = body.value("stream") is True
    silent = not streams and settings.json_wait != "spaces"
    try:
        messages = body.messages(settings.max_messages)
        whole = side_requests.is_side(messages, tools=bool(ask.tools_tokens))
    except BadRequest:
        return ChatRequest(content, plain, State.INVALID_HISTORY)
    wanted = memory_switch.recall_tools(headers, settings.recall_tools) and not whole
    offered = offer.of(body) if wanted and learned.takes_tools(tenant, suffix.model) else None
    ask = dataclasses.replace(
        context_overflow.narrowed(ask, window),
        messages=messages,
        whole=whole,
        patience=patience(headers, settings, silent=silent),
        tools_tokens=ask.tools_tokens + (offer.size() if offered else 0),
    )
    return ChatRequest(
        content,
        plain,
        State.UNDECIDED,
        body,
        ask,
        changed,
        suffix.model,
        streams,
        offer=offered,
    )


def unread(posted: bytes, headers: Mapping[str, str], settings: Settings) -> ChatRequest:
    """A body that cannot be decoded: it goes on as it came."""
    on = memory_switch.by_headers(headers, settings.memory)
    return ChatRequest(posted, posted, State.ENCODED_BODY if on else State.OFF)
