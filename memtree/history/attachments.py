"""Count the tokens of images, audio and files that a message attaches, and find the text in them.

Tokens are counted whatever the model, and without decoding the data:

- An image: the larger of tiles (85 and 170 for each 512 px tile of the image within 2,048 px, its
  short side at most 768: OpenAI's "Images and vision" for gpt-4o and gpt-5) and width x height /
  750 up to 2,500 (Anthropic's "Vision"; 2,500 patches are what gpt-5.4 and later take, and lie
  between the 1,600 and 4,784 that are the most of Claude models). `detail` high, auto and absent
  are the same; low costs 85; original costs 32 px patches up to 10,000, if that is more.
- Sound: 32 a second (Gemini's "Audio understanding"; OpenAI counts 10), and seconds by size, at the
  lowest rate that is usual for its format.
- A PDF: 2,400 a page (Anthropic's "PDF support" says 1,500 to 3,000). A file of text: its tokens.
- Video: 10,000, half a minute for Gemini.
- Web addresses, ids, and what cannot be read: 1,500, a middling image.
- Any other part: the tokens of its strings. Encoded data in it is not text: it costs a fifth of its
  characters, up to 1,500, since hidden reasoning, which it usually holds, has some four bytes a
  token.

One rule for all models, since a request may go to any: it overestimates rather than underestimates.
The exception is gpt-4o-mini, which bills 33 times as much for an image.

Text (`attached_texts`) stands in files, in results of a search, and in sentences of a part of an
unknown type.

    >>> source = {"type": "text", "data": "Call 911."}
    >>> attached_texts({"type": "document", "title": "Handbook", "source": source})
    [('.title', 'Handbook'), ('.source.data', 'Call 911.')]
    >>> attached_texts({"type": "document", "source": {"type": "base64", "data": "JVBERi0"}})
    []
    >>> attached_texts({"type": "widget", "id": "w7", "state": {"note": "Call 911."}})
    [('.state.note', 'Call 911.')]
"""

from __future__ import annotations

import binascii
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

WINDOW = 48 * 1024  # bytes read at either end
PAGE_BYTES = 50_000  # assumed page size of a PDF that hides its page count: few have smaller pages
ROOTS = 40  # nodes of the page tree that are read
REACH = 4_000  # bytes of such a node, before and after its type

_LINEAR = re.compile(rb"/Linearized\b[^>]{0,300}?/N\s+(\d{1,6})\b")
_NODE = re.compile(rb"/Type\s*/Pages\b")
_COUNT = re.compile(rb"/Count\s+(\d{1,6})\b")
_PAGE = re.compile(rb"/Type\s*/Page\b")


def pdf_pages(data: Base64Data) -> int | None:
    """Return the number of pages, estimated from the size if the file hides it; None if it is not a
    PDF.

    A PDF for the web gives it at the beginning, others in the root of their page tree, which is
    mostly near one end. Newer files may compress that root.
    """
    head = data.read(0, WINDOW)
    if b"%PDF-" not in head[:1024]:
        return None
    if linear := _LINEAR.search(head[:2048]):
        return max(1, int(linear[1]))
    length = data.length
    tail = data.read(max(WINDOW, length - WINDOW), WINDOW)
    counts = [count for part in (head, tail) for count in _counts(part)]
    if not counts and length <= 2 * WINDOW:
        counts = [sum(len(_PAGE.findall(part)) for part in (head, tail))]
    return max(1, max(counts, default=0) or length // PAGE_BYTES)


def _counts(part: bytes) -> Iterator[int]:
    """Yield the pages below each node of the page tree; the root has the largest number."""
    for node in islice(_NODE.finditer(part), ROOTS):
        first = part.rfind(b"obj", max(0, node.start() - REACH), node.start())
        last = part.find(b"endobj", node.end(), node.end() + REACH)
        yield from map(int, _COUNT.findall(part, max(0, first), last if last > 0 else node.end()))


SEGMENTS = 200  # of a JPEG, read before its frame header; EXIF and colour profiles take some
# Frame headers of all kinds of JPEG, progressive ones too: C0 to CF except the tables (C4, C8, CC)
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})  # markers without a length

