"""Name the signs of the lines that we write for a model, and keep them out of texts of others.

Each of our lines begins with `MARK`, is a gap mark, a heading of memories, or one of our tags.
Nothing in another text may look like one of them. All text of others that stands in or between our
lines passes `cut_spans`, whatever it is: quotations, names and arguments of calls, file names,
titles, summaries, memories, passages of documents. It reads a text as somebody sees it (`look`):
letters by their shape, and nothing that has none. A text loses only what makes it a sign: a tag, or
its bracket; the mark at the beginning of a line; the colon of a heading. Lists, footnotes and
quotations stay whole.

    >>> without_signs("> \\x7f\\u00b67 user"), without_signs("a < /Context_\\nmemory x> b")
    ('> \\x7f7 user', 'a \\n b')
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from memtree.language.word_file import lazily
from memtree.text.memory_lines import DOCUMENTS_HEADING, HEADING, STANDING_HEADING, USER_HEADING

MARK = "¶"
GAP = "[...]"
WORK = "Work done so far, by tool calls and their results:"
RULES = "Standing requests of the user, verbatim:"
STAYS = "Marked to stay in view, verbatim:"
NO_ROOM = "Marked to stay, but without room here, in messages"
ELSEWHERE = "Headlines of other places, by message numbers:"
TAGS = ("context_memory", "recalled_context", "user_memories", "retrieved_documents")

# -- how a text looks -------------------------------------------------------------------------

UNSEEN, ANY = "\0", "ª"  # a character without a shape; a letter that may look like any other
_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"  # of lines
_ALIKE = dict(zip("⁋❡⸿⸾⹍ᐸ˂ᐳ˃꞉∶ː", "¶¶¶¶¶<<>>:::", strict=True))
# Characters by which a text could hide another: no name and no memory is shown with them.
HIDDEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# Blank letters and signs: the classes of all others without a shape tell it.
_BLANK = "\u1160\u115f\u2800\U0001d159"
_SHAPELESS = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Mn", "Me"})
_KEPT = 20_000  # looks of characters that are remembered


class _Looks(dict[int, str]):
    def __missing__(self, code: int) -> str:
        seen = _seen(chr(code))
        if len(self) < _KEPT:
            self[code] = seen
        return seen


def _seen(char: str) -> str:
    if char in _ENDS:
        return "\n"
    plain = unicodedata.normalize("NFKC", char).casefold()
    sign = _ALIKE.get(plain, plain[:1])
    kinds = {unicodedata.category(char), unicodedata.category(sign)}  # a mark may fold to a letter
    if sign in _BLANK or not kinds.isdisjoint(_SHAPELESS):
        return " " if char == "\t" else UNSEEN
    if len(plain) > 1 and set(plain) == {"."}:
        return "…"
    if sign.isspace():
        return " "
    if sign.isalnum() or kinds == {"Mc"}:
        return sign if sign.isascii() and len(plain) == 1 else ANY
    return sign


_LOOKS = _Looks()


def look(text: str) -> str:
    """Return a text as it is seen, a character for each: small ASCII letters for those of any width
    and font, `ANY` for other letters, `UNSEEN` for what has no shape, `\\n` for any end of a line.

    >>> look("\\uff34\\u00e9\\u200b\\u2028x")
    'tª\\x00\\nx'
    """
    return text.translate(_LOOKS)


# -- signs ------------------------------------------------------------------------------------

_NESTED = "<[^<>]*+>"
_WITHIN = rf"(?:[\s{UNSEEN}{MARK}]|{_NESTED})*+"  # between letters of a name
_SHAPES = {"_": "_", "i": f"[il1|{ANY}]", "l": f"[il1|{ANY}]", "o": f"[o0{ANY}]"}
_SHAPES |= {"m": f"(?:[m{ANY}]|r{_WITHIN}n)", "d": f"(?:[d{ANY}]|c{_WITHIN}l)"}
_NAMES = "|".join(
    _WITHIN.join(_SHAPES.get(letter, f"[{letter}{ANY}]") for letter in tag) for tag in TAGS
)
# A slash before the name is enough; without one, the tag is closed, or may be by further text.
_TAG = lazily(
    rf"<(?:[^\w<>/\\]|{_NESTED})*+(?P<slash>[/\\])?+(?:[^\w<>]|{_NESTED})*+(?:{_NAMES}){UNSEEN}*+"
    rf"(?!\w)(?P<end>(?:[^<>]|{_NESTED})*+(?:>|\Z))?+(?(slash)|(?(end)|(?!)))"
)
LONGEST_TAG = 60  # characters of a tag that is left out whole; of a longer one its bracket is
_MARKED = re.compile(rf"^[^\w\n]*{MARK}", re.MULTILINE)
_LEFT = f"[ {UNSEEN}{MARK}]"  # may be left out, or is not seen
_GAP = re.compile(
    rf"^(?=[^\w\n]*?\[{_LEFT}*+(?:…|\.{_LEFT}*+\.{_LEFT}*+\.))([^\w\n]*+)[^\n]*", re.MULTILINE
)
_HEADINGS = (WORK, RULES, STAYS, ELSEWHERE, HEADING, USER_HEADING, DOCUMENTS_HEADING)
_SAID = "|".join(
    r"[^\w\n]++".join(
        f"{UNSEEN}*+".join(f"[{letter}{ANY}]" for letter in word)
        for word in re.findall("[a-z]+", heading.lower())
    )
    for heading in (*_HEADINGS, STANDING_HEADING)
)
_HEADING = lazily(rf"^[^\w\n]*+(?:{_SAID})[ {UNSEEN}]*+:[ {UNSEEN}]*+$", re.MULTILINE)
# A text without any of these characters has no sign; those of `_ALIKE` are among them.
_INNER = "<＜﹤ᐸ˂¶⁋❡⸿⸾⹍"  # what may be a sign within a line of ours, too
_INNER_CLUES = re.compile(f"[{_INNER}]")
_CLUES = re.compile(rf"[{_INNER}\[［﹇:：﹕︓⩴꞉∶ː\U00010781]")


def without_signs(text: str) -> str:
    """Return a text without what makes it look like ours; a tag that is left out ends its line."""
    kept, start = [], 0
    for low, high in cut_spans(text, 0, len(text)):
        kept.append(text[start:low] + "\n" * (high > low + 1))
        start = high
    return "".join([*kept, text[start:]])


def in_values(value: Any) -> Any:
    """Return JSON values without signs in their strings."""
    if isinstance(value, str):
        return without_signs(value)
    if isinstance(value, dict):
        return {key: in_values(held) for key, held in value.items()}
    return [*map(in_values, value)] if isinstance(value, list | tuple) else value


def cut_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans that text[start:end] is left without where it stands in or between our lines,
    in order: single characters, and short tags, behind which a line begins. Takes time linear in
    the piece."""
    if not _CLUES.search(text, start, end):
        return
    for low, high in sorted(_signs(look(text[start:end]))):
        yield start + low, start + high


