"""Translate a posted message of the Messages API into canonical ones, and edit its raw blocks.

Canonical messages are OpenAI's chat messages, which the core reads.

    user       [tool_result..., text...]   a `tool` message for each result, then the user's
    assistant  text, tool_use              one message with its calls
               server_tool_use + result    a call, and a `tool` message behind the assistant's
               thinking                    `reasoning_content`: counted, never hashed or indexed
    system     text                        the user's, as the harness says what the user does

So the words of a web page or another server are indexed as a tool's result, can be quoted from
their posted place, and are never taken for the assistant's words. Results of web search, web fetch,
code execution, MCP servers and the like stand in the assistant's message, each in its own form:
their readable strings are kept as posted. Encrypted fields, ids and dates cannot be searched or
quoted, so they are left out. Blocks of unknown types stay whole: they are counted and hashed, and a
placeholder stands for them in the text. `fallback` blocks are left out. No other message is read.

Blocks are inserted and removed in raw messages; all other bytes stay as they were posted. A string
content always becomes a list when a block is added: clients post the same message sometimes as a
string, sometimes as a list, and both have to give the same prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.message_shape import UNKNOWN, is_part, shaped_content, shaped_role
from memtree.history.posted_json import canonical, decode, decode_any, encode, json_text, mended

_SAID = frozenset(
    {"title", "url", "text", "content", "stdout", "stderr", "lines", "source", "error_code"}
)
_ENCRYPTED = "encrypted_"
_REFERENCE = "tool_reference"


def readable_texts(result: dict[str, Any]) -> list[str]:
    """Return the titles, addresses and texts of a result block, in order."""
    lines: list[str] = []
    waiting: list[Any] = [result.get("content")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if value:
                lines.append(value)
        elif isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, dict):
            plain = value.get("type") == "text"  # the source of a document, with its text as data
            said = [v for k, v in value.items() if k in _SAID or (k == "data" and plain)]
            waiting += reversed(said)
    return lines


def encrypted_strings(result: dict[str, Any]) -> list[str]:
    """Return the strings that only the provider can read, since they cost tokens too."""
    return [
        value
        for part in _objects(result)
        for name, value in part.items()
        if name.startswith(_ENCRYPTED) and isinstance(value, str)
    ]


def loaded_tools(result: dict[str, Any]) -> frozenset[str]:
    """Return the names of the tools that a result loads for the model."""
    names = (part.get("tool_name") for part in _objects(result) if part.get("type") == _REFERENCE)
    return frozenset(name for name in names if isinstance(name, str))


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of a JSON value, including the value itself."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item


OTHER = "other"
_ROLES = frozenset({"user", "assistant", "system"})
THINKING = frozenset({"thinking", "redacted_thinking"})
THINKING_KINDS = THINKING
_RESULT = "tool_result"
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_LEFT_OUT = THINKING | {"fallback"}
_SEAM = {"type": "text", "text": "\n"}
Block = dict[str, Any]


class CanonicalMessage(NamedTuple):
    """Canonical message. `raw`: b"" if it equals the posted message. `blocks`: for each content
    part, the index of its posted block; empty if the indexes are equal. `joined`, `loads`: as in
    the core's `Message`."""

    raw: bytes = b""
    blocks: tuple[int, ...] = ()
    joined: bool = False
    loads: frozenset[str] = frozenset()


class PostedMessage(NamedTuple):
    """Posted message as read. `role`: `OTHER` for any but the API's own. `results`: number of
    result blocks. `thinking`: indexes of thinking blocks. `waits`: it holds a call of a provider's
    tool without the result. `carries`: a system message that holds more than text.
    `compacted`: it replaces everything before it."""

    role: str
    messages: tuple[CanonicalMessage, ...]
    results: int = 0
    thinking: tuple[int, ...] = ()
    waits: bool = False
    carries: bool = False
    compacted: bool = False

    @property
    def begins_with_thinking(self) -> bool:
        return self.thinking[:1] == (0,)

    @property
    def size(self) -> int:
        """Number of bytes of its canonical messages."""
        return sum(len(message.raw) for message in self.messages)


