"""Width and height of a picture, from its first bytes: PNG, GIF, JPEG, WebP."""

from __future__ import annotations

from memtree.conversation.media.base64_data import Base64Data

SEGMENTS = 200  # of a JPEG, read before its frame header; EXIF and colour profiles take some
# Frame headers of all kinds of JPEG, progressive ones too: C0 to CF except the tables (C4, C8, CC)
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})  # markers without a length

Size = tuple[int, int]


def size(data: Base64Data) -> Size | None:
    """Return (width, height) in pixels; None if they are unknown."""
    head = data.read(0, 30)
    dimensions = None
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        dimensions = _png(head)
    elif head[:4] == b"GIF8":
        dimensions = _little(head, 6), _little(head, 8)
    elif head[:2] == b"\xff\xd8":
        dimensions = _jpeg(data)
    elif head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        dimensions = _webp(head)
    return dimensions if dimensions and min(dimensions) > 0 else None


def _png(head: bytes) -> Size | None:
    if head[12:16] != b"IHDR":
        return None
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


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
