"""Compute the canonical form of a memory's text: texts with equal forms are the same memory."""

from __future__ import annotations

import hashlib

from memtree.text.normal_form import nfc

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
