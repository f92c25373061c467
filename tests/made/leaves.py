"""Extracts of leaves, made once for all tests of a module.

Tests of what stands above the tree fold the same long histories again and again, and half of their
time went into reading the same leaves. What is extracted from a leaf depends on its passages alone
(tests of `memtree.digests` and of the tree, which do without this, look after that).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from memtree.tree import extraction
from memtree.tree.extraction import LeafExtract, MessageTexts
from memtree.tree.node import Passage

READ_ANEW = re.compile(
    r"caches|ceilings|_work\b"
)  # in the path of a test that is about such reading


@contextmanager
def leaves_read_once() -> Iterator[None]:
    """Keep every extract to the end of this context."""
    kept: dict[Hashable, LeafExtract] = {}
    extract = extraction.leaf_extract

    def once(passages: Sequence[Passage], first: int, texts: MessageTexts) -> LeafExtract:
        views = [texts.view(first + passage.message) for passage in passages]
        key = tuple(passages), tuple((view.message.raw, view.text, view.own) for view in views)
        if key not in kept:
            kept[key] = extract(passages, first, texts)
        return kept[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extraction, "leaf_extract", once)
        yield
