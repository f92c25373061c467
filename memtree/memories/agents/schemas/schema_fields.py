"""Check the fields that a schema has beside its document."""

from __future__ import annotations

from collections.abc import Sequence

from memtree.errors import BadRequest, SecretRejected
from memtree.memories.fields.secret_check import refuse_secrets

MAX_DESCRIPTION_CHARS = 2_000


def checked_unique_on(names: Sequence[str]) -> tuple[str, ...]:
    """Without repetitions. That they are properties, `limits` sees to."""
    return tuple(dict.fromkeys(names))


def checked_description(text: str) -> str:
    """Raises `BadRequest` and `SecretRejected` naming the field."""
    if len(text) > MAX_DESCRIPTION_CHARS:
        raise BadRequest(
            f"description has {len(text)} characters; at most {MAX_DESCRIPTION_CHARS} are kept",
            param="description",
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadRequest(
            "description holds half a character (a lone surrogate)", param="description"
        ) from None
    if "\0" in text:
        raise BadRequest("description holds a NUL character", param="description")
    try:
        refuse_secrets(text)
    except SecretRejected as error:
        raise SecretRejected(f"description: {error.message}", param="description") from None
    return text
