"""Decode only the needed bytes of base64 data: the header of a 10 MB picture costs no more than
that of a small one.

    >>> Base64Data.of("data:text/plain;base64,aGVsbG8gd29ybGQ=").read(6, 5)
    b'world'
"""

from __future__ import annotations

import binascii
from dataclasses import dataclass

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
