"""Count the speakers of a transcript, and find what one of them says.

A question that names a speaker is mostly answered by that speaker's messages, while the name itself
stands in all of these and in every greeting, and so does not distinguish them.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from memtree.text import terms
from memtree.text.speakers import tag

NAME_BYTES = 200  # estimate for a tag and its number
TURNS = 5  # messages with a tag that make it a speaker
SHARE = 0.5  # share of messages with a speaker's tag that makes a history a transcript


class Speakers:
    """The speaker of each message, in order. Never changed: `extended` returns others."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {"": 0}
        self._counts = [0]
        self._often: dict[str, int] = {}  # names with `TURNS` messages or more, and their numbers
        self._of = array("i")
        self._tagged = bytearray()  # 1 if the text begins with the name

    def __len__(self) -> int:
        return len(self._of)

    @property
    def nbytes(self) -> int:
        """Estimated size in bytes."""
        return NAME_BYTES * len(self._names) + (self._of.itemsize + 1) * len(self._of)

    def extended(self, texts: Iterable[str], names: Iterable[str] = repeat("")) -> Speakers:
        """Return them with those of further messages. `names`: as `participant` returns them;
        without one the text's own tag counts."""
        grown = copy(self)
        grown._names, grown._counts = dict(self._names), list(self._counts)
        grown._often, grown._of, grown._tagged = dict(self._often), self._of[:], self._tagged[:]
        for text, name in zip(texts, names, strict=False):
            grown._tagged.append(not name)
            name = name.lower() or tag(text)
            number = grown._names.setdefault(name, len(grown._counts))
            if number == len(grown._counts):
                grown._counts.append(0)
            grown._counts[number] += 1
            if number and grown._counts[number] == TURNS:
                grown._often[name] = number
            grown._of.append(number)
        return grown

    def named(self, query: Collection[int]) -> Mapping[int, frozenset[int]]:
        """Return the speakers that a query names, each with the terms of the name. `query`: its
        terms. A first name is enough. Returns no speakers if the history is no transcript."""
        if not self._is_transcript():
            return {}
        speakers = {}
        for name, number in self._often.items():
            own = list(terms.terms(name))
            if own and own[0] in query:
                speakers[number] = frozenset(own)
        return speakers

    def begins_with_name(self, message: int) -> bool:
        """Return True if a message of a transcript begins with the name of a frequent speaker."""
        return (
            message < len(self)
            and bool(self._tagged[message])
            and self._is_transcript()
            and self._of[message] in set(self._often.values())
        )

    def _is_transcript(self) -> bool:
        turns = sum(self._counts[number] for number in self._often.values())
        return turns >= SHARE * max(1, len(self))

    def says(self, speaker: int, messages: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return a mask of the speaker's messages; False for messages not read yet."""
        by_message = np.zeros(int(messages.max(initial=-1)) + 1, np.int32)
        known = min(len(self), len(by_message))
        by_message[:known] = np.frombuffer(self._of, np.int32, known) if known else 0
        return np.asarray(by_message[messages] == speaker)