Size = tuple[int, int]


def image_size(data: Base64Data) -> Size | None:
    """Return (width, height) in pixels; None if they are unknown."""
    head = data.read(0, 30)
    dimensions = None
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        if head[12:16] == b"IHDR":
            dimensions = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    elif head[:4] == b"GIF8":
        dimensions = _little(head, 6), _little(head, 8)
    elif head[:2] == b"\xff\xd8":
        dimensions = _jpeg(data)
    elif head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        dimensions = _webp(head)
    return dimensions if dimensions and min(dimensions) > 0 else None


def _webp(head: bytes) -> Size | None:
    kind = head[12:16]
    if kind == b"VP8X":
        return 1 + _little(head, 24, 3), 1 + _little(head, 27, 3)
    if kind == b"VP8L" and head[20:21] == b"\x2f":
        bits = _little(head, 21, 4)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        return _little(head, 26) & 0x3FFF, _little(head, 28) & 0x3FFF
    return None


def _jpeg(data: Base64Data) -> Size | None:
    """Walk over the segments, skipping each by its length."""
    at = 2
    for _ in range(SEGMENTS):
        piece = data.read(at, 12)
        if not piece.startswith(b"\xff") or len(piece) < 12:
            return None
        marker = piece[1]
        if marker == 0xFF:  # padding
            at += 1
        elif marker in _BARE:
            at += 2
        elif marker in _FRAMES:
            return int.from_bytes(piece[7:9], "big"), int.from_bytes(piece[5:7], "big")
        else:
            at += 2 + int.from_bytes(piece[2:4], "big")
    return None


def _little(data: bytes, at: int, size: int = 2) -> int:
    return int.from_bytes(data[at : at + size], "little")


HEAD = 256  # characters within which the comma of a data URL must stand
_SAFE = str.maketrans("-_", "+/")


