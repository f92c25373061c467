"""What a provider says that an answer took: read from the beginning and the end of its bytes.

Nothing is parsed while an answer passes. Kept are its first and last few kilobytes (of an encoded
one all of it, up to a limit), until the request has ended and `read` has taken the numbers out.
Only numbers leave this file: the object named `usage`, which no text of a model can pass for,
since a quote within a text is escaped.

    >>> tail = AnswerBytes()
    >>> tail.feed(b'{"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}')
    >>> tail.usage()
    ProviderUsage(input=9, cached=None, written=None, output=2)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from memtree.budget.savings import ProviderUsage
from memtree.errors import BadRequest, UnsupportedMedia
from memtree_proxy.http.content_encoding import Decoder

HEAD, TAIL = 4_096, 8_192  # bytes that are kept
MOST_ENCODED, MOST_DECODED = 128 * 1024, 4 << 20
MOST_USAGE = 2_000  # bytes of one usage object
MOST_TOKENS = 1 << 40

_USAGE = re.compile(rb'"usage"\s*+:\s*+(?=\{)')
_ERROR_WORDS = re.compile(rb'"(?:type|code)"\s*+:\s*+"([a-z0-9_.]{1,60})"')


class AnswerBytes:
    """The beginning and the end of an answer. `encoding`: its content-encoding."""

    __slots__ = ("_head", "_pieces", "_size", "_tail", "encoding")

    def __init__(self) -> None:
        self.encoding = ""
        self._head = bytearray()
        self._tail = bytearray()
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        if self.encoding:
            self._size += len(chunk)
            if self._size <= MOST_ENCODED:
                self._pieces.append(chunk)
            return
        if len(self._head) < HEAD:
            self._head += chunk[: HEAD - len(self._head)]
        tail = self._tail
        tail += chunk[-TAIL:]
        if len(tail) > 2 * TAIL:
            del tail[:-TAIL]

    def usage(self) -> ProviderUsage | None:
        """None where the answer tells none."""
        return usage_of(*self.kept())

    def error_words(self) -> list[str]:
        """The values of `type` and `code` in an error, outermost first."""
        head, _ = self.kept()
        return [word.decode() for word in _ERROR_WORDS.findall(head)]

    def kept(self) -> tuple[bytes, bytes]:
        """The beginning and the end, decoded."""
        if not self.encoding:
            return bytes(self._head), bytes(self._tail)
        if self._size > MOST_ENCODED:
            return b"", b""
        decoded = bytearray()
        try:
            decoder = Decoder(self.encoding)
            for piece in self._pieces:
                for part in decoder.pieces(piece):
                    decoded += part
                if len(decoded) > MOST_DECODED:
                    break
        except (BadRequest, UnsupportedMedia):
            pass  # the client is told by its own decoder
        return bytes(decoded[:HEAD]), bytes(decoded[-TAIL:])


def usage_of(head: bytes, tail: bytes) -> ProviderUsage | None:
    """The numbers of the first usage object (a stream of the Messages API begins with the prompt's)
    and of the last one, which goes before it."""
    first = _usage_at(head, _USAGE.search(head))
    last = None
    for match in _USAGE.finditer(tail):
        last = match
    told = {**first, **_usage_at(tail, last)}
    return _provider_usage(told) if told else None


def _usage_at(text: bytes, match: re.Match[bytes] | None) -> dict[str, Any]:
    if match is None:
        return {}
    depth = 0
    for at in range(match.end(), min(len(text), match.end() + MOST_USAGE)):
        if text[at] == 0x7B:
            depth += 1
        elif text[at] == 0x7D:
            depth -= 1
            if not depth:
                return _numbers(text[match.end() : at + 1])
    return {}


def _numbers(raw: bytes) -> dict[str, Any]:
    try:
        read = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    # What is null in the last one was told in the first.
    return {name: value for name, value in read.items() if value is not None}


def _provider_usage(told: Mapping[str, Any]) -> ProviderUsage | None:
    """Anthropic counts what was cached beside `input_tokens`, the others within."""
    read, made = (
        _count(told, "cache_read_input_tokens"),
        _count(told, "cache_creation_input_tokens"),
    )
    details = told.get("prompt_tokens_details") or told.get("input_tokens_details") or {}
    details = details if isinstance(details, dict) else {}
    entered = _count(told, "prompt_tokens", "input_tokens")
    output = _count(told, "completion_tokens", "output_tokens")
    if entered is None:
        return None
    if read is not None or made is not None:
        return ProviderUsage(entered + (read or 0) + (made or 0), read or 0, made or 0, output)
    cached = _count(details, "cached_tokens")
    if cached is None:
        cached = _count(told, "prompt_cache_hit_tokens")
    return ProviderUsage(entered, cached, _count(details, "cache_write_tokens"), output)


def _count(told: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = told.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS:
            return value
    return None
