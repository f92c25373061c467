"""Read a body of `/responses` as a canonical history, and write an answer as its changed fields.

`input` and `instructions` become canonical messages, from these memory and the answer are made, and
the answer becomes an `input` again. It is written as items for the server, and text is inserted
into posted items. A posted item stays the same, byte for byte; inserted text goes in front of its
own. What is sent is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from memtree.context.answer import Answer, AnswerItem, AssistantLine, KeptMessage, MemoryText
from memtree.context.answer_state import Reason
from memtree.dialects import responses_conversation, translated_messages
from memtree.dialects.openai_chat import PlacedMemories
from memtree.dialects.responses_conversation import BeginningChanged, CanonicalMessages
from memtree.dialects.responses_items import (
    INPUT,
    InputItems,
    ItemCache,
    ItemKind,
    KnownInput,
    KnownInputs,
)
from memtree.dialects.translated_messages import (
    Beginning,
    RawItems,
    TranslatedItems,
    TranslatedMessages,
    numbers,
    raw_items,
)
from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.json_body import Body
from memtree.history.message import Message
from memtree.history.message_list import EarlierList
from memtree.history.posted_json import encode, mended
from memtree.text import memory_lines, tokens
from memtree.text.memory_lines import SEAM

_BREAKPOINT = "prompt_cache_breakpoint"
_MARKER = b'"prompt_cache_breakpoint"'
_TAKES_TEXT = re.compile(rb'"|\[\s*[{\]]')  # a string, or a list of parts
_EXPLICIT = {"mode": "explicit"}  # the only cache marker of this API


class PostedItems:
    """Raw items, and the items of each canonical message."""

    def __init__(self, raws: Sequence[bytes], canonical: CanonicalMessages) -> None:
        self._raws = raws
        self._canonical = canonical

    def of(self, answer: Iterable[AnswerItem], texts: Mapping[int, str]) -> list[bytes]:
        """Return the items that an answer sends. Kept messages are sent in the order of their
        items, since a late output's canonical message precedes items posted before it. `texts`: by
        item, the text to insert in front of its own."""
        sent: list[bytes] = []
        kept: dict[int, bytes] = {}
        for item in answer:
            if isinstance(item, KeptMessage):
                for place in self._canonical.items(item.index):
                    kept[place] = self._kept(place, texts.get(place, ""), item)
                continue
            sent += (kept[place] for place in sorted(kept))
            kept = {}
            sent += self._of_ours(item)
        return [*sent, *(kept[place] for place in sorted(kept))]

    def _kept(self, place: int, text: str, item: KeptMessage) -> bytes:
        raw = self._raws[place]
        if item.behind:
            raw = with_text_behind(raw, item.block)
        elif item.block:
            text += item.block
        return with_text_before(raw, text) if text else raw

    def _of_ours(self, item: MemoryText | AssistantLine) -> list[bytes]:
        if isinstance(item, AssistantLine):
            return [msgspec.json.encode({"role": "assistant", "content": item.text})]
        content_behind_text = item.preamble
        text = [_text_part(content_behind_text.text)] if content_behind_text.text else []
        own = _text_part(item.text, _breakpoint(item.cache_marker))
        return [*self._carried(content_behind_text.parts), user_message([*text, own])]

    def _carried(self, parts: Sequence[tuple[int, int]]) -> Iterator[bytes]:
        """Yield the items of a preamble, each with its own fields and the carried content parts.
        Their cache markers are left out, since the memory's marker follows."""
        for message, group in groupby(parts, key=itemgetter(0)):
            (place,) = self._canonical.items(message)
            raw, chosen = self._raws[place], [index for _, index in group]
            fields = json_body.fields_of(raw)
            content = json_body.elements_of(bytes(fields["content"]))
            if len(chosen) == len(content) and _MARKER not in raw:
                yield raw
                continue
            carried = msgspec.json.encode([_unmarked(content[index]) for index in chosen])
            yield json_body.with_value(raw, fields, "content", carried)


