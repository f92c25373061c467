r"""Find the user's own prose in a message: the words that may be taken for the user's statements.

A message also holds code, logs, mail of others, drafts, tables, and text inserted by programs:
clients' reminders, memories that this server added itself. By extracting from those, other memory
systems came to store nine lines of junk out of ten.

Blocks that clients rewrite on every request, and for which a server has its own list
(`history.volatile_blocks`), are not looked for here: callers pass the text without them.

    >>> text = "I live in Graz.\n\n```\nI = 1\n```\n> I live in Rome\n"
    >>> [text[start:end] for start, end in own_words(text)]
    ['I live in Graz.']

A user may mark passages with `<keep>` and `</keep>` to stay in every memory message. Only marks in
the user's own words count. A mark in code, in a quotation, in pasted text or in a program's
insertion is ignored, and so is a mark without its counterpart.

    >>> text = "Go on. <keep>Port 8443 is taken.</keep> In code: `<keep>x = 1</keep>`"
    >>> [text[start:end] for start, end in kept_marks(text)]
    ['Port 8443 is taken.']
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from memtree.language.languages import language, script
from memtree.language.word_file import WordFiles, languages_with, lazily
from memtree.text.pasted_texts import SPEAKS, blocks, inline
from memtree.text.prose_runs import (
    TELLS,
    Run,
    is_about_self,
    is_by_client,
    lowered,
    runs,
    without_prompts,
)
from memtree.text.spans import Span, blanked, clipped, merged, outside
from memtree.text.speakers import is_card

_VOICE = WordFiles("own_voice")
HEAD = 1_000  # characters that tell the language
_SCRIPTS = ("", "latin", "cyrillic", "kana", "han")
BRIEF = 600  # characters of a message that is one remark
STORY = 60  # characters behind which, or of which, words before a colon are a tale of its author's
BEGINNING_OF_TALE = 200  # characters in which who tells a long tale says "I"
TALE = 1_500  # characters of such a message
LABEL, COLONS = 300, 100  # characters before a colon, and colons of a run, that are read
FIRST = 300  # characters of a first remark that stands alone
GOES_ON = 200  # least characters of what its author goes on to say
ADDRESS_ENDS = (",", "，", "、", "!", "！", ":", "：")
_part = _VOICE.part
_QUESTION = re.compile("[?？]")
_ASKS = lazily(lambda: rf"\b(?:{_part('asks')})\b|{_part('asks_unspaced')}")
_TALK = lazily(lambda: rf"\b(?:{_part('talk')})\b|{_part('talk_unspaced')}")
_JOINS = lazily(
    lambda: rf"(?:^|[.!?)]\s|[。！？])\W{{0,3}}(?:(?:{_part('joins')})\b|{_part('joins_unspaced')})"
)
_TEXTS = lazily(
    lambda: (
        rf"\b(?:{_part('texts')})\b|{_part('texts_unspaced')}"
        rf"|(?P<task>\b(?:{_part('tasks')})\b|{_part('tasks_unspaced')})"
    )
)
_COLON = re.compile(r":(?=\s)|：")
_STOP = re.compile(r"[.!?](?=\s|$)|[。！？]|\n")
LONGEST = 1_000_000  # characters of a message that is read at all
READ = 100_000  # characters of a message outside blocks; only the ends of a longer one are read
DOCUMENT = 8_000  # characters of prose that make a document, not speech
REMARK = 1_000  # characters of a paragraph before or behind a document
BEGINNING, END = 2_500, 1_500  # characters of a document's ends, where its author may speak
_BRIEF = 400  # characters; a shorter message holds words of others only with one of these signs
_SIGNS = re.compile(r"[\"“„«»‹「『<>`*:|\n]|(?<!\w)['‘‚]")


def others_words(text: str) -> tuple[Span, ...]:
    """Return the spans of a message that are not its author's own words, including white space and
    marks: all that `own_words` leaves out, except a persona card, which is meant literally, and the
    ends of a long text, which count as the user's unless something shows otherwise."""
    if len(text) < _BRIEF and not _SIGNS.search(text) and not next(_reported(text), None):
        return ()
    others = without_own(text)
    return () if others and len(text) <= LONGEST and is_card(text) else others


def without_own(text: str) -> tuple[Span, ...]:
    """Find the same spans as `others_words`, but also in persona cards, and in texts that lack the
    signs of quoting which let `others_words` skip short messages."""
    own = _read(text)
    if sum(end - start for start, end in own) > DOCUMENT:
        own = outside(own, [Span(BEGINNING, len(text) - END)])
    others = outside([Span(0, len(text))], own)
    return tuple(span for span in others if any(map(str.isalpha, text[span.start : span.end])))


