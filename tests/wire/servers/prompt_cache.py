"""Bill a prompt as a provider does: read from its cache, written to it, and neither.

`MarkedCache` is that of the Messages API: written at markers alone, read by looking back up to 20
positions from each marker, nothing below a minimum size. `PrefixCache` is that of the Responses
API: each prompt is written, and the longest prefix that is known is read, in steps of 128 tokens.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.wire.messages.messages_rules import blocks
from tests.wire.rule_break import Fields

LOOK_BACK = 20
MIN_TOKENS = 1_024
STEP = 128
CHARS_PER_TOKEN = 4
# A run of these is one position of the look-back.
_RUNS = ("tool_use", "tool_result")


class BilledTokens(NamedTuple):
    plain: int
    written: int
    read: int

    @property
    def total(self) -> int:
        return self.plain + self.written + self.read


@dataclass(frozen=True, slots=True)
class _Position:
    """The prompt up to here: a digest, its tokens, and whether a marker stands here."""

    digest: bytes
    tokens: int
    marked: bool
    step: int


class MarkedCache:
    def __init__(self, minimum: int = MIN_TOKENS) -> None:
        self._known: set[bytes] = set()
        self._minimum = minimum

    def bill(self, body: Fields) -> BilledTokens:
        positions = list(_positions(body))
        total = positions[-1].tokens if positions else 0
        marked = [one for one in positions if one.marked and one.tokens >= self._minimum]
        read = max((self._found(positions, one) for one in marked), default=0)
        last = marked[-1].tokens if marked else 0
        self._known.update(one.digest for one in marked)
        return BilledTokens(total - max(last, read), max(0, last - read), read)

    def _found(self, positions: list[_Position], marker: _Position) -> int:
        near = [one for one in positions if marker.step - LOOK_BACK < one.step <= marker.step]
        return max((one.tokens for one in near if one.digest in self._known), default=0)


def _positions(body: Fields) -> Iterator[_Position]:
    digest, tokens, step, last = hashlib.blake2b(digest_size=12), 0, 0, ""
    for kind, raw, marked in _parts(body):
        digest.update(raw)
        tokens += max(1, len(raw) // CHARS_PER_TOKEN)
        step += not (kind in _RUNS and kind == last)
        last = kind
        yield _Position(digest.digest(), tokens, marked, step)


def _parts(body: Fields) -> Iterator[tuple[str, bytes, bool]]:
    """(kind, bytes without markers, whether marked) of what makes the prompt, in its order."""
    for tool in body.get("tools") or ():
        yield "tool", _bytes(tool), _is_marked(tool)
    system = body.get("system")
    for block in [{"text": system}] if isinstance(system, str) else system or ():
        yield "system", _bytes(block), _is_marked(block)
    messages = body.get("messages") or []
    last = len(messages) - 1
    for index, message in enumerate(messages):
        own = blocks(message)
        for place, block in enumerate(own):
            end = index == last and place == len(own) - 1 and body.get("cache_control")
            raw = _bytes([message["role"], block])
            yield str(block.get("type")), raw, _is_marked(block) or bool(end)


def _is_marked(block: Any) -> bool:
    if not isinstance(block, dict):
        return False
    inside = block.get("content")
    return bool(block.get("cache_control")) or (
        isinstance(inside, list) and any(_is_marked(part) for part in inside)
    )


def _bytes(value: Any) -> bytes:
    return json.dumps(_bare(value), sort_keys=True).encode()


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _bare(one) for key, one in value.items() if key != "cache_control"}
    return [_bare(one) for one in value] if isinstance(value, list) else value


class PrefixCache:
    def __init__(self, minimum: int = MIN_TOKENS) -> None:
        self._known: set[bytes] = set()
        self._minimum = minimum

    def bill(self, body: Fields) -> BilledTokens:
        key = str(body.get("prompt_cache_key") or "").encode()
        digest, tokens, read = hashlib.blake2b(key, digest_size=12), 0, 0
        made = []
        items = body.get("input")
        items = [{"role": "user", "content": items}] if isinstance(items, str) else items or []
        head = [body.get("instructions"), *(body.get("tools") or ())]
        for part in (*head, *items):
            raw = _bytes(part)
            digest.update(raw)
            tokens += max(1, len(raw) // CHARS_PER_TOKEN)
            made.append(digest.digest())
            if made[-1] in self._known:
                read = tokens
        self._known.update(made)
        read = read // STEP * STEP if read >= self._minimum else 0
        return BilledTokens(0, tokens - read, read)