@dataclass(frozen=True, slots=True)
class Base64Data:
    """`kind`: the media type of a data URL, in lower case; empty if it names none. The base64
    begins at character `start` of `text`."""

    text: str
    start: int = 0
    kind: str = ""

    @classmethod
    def of(cls, text: str) -> Base64Data:
        """Wrap a data URL, or plain base64."""
        if text[:5].lower() != "data:":
            return cls(text)
        comma = text.find(",", 0, HEAD)
        if comma < 0 or not text[:comma].lower().endswith(";base64"):
            return cls("")
        return cls(text, comma + 1, text[5:comma].partition(";")[0].lower())

    @property
    def length(self) -> int:
        """Return the number of bytes, computed from the number of characters."""
        characters = len(self.text) - self.start
        return characters * 3 // 4 - (self.text[-2:].count("=") if characters else 0)

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes [offset, offset + size), fewer at the end; none if the text is not
        base64."""
        first, last = offset // 3, -(-(offset + size) // 3)
        piece = self.text[self.start + 4 * first : self.start + 4 * last].translate(_SAFE)
        piece += "=" * (-len(piece) % 4)
        try:
            decoded = binascii.a2b_base64(piece, strict_mode=True)
        except ValueError:
            return b""
        skipped = offset - 3 * first
        return decoded[skipped : skipped + size]


FLAT_TOKENS = 1_500
LOW_DETAIL_TOKENS = 85
TILE_BASE, TILE_TOKENS, TILE = 85, 170, 512
TILED_LONG, TILED_SHORT = 2_048, 768
AREA_PER_TOKEN, AREA_TOKENS = 750, 2_500
PATCH, PATCHES = 32, 10_000
SECOND_TOKENS = 32
# Bytes a second of speech: 16 bits at 16 kHz, 64 kbit/s in MP3, and 32 kbit/s in newer formats
SECOND_BYTES = {"wav": 32_000, "wave": 32_000, "pcm16": 32_000, "pcm": 32_000}
SECOND_BYTES |= {"mp3": 8_000, "mpeg": 8_000}
OTHER_SECOND_BYTES = 4_000
PAGE_TOKENS, PAGES = 2_400, 1_000
VIDEO_TOKENS = 10_000
TEXT_FILE_BYTES = 3 * 1024 * 1024  # counted exactly up to here, then at three bytes a token

MEDIA = ("image", "audio", "video", "file")  # in the types of parts
REASONING_PARTS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content"})
_OPAQUE = 256  # length in characters from which a string without a space may be data
_DATA = re.compile(rf"[A-Za-z0-9+/=_-]{{{_OPAQUE}}}")
_TEXT_KINDS = re.compile(r"text/|application/(?:json|xml|x-?yaml|toml|javascript|x-sh|sql)\b")
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f\xff]")
_DEEP = 200  # levels of nesting that are searched

Count = Callable[[str], int]


def part_tokens(part: dict[str, Any], count: Count) -> int:
    """Return the tokens of a part that is not text."""
    kind = part["type"]
    if kind in REASONING_PARTS:
        return loose_tokens({key: part[key] for key in part if key != "type"}, count)
    if "image" in kind:
        return _image(part)
    if "audio" in kind:
        return _sound(part)
    if "video" in kind:
        return VIDEO_TOKENS
    if "file" in kind or kind == "document":
        return _file(part, count)
    return loose_tokens(part, count)


def loose_tokens(value: Any, count: Count) -> int:
    """Return the tokens of any JSON value that the model may see; encoded data is not counted as
    text."""
    words, opaque = [], 0
    for text in strings(value):
        if is_data(text):
            opaque += min(FLAT_TOKENS, len(text) // 5)
        else:
            words.append(text)
    return count(" ".join(words)) + opaque if words else opaque


def strings(value: Any) -> Iterator[str]:
    """Yield all strings in a JSON value, keys included, in order."""
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict) and depth < _DEEP:
            pairs = [piece for pair in item.items() for piece in pair]
            waiting += [(piece, depth + 1) for piece in reversed(pairs)]
        elif isinstance(item, list) and depth < _DEEP:
            waiting += [(piece, depth + 1) for piece in reversed(item)]
        elif item is not None and not isinstance(item, (dict, list)):
            yield str(item)


def is_data(text: str) -> bool:
    """Return True if a string is an encoded file, a key or a signature: long, and without a
    space."""
    return len(text) >= _OPAQUE and (text.startswith("data:") or bool(_DATA.match(text)))


def payload(part: dict[str, Any]) -> str:
    """Return the data of a part: its data URL, else its longest string."""
    longest = ""
    for text in strings(part):
        if text[:5].lower() == "data:":
            return text
        if len(text) > len(longest):
            longest = text
    return longest


# ---------------------------------------------------------------- by kind


def _image(part: dict[str, Any]) -> int:
    detail = _field(part, "image_url", "detail")
    if detail == "low":
        return LOW_DETAIL_TOKENS
    dimensions = image_size(Base64Data.of(payload(part)))
    return image_tokens(*dimensions, detail) if dimensions else FLAT_TOKENS


def image_tokens(width: int, height: int, detail: object = "auto") -> int:
    """Return the tokens of an image of that many pixels.

    >>> image_tokens(1024, 1024), image_tokens(1920, 1080), image_tokens(300, 100)
    (1399, 2500, 255)
    """
    area = min(AREA_TOKENS, math.ceil(width * height / AREA_PER_TOKEN))
    usual = max(area, _tiles(width, height))
    if detail != "original":
        return usual
    patches = math.ceil(width / PATCH) * math.ceil(height / PATCH)
    return max(usual, min(PATCHES, patches))


def _tiles(width: int, height: int) -> int:
    scale = min(1.0, TILED_LONG / max(width, height))
    scale = min(scale, TILED_SHORT / min(width, height))
    across, down = (math.ceil(max(1, int(side * scale)) / TILE) for side in (width, height))
    return TILE_BASE + TILE_TOKENS * across * down


def _sound(part: dict[str, Any]) -> int:
    data = Base64Data.of(payload(part))
    if data.length <= _OPAQUE or not is_data(data.text):
        return FLAT_TOKENS
    named = str(_field(part, "input_audio", "format") or data.kind).lower()
    format_ = named.rpartition("/")[2].removeprefix("x-").removeprefix("vnd.")
    rate = SECOND_BYTES.get(format_, OTHER_SECOND_BYTES)
    return math.ceil(data.length / rate * SECOND_TOKENS)


def _file(part: dict[str, Any], count: Count) -> int:
    given = payload(part)
    data = Base64Data.of(given)
    page_count = pdf_pages(data)
    if page_count is not None:
        return PAGE_TOKENS * min(PAGES, page_count)
    if image_size(data):
        return _image(part)
    if _is_text(data):
        text = data.read(0, data.length) if data.length <= TEXT_FILE_BYTES else b""
        return count(text.decode("utf-8", "replace")) if text else data.length // 3
    if data.text and not is_data(given):  # an address, an id, or the text itself
        return max(FLAT_TOKENS, loose_tokens(part, count))
    return FLAT_TOKENS


def _is_text(data: Base64Data) -> bool:
    """Return True if the data is text, by its media type; if that is missing, by its first
    bytes."""
    if data.kind:
        return bool(_TEXT_KINDS.match(data.kind))
    head = data.read(0, 510)
    return bool(head) and len(data.text) >= _OPAQUE and not _BINARY.search(head)


def _field(part: dict[str, Any], inner: str, name: str) -> object:
    """Return a field of a part, or of the object inside it."""
    held = part.get(inner)
    return held.get(name) if isinstance(held, dict) else part.get(name)


DOCUMENT_PARTS = frozenset({"document", "search_result", "file", "input_file"})
TITLES = (".title", ".filename")  # ends of the paths of names
_HEAD = ("title", "filename", "context", "source")
_BODY = ("text", "data", "content")
_INNER = ("document", "file")  # where a chat's part holds its object
_LEVELS = 8  # levels of objects and lists
_LONG = 120  # characters of a path, which is kept with each string below it
MOST_TEXTS = 10_000  # strings of a part that are read


def attached_texts(part: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the readable strings of a part with their paths in it, names first; empty if there is
    no text besides names."""
    unknown = part["type"] not in DOCUMENT_PARTS
    if unknown and (part["type"] in REASONING_PARTS or any(kind in part["type"] for kind in MEDIA)):
        return []
    texts = list(islice(_strings(part, "", 0, unknown, unknown), MOST_TEXTS))
    return [(path, text) for path, text, _ in texts] if any(body for *_, body in texts) else []


def _strings(
    value: Any, path: str, depth: int, body: bool, unknown: bool
) -> Iterator[tuple[str, str, bool]]:
    """Yield readable strings in a part with their paths, and False for a name. `unknown`: all that
    the part holds may be text."""
    if isinstance(value, str):
        readable = not unknown or " " in value or not value.isascii()  # Chinese has no spaces
        if value and readable and not is_data(value):
            yield path, value, body
    elif isinstance(value, list) and depth < _LEVELS:
        for at, each in enumerate(value):
            yield from _strings(each, f"{path}[{at}]", depth + 1, body, unknown)
    elif isinstance(value, dict) and depth < _LEVELS:
        encoded = value.get("type") not in (None, "text")  # of data: base64, an address, an id
        known = (key for key in (*_HEAD, *_INNER, *_BODY) if key in value)
        for key in value if unknown else known:
            if len(path) + len(key) <= _LONG and (key != "data" or unknown or not encoded):
                inner = f"{path}.{key}"
                yield from _strings(value[key], inner, depth + 1, body or key in _BODY, unknown)