def first_remark(text: str) -> str:
    """Return the beginning of a message that shows no sign of a document; "" if it has one."""
    shown = blanked(text[:READ], blocks(text[:READ]))
    lines = shown.split("\n")
    first = next(iter(runs(lines)), None)
    if first is None or first.item or (first.mark and lines[first.first].lstrip()[:1] != "#"):
        return ""
    return "\n".join(lines[first.first : first.end])


def own_words(text: str) -> list[Span]:
    """Return the spans of the user's own prose, in order, each within one paragraph or list item. A
    span that ends within a sentence is followed by code or a quotation."""
    # A role that is played is somebody else.
    return [] if is_card(text[:LONGEST]) else _spoken(text, _read(text))


def _read(text: str) -> list[Span]:
    """Return all prose of the message, however long."""
    if len(text) > LONGEST or is_by_client(text):
        return []
    text = without_prompts(text)
    cuts = blocks(text)
    shown = blanked(text, cuts)
    if cuts and is_by_client(shown.lstrip()):
        return []
    if len(shown) <= READ:
        return _whole(shown, outside(_prose(shown, cuts), cuts))
    # The ends of whole lines; a line longer than that is none of a person's.
    head, tail = shown.rfind("\n", 0, READ // 2) + 1, shown.find("\n", len(shown) - READ // 2)
    spans = _prose(shown[:head], clipped(cuts, 0, head))
    if tail >= 0:
        rest = _prose(shown[tail:], clipped(cuts, tail, len(shown)))
        spans += [Span(start + tail, end + tail) for start, end in rest]
    return _whole(shown, outside(spans, cuts))


def _whole(text: str, spans: Iterable[Span]) -> list[Span]:
    """Return the spans that hold a letter, without white space around them."""
    trimmed = (_trimmed(text, span) for span in spans)
    return [span for span in trimmed if any(map(str.isalpha, text[span.start : span.end]))]


def _prose(text: str, cuts: Sequence[Span]) -> list[Span]:
    """Return the own spans of a text whose `cuts` were blanked."""
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    delimited = frozenset(
        line
        for start, end in cuts
        for line in range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1))
        if not lines[line].strip()
    )
    parted = runs(lines, delimited)
    last = parted[-1].end if parted else 0
    behind = any(line >= last for line in delimited) or any(map(str.strip, lines[last:]))
    texts = [Span(starts[run.first] + run.start, starts[run.end] - 1) for run in parted]
    quoted = [merged(map(Span._make, inline(text[start:end]))) for start, end in texts]
    said = [text[start:end] for start, end in texts]
    spans: list[Span] = []
    for (start, end), own, words, cut in zip(
        texts, _Judgement(parted, said, quoted, behind).runs(), said, quoted, strict=True
    ):
        if own:
            others = merged([*cut, *_reported(words, last=end == texts[-1].end)])
            spans += outside([Span(start, end)], [Span(start + a, start + b) for a, b in others])
    return spans


