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
        for one in reversed(messages):
            if one.role != "user" or one.aside:
                continue
            said = volatile.strip(_words(one.content))
            if (
                said.strip() or not one.joined
            ):  # a reminder behind the results of tools asks nothing
                return query_text.ends(said)
    except BadRequest:
        pass
    return ""


def _words(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))
