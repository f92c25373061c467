r"""Cut a history into leaves, and a document into passages, by structure and cohesion. Lossless.

A history is cut in two steps, both from text alone (never from embeddings), so that every kind of
install finds the same leaves:

1. Each message is cut into *blocks* by its own structure, whatever stands around it: fences,
   headings, paragraphs, functions, sentences, lines. A block becomes a passage of a leaf.
2. From a leaf's start, the end is the strongest border that gives 300-900 tokens and, where these
   are in them, at most 20 messages: structure first, then the weakest cohesion between the words
   before and after. It depends on nothing but the text from the leaf's start to 900 tokens after
   it; so a leaf is final as soon as these are there, borders fall in step again soon after an edit,
   and indexing message by message equals indexing at once.

Summaries are made in `digests/summarize.py`, leaves are grouped in `btree.py`.

A document is split into passages: blocks of the same chunker, joined until each is informative by
itself. A passage fits into one line of a prompt and is read whole by an embedder: at most 1,000
bytes, about 250 tokens, and at least half of that if the structure of the text allows it. It ends
at a natural border: before a heading, else after a paragraph, else after a line or sentence.
Passages cover the text, so that it can be reassembled from them.

    >>> passages("# Ports\n\nStaging listens on 8090.\n")
    [(0, 34)]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple

from memtree.history.message import View
from memtree.text import terms, tokens
from memtree.tree import node

MIN_LEAF, MAX_LEAF = 300, 900  # tokens, DESIGN section 1
# Weights are UTF-8 bytes, about four to a token in any script: cheap where counting is not.
MOST_MESSAGES = 20  # in a leaf, if `MIN_LEAF` tokens do not need more messages
BLOCK = 560  # limit of a block: MiniLM reads most of a block of this size
STRETCH = 100_000  # characters of a line that are searched at once for ends of sentences
PARAGRAPH = 240  # a paragraph's end closes a block from this size on
UNIT = 5400  # a fence or JSON value up to this weight may fit into a leaf; then its tokens decide
CONTEXT = 3  # blocks on each side that cohesion compares

# Strength of the border before a block.
GLUED, LINE, PARAGRAPH_BORDER, HEADING, MESSAGE, ROUND, ASK = range(7)

_FENCE = re.compile(r"[`~](?:(?<=`)`{2,}|(?<=~)~{2,})")
# after the marker, on a line that closes a block of code
_REST_OF_FENCE = re.compile(r"[ \t`~]*+(?:\r\n?|\n|\Z)")
_LINE_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # as in `str.splitlines`
_HEADING = re.compile(r"#{1,6} \S|\*\*[^*\n]+\*\*:?[ \t]*\n")
_DEFINITION = re.compile(
    r"(?:@\w|(?:export |pub(?:lic)? |private |static |async |default )*"
    r"(?:def|class|function|func|fn|impl|struct|interface|type|enum|trait|module|mod)\b)"
)
_DEFINITION_BEGINS = "@epsadcfitm"  # first characters of a definition
_SENTENCE = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|(?<=[。！？])")
_KINDS = {"user": node.USER, "assistant": node.ASSISTANT, "tool": node.TOOL, "function": node.TOOL}


class Block(NamedTuple):  # created by the ten thousand, three times as fast as a dataclass
    """A run of one message's view: `message` is its index in the history; `border` is the
    strength of the border before it."""

    message: int
    start: int
    end: int
    tokens: int
    kind: int
    border: int
    terms: dict[int, int]


@dataclass(frozen=True, slots=True)
class LeafCut:
    """Blocks [first, end) make one leaf; it was final once block `seen` had been posted."""

    first: int
    end: int
    seen: int


class _BlockRun(NamedTuple):
    """A block before its tokens are counted."""

    message: int
    start: int
    end: int
    kind: int
    border: int
    text: str


def blocks(views: Sequence[View], first: int, skip: int) -> list[Block]:
    """Return the blocks of consecutive messages; the first message has index `first` in the history
    and is read from character `skip` of its view on."""
    runs = [
        run
        for offset, view in enumerate(views)
        for run in _message_runs(view, first + offset)
        if offset or run.start >= skip
    ]
    # A coding session shows the same text repeatedly: half of its blocks occurred before.
    distinct = list(dict.fromkeys(run.text for run in runs))
    sizes = dict(zip(distinct, tokens.count_many(distinct), strict=True))
    terms_by_text = {text: terms.terms(text) for text in distinct}
    counted = [sizes[run.text] for run in runs]
    borders = _loosened([run.border for run in runs], counted)
    return [
        Block(
            run.message,
            run.start,
            run.end,
            size,
            run.kind,
            border,
            terms_by_text[run.text],
        )
        for run, size, border in zip(runs, counted, borders, strict=True)
    ]


def blocks_of(leaf: node.Node, borders: bytes, first: int) -> list[Block]:
    """Return the blocks that a leaf was made of, which begins with message `first`, from its
    passages. `borders`: from `borders_of`."""
    return [
        Block(first + row.message, row.start, row.end, row.tokens, row.kind, border, counts)
        for row, border, counts in zip(
            leaf.passages, borders, terms.unpack(leaf.terms), strict=True
        )
    ]


def borders_of(blocks: Sequence[Block], leaf: node.Node) -> bytes:
    """Return the borders before the blocks of a leaf, for `blocks_of`; empty if its passages do not
    determine the blocks: packed counts have a limit."""
    if terms.is_capped(leaf.terms):
        return b""
    return bytes(block.border for block in blocks)


def _loosened(borders: list[int], sizes: Sequence[int]) -> list[int]:
    """Return borders that allow a cut inside units too large for a leaf."""
    first = 0
    for index in range(1, len(borders) + 1):
        if index < len(borders) and borders[index] == GLUED:
            continue
        if sum(sizes[first:index]) > MAX_LEAF:
            borders[first + 1 : index] = [LINE] * (index - first - 1)
        first = index
    return borders


def cuts(blocks: Sequence[Block]) -> Iterator[LeafCut]:
    """Yield final leaves, left to right. Blocks after the last one are not final yet."""
    start = 0
    while (seen := _lookahead(blocks, start)) is not None:
        end = _leaf_end(blocks, start, seen)
        yield LeafCut(start, end, seen)
        start = end


def _lookahead(blocks: Sequence[Block], start: int) -> int | None:
    """Return the first block that has 900 tokens before it, counted from `start`; None: not reached
    yet."""
    total = 0
    for index in range(start, len(blocks)):
        if total >= MAX_LEAF:
            return index
        total += blocks[index].tokens
    return None


def _leaf_end(blocks: Sequence[Block], start: int, seen: int) -> int:
    total, early, late = 0, 0, start + 1
    borders: list[tuple[int, int]] = []
    for index in range(start + 1, seen + 1):
        total += blocks[index - 1].tokens
        if total > MAX_LEAF:
            break
        late = index
        border = blocks[index].border
        if border == GLUED:
            continue
        if borders and blocks[index - 1].message - blocks[start].message >= MOST_MESSAGES:
            break
        if total < MIN_LEAF:
            early = index
        else:
            borders.append((-border, index))
    return _best(blocks, sorted(borders), start, seen) or early or late


def _best(
    blocks: Sequence[Block], borders: Sequence[tuple[int, int]], start: int, seen: int
) -> int:
    """Return the best of (-strength, index), strongest first: 0 if there is none. Of equal ones the
    first."""
    best, best_score = 0, 0.0
    for strength, index in borders:
        if 1 - strength < best_score:
            break  # cohesion adds less than one step of structure
        before = terms.merge(b.terms for b in blocks[max(start, index - CONTEXT) : index])
        behind = terms.merge(b.terms for b in blocks[index : min(seen + 1, index + CONTEXT)])
        score = 1 - strength - terms.similarity(before, behind)
        if score > best_score or (score == best_score and index < best):
            best, best_score = index, score
    return best


def _message_runs(view: View, message: int) -> Iterator[_BlockRun]:
    """Yield the blocks of one message. The border before its first block is the message's own."""
    role = view.message.role
    border = ASK if role == "user" else ROUND if role == "assistant" else MESSAGE
    kind = _KINDS.get(role, node.ASSISTANT)
    for start, end, inner, code in _message_spans(view):
        made = node.CODE if code and kind != node.TOOL else kind
        if code is None:
            made = node.CALL
        yield _BlockRun(message, start, end, made, inner if start else border, view.text[start:end])


