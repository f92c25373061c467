"""Count tokens and cache markers of raw fields that a client repeats in each request: 78 kB of
tools take some milliseconds to count, and microseconds to look up.

The cache holds digests and two numbers, no text. A digest is xxh3-128 with a seed of the process,
so nobody can predict it; whoever has the same fragment learns only its size.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

import xxhash

from memtree.history.cache_control import MOST
from memtree.history.json_body import Body
from memtree.process.bounded import SizedRows
from memtree.text import tokens

MOST_BYTES = 512 * 1024
ROW_BYTES = 250
SHORT = 64  # bytes: a shorter fragment is counted as fast as looked up


class FragmentCount(NamedTuple):
    tokens: int
    markers: int


class FragmentCounts:
    """Cache of counts, at most `most` bytes, with least recently used eviction. Thread-safe."""

    def __init__(self, seed: int, most: int = MOST_BYTES) -> None:
        """Create an empty cache. `seed`: random per process."""
        self._seed = seed
        self._rows: SizedRows[bytes, FragmentCount] = SizedRows(most, lambda *_: ROW_BYTES)

    @property
    def nbytes(self) -> int:
        """Estimated size in bytes."""
        return self._rows.nbytes

    def of(self, fragment: bytes) -> FragmentCount:
        """Count a field's raw JSON in UTF-8."""
        if len(fragment) < SHORT:
            return _counted(fragment)
        key = xxhash.xxh3_128_digest(fragment, self._seed)
        count = self._rows.get(key)
        if count is None:
            count = _counted(fragment)
            self._rows.put(key, count)
        return count


def _counted(fragment: bytes) -> FragmentCount:
    return FragmentCount(tokens.count(fragment.decode()), fragment.count(b'"cache_control"'))


COUNTS = FragmentCounts(secrets.randbits(64))  # of this process


def tools_tokens(body: Body) -> int:
    """Count the tokens of the window that the serialized tools take."""
    names = ("tools", "functions", "response_format")
    fragments = [fragment for name in names if (fragment := body.fragment(name))]
    counted = (fragment for fragment in fragments if fragment not in (b"null", b"[]"))
    return sum(COUNTS.of(fragment).tokens for fragment in counted)


def markers(body: Body) -> int:
    """Count the cache markers among the tools. With a marker beside the messages the provider sets
    its own markers, so there is no room for another."""
    if (own := body.fragment("cache_control")) and own != b"null":
        return MOST
    fragments = (body.fragment(name) for name in ("tools", "functions"))
    return sum(COUNTS.of(fragment).markers for fragment in fragments if fragment)
