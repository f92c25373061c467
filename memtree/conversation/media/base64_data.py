"""Bytes inside base64, read where they are needed: the header of a picture of 10 MB costs as much
as that of a small one.

    >>> Encoded.of("data:text/plain;base64,aGVsbG8gd29ybGQ=").read(6, 5)
    b'world'
"""

from __future__ import annotations

import binascii
from dataclasses import dataclass

HEAD = 256  # characters in which the comma of a data URL stands
_SAFE = str.maketrans("-_", "+/")


@dataclass(frozen=True, slots=True)
class Base64Data:
    """`kind`: the media type of a data URL, in lower case; empty where none is named. The base64
    begins at character `start` of `text`."""

    text: str
    start: int = 0
    kind: str = ""

    @classmethod
    def of(cls, text: str) -> Base64Data:
        """A data URL, or base64 alone."""
        if text[:5].lower() != "data:":
            return cls(text)
        comma = text.find(",", 0, HEAD)
        if comma < 0 or not text[:comma].lower().endswith(";base64"):
            return cls("")
        return cls(text, comma + 1, text[5:comma].partition(";")[0].lower())

    @property
    def length(self) -> int:
        """How many bytes there are, as far as the characters tell."""
        characters = len(self.text) - self.start
        return characters * 3 // 4 - (self.text[-2:].count("=") if characters else 0)

    def read(self, offset: int, size: int) -> bytes:
        """Bytes [offset, offset + size), fewer at the end; none where this is no base64."""
        first, last = offset // 3, -(-(offset + size) // 3)
        piece = self.text[self.start + 4 * first : self.start + 4 * last].translate(_SAFE)
        piece += "=" * (-len(piece) % 4)
        try:
            decoded = binascii.a2b_base64(piece, strict_mode=True)
        except ValueError:
            return b""
        skipped = offset - 3 * first
        return decoded[skipped : skipped + size]
