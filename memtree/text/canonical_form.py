"""The canonical form of a memory's text: two texts with one form are the same memory."""

from __future__ import annotations

import hashlib

from memtree.text.normal_form import nfc

_END = " .,;:!?…。！？、"


def canonical(text: str) -> str:
    """NFC, case folded, white space joined, punctuation at the end left out.

    >>> canonical("  The port\\nis 8090. ") == canonical("the port is 8090")
    True
    """
    folded = nfc(nfc(text).casefold())
    return " ".join(folded.split()).rstrip(_END)


def text_hash(text: str) -> bytes:
    """16 bytes that name the canonical form."""
    form = canonical(text).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(form, digest_size=16).digest()
