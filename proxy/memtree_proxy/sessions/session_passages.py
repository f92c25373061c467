"""Passages of a session, which are searched and quoted.

Texts of people and models are split at paragraphs and searched by words and meaning. A tool call
and its result are one passage each, searched by words only, since the vector of a log says little
of its lines. The same messages always give the same passages, so an index stores no positions.
Secrets are masked in whole messages, before they are split or indexed.

    >>> [each.text for each in passages([{"role": "user", "content": "Why does it fail?"}])]
    ['Why does it fail?']
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from memtree.history.volatile_blocks import Volatile
from memtree.ranking.ranking_query import ends
from memtree.ranking.segments import segments
from memtree.text import secrets, terms
from memtree.text.thoughts import without_thoughts
from memtree_proxy.imports.conversation import Fields, fields, listed, text, words

MAX_PASSAGES = 20_000  # of a session, the newest
SPOKEN_CHARS = 20_000  # of a message, half from each end
TOOL_CHARS = 6_000  # of a call or a result
PASSAGE_CHARS = 500
MEANT = 4  # passages of a message that get a vector: each takes 20 ms of a core
QUOTE_CHARS = 600
OWN_TOOL = "search_sessions"  # its results quote other passages
CUT = "[...]"
_AGENTS_OWN = (
    "<user_instructions>",
    "<permissions",
    "<INSTRUCTIONS>",
    "Caveat: The messages below",
)


class SessionPassage(NamedTuple):
    """`message`: its number among those that `memtree import --whole` writes. `piece`: number of
    the piece within the message's text; None for a call or a result."""

    message: int
    role: str
    text: str
    piece: int | None = None

    @property
    def meant(self) -> bool:
        """Return True if it is searched by meaning, too."""
        return self.piece is not None and self.piece < MEANT


def passages(messages: Sequence[Fields]) -> list[SessionPassage]:
    """Return all passages of a session, in order."""
    own: set[str] = set()
    pieces: list[SessionPassage] = []
    for number, message in enumerate(messages):
        pieces += _of_message(number, message, own)
    return pieces[-MAX_PASSAGES:]


def _of_message(number: int, message: Fields, own: set[str]) -> Iterator[SessionPassage]:
    """Yield the passages of a message. `own`: ids of calls of our own tool so far."""
    role = text(message.get("role"))
    said = words(message)
    if role == "assistant":
        said = without_thoughts(said)
    said = secrets.mask(Volatile().strip(said))
    if role == "tool":
        if message.get("tool_call_id") not in own and said.strip():
            yield SessionPassage(number, role, ends(said, TOOL_CHARS))
        return
    if not said.lstrip().startswith(_AGENTS_OWN):
        for at, piece in enumerate(_cut(ends(said, SPOKEN_CHARS))):
            yield SessionPassage(number, role, piece, at)
    for call in listed(message.get("tool_calls")):
        name = text(fields(call.get("function")).get("name"))
        if name.endswith(OWN_TOOL):
            own.add(text(call.get("id")))
            continue
        given = text(fields(call.get("function")).get("arguments"))
        shown = secrets.mask(f"{name} {given}".replace("\\n", "\n").replace('\\"', '"'))
        yield SessionPassage(number, role, ends(shown, TOOL_CHARS))


def _cut(said: str) -> Iterator[str]:
    """Yield the text in pieces of whole paragraphs and sentences, if these are short enough."""
    piece = ""
    for part in _parts(said, PASSAGE_CHARS):
        if piece.strip() and len(piece) + len(part) > PASSAGE_CHARS:
            yield piece
            piece = ""
        piece += part
    if piece.strip():
        yield piece


def _parts(said: str, most: int) -> Iterator[str]:
    """Yield segments, with long ones split at a line or a word."""
    for segment in segments(said):
        at = 0
        while len(segment) - at > most:
            half, end = at + most // 2, at + most
            end = max(segment.rfind("\n", half, end), segment.rfind(" ", half, end), half - 1) + 1
            yield segment[at:end]
            at = end
        yield segment[at:]


def quotation(passages: Sequence[SessionPassage], row: int, wanted: Mapping[int, int]) -> str:
    """Return a passage of a session, or the part of it with the most `wanted` terms; `[...]` marks
    omitted text of its message."""
    passage = passages[row]
    parts = list(_parts(passage.text, QUOTE_CHARS // 2))
    scores = [len(terms.terms(part).keys() & wanted.keys()) for part in parts]
    first = last = max(range(len(parts)), key=scores.__getitem__)
    room = QUOTE_CHARS - len(parts[first])
    while True:
        behind = len(parts[last + 1]) if last + 1 < len(parts) else room + 1
        before = len(parts[first - 1]) if first else room + 1
        if behind <= room:
            last, room = last + 1, room - behind
        elif before <= room:
            first, room = first - 1, room - before
        else:
            break
    shown = "".join(parts[first : last + 1]).strip()
    piece, after = passage.piece, passages[row + 1] if row + 1 < len(passages) else None
    goes_on = piece is not None and after is not None and (after.message, after.piece) == (
        passage.message, piece + 1
    )  # fmt: skip
    head = f"{CUT} " if first or piece else ""
    return f"{head}{shown}{f' {CUT}' if goes_on or last + 1 < len(parts) else ''}"