def carried(message: PostedMessage, spoken: int) -> bool:
    """Return True if a system message stays one in the canonical form: at most one message of
    another role (`spoken`) precedes it, or it holds more than text."""
    return message.role == "system" and (spoken <= 1 or message.carries)


def read(raw: bytes, place: str) -> PostedMessage:
    """Read a posted message. Raises `BadRequest` with the place, as in `messages[3]`, for broken
    JSON."""
    try:
        return _read(raw, decode_any(raw))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"{place} is not valid JSON", param=place) from error


def _read(raw: bytes, fields: Any) -> PostedMessage:
    role = shaped_role(fields.get("role")) if isinstance(fields, dict) else OTHER
    if role not in _ROLES:
        return PostedMessage(OTHER, (CanonicalMessage(),))
    given = fields.get("content")
    blocks = shaped_blocks(given, lambda: bytes(decode(raw, _Content).content))
    if role == "assistant":
        return _Assistant(blocks, _RawBlocks(raw)).read()
    if role == "system":
        return _system(fields, blocks)
    content = given if isinstance(given, str | None) else blocks
    return _user({**fields, "content": content}, blocks, _RawBlocks(raw))


def shaped_blocks(content: Any, raw: Callable[[], bytes]) -> list[Block]:
    """Return the blocks of a content: a text block for a string, none for no content. `raw`: finds
    its JSON, if it is not of the documented shape."""
    if isinstance(content, list) and all(map(is_part, content)):
        return content
    if content is not None and not isinstance(content, str):
        content = shaped_content(content, raw())
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


def _holds_compaction(blocks: Sequence[Block]) -> bool:
    return any(block["type"] == "compaction" for block in blocks)


def _id(block: Block, name: str) -> str:
    value = block.get(name)
    return value if isinstance(value, str) else "" if value is None else json_text(value)


class _RawBlock(msgspec.Struct):
    input: msgspec.Raw = msgspec.Raw(b"")
    content: msgspec.Raw = msgspec.Raw(b"null")


class _Content(msgspec.Struct):
    content: msgspec.Raw = msgspec.Raw(b"[]")


