"""Read a chat request: from posted bytes, encoded or not, to the request for memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

import msgspec
from starlette.requests import Request

from memtree.config import Settings
from memtree.context.answer_state import State
from memtree.context.turn_request import CompressRequest
from memtree.dialects.tool_definitions import CHAT_CHANGE_TOOLS, CHAT_MEMORY_TOOLS, CONTEXT_TOOLS
from memtree.errors import BadRequest, MemTreeError
from memtree.history import conversation_beginning, json_body
from memtree.history.json_body import Body
from memtree.history.message import Volatile
from memtree.history.side_requests import is_side
from memtree.process.threads import off_loop
from memtree_proxy.chat import chat_memory_sources, chat_request, memory_switch, request_fields
from memtree_proxy.chat.chat_memory_sources import (
    ChatUser,
    WantedMemories,
    others_spoke,
    user_queries,
)
from memtree_proxy.chat.chat_request import ChatRequest
from memtree_proxy.chat.learned_refusals import ModelLimits
from memtree_proxy.dialects.dialect import Dialect
from memtree_proxy.http import log, request_body
from memtree_proxy.http.headers import USER_SWITCH_HEADER
from memtree_proxy.http.known_bodies import KnownBodies
from memtree_proxy.upstream.upstreams import settings_of
from memtree_proxy.wire.request_options import chat_options

DEPLOYMENT = "deployment"  # part of a path that names the model


@dataclass(frozen=True, slots=True)
class PostedRequest:
    """A request as it was posted. `content`: its body, decoded; `user`: its user. `model`: the one
    that its path names, for a body that names none."""

    dialect: Dialect
    tenant: str
    content: bytes
    headers: Mapping[str, str]
    settings: Settings
    user: ChatUser
    model: str | None = None


class RequestReader:
    """`learned`: limits of models; `bodies`: bodies of earlier requests."""

    def __init__(
        self, dialect: Dialect, settings: Settings, learned: ModelLimits, bodies: KnownBodies
    ) -> None:
        self._dialect, self._settings, self._learned = dialect, settings, learned
        self._bodies = bodies

    async def read(
        self, request: Request, tenant: str, posted: bytes, user: ChatUser
    ) -> ChatRequest:
        given = request_body.encoded(request)
        settings = settings_of(request, self._settings)
        model = request.path_params.get(DEPLOYMENT)
        if model and (suffix := memory_switch.strip_suffix(model)).present:
            path = request.scope["path"].replace(model, suffix.model)
            request.scope[request_body.PLAIN_PATH] = quote(path)

        try:
            most = settings.max_body_bytes
            content = await request_body.plain(request, posted, most) if given else posted
            beginning = self._bodies.begin(tenant, self._dialect.history, content)
            whole = PostedRequest(
                self._dialect, tenant, content, request.headers, settings, user, model
            )
            split = partial(self._bodies.split, beginning)
            return await off_loop(beginning.new, lambda: read(whole, self._learned, split))
        except MemTreeError as error:
            if not given or error.param != request_body.ENCODING_HEADER:
                raise
            return unread(self._dialect, posted, request.headers, settings, State.ENCODED_BODY)


def read(
    posted: PostedRequest, learned: ModelLimits, split: Callable[[], Body] | None = None
) -> ChatRequest:
    """Read a body. `split`: finds its fields, if the body need not be read from the beginning.

    Raises `BadRequest` for a field of ours with a wrong type, if memory is on, and for an invalid
    chat id. A body that is not a valid JSON object is relayed unchanged: the upstream judges it.
    """
    dialect, tenant, content = posted.dialect, posted.tenant, posted.content
    headers, settings = posted.headers, posted.settings
    try:
        body = split() if split else json_body.split(content, halves=True)
    except BadRequest:
        return unread(dialect, content, headers, settings, State.INVALID_HISTORY)
    if posted.model is not None:
        body = dataclasses.replace(body, defaults={"model": posted.model})
    suffix = memory_switch.suffix_of(body)
    changed = {"model": msgspec.json.encode(suffix.model)} if suffix.present else {}
    if posted.model is not None and not suffix.present:  # the body names its model, too
        suffix = memory_switch.strip_suffix(posted.model)._replace(model=suffix.model)
    options = chat_options(body)
    said, why = memory_switch.by_headers(headers)
    answers = (said, options.memory, suffix.present or None)
    on = memory_switch.wanted(*answers, default=settings.memory)
    scope = memory_switch.chat_of(tenant, headers)
    switched = options.memory_options
    if USER_SWITCH_HEADER in headers:
        enabled = memory_switch.of_user(headers, switched.enabled)
        switched = msgspec.structs.replace(switched, enabled=enabled)
    memories = chat_memory_sources.wanted(tenant, scope, posted.user, switched, options.rag)
    plain = body.rewritten(changed)
    chat = ChatRequest(dialect, content, plain, changed=changed, model=suffix.model, reason=why)
    if not on and not memories.any:
        return chat
    given = (dialect, tenant, body, headers, settings, suffix, options)
    ask = chat_request.ask_of(*given) if on else None
    return _with_history(chat, posted, body, memories, ask, learned)


def _with_history(
    chat: ChatRequest,
    posted: PostedRequest,
    body: Body,
    memories: WantedMemories,
    ask: CompressRequest | None,
    learned: ModelLimits,
) -> ChatRequest:
    """Read the history of a request, for `memories` or for `ask`, the request to memory."""
    dialect, tenant, packed = posted.dialect, posted.tenant, ask is not None
    headers, settings = posted.headers, posted.settings
    try:
        history = dialect.read(body, tenant, settings.max_messages)
        whole = not history.passes and (
            history.side or is_side(history.messages, tools=history.tools_tokens > 0)
        )
    except BadRequest:
        return dataclasses.replace(chat, state=State.INVALID_HISTORY) if packed else chat
    except Exception as error:  # noqa: BLE001  promise 10: the chat goes on without memory
        log.failure("chat.not_read", error)
        return dataclasses.replace(chat, state=State.INTERNAL) if packed else chat
    if history.passes:
        if not packed:
            return chat
        return dataclasses.replace(chat, state=State.PASSED, reason=history.passes)
    memories = chat_memory_sources.NONE if whole else memories
    # Those of chat memory exist from the beginning, the others only once something is folded.
    saving = (CHAT_MEMORY_TOOLS, CHAT_CHANGE_TOOLS) if memories.chat is not None else ()
    recall = packed and not whole and memory_switch.recall_tools(headers, settings.recall_tools)
    groups = (*saving, CONTEXT_TOOLS) if recall else saving
    usable = groups and learned.takes_tools(tenant, chat.model)
    chat = dataclasses.replace(
        chat,
        body=body,
        streams=_streams(body),
        offer=dialect.offer(body, groups, history.defined) if usable else None,
        history=history,
    )
    if memories.any:
        chat = _with_memories(chat, memories, body, tenant, settings)
    if ask is None:
        return chat
    silent = not chat.streams and settings.json_wait != "spaces"
    ask = dataclasses.replace(
        ask,
        messages=history.messages,
        whole=whole,
        tools_tokens=history.tools_tokens + (chat.offer.size if chat.offer else 0),
        markers=history.markers,
        patience=request_fields.patience(headers, settings, silent=silent),
    )
    return dataclasses.replace(chat, state=State.UNDECIDED, ask=ask)


def _with_memories(
    chat: ChatRequest, memories: WantedMemories, body: Body, tenant: str, settings: Settings
) -> ChatRequest:
    """Read what is needed of the messages to choose memories for them."""
    volatile = Volatile(settings.volatile_tags)
    named = memories.chat and (memories.chat.owner,)
    names = named or conversation_beginning.keys_of(tenant, chat.messages, volatile)
    # Memories shown under one system prompt do not count as shown under another.
    under = conversation_beginning.under(tenant, chat.messages, volatile)
    return dataclasses.replace(
        chat,
        memories=memories,
        others_spoke=memories.chat is not None
        and others_spoke(chat.messages, body, chat.model, volatile),
        queries=user_queries(chat.messages, volatile),
        conversation=tuple(f"{name} {under}" if under else name for name in names),
    )


def _streams(body: Body) -> bool:
    try:
        return body.value("stream") is True
    except BadRequest:
        return False  # left for the upstream to judge


def unread(
    dialect: Dialect, posted: bytes, headers: Mapping[str, str], settings: Settings, state: State
) -> ChatRequest:
    """Return a request whose body cannot be read, which is relayed unchanged. `state`: if memory
    is on."""
    said, why = memory_switch.by_headers(headers)
    on = memory_switch.wanted(said, default=settings.memory)
    return ChatRequest(dialect, posted, posted, state if on else State.OFF, reason=why)
