"""Insert and remove blocks of raw messages; all other bytes stay as they were posted.

A string content always becomes a list when a block is added: clients post the same message
sometimes as a string, sometimes as a list, and both have to give the same prompt.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from memtree.history import json_body
from memtree.history.conversation_posted_json import decode, mended

THINKING = frozenset({"thinking", "redacted_thinking"})


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
