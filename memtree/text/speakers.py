"""Find the speakers of a transcript, in which messages begin with a name and a colon.

Group chats and recorded talks have the speaker in the text. A question that names a speaker is
mostly answered by that speaker's messages, while the name itself stands in all of these and in
every greeting, and so does not distinguish them.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from memtree.text import terms

REACH = 120  # characters of a message searched for its tag
NAME_BYTES = 200  # estimate for a tag and its number
TURNS = 5  # messages with a tag that make it a speaker
SHARE = 0.5  # share of messages with a speaker's tag that makes a history a transcript
_TAG = re.compile(
    r"\s{0,8}(?:\[[^\]\n]{0,60}\]\s{0,8})?[*<]{0,2}(?P<name>[^\W\d_][\w .'’-]{0,39})[*>]{0,2}"
    r"(?:[ ]?\([^)\n]{0,30}\))?[*]{0,2}[:：](?!/)"
)


def speaker(text: str) -> str:
    """Return the name that a message begins with, or ""."""
    match = _TAG.match(text, 0, min(len(text), REACH))
    return match["name"].strip() if match else ""


def tag(text: str) -> str:
    """Return the name that a message begins with, in lower case, or "".

    >>> tag("[1:56 pm] Ada: Hello"), tag("**Ada** (10:02): Hello"), tag("Hello Ada")
    ('ada', 'ada', '')
    """
    return speaker(text).lower()


class Speakers:
    """The speaker of each message, in order; append-only."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {"": 0}
        self._counts = [0]
        self._often: dict[str, int] = {}  # names with `TURNS` messages or more, and their numbers
        self._of = array("i")

    def __len__(self) -> int:
        return len(self._of)

    @property
    def nbytes(self) -> int:
        """Estimated size in bytes."""
        return NAME_BYTES * len(self._names) + self._of.itemsize * len(self._of)

    def extend(self, texts: Iterable[str]) -> None:
        """Read the tags of further messages."""
        for text in texts:
            name = tag(text)
            number = self._names.setdefault(name, len(self._counts))
            if number == len(self._counts):
                self._counts.append(0)
            self._counts[number] += 1
            if number and self._counts[number] == TURNS:
                self._often[name] = number
            self._of.append(number)

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
