"""Caches of the process that hold words and lines of posted text, of all tenants together. They are
cheap to fill again, so a deletion empties them for everybody.
"""

from __future__ import annotations

from memtree.digests.leaf_work import printed
from memtree.text.anchors import token_kind
from memtree.text.terms import is_common
from memtree.unfolding.memory_message_memory_text import line_topic


def forget() -> None:
    """Empty these caches."""
    for cached in (line_topic, is_common, token_kind, printed):
        cached.cache_clear()
