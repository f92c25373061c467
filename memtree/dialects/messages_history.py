"""Read a posted history of the Messages API as canonical messages, and write an answer back.

`system` and `messages` become canonical messages, each with its posted message. System messages
directly behind the user's first message, and those that load tools or change the output, stay
system messages in the canonical form: they are never hashed or folded. Later system messages with
text are notes of the harness (the state of a list, the tokens left): they become messages of the
user's role that are never separated from the message before.

A history with a compaction block begins with the provider's summary: nothing may stand before it,
so it passes unchanged, as do threads. A request for no answer (`max_tokens: 0`), or for one token
on a single message, is a client's probe: a side request, like a compaction.

An answer is written like this:

    user       [the client's own context, memory text, the first kept message if it is the user's]
    ...        system messages that are always sent, rounds that load tools: in their order, the
               first before any message of the assistant
    ...        what is kept, byte for byte as it was posted

Writing never makes two user messages adjacent, and never splits a posted message: a message is sent
if any part of it is kept. Thinking from before a fold, or from before the words that memories now
stand with, is bound to the prompt sent then, so it is removed; the words behind it stay. What is
sent is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from memtree.context.answer import Answer, AnswerItem, KeptMessage, MemoryText
from memtree.context.answer_state import Reason
from memtree.dialects import messages_blocks, messages_request
from memtree.dialects.fragment_caches import tools_tokens
from memtree.dialects.messages_blocks import without_thinking
from memtree.dialects.messages_request import (
    CLOSED,
    THINKING,
    USER,
    Cache,
    KnownBeginning,
    KnownRequests,
    PostedMessages,
    PostedRequest,
)
from memtree.dialects.openai_chat import PlacedMemories
from memtree.dialects.translated_messages import RawItems, TranslatedMessages, raw_items
from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.cache_control import MOST
from memtree.history.conversation_beginning import Preamble
from memtree.history.json_body import Body
from memtree.history.message import Message
from memtree.history.message_shape import shaped_content
from memtree.history.posted_json import decode_any
from memtree.text import memory_lines
from memtree.text.memory_lines import SEAM

_BILLING = "x-anthropic-billing-header"
_PROBE_TOKENS = (0, 1)


@dataclass(frozen=True, slots=True)
class MessagesHistory:
    """`DialectHistory` of the Messages API. `request`: the posted request, with the places of its
    messages."""

    messages: TranslatedMessages
    request: PostedRequest
    tools_tokens: int
    markers: int
    passes: str = ""
    side: bool = False
    defined: None = None

    def fields(
        self,
        answer: Answer | None,
        memories: PlacedMemories | None = None,
        more: Sequence[bytes] = (),
        *,
        no_thinking_before: int = 0,
    ) -> Mapping[str, bytes]:
        return changed_fields(
            self.request, answer, memories, more, no_thinking_before=no_thinking_before
        )

    def unbound(self, items: Sequence[bytes]) -> list[bytes]:
        """Remove the thinking of items, except for models that require it at the beginning of a
        turn: these do not check the prompt that led to it."""
        if self.request.enabled:
            return list(items)
        return [without_thinking(item) for item in items]


def read(
    body: Body,
    tenant: str,
    cache: Cache,
    most: int | None = None,
    known: KnownRequests | None = None,
) -> MessagesHistory:
    """Read a posted history. `known`: earlier requests, whose beginnings are not translated again.
    Raises `BadRequest` with the place in the body."""
    return read_items(body, _raws(body, most), tenant, cache, known)


def read_items(
    body: Body, raws: RawItems, tenant: str, cache: Cache, known: KnownRequests | None = None
) -> MessagesHistory:
    """Like `read`, for a body that is already split into raw messages."""
    thread = _given(body, "thread")  # the messages it answers may not be here
    beginning = known.beginning(tenant, raws) if known and not thread else KnownBeginning()
    posted = PostedMessages(raws, tenant, cache)
    new = [posted[place] for place in range(beginning.length, len(raws))]
    system = _system(body)
    tools = body.fragment("tools") or b""
    thinking = body.value("thinking")
    translated = messages_request.extended(
        beginning.known.translated, beginning.length, raws, posted
    )
    request = PostedRequest(
        posted=posted,
        translated=translated,
        system=system,
        enabled=isinstance(thinking, dict) and thinking.get("type") == "enabled",
        before=(tools, body.fragment("system") or b""),
        top=body.value("cache_control"),
    )
    passes = thread or any(message.compacted for message in new)
    messages = request.messages(beginning)
    if known and not passes:
        known.put(tenant, raws.number, request.known(messages), beginning.number)
    return MessagesHistory(
        messages=messages,
        request=request,
        tools_tokens=tools_tokens(body),
        markers=tools.count(b'"cache_control"') + _given(body, "cache_control"),
        passes=Reason.SERVER_STATE if passes else Reason.NONE,
        side=_asks_for_itself(body, raws),
    )


def _raws(body: Body, most: int | None) -> RawItems:
    raws = raw_items(body, "messages")
    if raws is None:
        raise BadRequest("messages must be a non-empty array", param="messages")
    if most is not None and len(raws) > most:
        raise BadRequest(f"messages must be at most {most}", param="messages")
    return raws


def _given(body: Body, name: str) -> bool:
    return body.fragment(name) not in (None, b"null", b"false")


def _asks_for_itself(body: Body, raws: Sequence[bytes]) -> bool:
    most = body.value("max_tokens")
    probe = not isinstance(most, bool) and most in _PROBE_TOKENS
    return _given(body, "compaction") or (probe and (most == 0 or len(raws) == 1))


def _system(body: Body) -> tuple[Message, ...]:
    """Return the canonical system message, if any. Each block is a line of its own; the billing
    block is no part of the prompt."""
    given = body.value("system")
    if given is not None:
        given = shaped_content(given, body.fragment("system") or b"null")
    if given is None or isinstance(given, str):
        return (Message.of({"role": "system", "content": given}),) if given else ()
    parts = []
    for block in given:
        text = block.get("text")
        if not isinstance(text, str):
            parts.append(block)
        elif not text.startswith(_BILLING):
            parts.append({**block, "text": text + "\n"})
    return (Message.of({"role": "system", "content": parts}),) if parts else ()


_HOUR = "1h"


def fitted(
    marker: Mapping[str, Any] | None, before: Iterable[bytes], behind: Iterable[bytes], top: Any
) -> Mapping[str, Any] | None:
    """Return the memory text's cache marker, adapted to the messages sent before and behind it (raw
    JSON); None if no marker is allowed.

    This API takes at most four cache markers in a request, including a `cache_control` beside the
    messages (`top`, which marks their end), and no one-hour marker behind a five-minute marker. The
    core chooses the client's marker that ends the memory message; here it is adapted to the markers
    that are really sent, or left out.
    """
    if marker is None:
        return None
    hours_before = [hour for raw in before for hour in _hours(raw)]
    hours_behind = [hour for raw in behind for hour in _hours(raw)]
    if isinstance(top, dict):
        hours_behind.append(top.get("ttl") == _HOUR)
    if len(hours_before) + len(hours_behind) >= MOST:
        return None
    short, long = not all(hours_before), any(hours_behind)
    if short and long:
        return None
    if short and marker.get("ttl") == _HOUR:
        return {name: value for name, value in marker.items() if name != "ttl"}
    return {**marker, "ttl": _HOUR} if long else marker


def _hours(raw: bytes) -> Iterator[bool]:
    """Yield for each marker True if it asks for the one-hour cache."""
    if b'"cache_control"' not in raw:
        return
    value = decode_any(raw)
    waiting = value if isinstance(value, list) else [value]
    while waiting:
        item = waiting.pop()
        if not isinstance(item, dict):
            continue
        if isinstance(marker := item.get("cache_control"), dict):
            yield marker.get("ttl") == _HOUR
        if isinstance(content := item.get("content"), list):
            waiting += content


def changed_fields(
    request: PostedRequest,
    answer: Answer | None,
    memories: PlacedMemories | None,
    more: Sequence[bytes],
    *,
    no_thinking_before: int = 0,
) -> Mapping[str, bytes]:
    """Return the field `messages` if it changes."""
    folded = answer if answer is not None and answer.changed else None
    limit = no_thinking_before
    if memories is not None and not request.enabled:
        limit = max(limit, _thought_elsewhere(request))
    if folded is None and not limit:
        return _in_place(request, memories, more)
    if folded is not None and not request.enabled:
        limit = max(limit, folded.begun)
    begun = folded.begun if folded is not None else 0
    outgoing = _Outgoing(request, limit, begun, memories, folds=folded is not None)
    whole = range(len(request) if folded is None else 0)
    sent = outgoing.of([*map(KeptMessage, whole)] if folded is None else folded.items)
    return {"messages": json_body.joined((*(message.raw for message in sent), *more))}


# ---------------------------------------------------------------- nothing is folded


def _in_place(
    request: PostedRequest, memories: PlacedMemories | None, more: Sequence[bytes]
) -> Mapping[str, bytes]:
    """Return the posted array with memories in one of its messages, and `more` behind it."""
    place = request.translated.newest_words() if memories is not None else None
    array = b""
    if memories is not None and place is not None:
        raw = messages_blocks.with_blocks(request.raws[place], [_memory_block(memories)])
        array = request.raws.with_item(place, raw)
    if more:
        array = json_body.extended(array or request.raws.array(), more)
    return {"messages": array} if array else {}


def _memory_block(memories: PlacedMemories) -> bytes:
    return messages_blocks.text_block(memory_lines.block(memories.lines) + SEAM)


def _thought_elsewhere(request: PostedRequest) -> int:
    """Return the canonical message before which thinking is bound to a prompt that is no longer
    sent, since memories stood before other words then. 0 without such thinking, or without memories
    to place."""
    newest = request.translated.newest_words()
    if newest is None or THINKING.first(request.translated.marks, newest) < 0:
        return 0
    return request.first_of(newest)


# ---------------------------------------------------------------- messages that change


class _Sent(NamedTuple):
    """Message that is sent: the posted messages [first, end), none for one made here."""

    role: str
    raw: bytes
    first: int = -1
    end: int = -1


@dataclass(slots=True)
class _Outgoing:
    """Messages of an answer that is being built. `limit`: a canonical message before which no
    thinking is sent. `begun`: the number of messages at the time of the fold."""

    request: PostedRequest
    limit: int
    begun: int
    memories: PlacedMemories | None
    folds: bool
    sent: list[_Sent] = field(default_factory=list)

    def of(self, items: Sequence[AnswerItem]) -> list[_Sent]:
        blocks = self._blocks(items)
        behind = {
            self.request.place(item.index): item.block
            for item in items
            if isinstance(item, KeptMessage) and item.behind
        }
        places: set[int] = set()
        for item in items:
            if isinstance(item, KeptMessage):
                self._keep(item.index, places, blocks, behind)
        self.sent.sort(key=lambda sent: sent.first)  # a system message may be out of order
        if self.folds and self.request.enabled:
            self._begin_with_thinking()
        memory = next((item for item in items if isinstance(item, MemoryText)), None)
        if memory is not None:
            self.sent.insert(0, self._memory(memory))
        elif self.folds and not _begins_with_user(self.sent):
            self.sent.insert(0, _Sent("user", messages_blocks.user_message([_NOT_SHOWN])))
        return _arranged(self.sent)

    def _blocks(self, items: Sequence[AnswerItem]) -> dict[int, list[bytes]]:
        """Return the blocks to insert into posted user messages; nothing is inserted into system
        messages."""
        blocks: dict[int, list[bytes]] = {}
        translated = self.request.translated
        for item in items:
            if isinstance(item, KeptMessage) and item.block and not item.behind:
                place = self.request.place(item.index)
                if place >= 0 and translated.marks[place] & (USER | CLOSED) == USER:
                    blocks.setdefault(place, []).append(messages_blocks.text_block(item.block))
        if self.memories is not None and (newest := translated.newest_words()) is not None:
            blocks.setdefault(newest, []).append(_memory_block(self.memories))
        return blocks

    def _keep(
        self,
        canonical: int,
        places: set[int],
        blocks: Mapping[int, list[bytes]],
        behind: Mapping[int, str],
    ) -> None:
        """Send the posted message of a canonical one, once. `behind`: texts that stand in the last
        result of a message, by its place."""
        place = self.request.place(canonical)
        if place < 0 or place in places:
            return
        places.add(place)
        message, raw = self.request.posted[place], self.request.raws[place]
        if message.thinking and canonical < self.limit:
            raw = messages_blocks.without_blocks(raw, message.thinking)
        if place in blocks:
            raw = messages_blocks.with_blocks(raw, blocks[place])
        if place in behind:
            raw = messages_blocks.with_text_in_result(raw, behind[place])
        if raw:
            self.sent.append(_Sent(message.role, raw, place, place + 1))

    def _begin_with_thinking(self) -> None:
        """Make a turn behind the memory message begin with thinking, judged by the beginning of its
        epoch, so that the prompt stays the same throughout. Rounds in front that only load tools
        are dropped, unless they begin with thinking themselves."""
        posted = self.request.posted
        kept = _kept_from(self.sent)
        talk = [message for message in self.sent if message.role != "system"]
        front = [message for message in talk if message.first < kept]
        known = len(self.request.raws)
        if self.begun < len(self.request):
            known = self.request.place(self.begun)
        words = [message for message in talk[len(front) + 1 :] if message.first < known]
        if any(message.role == "user" and not posted[message.first].results for message in words):
            return
        gone = set[int]()
        for message in front:
            if posted[message.first].begins_with_thinking:
                break
            gone.add(message.first)
        self.sent = [message for message in self.sent if message.first not in gone]

    def _memory(self, memory: MemoryText) -> _Sent:
        """Return the memory message: the client's own context, then the memory text."""
        behind = [message.raw for message in self.sent]
        marker = fitted(memory.cache_marker, self.request.before, behind, self.request.top)
        text = messages_blocks.text_block(memory.text, marker)
        return _Sent("user", messages_blocks.user_message([*self._context(memory.preamble), text]))

    def _context(self, preamble: Preamble) -> list[bytes]:
        """Return the client's own context, block by block, without its cache"""
        context_blocks = [messages_blocks.text_block(preamble.text)] if preamble.text else []
        posted: dict[int, list[bytes]] = {}
        for canonical, at in preamble.parts:
            part = self.request.part(canonical)
            if part.place not in posted:
                posted[part.place] = messages_blocks.blocks_of(self.request.raws[part.place])
            block = part.blocks[at] if at < len(part.blocks) else at
            if block < len(posted[part.place]):
                context_blocks.append(messages_blocks.without_marker(posted[part.place][block]))
        return context_blocks