def line(mark: str, text: str) -> str:
    """Return a line of ours: its mark, and words of others, on one line and without signs."""
    return f"{mark} {one_line(text)}"


def one_line(text: str) -> str:
    """Return words of others as a line of ours shows them behind its mark."""
    words = " ".join(text.split())
    return " ".join(without_signs(words).split()) if _INNER_CLUES.search(words) else words


def printable(text: str) -> str:
    """Return a text with a blank for each character that is not printed."""
    if text.isprintable():
        return text
    return "".join([char if char.isprintable() else " " for char in text])


def _signs(seen: str) -> set[tuple[int, int]]:
    """Return the spans that are left out of a text, by its look."""
    tags = [match.span() for match in _TAG.finditer(seen)] if "<" in seen else []
    signs = {(low, high if high - low <= LONGEST_TAG else low + 1) for low, high in tags}
    if signs:
        seen = _blanked(seen, sorted(signs))
        if _TAG.search(seen):  # one tag in another
            signs |= _places("<", seen, 0, len(seen))
            seen = seen.replace("<", UNSEEN)
    if MARK in seen:
        for match in _MARKED.finditer(seen):
            signs |= _places(MARK, seen, *match.span())
    if "[" in seen:
        for match in _GAP.finditer(seen):
            if match[0].rstrip(f" {UNSEEN}{MARK}").endswith("]"):
                signs |= _places("[", seen, *match.span(1))
    if ":" in seen:
        for match in _HEADING.finditer(seen):
            signs |= _places(":", seen, *match.span())
    return signs


def _blanked(seen: str, tags: list[tuple[int, int]]) -> str:
    """Return a look in which tags are not seen; behind one that is left out whole a line begins."""
    kept, start = [], 0
    for low, high in tags:
        kept += [seen[start:low], UNSEEN if high == low + 1 else (high - low) * "\n"]
        start = high
    return "".join([*kept, seen[start:]])


def _places(sign: str, seen: str, start: int, end: int) -> set[tuple[int, int]]:
    return {(at, at + 1) for at in range(start, end) if seen[at] == sign}
