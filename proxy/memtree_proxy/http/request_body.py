"""Read what the client sent: the whole body under the size limit, or a stream; and the target.

Content-encodings are decoded: gzip, deflate (with zlib's frame or without), zstd, and stacks of
them. A small body may decode to terabytes. So everything is decoded in pieces of at most `PIECE`
bytes, each only after the one before was consumed, and every layer of a stack is counted against
the limit: a bomb costs no more than a body of the limit's size.

    >>> decoded(zlib.compress(b"hello"), "deflate", 100)
    b'hello'
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Protocol
from urllib.parse import unquote

from starlette.requests import Request
from starlette.types import Scope

from memtree.errors import BadRequest, RequestTooLarge, UnsupportedMedia
from memtree.process.threads import in_thread
from memtree_proxy.http import body_budget

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ENCODING_HEADER = "content-encoding"
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


def measured(raw: bytes, encoding: str, limit: int) -> tuple[int, bytes]:
    """Return the size of a decoded body, and the body itself if it is so small that it is not
    counted. Raises as `decoded`."""
    decoder, size = Decoder(encoding, limit), 0
    pieces: list[bytes] = []
    for piece in decoder.pieces(raw):
        size += len(piece)
        if size <= body_budget.FREE:
            pieces.append(piece)
    decoder.finish()
    return size, b"".join(pieces) if size <= body_budget.FREE else b""


class Decoder:
    """Decodes a body piece by piece. `limit`: most bytes of output in all; None: no limit. It
    cannot be used after an error.
    """

    def __init__(self, encoding: str, limit: int | None = None) -> None:
        """Raises `UnsupportedMedia`."""
        # RFC 9110 section 8.4: "in the order in which they were applied".
        self._layers = [_Layer(name, limit) for name in reversed(encodings(encoding))]

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


def encodings(encoding: str) -> list[str]:
    """Return the encodings of a header, without `identity`. Raises `UnsupportedMedia` that names an
    unsupported one."""
    listed = [name.strip().lower() for name in encoding.split(",")]
    listed = [name for name in listed if name and name != IDENTITY]
    for name in listed:
        if name not in _OPENERS:
            known = ", ".join(sorted(_OPENERS))
            message = f"content-encoding {name[:32]!r} cannot be read here; known are {known}"
            raise UnsupportedMedia(message, param=ENCODING_HEADER)
    if len(listed) > MAX_LAYERS:
        message = f"content-encoding may name {MAX_LAYERS} encodings at most"
        raise UnsupportedMedia(message, param=ENCODING_HEADER)
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


class _Layer:
    """One encoding of a stack, over its consecutive members."""

    def __init__(self, name: str, limit: int | None) -> None:
        self._name = name
        self._limit = limit
        self._member: _Member | None = None
        self._members = 0
        self._size = 0

    def through(self, flow: Iterable[bytes]) -> Iterator[bytes]:
        # In pieces: a decoder copies unread input whenever its output is full.
        parts = (piece[at : at + PIECE] for piece in flow for at in range(0, len(piece), PIECE))
        for data in parts:
            while data:
                member = self._member or self._open(data[0])
                for piece in self._drained(member, data):
                    self._size += len(piece)
                    if self._limit is not None and self._size > self._limit:
                        raise RequestTooLarge(
                            f"The request body is over the limit of {self._limit} bytes once it "
                            "is decoded."
                        )
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

    def _broken(self, how: str) -> BadRequest:
        return BadRequest(f"the {self._name} data of the body {how}", param=ENCODING_HEADER)


_KEPT = "memtree_raw"  # key in the state of a request
# Key in the state of a request under a path of `memtree wrap`: the run that it belongs to. Such a
# path is opened by this machine's user, so its requests are that user's whatever credential they
# carry.
WRAP_RUN = "wrap_run"
# A posted file may decompress to this many times the received bytes plus a megabyte: real files
# reach ten times.
RATIO, SPARE = 20, 1 << 20
CHAT_ALIAS = "/chat_completions"  # ours alone: upstreams have no such path
PREFIXES = ("/api/v1", "/api", "/v1", "")  # longest first: /api/v1/models is /models
# Key in the scope of a request: the path that goes upstream in place of the one that was sent, as
# that has more slashes than a route of ours, encoded ones, or our suffix in a deployment's name.
PLAIN_PATH = "memtree.path"


async def kept(request: Request, limit: int) -> bytes:
    """Return the whole body as it was sent, and keep it for later reads of the request. Raises as
    `read`."""
    raw = await read(request, limit)
    setattr(request.state, _KEPT, raw)
    return raw


async def read(request: Request, limit: int) -> bytes:
    """Return the whole body. Raises `RequestTooLarge`, before reading if the length is announced,
    and `RateLimited` if other bodies leave no room for it (`body_budget`)."""
    if (length(request) or 0) > limit:
        raise too_large(limit)
    known: bytes | None = getattr(request.state, _KEPT, None)
    if known is not None:
        return known
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > limit:
            raise too_large(limit)
        if size > body_budget.FREE:
            await body_budget.reach(request.scope, size)
        pieces.append(piece)
    return b"".join(pieces)


async def content(request: Request, limit: int) -> bytes:
    """Return the whole body without its content-encoding; neither form may exceed the limit. Raises
    `UnsupportedMedia` before reading, the errors of `read`, and `BadRequest` for data that cannot
    be decoded.
    """
    encodings(encoded(request))
    return await plain(request, await read(request, limit), limit)


async def plain(request: Request, raw: bytes, limit: int) -> bytes:
    """Return a received body without its content-encoding. A large one is decoded twice, so that
    its size is known before it takes memory. Raises as `content`."""
    given = encoded(request)
    if not given:
        return raw
    # In a thread whatever its size: a few bytes may take a second to decode. A request that is
    # given up meanwhile holds its bytes in the budget until the thread has ended.
    size, whole = await in_thread(measured, raw, given, limit)
    await body_budget.reach(request.scope, len(raw) + size)
    if size == len(whole):
        return whole
    return await in_thread(decoded, raw, given, limit)


async def unpacked(
    request: Request, limit: int, unpack: Callable[[bytes, int], bytes] | None = None
) -> bytes:
    """Like `content`, for a file: the received size limits the output. `unpack`: decompresses the
    file itself, under a limit."""
    given = encoded(request)
    encodings(given)
    raw = await read(request, limit)
    if not (given or unpack):
        return raw
    most = min(limit, RATIO * len(raw) + SPARE)

    try:
        whole = await plain(request, raw, most)
        if unpack is None:
            return whole
        held = len(raw) if whole is raw else len(raw) + len(whole)
        await body_budget.reach(request.scope, held + most)  # its size is known afterwards
        file = await in_thread(unpack, whole, most)
        body_budget.drop_to(request.scope, held if file is whole else held + len(file))
        return file
    except RequestTooLarge as error:
        if most == limit:
            raise
        raise RequestTooLarge(
            f"The body unpacks to more than {RATIO} times its {len(raw):,} bytes and a megabyte; "
            "send it less packed."
        ) from error


def stream(request: Request) -> AsyncIterator[bytes] | None:
    """Return the body as a stream; None for a request without one."""
    if length(request) or "transfer-encoding" in request.headers:
        return _pieces(request)
    return None


def announced(scope: Scope) -> bool:
    """Return True if the head announces a body (RFC 9112 section 6)."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0 "))
        for name, value in scope["headers"]
    )


