"""The title of a conversation as its memory message shows it: made of the messages before the cut.

A name that somebody typed may change within an epoch, and so is not shown. What this file does not
do: read the messages (`extraction.conversation_title`).
"""

from __future__ import annotations

from memtree.conversation.history import History
from memtree.digests.conversation_title import MESSAGES, READ, title
from memtree.process.bounded import SizedRows

_KEPT = 500_000  # bytes of titles
_ROW = 300  # bytes of a title beside its text, about

# A title takes milliseconds, and a plan is rendered with each request. The address is made of the
# messages that the title is made of, and of the tenant.
_TITLES: SizedRows[bytes, str] = SizedRows(_KEPT, lambda _, line: _ROW + 4 * len(line))


def beginning_title(history: History, cut: int) -> str:
    """The title of the first `cut` messages; empty where they have no words that tell something."""
    first = min(cut, len(history), MESSAGES)
    address = history.addresses[first]
    known = _TITLES.get(address)
    if known is None:
        known = title(history.beginning(first, READ))
        _TITLES.put(address, known)
    return known


def forget() -> None:
    """Drop all titles: of a deleted conversation no word stays in this process."""
    _TITLES.clear()