class _Judgement:
    """Judgement of the runs of a message: which are positively its author's own. `said`: their
    words; `quoted`: quotations in them; `delimited`: text with marks around it stands behind."""

    def __init__(
        self,
        parted: Sequence[Run],
        said: Sequence[str],
        quoted: Sequence[Sequence[Span]],
        delimited: bool,
    ) -> None:
        self._parted, self._said = parted, said
        self._delimited = delimited or any(run.border for run in parted)
        self._whole = [(0, len(words)) in cuts for words, cuts in zip(said, quoted, strict=True)]
        texts = [
            "" if whole else lowered(words) for whole, words in zip(self._whole, said, strict=True)
        ]
        self._questions = [bool(_QUESTION.search(words)) for words in texts]
        self._asks = [bool(_ASKS.search(words)) for words in texts]
        self._joins = [bool(_JOINS.search(words)) for words in texts]
        self._speaks = [
            any(signs) for signs in zip(self._questions, self._asks, self._joins, strict=True)
        ]
        self._marks = [
            at for at, run in enumerate(parted) if run.mark or (run.short and not self._speaks[at])
        ]
        self._last = len(parted) - 1

    def runs(self) -> list[bool]:
        """Return for each run True if it is own."""
        parted, said = self._parted, self._said
        if len(parted) > 1 and not _is_read(" ".join(said)):
            return [False] * len(parted)
        if len(parted) == 1:
            most = TALE if SPEAKS.search(said[0], 0, BEGINNING_OF_TALE) else BRIEF
            speaks = self._speaks[0] or len(said[0]) <= most
            return [speaks and not parted[0].mark and not self._whole[0]]
        if all(run.item for run in parted) and sum(map(len, said)) <= BRIEF:
            return [not run.mark for run in parted]  # a list by itself
        own: list[bool] = []
        for at in range(len(parted)):
            own.append(self._is_own(at, own))
        return own

    def _is_own(self, at: int, own: Sequence[bool]) -> bool:
        run, before = self._parted[at], at > 0 and own[at - 1]
        first, last = (self._marks[0], self._marks[-1]) if self._marks else (self._last + 1, -1)
        if run.item:
            return not run.opens and before and (self._parted[at - 1].item or self._lists(at - 1))
        if self._whole[at] or first <= at <= last or self._is_announced(at):
            return False
        if self._asks[at] or (self._questions[at] and at in (0, self._last)):
            return True
        if self._joins[at] and (not at or before or run.border or at - 1 == last):
            return True
        if self._marks:
            return self._is_beside_letter(at)
        # What is printed begins with a capital letter.
        return (run.opens and self._said[at][:1].islower()) or self._is_beside_text(at, own)

    def _is_announced(self, at: int) -> bool:
        """Return True if the line before a paragraph hands it over: "correct this:"."""
        run = self._parted[at]
        before = self._said[at - 1].rstrip() if at and run.opens and not run.border else ""
        return before.endswith((":", "：")) and not is_about_self(before)

    def _lists(self, at: int) -> bool:
        """Return True if a run begins a list of its author's own: "rules for this chat:"."""
        head = lowered(self._said[at])
        return is_about_self(head) and bool(SPEAKS.search(head) or _TALK.search(head))

    def _is_beside_letter(self, at: int) -> bool:
        """Return True before the address of a letter, and for a last paragraph behind its end."""
        parted, marks = self._parted, self._marks
        if at == 0:
            begins = self._parted[1].mark or self._said[1].rstrip().endswith(ADDRESS_ENDS)
            return marks[0] == 1 and begins and parted[1].opens and len(marks) <= self._last - 1
        signed = parted[at - 1].short and not parted[at - 1].opens and marks[0] <= 1
        return at == self._last and parted[at].opens and at - 1 == marks[-1] and signed

    def _is_beside_text(self, at: int, own: Sequence[bool]) -> bool:
        """Return True for a remark at an end of the message that says nothing to the assistant by
        itself: beside a text with marks around it, or before what its author goes on to say."""
        parted, whole, said = self._parted, self._whole, self._said
        if at == self._last:
            first = at if parted[at].opens else at - 1  # its author may break the line once
            goes_on = at == 1 and own[0] and parted[0].border  # code, a question, and this
            return goes_on or parted[first].border or whole[first - 1] or parted[first - 1].item
        following = parted[at + 1]
        if at or not (following.opens or following.item):
            return False
        if following.border or following.item or whole[1]:
            return True
        goes_on = self._delimited or sum(map(len, said[1:])) >= GOES_ON
        goes_on = goes_on and len(said[0]) <= FIRST
        return goes_on and all(self._speaks[1:])


def _speaks(lower: str) -> bool:
    return bool(_QUESTION.search(lower) or _ASKS.search(lower))


def _is_read(text: str) -> bool:
    """Return True if the signs of own words are known in the language of a text."""
    head = text[:HEAD]
    letters = script(head)
    if letters != "latin":
        return letters in _SCRIPTS
    return language(head) in ("", *languages_with(_VOICE.name))


def _reported(run: str, *, last: bool = True) -> Iterator[Span]:
    """Yield the spans of an own run that others said, without marks of quotation. `last`: no run
    follows, so that a text that a sentence speaks of stands in this run."""
    lower = lowered(run)
    size = len(lower.rstrip())
    borders = [0, *(match.end() for match in _STOP.finditer(lower)), len(run)]
    for count, match in enumerate(_COLON.finditer(lower)):
        if count == COLONS:  # nobody writes so
            yield Span(match.end(), len(run))
            break
        begin, end = _sentence(borders, match.start())
        label = lower[max(begin, match.start() - LABEL) : match.start()]
        reports = TELLS.search(label) or _TEXTS.search(label)
        # Whoever has talked for a while may announce words of their own.
        tale = begin > STORY or match.start() - begin > STORY
        if match.end() < size and (reports or not (tale or is_about_self(label))):
            if not tale:
                yield Span(match.end(), _resumed(lower, match.end()))
                break
            yield Span(match.end(), max(match.end(), end))
    at = 0
    while report := TELLS.search(lower, at):
        _, at = _sentence(borders, report.end())
        yield Span(report.end(), at)
        if at >= size:
            break
    for match in _TEXTS.finditer(lower) if last else ():
        _, end = _sentence(borders, match.end())
        if end < size:
            yield Span(end, _resumed(lower, end - 1))
            break
        begin, _ = _sentence(borders, match.start())
        # "This sentence" is the one before it; "how do I say" asks of what stands before it.
        yield Span(*((begin, match.start()) if match.lastgroup == "task" else (0, begin)))


