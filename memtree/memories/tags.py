"""Tags in one form: trimmed, lower case, hyphens for inner white space, none twice.

>>> canonical_tags([" Family  Trip ", "family-trip", "Köln"])
('family-trip', 'köln')
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from memtree.errors import BadRequest
from memtree.memories.memory import MAX_TAGS
from memtree.text.normal_form import nfc

MAX_TAG = 32  # characters
MAX_GIVEN = 1_000  # characters of a tag, white space included


def canonical_tags(values: object, name: str = "tags") -> tuple[str, ...]:
    """The tags in the order given; empty ones are left out. None: no tags. Raises `BadRequest`
    for what is no list of texts, for a tag over 32 characters, and for a list of more than 32."""
    if values is None:
        return ()
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise BadRequest(f"{name} must be an array of strings", param=name)
    if len(values) > MAX_TAGS:
        raise BadRequest(f"{name} must hold at most {MAX_TAGS} tags", param=name)
    tags = dict.fromkeys(canonical_tag(value, f"{name}[{at}]") for at, value in enumerate(values))
    tags.pop("", None)
    return tuple(tags)


def canonical_tag(value: object, name: str) -> str:
    """One tag in its form, "" where nothing is left of it."""
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be a string", param=name)
    tag = _form(value[: MAX_GIVEN + 1])
    if len(value) > MAX_GIVEN or len(tag) > MAX_TAG:
        raise BadRequest(f"{name} must have at most {MAX_TAG} characters", param=name)
    return tag


def _form(text: str) -> str:
    folded = nfc(nfc(text).lower())
    # White space first: a line break is a control character and a border of words as well.
    joined = "-".join(folded.split())
    # Control, bidi, surrogate and unassigned characters have no place in a line that is shown.
    plain = "".join(char for char in joined if not unicodedata.category(char).startswith("C"))
    return nfc(plain.strip("-"))