class _RawBlocks:
    """The raw fields of each block, found when they are needed."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._blocks: Sequence[_RawBlock] | None = None

    def __getitem__(self, index: int) -> _RawBlock:
        if self._blocks is None:
            content = bytes(decode(self._raw, _Content).content)  # the last `content`, as parsed
            listed = json_body.elements_of(content) if content.startswith(b"[") else (content,)
            self._blocks = [
                decode(block, _RawBlock) if block.startswith(b"{") else _RawBlock()
                for block in listed
            ]
        return self._blocks[index]


# ---------------------------------------------------------------- user, system


def _user(fields: dict[str, Any], blocks: list[Block], raws: _RawBlocks) -> PostedMessage:
    """Read a user message, results first: they answer the message before, wherever they stand."""
    made: list[CanonicalMessage] = []
    rest: list[int] = []
    for index, block in enumerate(blocks):
        if block["type"] == _RESULT:
            made.append(_tool_message(block, _result_content(block, index, raws)))
        else:
            rest.append(index)
    results = len(made)
    if rest or not blocks:
        made.append(_said(fields, blocks, rest)._replace(joined=bool(results)))
    return PostedMessage("user", tuple(made), results=results, compacted=_holds_compaction(blocks))


def _said(fields: dict[str, Any], blocks: list[Block], rest: Sequence[int]) -> CanonicalMessage:
    if len(rest) == len(blocks) and fields.keys() == {"role", "content"}:
        return CanonicalMessage()
    if len(rest) == len(blocks):
        return CanonicalMessage(encode({"role": "user", "content": fields.get("content")}))
    kept = [blocks[index] for index in rest]
    return CanonicalMessage(encode({"role": "user", "content": kept}), tuple(rest))


def _tool_message(block: Block, content: Any, **more: Any) -> CanonicalMessage:
    id_ = _id(block, "tool_use_id")
    message = {"role": "tool", "tool_call_id": id_, "content": content, **more}
    if block.get("cache_control"):
        message["cache_control"] = block["cache_control"]
    return CanonicalMessage(encode(message), loads=loaded_tools(block))


def _result_content(block: Block, index: int, raws: _RawBlocks) -> Any:
    """Return the content of a result; for search results, their texts."""
    content = block.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    parts = shaped_blocks(content, lambda: bytes(raws[index].content))
    return [piece for part in parts for piece in _result_parts(part)]


def _result_parts(part: Block) -> list[Block]:
    if part["type"] != "search_result":
        return [part]
    named = [part.get(name) for name in ("title", "source")]
    said = [text for text in named if isinstance(text, str) and text]
    return _lines([*said, *readable_texts(part)])


def _lines(texts: Sequence[str]) -> list[Block]:
    """Return a text part for each posted string, each on lines of its own."""
    return [part for text in texts for part in ({"type": "text", "text": text}, _SEAM)][:-1]


def _system(fields: dict[str, Any], blocks: list[Block]) -> PostedMessage:
    """Read a system message: its text as the user's, or itself as canonical system message."""
    text = [block for block in blocks if block["type"] == "text"]
    carries = len(text) < len(blocks) or fields.get("output_config") is not None
    content = fields["content"] if isinstance(fields.get("content"), str) else text
    made = CanonicalMessage(encode({"role": "user", "content": content}), joined=True)
    return PostedMessage("system", (made,), carries=carries)


# ---------------------------------------------------------------- assistant


