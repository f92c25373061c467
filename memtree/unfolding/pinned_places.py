"""Find the places that a person pinned on the page of a tree: stored without text, verified by its
hash.

A place names a string of a posted message and characters of it, as an excerpt in `explain` does.

    >>> places = read_places(written([PinnedPlace(3, "content", 0, 5, "ab" * 32)]))
    >>> places[0].message, places[0].end
    (3, 5)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from hashlib import sha256

import msgspec

from memtree.history.chat_history import History
from memtree.unfolding.memory_plan import TextSpan

MOST = 20  # for one conversation


class PinnedPlace(msgspec.Struct, frozen=True, array_like=True):
    """Code points [start, end) of the string at `part` of posted message `message`; `sha256`: of
    this text in UTF-8, in hex."""

    message: int
    part: str
    start: int
    end: int
    sha256: str


_encoder = msgspec.json.Encoder()
_places = msgspec.json.Decoder(tuple[PinnedPlace, ...])


def written(places: Iterable[PinnedPlace]) -> str:
    """Encode places for the store; "" for none."""
    listed = list(places)
    return _encoder.encode(listed).decode() if listed else ""


def read_places(stored: str) -> tuple[PinnedPlace, ...]:
    """Decode stored places. Returns none if they cannot be decoded: a later version may store
    another form."""
    try:
        return _places.decode(stored) if stored else ()
    except msgspec.MsgspecError:
        return ()


def pinned_spans(history: History, places: Iterable[PinnedPlace]) -> Iterator[TextSpan]:
    """Yield the spans of the places whose text is still in the history, newest first."""
    for place in sorted(places, key=lambda each: (each.message, each.start), reverse=True):
        index = bisect_left(history.posted, place.message)
        if history.posted[index : index + 1] != (place.message,):
            continue
        message, view = history.messages[index], history.view(index)
        text = (message.string_at(place.part) or "")[place.start : place.end]
        if sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != place.sha256:
            continue
        at, end = _found(text, view.text)
        if at >= 0:
            yield TextSpan(index, at, end)


def _found(text: str, view: str) -> tuple[int, int]:
    """Return the (start, end) of a text in a view, whose arguments of calls are JSON; start is -1
    if the text is not there."""
    spelled = msgspec.json.encode(text).decode()[1:-1]
    for form in (text, spelled):
        if form and (at := view.find(form)) >= 0:
            return at, at + len(form)
    return -1, -1
