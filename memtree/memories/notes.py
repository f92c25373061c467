"""Notes for a model about what the user's newest message asks of the memory, beside its memories.

A note is a line like those of memories, with an id that says all of its text, which is ours: so an
epoch that sent it finds it again, and nothing that anybody said is stored with it.

    >>> line = note("overview", "00ff", 3, 8)
    >>> of(line.memory.id) == line, of("mem_00"), of("note:unknown:00")
    (True, None, None)
"""

from __future__ import annotations

from typing import NamedTuple

from memtree.memories.memory import Memory
from memtree.text.memory_lines import NOTE_ID, LineKind, MemoryLine, MemoryVersion

FORGOTTEN, SHORTENED, SEVERAL = "forgotten", "shortened", "several"
NONE, OVERVIEW = "none", "overview"
_NEWEST = "When this was added, the user's newest message asked "
_TEXTS = {
    FORGOTTEN: _NEWEST + "to forget something, and the one saved memory that it is about has been "
    "deleted. You can confirm that.",
    SHORTENED: _NEWEST + "to forget something. It has been taken out of the one saved memory that "
    "it is about; what else that says stays saved. You can confirm that.",
    SEVERAL: _NEWEST + "to forget something. Several saved memories may be meant, or one that says "
    "more than that, all listed among the known facts, so nothing has been deleted. Ask which: "
    '"forget that ...", with all the words of that memory, deletes it.',
    NONE: _NEWEST
    + "to forget something, or said that something is true no longer. No saved memory "
    "is clearly what is meant, so none has been deleted. If saved memories are meant, say so and "
    "ask which.",
    OVERVIEW: _NEWEST + "what is remembered of them. The known facts listed here, by category, are "
    "{0} of the {1} saved memories: tell them what these say{2}.",
}
_MORE = ", and that there are more"


class Wish(NamedTuple):
    """`what` a message asks or got: a kind of note. `digest`: hex, of the message. `shown`:
    memories to be shown for that. `room`: tokens of an overview."""

    what: str
    digest: str
    shown: tuple[Memory, ...] = ()
    room: int = 0


def note(what: str, digest: str, listed: int = 0, total: int = 0) -> MemoryLine:
    """Return the line of a note. `listed`, `total`: memories of an overview."""
    more = _MORE if total > listed else ""
    text = _TEXTS[what].format(listed, total, more)
    id_ = f"{NOTE_ID}{what}:{digest[:16]}:{listed}:{total}"
    return MemoryLine(MemoryVersion(id_, 1), text, LineKind.NOTE)


def of(id_: str) -> MemoryLine | None:
    """Return the line of a note with this id; None if it is none."""
    parts = id_.removeprefix(NOTE_ID).split(":")
    if not id_.startswith(NOTE_ID) or len(parts) != 4 or parts[0] not in _TEXTS:
        return None
    return note(parts[0], parts[1], int(parts[2]), int(parts[3]))