def _message_spans(view: View) -> Iterator[tuple[int, int, int, bool | None]]:
    """Yield (start, end, border, code?) for each block of a message; code None marks a tool
    call."""
    text = view.text
    if not text:  # an empty message still occupies a place in a leaf
        yield 0, 0, HEADING, False
        return
    starts = [segment.start for segment in view.segments if segment.kind == "name"]
    spoken = starts[0] if starts else len(text)
    if spoken:
        yield from text_spans(text[:spoken])
    for start, end in pairwise([*starts, len(text)]):
        for low, high, border, _ in text_spans(text[start:end], whole=True):
            yield start + low, start + high, border if low else HEADING, None


def text_spans(
    text: str, whole: bool = False, glue: bool = True
) -> Iterator[tuple[int, int, int, bool]]:
    """Yield (start, end, border before it, code?) for each block of a text; together they cover it.
    `whole`: the text is one value, such as the arguments of a call. `glue`: no border inside a unit
    that fits into a leaf."""
    if _fits(text, 0, len(text), BLOCK) and "```" not in text:
        yield 0, len(text), HEADING, False
        return
    value = whole or (text[:1] in "{[" and text.rstrip()[-1:] in "}]")
    glued = glue and value and _fits(text, 0, len(text), UNIT)
    for start, end, code in _units(text):
        unit_glued = glued or (glue and code and _fits(text, start, end, UNIT))
        first = True
        for low, high, border in _fill(text, start, end):
            strength = GLUED if unit_glued and not (first and not glued) else border
            yield low, high, strength if low else HEADING, code
            first = False