def _unmarked(part: bytes) -> msgspec.Raw:
    if _MARKER not in part:
        return msgspec.Raw(part)
    fields = json_body.fields_of(part)
    fields.pop(_BREAKPOINT, None)
    return msgspec.Raw(msgspec.json.encode(fields))


def user_message(content: Sequence[Any]) -> bytes:
    """Return a user message made here, without an id, since only the server assigns ids."""
    return msgspec.json.encode({"type": "message", "role": "user", "content": content})


def memory_message(text: str) -> bytes:
    return user_message([_text_part(text)])


def with_text_before(raw: bytes, text: str) -> bytes:
    """Insert text in front of an item's own; all its other bytes stay. For a message without text
    or parts it is a separate message in front."""
    fields = json_body.fields_of(raw)
    name = "content" if "content" in fields else "output"
    content = bytes(fields.get(name, b""))
    if not _TAKES_TEXT.match(content):
        return memory_message(text) + b"," + raw
    return json_body.with_value(raw, fields, name, content_behind_text(content, text))


def with_text_behind(raw: bytes, text: str) -> bytes:
    """Append text to an output's own; all its other bytes stay. Behind an output without text it is
    a separate message."""
    fields = json_body.fields_of(raw)
    output = bytes(fields.get("output", b""))
    if output.startswith(b'"'):
        return json_body.with_value(
            raw, fields, "output", output[:-1] + msgspec.json.encode(text)[1:]
        )
    if _TAKES_TEXT.match(output):
        comma = b"," if output[1:-1].strip() else b""
        last = comma + msgspec.json.encode(_text_part(text)) + b"]"
        return json_body.with_value(raw, fields, "output", output[:-1] + last)
    return raw + b"," + memory_message(text)


def content_behind_text(content: bytes, text: str) -> bytes:
    """Return the raw JSON of a content with a text before it: a string stays one, a list gains a
    part."""
    if content.startswith(b"["):
        first = msgspec.json.encode(_text_part(text))
        rest = content[1:]
        return b"[" + first + (b"," if rest.strip() != b"]" else b"") + rest
    return msgspec.json.encode(text)[:-1] + content[1:]


def _text_part(text: str, marker: Mapping[str, Any] | None = None) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "input_text", "text": text}
    return part if marker is None else {**part, _BREAKPOINT: marker}


