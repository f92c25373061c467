"""The title of a conversation in its memory message, made from the messages before the cut.

A name that a person typed may change within an epoch, and so is not shown.
"""

from __future__ import annotations

from memtree.conversation.history import History
from memtree.digests.conversation_title import MESSAGES, title
from memtree.process.bounded import SizedRows

_KEPT = 500_000  # bytes of titles
_ROW = 300  # bytes of a title besides its text, about

# Making a title may take milliseconds, and a plan is rendered with each request. The address
# depends on the messages that the title is made from, and on the tenant.
_TITLES: SizedRows[bytes, str] = SizedRows(_KEPT, lambda _, line: _ROW + 4 * len(line))


def beginning_title(history: History, cut: int) -> str:
    """Return the title of the first `cut` messages; "" if they hold no request."""
    first = min(cut, len(history), MESSAGES)
    address = history.addresses[first]
    known = _TITLES.get(address)
    if known is None:
        known = title(history.first_request(first))
        _TITLES.put(address, known)
    return known


def forget() -> None:
    """Drop all titles, so that no word of a deleted conversation stays in this process."""
    _TITLES.clear()
