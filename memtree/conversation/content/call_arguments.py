"""Canonical form of the arguments of tool calls, and the mapping back to the posted text.

Clients re-serialise the arguments that a model wrote: `{"path": "a"}` comes back as `{"path":"a"}`,
an escape as its character, `1.0` as `1`. So arguments that are a JSON object are hashed and indexed
as compact JSON with the keys in their order. Excerpts quote the posted text: `Spelling` maps
characters of the compact form to those of the posted string.

    >>> canonical('{"path": "caf\\\\u00e9", "line": 1.0}')
    '{"path":"café","line":1}'
    >>> canonical("not JSON")
    'not JSON'
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import msgspec

# Applied only to valid JSON, so a string is always closed; possessive, so it never backtracks.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]:,]|[^\s{}\[\]:,"]++', re.DOTALL)
_WHOLE = re.compile(r'"(?:[^"\\]++|\\.)*+"|(-?[0-9]++)\.0(?![0-9eE])', re.DOTALL)


def canonical(arguments: str) -> str:
    """Return compact JSON if `arguments` is the text of a JSON object, else `arguments` itself.

    Two texts with the same canonical form hold the same values under the same keys in the same
    order. An object with a duplicate key is left unchanged.
    """
    if not arguments.lstrip(" \t\r\n").startswith("{"):
        return arguments
    try:
        value = msgspec.json.decode(arguments)
        compact = msgspec.json.encode(value).decode()
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError, OverflowError):
        return arguments
    if ".0" in compact:  # JavaScript does not distinguish 1.0 from 1
        compact = _WHOLE.sub(_integer, compact)
    if compact == arguments:
        return arguments
    same = sum(1 for _ in _TOKEN.finditer(arguments)) == sum(1 for _ in _TOKEN.finditer(compact))
    return compact if same else arguments  # fewer tokens: there was a duplicate key


def _integer(match: re.Match[str]) -> str:
    whole = match[1]
    if whole is None:  # a string
        return match[0]
    return "0" if whole == "-0" else whole


@dataclass(frozen=True)  # without slots, since the tokens are cached properties
class Spelling:
    """The posted text of a JSON object beside its compact form, token by token."""

    posted: str
    compact: str

    @cached_property
    def _posted(self) -> tuple[tuple[int, int], ...]:
        return tuple(match.span() for match in _TOKEN.finditer(self.posted))

    @cached_property
    def _compact(self) -> tuple[tuple[int, int], ...]:
        return tuple(match.span() for match in _TOKEN.finditer(self.compact))

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return tuple(start for start, _ in self._compact)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the posted characters for the compact characters [start, end), start <
        end. A token with a different spelling is included whole.
        """
        return self._posted_at(start, first=True), self._posted_at(end - 1, first=False)

    def _posted_at(self, offset: int, *, first: bool) -> int:
        """Return where the posted form of one compact character begins or ends."""
        token = bisect_right(self._starts, offset) - 1
        low, high = self._compact[token]
        posted_low, posted_high = self._posted[token]
        if self.compact[low:high] == self.posted[posted_low:posted_high]:
            return posted_low + offset - low + (0 if first else 1)
        return posted_low if first else posted_high