def length(request: Request) -> int | None:
    """Return the announced size of the body in bytes."""
    announced = request.headers.get("content-length", "")
    return int(announced) if announced.isascii() and announced.isdigit() else None


def encoded(request: Request) -> str:
    """Return the content-encoding of the body, "" for none. It may be unsupported."""
    given = ",".join(request.headers.getlist(ENCODING_HEADER))
    names = {name.strip().lower() for name in given.split(",")}
    return given if names - {"", IDENTITY} else ""


def target(request: Request) -> str:
    """Return path and query as they were sent, without our own prefix. Raises `BadRequest` for a
    path with `..`: with our key it must stay below the base path.
    """
    path = without_prefix(sent_path(request.scope))
    if {".", ".."} & set(unquote(path).replace("\\", "/").split("/")):
        raise BadRequest("the path must not hold . or .. segments")
    if path == CHAT_ALIAS:
        path = "/chat/completions"
    query = request.scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


def sent_path(scope: Scope) -> str:
    """Return the path as it was sent, or else `PLAIN_PATH`."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    plain: str | None = scope.get(PLAIN_PATH)
    return plain or raw.partition(b"?")[0].decode("latin-1")


def without_prefix(path: str) -> str:
    for prefix in PREFIXES:
        if path == prefix or path.startswith(prefix + "/"):
            return path.removeprefix(prefix)
    return path


def too_large(limit: int) -> RequestTooLarge:
    return RequestTooLarge(f"The request body is over the limit of {limit} bytes.")


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    async for piece in request.stream():
        if piece:
            yield piece
