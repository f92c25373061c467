"""Speaker and day of each message of a history, as plans store them.

A plan stores numbers, no text: whether an excerpt begins with its speaker's name, and the ordinal
of its day. So its text stays the same when messages are added to the history.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from memtree.history.chat_history import History
from memtree.history.message import MESSAGE_OVERHEAD
from memtree.history.message_days import message_days
from memtree.ranking.ranked_history import RankedHistory
from memtree.ranking.speakers import Speakers
from memtree.tree.node import NodePlace
from memtree.unfolding.memory_plan import TextSpan

# Mean tokens of a message. In talk, lines and paths cost 1.5 to 2.5 points of evidence recall.
TALK, SHORT_TALK = 60, 25
FEW = 8  # messages of the assistant that are examined, the first ones


@dataclass(frozen=True, slots=True)
class Turns:
    """`days`: the proleptic ordinal of each message's day, 0 if unknown; may be shorter than the
    history. `mean`: mean tokens of a message."""

    speakers: Speakers
    days: Sequence[int]
    mean: float

    @classmethod
    def of(cls, ranked: RankedHistory) -> Turns:
        history = ranked.history
        mean = history.tokens / max(1, len(history)) - MESSAGE_OVERHEAD
        return cls(ranked.corpus.speakers, message_days(history), mean)

    @property
    def are_talk(self) -> bool:
        """Return True if messages are as short as in talk between people."""
        return self.mean < TALK

    @property
    def are_short(self) -> bool:
        """Return True if messages are as short as in messengers."""
        return self.mean < SHORT_TALK

    def are_of_people(self, history: History) -> bool:
        """Return True if the assistant's messages begin with a speaker's name, too: then it is a
        record of people talking to each other, in which nobody asks a model for anything."""
        theirs = (at for at, fact in enumerate(history.facts) if fact.role == "assistant")
        first = list(islice(theirs, FEW))
        named = sum(map(self.speakers.begins_with_name, first))
        return named > len(first) // 2

    def days_in(self, place: NodePlace) -> dict[str, int]:
        """Return the first and the last day of a node, as fields of an `OutlineNode`."""
        if not self.days:
            return {}
        return {"first_day": self.day(place.first), "last_day": self.day(place.last)}

    def named(self, spans: Sequence[TextSpan]) -> bytes:
        """Return a byte for each span, 1 if it begins with its speaker's name; b"" if none does."""
        begins = self.speakers.begins_with_name
        named = bytes(not span.start and begins(span.message) for span in spans)
        return named if any(named) else b""

    def days_of(self, spans: Sequence[TextSpan]) -> tuple[int, ...]:
        """Return the day of each span; () if no message has one."""
        return tuple(self.day(span.message) for span in spans) if any(self.days) else ()

    def day(self, message: int) -> int:
        return self.days[message] if message < len(self.days) else 0
