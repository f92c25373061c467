"""What the newest message of the user asks, as a query for memories.

The history may be one that nobody has checked: context memory can be off.
"""

from __future__ import annotations

from collections.abc import Sequence

from memtree.conversation.message import Message, Volatile
from memtree.errors import BadRequest
from memtree.ranking import query_text


def user_query(messages: Sequence[Message], volatile: Volatile) -> str:
    """Its own words, without what clients put between them; the ends of a long one. "" where there
    are none."""
    try:
        newest = next((one for one in reversed(messages) if one.role == "user"), None)
    except BadRequest:
        return ""
    return query_text.ends(volatile.strip(_words(newest.content))) if newest else ""


def _words(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))
