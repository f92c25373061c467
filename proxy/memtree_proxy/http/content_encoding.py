"""Decode content-encodings: gzip, deflate (with zlib's frame or without), zstd, and stacks of them.

A small body may decode to terabytes. So everything is decoded in pieces of at most `PIECE` bytes,
each only after the one before was consumed, and every layer of a stack is counted against the
limit: a bomb costs no more than a body of the limit's size.

    >>> decoded(zlib.compress(b"hello"), "deflate", 100)
    b'hello'
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from memtree.errors import BadRequest, RequestTooLarge, UnsupportedMedia

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HEADER = "content-encoding"
IDENTITY = "identity"
PIECE = 64 * 1024
MAX_LAYERS = 3
MAX_MEMBERS = 10_000  # of one limited body; a member may decode to nothing, and each costs 5 us
# RFC 9659: "a decoder ... MUST support windows of up to 8 MB", and encoders stay below.
ZSTD_WINDOW_LOG = 23


def decoded(raw: bytes, encoding: str, limit: int) -> bytes:
    """Decode a whole body. `encoding`: the header's value, whose last name is the outermost layer.

    Raises `UnsupportedMedia` for an unknown encoding, `RequestTooLarge` as soon as the output
    exceeds `limit` bytes, and `BadRequest` if the data is broken, cut off, or continues after its
    end. No bytes at all are an empty body in every encoding.
    """
    decoder = Decoder(encoding, limit)
    whole = decoder.feed(raw)
    decoder.finish()
    return whole


class Decoder:
    """Decodes a body piece by piece. `limit`: most bytes of output in all; None: no limit. It
    cannot be used after an error.
    """

    def __init__(self, encoding: str, limit: int | None = None) -> None:
        """Raises `UnsupportedMedia`."""
        # RFC 9110 section 8.4: "in the order in which they were applied".
        self._layers = [_Layer(name, limit) for name in reversed(names(encoding))]

    def feed(self, data: bytes) -> bytes:
        """Return everything that can be decoded now. Raises as `decoded` does."""
        return b"".join(self.pieces(data))

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield the decoded bytes in pieces of at most `PIECE`, so that a bomb does not fill the
        memory. Consume all of them before feeding more."""
        flow: Iterable[bytes] = (data,)
        for layer in self._layers:
            flow = layer.through(flow)
        yield from flow

    def finish(self) -> None:
        """End the body. Raises `BadRequest` if a layer is incomplete."""
        for layer in self._layers:
            layer.finish()


def names(encoding: str) -> list[str]:
    """Return the encodings of a header, without `identity`. Raises `UnsupportedMedia` that names an
    unsupported one."""
    listed = [name.strip().lower() for name in encoding.split(",")]
    listed = [name for name in listed if name and name != IDENTITY]
    for name in listed:
        if name not in _OPENERS:
            known = ", ".join(sorted(_OPENERS))
            message = f"content-encoding {name[:32]!r} cannot be read here; known are {known}"
            raise UnsupportedMedia(message, param=HEADER)
    if len(listed) > MAX_LAYERS:
        message = f"content-encoding may name {MAX_LAYERS} encodings at most"
        raise UnsupportedMedia(message, param=HEADER)
    return listed


class _Member(Protocol):
    """One gzip member, zlib stream or zstd frame."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...

    @property
    def starving(self) -> bool:
        """Return True if there is no more output before new input is fed."""
        ...


class _Inflating:
    """zlib's decompressor. It returns unread input, which is kept here."""

    def __init__(self, window_bits: int) -> None:
        self._inner = zlib.decompressobj(window_bits)
        self.starving = True

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        piece = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        # A full piece may leave output in the window, even if all input was read.
        self.starving = len(piece) < max_length and not self._inner.unconsumed_tail
        return piece


class _Frame:
    """zstd's decompressor, which keeps its input by itself."""

    def __init__(self) -> None:
        options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG}
        self._inner = zstd.ZstdDecompressor(options=options)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def starving(self) -> bool:
        return self._inner.needs_input

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return self._inner.decompress(data, max_length)


def _deflate(first: int) -> _Member:
    """Return a decompressor for deflate. By RFC 9110 it is a zlib stream; some senders omit its
    frame. A zlib stream begins with compression method 8; as raw deflate those bits would be a
    stored block with nonzero padding, which no encoder writes."""
    return _Inflating(zlib.MAX_WBITS if first & 0x0F == 8 else -zlib.MAX_WBITS)


def _gzip(_: int) -> _Member:
    return _Inflating(zlib.MAX_WBITS | 16)


def _zstd(_: int) -> _Member:
    return _Frame()


# Constructors by the encoding, called with the first byte of a member.
_OPENERS: dict[str, Callable[[int], _Member]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "zstd": _zstd,
}


def _parts(data: bytes) -> Iterator[bytes]:
    """Yield pieces of the input: a decoder copies unread input whenever its output is full."""
    return (data[at : at + PIECE] for at in range(0, len(data), PIECE))


class _Layer:
    """One encoding of a stack, over its consecutive members."""

    def __init__(self, name: str, limit: int | None) -> None:
        self._name = name
        self._limit = limit
        self._member: _Member | None = None
        self._members = 0
        self._size = 0

    def through(self, flow: Iterable[bytes]) -> Iterator[bytes]:
        for data in (part for piece in flow for part in _parts(piece)):
            while data:
                member = self._member or self._open(data[0])
                for piece in self._drained(member, data):
                    self._count(len(piece))
                    yield piece
                data = b""
                if member.eof:
                    data = member.unused_data
                    self._member = None

    def finish(self) -> None:
        if self._member is not None:
            raise self._broken("is cut off")

    def _open(self, first: int) -> _Member:
        self._members += 1
        if self._members > 1 and self._name == "deflate":
            raise self._broken("goes on after its end")
        if self._limit is not None and self._members > MAX_MEMBERS:
            raise self._broken(f"has more than {MAX_MEMBERS} members")
        self._member = _OPENERS[self._name](first)
        return self._member

    def _drained(self, member: _Member, data: bytes) -> Iterator[bytes]:
        while True:
            try:
                piece = member.decompress(data, PIECE)
            except (zlib.error, zstd.ZstdError) as error:
                raise self._broken("is broken") from error
            if piece:
                yield piece
            if member.eof or member.starving:
                return
            data = b""

    def _count(self, size: int) -> None:
        self._size += size
        if self._limit is not None and self._size > self._limit:
            raise RequestTooLarge(
                f"The request body is over the limit of {self._limit} bytes once it is decoded."
            )

    def _broken(self, how: str) -> BadRequest:
        return BadRequest(f"the {self._name} data of the body {how}", param=HEADER)
