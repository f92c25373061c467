"""The title of a conversation in its memory message, made from the messages before the cut.

A name that a person typed may change within an epoch, and so is not shown.
"""

from __future__ import annotations

from memtree.digests.conversation_title import MESSAGES, title
from memtree.history.chat_history import History

_ROW = 300  # bytes of a title with its text, about


def beginning_title(history: History, cut: int) -> str:
    """Return the title of the first `cut` messages; "" if they hold no request."""
    first = min(cut, len(history), MESSAGES)
    titles = history.derived.row("titles", first + 1)  # by the number of messages
    if titles[first] is None:
        titles[first] = title(history.first_request(first))
        history.derived.found_bytes += _ROW
    return str(titles[first])
