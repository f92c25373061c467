r"""Compute normal forms of text: NFC, NFKC, and the form by which memories are equal.

All take linear time. The marks behind a letter are sorted by insertion, which takes quadratic time
for thousands of marks on one letter. Unicode's stream-safe text has 30 at most, so a longer run is
normalized in pieces.

    >>> nfkc("ﬁ e\u0301")
    'fi é'
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import Literal

MARKS = 30  # UAX #15, section 13
_LONG_RUN = re.compile(rf"[^\w\s\x00-\x7f]{{{MARKS + 1},}}")  # any possible mark


def nfkc(text: str) -> str:
    return _normalized(text, "NFKC")


def nfc(text: str) -> str:
    return _normalized(text, "NFC")


def _normalized(text: str, form: Literal["NFC", "NFKC"]) -> str:
    if text.isascii():
        return text
    if not _LONG_RUN.search(text):
        return unicodedata.normalize(form, text)
    pieces: list[str] = []
    start = run = 0
    for at, char in enumerate(text):
        run = run + 1 if unicodedata.combining(char) else 0
        if run > MARKS:
            pieces.append(unicodedata.normalize(form, text[start:at]))
            start, run = at, 1
    pieces.append(unicodedata.normalize(form, text[start:]))
    return "".join(pieces)


_END = " .,;:!?…。！？、"


def canonical(text: str) -> str:
    """Return the text in NFC, case folded, with single spaces, without punctuation at the end.

    >>> canonical("  The port\\nis 8090. ") == canonical("the port is 8090")
    True
    """
    folded = nfc(nfc(text).casefold())
    return " ".join(folded.split()).rstrip(_END)


def text_hash(text: str) -> bytes:
    """Return 16 bytes that identify the canonical form."""
    form = canonical(text).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(form, digest_size=16).digest()
