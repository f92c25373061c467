"""Read the usage that a provider reports for an answer, from the two ends of its bytes.

Nothing is parsed while an answer passes. Its first and last few kilobytes are kept until the
request has ended and `usage` has read the numbers. An encoded answer is decoded in steps as it
passes, so a long one takes no more memory than a plain one and a decoder's window. Only numbers
leave this module: those of the object named `usage`, which no text of a model can imitate, since a
quote within a text is escaped.

    >>> tail = AnswerBytes()
    >>> tail.feed(b'{"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}')
    >>> tail.usage()
    ProviderUsage(input=9, cached=None, written=None, output=2)
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

import msgspec

from memtree.budget.prices import ProviderUsage
from memtree.errors import BadRequest, RequestTooLarge, UnsupportedMedia
from memtree_proxy.http.request_body import Decoder

HEAD, TAIL = 4_096, 8_192  # bytes that are kept
MOST_ENCODED = 16 * 1024  # bytes that are collected before they are decoded together
MOST_DECODED = 32 << 20  # for one answer: a few kilobytes may decode to gigabytes
MOST_USAGE = 2_000  # bytes of one usage object
MOST_TOKENS = 1 << 40
_Count = Annotated[int, msgspec.Meta(ge=0, le=MOST_TOKENS)] | None

# An object in which nested objects contain no further ones, as all providers send it.
_USAGE = re.compile(rb'"usage"\s*+:\s*+(\{(?:[^{}]++|\{[^{}]*+\})*+\})')
_ERROR_WORDS = re.compile(rb'"(?:type|code)"\s*+:\s*+"([a-z0-9_.]{1,60})"')


class AnswerBytes:
    """The beginning and the end of an answer, decoded. `encoding`: its content-encoding."""

    __slots__ = ("_decoder", "_encoded", "_ends", "_usage", "_whole", "encoding")

    def __init__(self) -> None:
        self.encoding = ""
        self._whole = b""  # the whole answer, as long as it is one short piece
        self._ends: tuple[bytearray, bytearray] | None = None
        self._encoded: bytearray | None = None  # bytes waiting to be decoded
        self._decoder: Decoder | Literal["ended"] | None = None
        self._usage: ProviderUsage | Literal["unread"] | None = "unread"

    def feed(self, chunk: bytes, *, decoded: bool = False) -> None:
        """Keep a piece of the answer. `decoded`: its content-encoding is already undone."""
        if self.encoding and not decoded:
            self._wait(chunk)
            return
        if self._ends is None:
            if not self._whole and len(chunk) <= HEAD:
                self._whole = chunk
                return
            self._ends = bytearray(self._whole), bytearray(self._whole)
        head, tail = self._ends
        if len(head) < HEAD:
            head += chunk[: HEAD - len(head)]
        tail += chunk[-TAIL:]
        if len(tail) > 2 * TAIL:
            del tail[:-TAIL]

    def usage(self) -> ProviderUsage | None:
        """Return the usage; None if the answer reports none. Called once, after the whole
        answer."""
        if self._usage == "unread":
            head, tail = self.kept()
            usage = usage_of_whole(self._whole) if self._ends is None else None
            self._usage = usage or usage_of(b"" if tail.startswith(head) else head, tail)
        return self._usage

    def error_words(self) -> list[str]:
        """Return the values of `type` and `code` in an error, outermost first."""
        head, _ = self.kept()
        return [word.decode() for word in _ERROR_WORDS.findall(head)]

    def kept(self) -> tuple[bytes, bytes]:
        """Return the beginning and the end."""
        if self._encoded:
            self._decode(self._encoded)
        if self._ends is None:
            return self._whole, self._whole
        head, tail = self._ends
        return bytes(head), bytes(tail)

    def _wait(self, chunk: bytes) -> None:
        if self._decoder != "ended":
            if self._encoded is None:
                self._encoded = bytearray()
            self._encoded += chunk
            if len(self._encoded) > MOST_ENCODED:
                self._decode(self._encoded)

    def _decode(self, encoded: bytearray) -> None:
        """Decode the waiting bytes. After broken data, or too much of it, nothing more is read: the
        client's own decoder reports the error."""
        self._encoded = None
        try:
            if self._decoder is None:
                self._decoder = Decoder(self.encoding, MOST_DECODED)
            if self._decoder != "ended":
                for piece in self._decoder.pieces(bytes(encoded)):
                    self.feed(piece, decoded=True)
        except (BadRequest, RequestTooLarge, UnsupportedMedia):
            self._decoder = "ended"


class _Details(msgspec.Struct, gc=False):
    cached_tokens: _Count = None
    cache_write_tokens: _Count = None


class _UsageObject(msgspec.Struct, gc=False):
    """`usage` in the form of all three APIs. Anthropic counts cached tokens separately from
    `input_tokens`, the others as part of them."""

    prompt_tokens: _Count = None
    input_tokens: _Count = None
    completion_tokens: _Count = None
    output_tokens: _Count = None
    cache_read_input_tokens: _Count = None
    cache_creation_input_tokens: _Count = None
    prompt_cache_hit_tokens: _Count = None
    prompt_tokens_details: _Details | None = None
    input_tokens_details: _Details | None = None

    def usage(self) -> ProviderUsage | None:
        entered = _first(self.prompt_tokens, self.input_tokens)
        output = _first(self.completion_tokens, self.output_tokens)
        if entered is None:
            return None
        read, made = self.cache_read_input_tokens, self.cache_creation_input_tokens
        if read is not None or made is not None:
            read, made = read or 0, made or 0
            return ProviderUsage(entered + read + made, read, made, output)
        details = self.prompt_tokens_details or self.input_tokens_details or _NONE
        cached = _first(details.cached_tokens, self.prompt_cache_hit_tokens)
        return ProviderUsage(entered, cached, details.cache_write_tokens, output)


class _WholeAnswer(msgspec.Struct, gc=False):
    usage: _UsageObject | None = None


_NONE = _Details()
_decode = msgspec.json.Decoder(_UsageObject).decode
_decode_whole = msgspec.json.Decoder(_WholeAnswer).decode


def usage_of_whole(raw: bytes) -> ProviderUsage | None:
    """Return the usage of a complete JSON answer, which takes a third of the time of a search; None
    if it is not one, or has no usage at its top level."""
    if not raw.startswith(b"{"):
        return None
    try:
        usage = _decode_whole(raw).usage
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return usage.usage() if usage else None


def usage_of(head: bytes, tail: bytes) -> ProviderUsage | None:
    """Return the usage from the first usage object (a stream of the Messages API begins with the
    prompt's) and from the last one, whose numbers win. `head`: empty if `tail` is the whole answer.
    """
    usages = _USAGE.findall(tail)
    begun = _USAGE.search(head)
    first = begun[1] if begun else usages[0] if usages else b""
    last = usages[-1] if usages else first
    numbers = _told(last)
    if numbers is None or first == last:
        return numbers.usage() if numbers else None
    if (before := _told(first)) is not None:
        for name in _UsageObject.__struct_fields__:
            if getattr(numbers, name) is None:
                setattr(numbers, name, getattr(before, name))
    return numbers.usage()


def _told(raw: bytes) -> _UsageObject | None:
    if not raw or len(raw) > MOST_USAGE:
        return None
    try:
        return _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _first(one: int | None, other: int | None) -> int | None:
    return other if one is None else one
