r"""Read what a sentence of the user asks of the memory itself.

It may ask to forget something, to keep nothing of a message, or to tell all that is remembered.
This is read by rules, in the languages of extraction. A language is one file of words,
`memory_forget`, which the shapes below join. Where a language has its verb at the end (Japanese) or
sets no spaces (Chinese), the file has whole patterns.

    >>> forgets("Please forget that I live in Graz, thanks.")
    'I live in Graz'
    >>> forgets("Don't forget that I live in Graz."), forgets("That's no longer true.")
    (None, '')
    >>> is_off_record("Off the record: I got fired."), asks_overview("What do you know about me?")
    (True, True)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from memtree.language.word_file import WordFile, languages_with
from memtree.text.spans import Span

LONGEST = 300  # characters of a sentence: an order is brief
MOST = 3  # orders of a message
PIECES = 100  # of a message's beginning, and of its end
BRIEF = 9  # letters of a clause that may name what another one removes: no "and so"
_FILE = "memory_forget"
_UNSPACED = ("ja", "zh")
_STOP = re.compile(r"[,;:.!?…–—()。，、；！？：]|\s-\s")
_PIECE = re.compile(r"\n|[.!?…][\s\"')*_]|[。！？]")
_OPENS = "¿¡\"'*_-–•( "


class _Forms(NamedTuple):
    """The patterns of a language. `marks`: parts of words, one of which each match holds."""

    marks: tuple[str, ...]
    before: re.Pattern[str]  # what is meant follows it
    behind: re.Pattern[str]  # what is meant stands before it
    drop: re.Pattern[str]  # what is meant stands beside it: "take that out of your notes"
    it: re.Pattern[str]
    that: re.Pattern[str]
    tail: re.Pattern[str]
    off_record: re.Pattern[str]
    overview: re.Pattern[str]


def may_ask(text: str) -> bool:
    """Return True if words of a text, whoever's they are, ask something of the memory: few do, and
    whose words they are takes longer to tell. Of many sentences the first and last are read."""
    pieces = _PIECE.split(text)
    pieces = [*pieces[:PIECES], *pieces[max(PIECES, len(pieces) - PIECES) :]]
    return any(_asks(piece.strip()) for piece in dict.fromkeys(pieces))


def _asks(sentence: str) -> bool:
    if len(sentence) > LONGEST:
        return False
    lower = _lowered(sentence)
    return any(
        pattern.search(each)
        for forms in _marked(lower)
        for each in (lower, lower.lstrip(_OPENS))
        for pattern in (forms.before, forms.behind, forms.drop, forms.off_record, forms.overview)
    )


def forgets(sentence: str) -> str | None:
    """Return what a sentence asks to forget, or says is true no longer, in its own words: "" where
    it does not say what; None where it asks for nothing like that."""
    if len(sentence) > LONGEST:
        return None
    lower = _lowered(sentence)
    for forms in _marked(lower):
        if match := forms.before.search(lower):
            return _about(forms, sentence[match.end() :], lower[match.end() :])
        if match := forms.behind.search(lower):
            return _named(forms, sentence[: match.start()], lower[: match.start()])
        if match := forms.drop.search(lower):
            end = match.start()
            return _named(forms, sentence[:end], lower[:end], BRIEF)
    return None


def orders(text: str, sentences: Sequence[Span]) -> tuple[str, ...]:
    """Return what the sentences of a message ask to forget, each once. "That is no longer true" is
    about the sentence before."""
    abouts: dict[str, None] = {}
    for number, (start, end) in enumerate(sentences):
        about = forgets(text[start:end])
        if about is None:
            continue
        if not about and number:
            low, high = sentences[number - 1]
            before = text[low:high]
            about = before.strip(" .!?") if high - low <= LONGEST and "?" not in before else ""
        abouts[about] = None
    return tuple(abouts)[:MOST]


def is_off_record(sentence: str) -> bool:
    """Return True if nothing is to be kept of the message that holds the sentence."""
    return _any("off_record", sentence)


def asks_overview(sentence: str) -> bool:
    """Return True if a sentence asks for all that is remembered of the user."""
    return _any("overview", sentence)


def _any(name: str, sentence: str) -> bool:
    if len(sentence) > LONGEST:
        return False
    lower = _lowered(sentence).lstrip(_OPENS)
    return any(getattr(forms, name).search(lower) for forms in _marked(lower))


def _marked(lower: str) -> list[_Forms]:
    """Return the forms of the languages of which the text has a mark."""
    marked: dict[int, _Forms] = {}
    for mark, forms in _marks():
        if mark in lower:
            marked[id(forms)] = forms
    return list(marked.values())


@cache
def _marks() -> tuple[tuple[str, _Forms], ...]:
    every = map(_forms, languages_with(_FILE))
    return tuple((mark, forms) for forms in every for mark in forms.marks)


def _about(forms: _Forms, text: str, lower: str) -> str:
    """Return what follows an order, up to the end of its clause."""
    stop = _STOP.search(lower)
    end = stop.start() if stop else len(lower)
    while (tail := forms.tail.search(lower, 0, end)) and tail.end() == end > tail.start():
        end = tail.start()
    start = len(lower[:end]) - len(lower[:end].lstrip())
    if that := forms.that.match(lower, start, end):
        start = that.end()
    return text[start:end].strip()


def _named(forms: _Forms, text: str, lower: str, least: int = 1) -> str:
    """Return the last clause of so many letters that names what is meant."""
    ends = [0, *(stop.end() for stop in _STOP.finditer(lower)), len(lower) + 1]
    for low, high in reversed(list(pairwise(ends))):
        clause = lower[low : high - 1].strip()
        if len(clause) >= least and not forms.it.fullmatch(clause):
            return _about(forms, text[low : high - 1], lower[low : high - 1])
    return ""


def _lowered(text: str) -> str:
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return lower.replace("’", "'").replace("\n", " ").replace("\t", " ")


def _forms(language: str) -> _Forms:
    file = WordFile(language, _FILE)
    names = file.names()
    part = {name: file.part(name) for name in names}
    spaced = language not in _UNSPACED
    edge = r"\b" if spaced else ""

    def either(*shapes: str) -> str:
        """Join the shapes for which the language has all the words."""
        needs = [(shape, re.findall(r"<(\w+)>", shape)) for shape in shapes]
        made = [
            re.sub(r"<(\w+)>", lambda match: f"(?:{part[match[1]]})", shape)
            for shape, needed in needs
            if all(name in part for name in needed)
        ]
        return "|".join(made) or "(?!)"

    gap = r"[\s,]{1,3}" if spaced else r"[\s，,]{0,2}"
    lead = rf"(?:(?:{part['lead']}){gap}){{0,4}}+"
    part["soft"] = rf"(?:,? ?(?:{part['softly']})){{0,3}},?" if "softly" in part else ","
    begins = r"(?:^|[,;:.!?…–—-]\s|[，。、；！？：]\s?)" + lead
    begins_tail = r"(?:^|\s)" if spaced else ""
    before = either(
        rf"<forget><soft>? <that>{edge}",
        rf"<forget><soft>? (?=<mine>{edge})",
        rf"<delete><soft>? <know>,? ?<about>{edge}",
        r"<delete><soft>? (?=<mine> [^.]{1,80}? <from_memory>)",
        rf"<stop>{edge}",
        rf"<untrue>{edge}",
        "<order>",
    )
    apart = r"(?:^|[\s,]|(?='))" if spaced else ""
    behind = either(rf"{apart}<untrue_end>{edge}", "<order_end>")
    # Words of removing and of what holds memories, in any order within a clause or two.
    drop = either(
        rf"{apart}<remove>.{{0,60}}?<noted>", rf"{apart}<noted>.{{0,40}}?<remove>", "<needless>"
    )
    hushed = either(
        rf"^{lead}<secretly>(?= ?[,;:.–—，。：、-]|$)",
        r"[,(（] ?<secretly>\W*$",
        rf"^{lead}<keep_not>(?=\W*$|[,;:.，。：])",
    )
    return _Forms(
        file.entries("marks"),
        re.compile(rf"{begins}(?:{before})"),
        re.compile(rf"(?:{behind})[\s.!…。！]*$"),
        re.compile(drop),
        re.compile(part["it"]),
        re.compile(rf"(?:{part.get('that', '(?!)')}){edge}\s*"),
        re.compile(rf"{begins_tail}(?:{either('<tail>', '<from_memory>')})\s*$"),
        re.compile(hushed),
        re.compile(
            rf"^{lead}(?:{either(rf'<ask>(?: [^ ,]+){{0,2}}? <about_me>{edge}', '<show>')})"
            rf"|{part.get('overview', '(?!)')}"
        ),
    )