def _units(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield alternating prose and fenced code, [start, end, code?); a fence includes its marker
    lines."""
    if "```" not in text and "~~~" not in text:
        yield 0, len(text), False
        return
    marker, start = "", 0
    for fence in _FENCE.finditer(text):
        line = _line_start(text, fence.start())
        if line is None:
            continue
        if not marker:
            if line > start:
                yield start, line, False
            start, marker = line, fence[0]
        elif fence[0].startswith(marker) and (rest := _REST_OF_FENCE.match(text, fence.end())):
            yield start, rest.end(), True
            start, marker = rest.end(), ""
    if start < len(text):
        yield start, len(text), bool(marker)


def _line_start(text: str, fence: int) -> int | None:
    """Return where the line of a fence begins: up to three spaces or tabs before it; None for a
    fence that is indented further."""
    start = fence
    while start > max(0, fence - 3) and text[start - 1] in " \t":
        start -= 1
    return start if start == 0 or text[start - 1] in _LINE_BREAKS else None


def _fill(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield blocks of one unit: (start, end, strength of the border before)."""
    low, size, strength, blank = start, 0, HEADING, False
    for line_start, line_end, weight in _pieces(text, start, end):
        after_blank, begin = blank, text[line_start]
        blank = begin.isspace() and text[line_start:line_end].isspace()
        border = LINE
        if begin in "#*" and _HEADING.match(text, line_start, line_end):
            border = HEADING
        elif (after_blank and not blank) or (
            begin in _DEFINITION_BEGINS and _DEFINITION.match(text, line_start, line_end)
        ):
            border = PARAGRAPH_BORDER
        if size and (
            size + weight > BLOCK
            or border == HEADING
            or (border == PARAGRAPH_BORDER and size >= PARAGRAPH)
        ):
            yield low, line_start, strength
            low, size, strength = line_start, 0, border
        size += weight
    if low < end:
        yield low, end, strength


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield lines, and sentences of lines that are longer than a block: (start, end, weight)."""
    at, plain = start, text.isascii()
    while at < end:
        newline = text.find("\n", at, end)
        stop = end if newline < 0 else newline + 1
        weight = stop - at
        if weight <= BLOCK and not plain:
            weight = _weight(text[at:stop])
        if weight <= BLOCK:
            yield at, stop, weight
        else:
            for low, high in _sentences(text, at, stop):
                yield low, high, _weight(text[low:high])
        at = stop


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    low = start
    # In stretches, since one search through megabytes without an end would stop all threads.
    stretches = (
        _SENTENCE.finditer(text, at, min(end, at + STRETCH)) for at in range(start, end, STRETCH)
    )
    ends = (match.end() for match in chain.from_iterable(stretches))
    for stop in chain((e for e in ends if low < e < end), (end,)):
        while not _fits(text, low, stop, BLOCK):
            high = _word_end(text, low, stop)
            yield low, high
            low = high
        if low < stop:
            yield low, stop
            low = stop


def _word_end(text: str, low: int, stop: int) -> int:
    """Return where to cut a run without sentences: at the last space within a block's weight, else
    at that weight."""
    reach = BLOCK if text[low : low + BLOCK].isascii() else BLOCK // 3
    space = text.rfind(" ", low + reach // 2, min(stop, low + reach))
    return space + 1 if space > 0 else min(stop, low + reach)


def _fits(text: str, start: int, end: int, weight: int) -> bool:
    """Return True if [start, end) has at most this weight; a text with more characters is not
    read."""
    return end - start <= weight and _weight(text[start:end]) <= weight


def _weight(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


# UTF-8 bytes; fewer only at the end or before a block that would exceed `MOST`
LEAST, MOST = 500, 1_000


def passages(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each passage, in order. None is white space only, unless the text
    is."""
    spans = list(text_spans(text, glue=False))
    sizes = [len(text[start:end].encode("utf-8", "surrogatepass")) for start, end, *_ in spans]
    borders = [_border(text, start, border) for start, _, border, _ in spans]
    pieces: list[tuple[int, int]] = []
    first = 0
    while first < len(spans):
        end = _end(sizes, borders, first)
        start, stop = spans[first][0], spans[end - 1][1]
        if pieces and not text[start:stop].strip():
            pieces[-1] = (pieces[-1][0], stop)
        else:
            pieces.append((start, stop))
        first = end
    return pieces


def _border(text: str, start: int, border: int) -> int:
    """Return the strength of a border. For a leaf, a block of code begins and ends as strongly as a
    heading; here the sentence that introduces it should stay with it."""
    if border == HEADING and not _HEADING.match(text, start):
        return PARAGRAPH_BORDER
    return border


def _end(sizes: list[int], borders: list[int], first: int) -> int:
    """Return where the passage that begins with block `first` ends: before the strongest border
    that leaves it long enough; of equal ones the last."""
    total, best, strongest = 0, first + 1, -1
    for index in range(first, len(sizes)):
        total += sizes[index]
        if total > MOST and index > first:
            return best
        if index + 1 == len(sizes):
            return index + 1
        border = borders[index + 1] if total >= LEAST else -1
        if border >= strongest:
            best, strongest = index + 1, border
    return best
