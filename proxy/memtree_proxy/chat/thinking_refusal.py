"""Recognise an upstream's error about thinking that does not belong to its prompt.

Some models sign their thinking together with the whole prompt before it. Thinking produced after a
fold is refused if the same history is sent unfolded, and the other way round.

    >>> is_about_thinking(400, b'{"error": {"message": "Invalid signature in thinking block. The '
    ...     b'block is bound to a different conversation."}}')
    True
"""

from __future__ import annotations

from collections.abc import Mapping

from memtree.history.json_body import Body

STATUS = 400
LONGEST = 16 * 1024  # bytes of an error that are searched
_SUBJECT = "thinking"
_REASONS = ("bound to a different conversation", "cannot be modified")
# Fields in which a client asks to drop or keep such blocks
_FIELD, _FIELDS = b"block_binding", ("thinking", "context_management")
_BETAS, _BETA = "anthropic-beta", "binding"


def is_about_thinking(status: int, body: bytes) -> bool:
    """Return True if an upstream refused a request because of its thinking. `body`: decoded; its
    beginning is enough."""
    if status != STATUS:
        return False
    text = body[:LONGEST].decode("utf-8", "replace").lower()
    return _SUBJECT in text and any(reason in text for reason in _REASONS)


def is_the_client_s(body: Body, headers: Mapping[str, str]) -> bool:
    """Return True if the client itself has specified how to handle such thinking."""
    if _BETA in headers.get(_BETAS, ""):
        return True
    named = _FIELD.decode() in body.spans
    return named or any(_FIELD in (body.fragment(name) or b"") for name in _FIELDS)