def _resumed(lower: str, at: int) -> int:
    """Return where the author of a run goes on behind what another said; else the run's end."""
    joins = _JOINS.search(lower, at)
    return joins.start() + 1 if joins else len(lower)


def _sentence(borders: Sequence[int], at: int) -> tuple[int, int]:
    """Return the start and end of the sentence of a place. `borders`: of all sentences, sorted."""
    following = min(bisect_right(borders, at), len(borders) - 1)
    return borders[following - 1], borders[following]


def _trimmed(text: str, span: Span) -> Span:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def _spoken(text: str, spans: list[Span]) -> list[Span]:
    """Return all spans, unless they are too long to have been typed; then the first and the last,
    if they address the assistant."""
    if sum(end - start for start, end in spans) <= DOCUMENT:
        return spans
    ends = dict.fromkeys((spans[0], spans[-1]))
    return [
        span
        for span in ends
        if span.end - span.start <= REMARK and _speaks(lowered(text[span.start : span.end]))
    ]


MOST = 100  # passages of one message: the last ones
OPENING, CLOSING = "<keep>", "</keep>"
_TAG = re.compile(f"{OPENING}|{CLOSING}")
# Replaces a passage while its surroundings are read. It must be a statement, since a single word in
# backticks or quotation marks passes for a name in the user's own words.
_STATEMENT = "all of this I keep"
# Begins a comment in code; before a mark a comment is likelier than a heading.
_COMMENTS = ("#", "//", "/*")


def kept_marks(text: str) -> tuple[Span, ...]:
    """Return the spans between the marks of a user's message, in order. Takes linear time."""
    if OPENING not in text or len(text) > LONGEST:
        return ()
    pairs = list(_pairs(text))[-MOST:]
    if not pairs:
        return ()
    own = _are_own(text, pairs)
    inner = (
        _trimmed(text, Span(start + len(OPENING), end - len(CLOSING)))
        for (start, end), is_own in zip(pairs, own, strict=True)
        if is_own
    )
    return tuple(span for span in inner if span.start < span.end)


def _pairs(text: str) -> Iterator[Span]:
    """Yield each closing mark with the last opening mark before it, if both are outside blocks."""
    tags = list(_TAG.finditer(text))
    # Without angle brackets, or the marks would be markup elements themselves.
    held = blocks(_TAG.sub(lambda tag: "k" * len(tag[0]), text))
    starts = [span.start for span in held]
    opened: int | None = None
    for tag in tags:
        at = bisect_right(starts, tag.start()) - 1
        if at >= 0 and held[at].end > tag.start():
            continue
        if tag[0] == OPENING:
            opened = tag.start()
        elif opened is not None:
            yield Span(opened, tag.end())
            opened = None


def _are_own(text: str, pairs: Sequence[Span]) -> list[bool]:
    """Return for each passage True if its surroundings are the user's own words. Its content does
    not matter: a user may mark a line of code. Behind a question any paragraph looks like a text
    that is handed over, so passages on lines of their own are left out in a second reading."""
    own = _surrounded(text, pairs, [_STATEMENT] * len(pairs))
    alone = [_stands_alone(text, start, end) for start, end in pairs]
    if all(own) or not any(alone):
        return own
    without = _surrounded(text, pairs, ["" if single else _STATEMENT for single in alone])
    again = (single and left for single, left in zip(alone, without, strict=True))
    return [first or second for first, second in zip(own, again, strict=True)]


def _surrounded(text: str, pairs: Sequence[Span], standing: Sequence[str]) -> list[bool]:
    """Return the result of one reading, with the passages replaced by the words in `standing`."""
    pieces: list[str] = []
    places: list[Span] = []
    at = size = 0
    for (start, end), words in zip(pairs, standing, strict=True):
        pieces += (_TAG.sub("", text[at:start]), words)
        first = size + len(pieces[-2])
        size = first + len(words)
        places.append(Span(first, size))
        at = end
    read = "".join((*pieces, _TAG.sub("", text[at:])))
    others = without_own(read)
    starts = [span.start for span in others]
    return [_is_own(read, place, others, starts) for place in places]


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return True if a passage has its lines to itself and is not indented like code."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    stop = text.find("\n", end)
    behind = text[end : stop if stop >= 0 else len(text)]
    return not before.strip() and len(before.expandtabs(4)) < 4 and not behind.strip()


def _is_own(read: str, place: Span, others: Sequence[Span], starts: Sequence[int]) -> bool:
    """Return False if words of others cover a place, or reach up to it if it is empty. `starts`:
    those of `others`."""
    before = read[read.rfind("\n", 0, place.start) + 1 : place.start].strip()
    if before.startswith("#") or before.endswith(_COMMENTS):
        return False
    empty = place.start == place.end
    held = bisect_right(starts, place.start - 1 if empty else place.end - 1) - 1
    return held < 0 or others[held].end <= place.start - empty