_NOT_SHOWN = messages_blocks.text_block("[Earlier messages of this conversation are not shown.]")


def _kept_from(sent: Sequence[_Sent]) -> int:
    """Return the first posted message from which all are sent, without a gap, up to the end."""
    at = len(sent) - 1
    while at > 0 and _neighbours(sent[at - 1], sent[at]):
        at -= 1
    return sent[at].first if sent else 0


def _begins_with_user(sent: Sequence[_Sent]) -> bool:
    return next((message.role for message in sent if message.role != "system"), "") == "user"


def _arranged(sent: Sequence[_Sent]) -> list[_Sent]:
    """Arrange messages in an order that the API takes: runs between two assistant messages are
    rearranged if they differ from the posted ones."""
    made: list[_Sent] = []
    run: list[_Sent] = []
    for message in sent:
        if message.role == "assistant":
            made += (*_run(run), message)
            run = []
        else:
            run.append(message)
    return [*made, *_run(run)]


def _run(run: Sequence[_Sent]) -> list[_Sent]:
    """Return the user's messages, then those of other roles; the user's that were not posted as
    neighbours are merged."""
    if all(_neighbours(*pair) for pair in pairwise(run)):
        return list(run)
    groups: list[list[_Sent]] = []
    for message in run:
        if message.role != "user":
            continue
        if groups and not _neighbours(groups[-1][-1], message):
            groups[-1].append(message)
        else:
            groups.append([message])
    return [*map(_one_of, groups), *(message for message in run if message.role != "user")]


def _one_of(users: Sequence[_Sent]) -> _Sent:
    if len(users) == 1:
        return users[0]
    raw = messages_blocks.merged([message.raw for message in users])
    return _Sent("user", raw, users[0].first, users[-1].end)


def _neighbours(message: _Sent, other: _Sent) -> bool:
    """Return True if `other` was posted directly behind `message`."""
    return message.end == other.first >= 0
