"""Part a message's text and its view into runs, and find the way back to what was posted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memtree.history.posted_json import Spelling, canonical
from memtree.text import terminal
from memtree.text.terminal import Shown

ATTACHED = "attached"  # kind of a segment


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of a message's text, [start, end) in characters. `kind`: text, media, name, call,
    attached.

    Only `text`, `call` and `attached` segments occur verbatim in the posted JSON, so only they are
    quoted. `part` names the posted string of such a segment, as in `content[0]`.
    """

    start: int
    end: int
    kind: str
    part: str = ""

    @property
    def quotable(self) -> bool:
        return self.kind in ("text", "call", ATTACHED)


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of a view, [start, end), and where it begins in the posted text. `spelling`: set if the
    posted text is spelled differently, so its length may differ. `seam`: the run goes on where the
    one before it ended, after this text of the view; None if it does not."""

    start: int
    end: int
    posted: int
    segment: Segment
    spelling: Spelling | None = None
    seam: str | None = None

    def clipped(self, start: int, end: int) -> PostedSpan:
        """Return the part inside [start, end) of the view."""
        low, high = max(start, self.start), min(end, self.end)
        at, low, high = low, low - self.start, high - self.start
        if self.spelling is not None:
            low, high = self.spelling.span(low, high)
        return PostedSpan(at, self.posted + low, self.posted + high)


class PostedSpan(NamedTuple):
    """Characters [start, end) of a posted text, which begin at `view` in its view."""

    view: int
    start: int
    end: int


class QuotableRun(NamedTuple):
    """Characters [start, end) of a view, which were posted in one string as `spans`."""

    start: int
    end: int
    segment: Segment
    spans: Sequence[PostedSpan]


def view_pieces(
    text: str, segments: Sequence[Segment], cuts: Sequence[tuple[int, int]]
) -> tuple[tuple[Piece, ...], str]:
    """Return the runs of a message's view and their text. `cuts`: what the view leaves out."""
    drawn = _drawn(text, segments)
    if not cuts and not drawn and len(segments) == 1:  # no call, which has a name and arguments
        return tuple(Piece(s.start, s.end, s.start, s) for s in segments), text
    pieces: list[Piece] = []
    texts: list[str] = []
    at = 0
    for segment, (start, end, seam) in _uncut(segments, drawn, cuts):
        run, spelling = text[start:end], None
        is_arguments = segment.part and segment.kind not in ("text", ATTACHED)
        if is_arguments and (compact := canonical(run)) != run:
            run, spelling = compact, Spelling(run, compact)
        if seam:  # text of the view that was not posted
            pieces.append(Piece(at, at + len(seam), start, _SEAM, seam=""))
            texts.append(seam)
            at += len(seam)
        pieces.append(Piece(at, at + len(run), start, segment, spelling, seam))
        texts.append(run)
        at += len(run)
    return tuple(pieces), "".join(texts)


_SEAM = Segment(0, 0, "seam")


def _drawn(text: str, segments: Sequence[Segment]) -> dict[int, Sequence[Shown]]:
    """Return what a terminal shows of each text that it would not show as posted, by its start."""
    drawn = {}
    for segment in segments:
        if segment.kind == "text":
            spans = terminal.shown(text[segment.start : segment.end])
            if spans is not None:
                drawn[segment.start] = spans
    return drawn


def _uncut(
    segments: Iterable[Segment],
    drawn: Mapping[int, Sequence[Shown]],
    cuts: Sequence[tuple[int, int]],
) -> Iterator[tuple[Segment, Shown]]:
    """Yield the runs of segments outside of all cuts. `drawn`: the only spans of a segment that
    stay, by its start."""
    cut = 0
    for segment in segments:
        whole = (Shown(0, segment.end - segment.start),)
        for index, span in enumerate(drawn.get(segment.start, whole)):
            at, stop = segment.start + span.start, segment.start + span.end
            seam = span.seam if index else None
            while cut < len(cuts) and cuts[cut][0] < stop:
                start, end = cuts[cut]
                if start > at:
                    yield segment, Shown(at, start, seam)
                if end > at:
                    seam = None
                at = max(at, min(end, stop))
                if end > stop:  # the cut continues behind
                    break
                cut += 1
            if at < stop:
                yield segment, Shown(at, stop, seam)
