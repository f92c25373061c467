"""Duration of an audio file, from its first bytes: WAV and MP3."""

from __future__ import annotations

from memtree.conversation.media.base64_data import Base64Data

CHUNKS = 20  # of a WAV file, read before its data
REACH = 4_096  # bytes of an MP3 file within which the first frame must begin
LEAST_RATE = 500  # bytes a second; a lower rate is not plausible, and would make the duration huge

_BITRATES = {  # kbit/s of layer III by index, for MPEG 1, and for 2 and 2.5
    True: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0),
    False: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
}
_SAMPLES = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}


def seconds(data: Base64Data) -> float | None:
    """Return the duration in seconds; None if it is unknown."""
    head = data.read(0, 12)
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return _wav(data)
    if head[:3] == b"ID3" or (len(head) > 2 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0):
        return _mp3(data, head)
    return None


def _wav(data: Base64Data) -> float | None:
    """Return bytes of audio data over bytes a second. A length that was unknown when the header was
    written (a stream) is given as 0 or as the largest number: then all data after the header
    counts."""
    at, rate = 12, 0
    for _ in range(CHUNKS):
        piece = data.read(at, 20)
        if len(piece) < 8:
            return None
        name, size = piece[:4], int.from_bytes(piece[4:8], "little")
        if name == b"fmt ":
            rate = int.from_bytes(piece[16:20], "little")
        elif name == b"data":
            left = data.length - at - 8
            return min(size or left, left) / rate if rate >= LEAST_RATE else None
        at += 8 + size + size % 2
    return None


def _mp3(data: Base64Data, head: bytes) -> float | None:
    """Return the number of frames times their duration if the first frame gives it, else the size
    over the bit rate."""
    start = 0
    if head[:3] == b"ID3":
        size = 0
        for byte in head[6:10]:  # seven bits of each
            size = size << 7 | byte & 0x7F
        start = 10 + size
    piece = data.read(start, REACH)
    for at in range(len(piece) - 4):
        if piece[at] != 0xFF or piece[at + 1] & 0xE0 != 0xE0:
            continue
        version, layer = piece[at + 1] >> 3 & 3, piece[at + 1] >> 1 & 3
        rate, sampling = piece[at + 2] >> 4, piece[at + 2] >> 2 & 3
        kilobits = _BITRATES[version == 3][rate]
        if layer != 1 or version == 1 or sampling == 3 or not kilobits:
            continue
        frames = _counted(piece[at : at + 200])
        if frames:
            return frames * (1_152 if version == 3 else 576) / _SAMPLES[version][sampling]
        return (data.length - start - at) / (kilobits * 125)
    return None


def _counted(frame: bytes) -> int:
    """Return the number of frames if the first one gives it (Xing, Info); else 0."""
    for name in (b"Xing", b"Info"):
        at = frame.find(name)
        if at > 0 and frame[at + 7 : at + 8] and frame[at + 7] & 1:
            return int.from_bytes(frame[at + 8 : at + 12], "big")
    return 0