def _breakpoint(marker: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if marker is None:
        return None
    return marker if marker.get("mode") == "explicit" else _EXPLICIT


# With these fields the history is on the server, or the request gets no answer.
_SERVER_STATE = ("previous_response_id", "conversation")
_METADATA = "x-codex-turn-metadata"  # JSON in a string

_NONE = CanonicalMessages()
_NO_RAWS = RawItems(b"")


@dataclass(frozen=True, slots=True)
class ResponsesHistory:
    """`DialectHistory` of the Responses API. `raws`: the posted items. A posted `string` is a
    single item made here."""

    raws: RawItems = _NO_RAWS
    canonical: CanonicalMessages = _NONE
    translated: TranslatedItems = translated_messages.NOTHING
    tools_tokens: int = 0
    markers: int = 0
    passes: str = ""
    side: bool = False
    string: bytes = b""

    @property
    def messages(self) -> Sequence[Message]:
        return self.canonical.messages

    @property
    def defined(self) -> frozenset[str] | None:
        """Names of our tools that its items may define; None if they define no tools."""
        return self.translated.defined.names()

    def fields(
        self,
        answer: Answer | None,
        memories: PlacedMemories | None = None,
        more: Sequence[bytes] = (),
        *,
        no_thinking_before: int = 0,
    ) -> Mapping[str, bytes]:
        """Return the changed `input`; empty if nothing changes. Reasoning always stays: the server
        drops what no longer fits, and requires the reasoning of a call.

        >>> history = read(json_body.split(b'{"input": "hi"}'), "t", ItemCache(1))
        >>> history.fields(None, None, [b'{"type":"reasoning"}'])["input"]
        b'[{"role":"user","content":"hi"},{"type":"reasoning"}]'
        """
        if self.passes:
            return {}
        text = ""
        if memories is not None and (answer is None or not answer.folds):
            # For the user message, whatever the placement setting: a changed system prompt would
            # lose the reasoning.
            text = memory_lines.block(memories.lines) + SEAM
        if answer is not None and answer.changed:
            place = self.translated.newest_user() if text else None
            texts = {} if place is None else {place: text}
            sent = PostedItems(self.raws, self.canonical).of(answer.items, texts)
            ours = [memory_message(text)] if text and place is None else []
            return {INPUT: json_body.joined((*ours, *sent, *more))}
        if not text and not more:
            return {}
        return {INPUT: self._with(text, more)}

    def _with(self, text: str, more: Sequence[bytes]) -> bytes:
        """Return the posted items with a text in one of them, and more items behind them."""
        if self.string and not more:
            return content_behind_text(self.string, text)
        if self.string:
            (raw,) = self.raws
            return json_body.joined((with_text_before(raw, text) if text else raw, *more))
        array = self._with_text(text) if text else self.raws.array()
        return json_body.extended(array, more) if more else array

    def _with_text(self, text: str) -> bytes:
        """Return the posted array with a text in its newest user message; its other bytes stay."""
        place = self.translated.newest_user()
        if place is None:
            array = self.raws.array()
            return array[:1] + memory_message(text) + b"," + array[1:]
        return self.raws.with_item(place, with_text_before(self.raws[place], text))

    def unbound(self, items: Sequence[bytes]) -> list[bytes]:
        """Return the items unchanged: the server itself drops reasoning that does not fit."""
        return list(items)


def read(
    body: Body,
    tenant: str,
    cache: ItemCache,
    most: int | None = None,
    known: KnownInputs | None = None,
) -> ResponsesHistory:
    """Read a posted history. `known`: earlier requests, whose beginnings are not translated again.
    Raises `BadRequest` with the field."""
    return read_items(body, lambda: _raws(body, most), tenant, cache, known)


def read_items(
    body: Body,
    raws: Callable[[], RawItems],
    tenant: str,
    cache: ItemCache,
    known: KnownInputs | None = None,
) -> ResponsesHistory:
    """Read like `read`; `raws` finds the items of the body."""
    passing = ResponsesHistory(passes=Reason.SERVER_STATE)
    if any(body.value(name) is not None for name in _SERVER_STATE):
        return passing
    kind = _request_kind(body)
    options = body.value("prompt_cache_options")
    options = options if isinstance(options, dict) else {}
    if kind == "prewarm" or options.get("prewarm") is True:
        return passing
    items = InputItems(raws(), tenant, cache)
    made = _translated(_Reading(body, items, known))
    if made is None:
        return passing
    canonical, translated = made
    return ResponsesHistory(
        items.raws,
        canonical,
        translated,
        tools_tokens=_tools_tokens(body) + translated.defined.size,
        markers=int(options.get("mode") == "explicit"),
        side=kind == "compaction",
        string=_string(body),
    )


class _Reading(NamedTuple):
    """State of reading a request, with the known translations of earlier requests."""

    body: Body
    items: InputItems
    known: KnownInputs | None


_Translated = tuple[CanonicalMessages, TranslatedItems]


def _translated(reading: _Reading) -> _Translated | None:
    """Translate a request; None if an item refers to state that only the server has."""
    items, known = reading.items, reading.known
    earlier = items.raws.earlier
    before = known.get(items.tenant, earlier.number) if known and earlier else None
    if before is not None and earlier is not None:
        if earlier.length == len(items.raws) == len(before.translated.order):
            return _listed(before.translated, [], reading, before, len(before.translated.marks))
        beginning = before.translated.beginning(earlier.length)
        if beginning.items:
            try:
                return _behind(beginning, reading, before)
            except BeginningChanged:
                pass
    return _behind(Beginning(), reading)


def _behind(
    beginning: Beginning, reading: _Reading, before: KnownInput | None = None
) -> _Translated | None:
    """Read the items behind `beginning`, which is that of `before`."""
    items, start = reading.items, beginning.items
    new = {index: items[index] for index in range(start, len(items.raws))}
    if any(item.kind is ItemKind.SERVER_STATE for item in new.values()):
        return None
    _instructions(reading.body)
    translated, made = responses_conversation.read_on(items.raws, items, beginning)
    sizes = {index: item.tools_tokens for index, item in new.items() if item.tools_tokens}
    defined = translated_messages.defined(items.raws, beginning.known.defined, start, sizes)
    translated = replace(translated, defined=defined)
    return _listed(translated, made, reading, before, beginning.messages)


def _listed(
    translated: TranslatedItems,
    made: list[Message],
    reading: _Reading,
    before: KnownInput | None,
    common: int,
) -> _Translated:
    """Return the messages as a list, and the translation from which the next request may continue.
    `made`: the messages at the end that were made to find their places. `common`: messages shared
    with `before`, without those of no item."""
    body, items, known = reading
    leading = responses_conversation.instructing(_instructions(body))
    keys = tuple(items.key(message.raw) for message in leading)
    alike = before is not None and before.leading == keys
    messages = TranslatedMessages(
        leading,
        len(translated.marks),
        lambda index: responses_conversation.message(translated, items.raws, items, index),
        size=translated.sizes[-1],
        loading=translated.loading,
        earlier=EarlierList(before.listed, len(leading) + common) if before and alike else None,
        number=before.listed if before and alike and before.translated is translated else None,
        made=dict(enumerate(made, common)),
    )
    if known and not _string(body):
        grew = items.raws.earlier.number if before and items.raws.earlier else None
        known.put(
            items.tenant, items.raws.number, KnownInput(translated, messages.number, keys), grew
        )
    return responses_conversation.behind(leading, messages, translated), translated


def _raws(body: Body, most: int | None) -> RawItems:
    """Return the posted items. A string is a single user message."""
    if posted := _string(body):
        raw = b'{"role":"user","content":' + posted + b"}"
        return RawItems(raw, numbers(0), numbers(len(raw)), 0, len(raw))
    raws = raw_items(body, INPUT)
    if raws is None:
        raise BadRequest(f"{INPUT} must be a string or a non-empty array", param=INPUT)
    if most is not None and len(raws) > most:
        raise BadRequest(f"{INPUT} must be at most {most} items", param=INPUT)
    return raws


def _string(body: Body) -> bytes:
    """Return the posted string; b"" if the input is no string."""
    span = body.spans.get(INPUT)
    if span is None or body.raw[span.start : span.start + 1] != b'"':
        return b""
    return body.raw[span.start : span.end]


def _instructions(body: Body) -> bytes | None:
    """Return the instructions as a raw JSON string; those of another form as their JSON text."""
    value, raw = body.value("instructions"), body.fragment("instructions") or b""
    if value is None or value == "":
        return None
    return raw if isinstance(value, str) else encode(mended(raw).decode())


def _request_kind(body: Body) -> str:
    """Return the kind that Codex gives its request: a turn, a compaction, a prewarm; "" from
    others."""
    metadata = body.value("client_metadata")
    turn_metadata: Any = metadata.get(_METADATA) if isinstance(metadata, dict) else None
    if isinstance(turn_metadata, str):
        try:
            turn_metadata = msgspec.json.decode(turn_metadata)
        except (msgspec.DecodeError, RecursionError):
            return ""
    kind = turn_metadata.get("request_kind") if isinstance(turn_metadata, dict) else None
    return kind if isinstance(kind, str) else ""


def _tools_tokens(body: Body) -> int:
    """Count the tokens of the window that the serialized tools and the answer format take."""
    text = body.value("text")
    form = text.get("format") if isinstance(text, dict) else None
    fragments = [body.fragment("tools"), msgspec.json.encode(form) if form else None]
    return sum(_count(part) for part in fragments if part and part not in (b"null", b"[]"))


@lru_cache(maxsize=64)
def _count(fragment: bytes) -> int:
    """Count a fragment's tokens, cached: a client sends the same tools with every request."""
    return tokens.count(fragment.decode())