@dataclass(slots=True)
class _Assistant:
    """Assistant message that is read block by block. `loose`: it holds the result of a call in an
    earlier message."""

    blocks: list[Block]
    raws: _RawBlocks
    parts: list[Block] = field(default_factory=list)
    indexes: list[int] = field(default_factory=list)
    calls: list[Block] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    results: list[CanonicalMessage] = field(default_factory=list)
    provider: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)
    loose: bool = False

    def read(self) -> PostedMessage:
        for index, block in enumerate(self.blocks):
            self._take(index, block)
        message: Block = {"role": "assistant", "content": self.parts or None}
        if self.calls:
            message["tool_calls"] = self.calls
        if self.thoughts:
            message["reasoning_content"] = self.thoughts
        indexes = () if len(self.parts) == len(self.blocks) else tuple(self.indexes)
        kinds = [block["type"] for block in self.blocks]
        return PostedMessage(
            "assistant",
            (CanonicalMessage(encode(message), indexes, self.loose), *self.results),
            thinking=tuple(index for index, kind in enumerate(kinds) if kind in THINKING),
            waits=not self.provider <= self.answered,
            compacted=_holds_compaction(self.blocks),
        )

    def _take(self, index: int, block: Block) -> None:
        kind = block["type"]
        if kind in THINKING:
            # A signature alone, or encrypted thinking, counts by its length.
            values = (block.get(name) for name in ("thinking", "data", "signature"))
            texts = (text for text in values if isinstance(text, str) and text)
            self.thoughts.append(next(texts, ""))
        elif kind in _CALLS:
            self._call(block, bytes(self.raws[index].input))
        elif kind.endswith(_RESULT):
            self._result(block)
        elif kind not in _LEFT_OUT:
            self.parts.append(block)
            self.indexes.append(index)

    def _call(self, block: Block, given: bytes) -> None:
        id_, name = _id(block, "id"), _id(block, "name") or UNKNOWN
        arguments = canonical(given.decode())
        call: Block = {
            "id": id_,
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        if block.get("cache_control"):
            call["cache_control"] = block["cache_control"]
        self.calls.append(call)
        if block["type"] != "tool_use":
            self.provider.add(id_)

    def _result(self, block: Block) -> None:
        """Read a result. Its call may be in an earlier message, which a client's tool interrupted:
        the result then gets a call of its own."""
        id_ = _id(block, "tool_use_id")
        if id_ not in self.provider:
            self.loose = True
            self.provider.add(id_)
            named = {"name": block["type"].removesuffix(f"_{_RESULT}"), "arguments": ""}
            self.calls.append({"id": id_, "type": "function", "function": named})
        self.answered.add(id_)
        hidden = encrypted_strings(block)
        more = {"reasoning_content": hidden} if hidden else {}
        self.results.append(_tool_message(block, _lines(readable_texts(block)), **more))


class _Kind(msgspec.Struct):
    type: Any = ""


def text_block(text: str, marker: Any = None) -> bytes:
    block = {"type": "text", "text": text}
    return msgspec.json.encode(block if marker is None else {**block, "cache_control": marker})


def user_message(blocks: Sequence[bytes]) -> bytes:
    return b'{"role":"user","content":' + json_body.joined(blocks) + b"}"


def blocks_of(raw: bytes) -> list[bytes]:
    """Return the content blocks of a message. A string counts as one text block, an empty string as
    none; any other value as its JSON text."""
    content = bytes(json_body.fields_of(raw).get("content", b"null"))
    if content.startswith(b"["):
        return json_body.elements_of(content)
    if content in (b"null", b'""'):
        return []
    if not content.startswith(b'"'):
        return [text_block(mended(content).decode())]
    return [b'{"type":"text","text":' + content + b"}"]


def with_blocks(raw: bytes, more: Sequence[bytes]) -> bytes:
    """Insert blocks into a user message, behind its last result and before all else."""
    blocks = blocks_of(raw)
    kinds = [_kind(block) for block in blocks]
    last = max((at for at, kind in enumerate(kinds) if kind == "tool_result"), default=-1)
    return _with_content(raw, [*blocks[: last + 1], *more, *blocks[last + 1 :]])


def with_text_in_result(raw: bytes, text: str) -> bytes:
    """Append a text to the last result of a user message. Text beside the results would end the
    round for the server, which then drops the thinking in it."""
    blocks = blocks_of(raw)
    last = max(at for at, block in enumerate(blocks) if _kind(block) == "tool_result")
    fields = json_body.fields_of(blocks[last])
    parts = blocks_of(blocks[last])
    content = json_body.joined([*parts, text_block(text)])
    blocks[last] = json_body.with_value(blocks[last], fields, "content", content)
    return _with_content(raw, blocks)


def without_blocks(raw: bytes, left_out: Collection[int]) -> bytes:
    """Remove some blocks of a message; return b"" if none is left."""
    kept = [block for at, block in enumerate(blocks_of(raw)) if at not in left_out]
    return _with_content(raw, kept) if kept else b""


def merged(raws: Sequence[bytes]) -> bytes:
    """Merge several user messages into one."""
    return _with_content(raws[0], [block for raw in raws for block in blocks_of(raw)])


def without_marker(block: bytes) -> bytes:
    """Remove a block's cache marker."""
    if b'"cache_control"' not in block:
        return block
    fields = json_body.fields_of(block)
    fields.pop("cache_control", None)
    return msgspec.json.encode(fields)


def _kind(block: bytes) -> Any:
    return decode(block, _Kind).type if block.startswith(b"{") else ""


def _with_content(raw: bytes, blocks: Sequence[bytes]) -> bytes:
    return json_body.with_value(raw, json_body.fields_of(raw), "content", json_body.joined(blocks))


def without_thinking(raw: bytes) -> bytes:
    """Remove the thinking of a message of a round, which always holds a call or a result too."""
    blocks = blocks_of(raw)
    kept = [block for block in blocks if _kind(block) not in THINKING]
    return raw if len(kept) == len(blocks) else _with_content(raw, kept)
