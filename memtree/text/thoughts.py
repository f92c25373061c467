"""Find a model's thoughts in the text of its answer, where servers and chat templates leave them.

A thought stands between two marks: at the beginning of the text, behind another thought, or later
where a line or a joined text begins. Without its closing mark it was cut off and takes the rest.
Without its opening mark, which a template put into the prompt, it takes all before the closing one.
An answer may also be about such marks: in code, quoted, inside of a sentence, or as an example
behind a colon they are words like any others.

    >>> text = "<think>51? No.</think>\\n\\nThe limit is 521."
    >>> [text[end:] for _, end in thoughts(text)]
    ['The limit is 521.']
    >>> thoughts("The limit of <think> is 521."), thoughts("```\\n<think>51?</think>\\n```")
    ((), ())
"""

from __future__ import annotations

import re
from bisect import bisect
from itertools import islice

from memtree.text.spans import Span

_TAG = (
    r"(?:\w{1,20}+:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|analysis|scratchpad"
    r"|antthinking|chain_of_thought|inner_(?:monologue|thoughts?)|internal[_-]thoughts?)"
)
_TOKEN = r"(?:of_)?(?:think(?:ing)?|thought)\|>"
_CHANNEL = r"<\|(?:start\|>\s{0,9}assistant\s{0,9}<\|)?channel\|>\s{0,9}"
# Opening and closing marks. Of the first the closing one counts alone, of the last, which are plain
# words, only both, at the beginning of a text.
_EITHER = (
    (rf"<{_TAG}(?:\s[\w:-]{{1,40}}=[^<>]{{0,300}})?>", rf"</{_TAG}\s{{0,9}}>"),
    (r"\[think\](?!\()", r"\[/think\]"),  # Magistral
    ("◁think▷", "◁/think▷"),  # Kimi
    (rf"<\|(?:start_|begin_)?{_TOKEN}", rf"<\|(?:end_|/){_TOKEN}"),  # Command, OpenThoughts
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),  # Apertus
    (r"<\|channel>(?:thought|analysis)\b", r"<channel\|>"),  # Gemma 4
    ("<unused94>", "<unused95>"),  # MedGemma
)
_PAIRED = (
    (rf"{_CHANNEL}analysis[^<]{{0,100}}<\|message\|>",
     r"<\|(?:end|return)\|>|(?=<\|(?:start|channel)\|>)"),  # Harmony
    (r"<details\stype=\"reasoning\"[^<>]{0,300}>", "</details>"),  # Open WebUI
    (":::thinking\n", "\n:::"),  # LibreChat
)  # fmt: skip
_PLAIN = (
    ("here(?:'s| is) my thought process:", "here(?:'s| is) my response:"),  # Granite
    ("here are my reasoning steps:", r"\[begin final response\]"),  # Apriel
    ("thinking\\.\\.\\.\n", "\\.\\.\\.done thinking\\."),  # Ollama
    ("\\*thinking\\.\\.\\.\\*\\s{1,9}(?=>)", "\n(?=[^\\s>])"),  # Poe quotes it
    (r"analysis(?=[\"'(]?(?-i:[A-Z]))", "assistantfinal"),  # Harmony without its special tokens
)


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_OPENING = _any(*(f"({opens})" for opens, _ in (*_EITHER, *_PAIRED, *_PLAIN)))
_CLOSING = [_any(closes) for _, closes in (*_EITHER, *_PAIRED, *_PLAIN)]
_ANYWHERE = _any(*(opens for opens, _ in (*_EITHER, *_PAIRED)))  # fast: no groups
_ALONE = _any(*(closes for _, closes in _EITHER))
_HEADER = _any(rf"\s*+{_CHANNEL}(?:final|commentary)\s{{0,9}}<\|message\|>\s*+", r"\s*+")
_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)", re.MULTILINE)

MOST_MARKS = 4_000  # marks of one text that are looked at: a bound on the time for it
_NEAR = 200  # characters before a mark that are read
# The end of a sentence, of an element, or of code
_ENDED = re.compile(r"(?:[.!?…。！？)\]}`]|</[^<>\n]{1,60}>|/>|\|>)\Z")
_GLUED = re.compile(rf"[^\W_]\Z|{_ENDED.pattern}")
_BEFORE = re.compile(r"(?:^[ \t]{0,3}|[^\s\"'`“”‘’(\[{<,;:/=]|[.!?…。！？][ \t]{1,3})\Z", re.M)
_AFTER = re.compile(r"[ \t]{0,9}(?:\r?\n|\Z|[^\W\d_a-z]|[\d*#>|\[<-])|\w")
_GOES_ON = re.compile(r"[ \t]{1,9}(?:[a-z]|[^\w\s])|[.,;:!?)\]}\"'`”’]")
_QUOTES = {"`": "`", '"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "(": ")", "*": "*"}


def thoughts(text: str) -> tuple[Span, ...]:
    """Return the spans of the thoughts in a text, in order, with the white space after them; at the
    beginning one span for all. Takes time linear in the text."""
    start = _past(text, 0)
    opening = _OPENING.match(text, start)
    # A sign of each closing mark that is not plain; one character is found faster than two.
    tags = "<" in text and ("</" in text or "<unused" in text or "|>" in text)
    others = "▷" in text or ":::" in text or ("[" in text and "[/" in text)
    if not (start or opening or tags or others):
        return ()
    reader = _Reader(text)
    begun = reader.leading(start)
    first = (Span(0, begun),) if text[:begun].strip() else ()
    return (*first, *reader.later(begun, led=bool(first)))


class _Reader:
    """Reads one text. `fences`: where its code begins and ends, in turn."""

    def __init__(self, text: str) -> None:
        self._text = text
        fenced = "```" in text or "~~~" in text
        self._fences = [match.start() for match in _FENCE.finditer(text)] if fenced else ()

    def leading(self, at: int) -> int:
        """Return the end of the thoughts at the beginning, which are read from `at` on."""
        for _ in range(MOST_MARKS):
            opening = _OPENING.match(self._text, at)
            end = self._closed(opening, cut_off=True) if opening else self._unopened(at)
            if not end:
                break
            at = _past(self._text, end)
        return at

    def later(self, at: int, *, led: bool) -> list[Span]:
        """Return the thoughts from `at` on, with both of their marks. `led`: the text begins with
        a thought."""
        spans, begun = list[Span](), at
        unclosed = set[int | None]()
        for _ in range(MOST_MARKS):
            place = _ANYWHERE.search(self._text, at)
            opening = place and _OPENING.match(self._text, place.start())
            if opening is None:
                break
            at, start, kind = opening.end(), opening.start(), opening.lastindex
            if kind in unclosed or not self._begins(start, led=led) or self._is_code(begun, start):
                continue
            if end := self._closed(opening):
                at = _past(self._text, end)
                spans.append(Span(start, at))
            elif end is None:
                unclosed.add(kind)
        return spans

    def _closed(self, opening: re.Match[str], *, cut_off: bool = False) -> int | None:
        """Return where the thought behind an opening mark ends; 0 if the mark is part of a
        sentence, None without a closing mark. `cut_off`: a thought without one is a thought."""
        text, kind = self._text, (opening.lastindex or 1) - 1
        goes_on = _GOES_ON.match(text, opening.end())
        for closing in islice(_CLOSING[kind].finditer(text, opening.end()), MOST_MARKS):
            if self._is_quoted(*closing.span()):
                continue
            inside = goes_on and "\n" not in text[opening.end() : closing.start()]
            return 0 if inside and _GOES_ON.match(text, closing.end()) else closing.end()
        plain = kind >= len(_CLOSING) - len(_PLAIN)
        return len(text) if cut_off and not (goes_on or plain) else None

    def _unopened(self, at: int) -> int:
        """Return the end of the first closing mark that no opening mark precedes; 0 without."""
        text = self._text
        for closing in islice(_ALONE.finditer(text, at), MOST_MARKS):
            start, end = closing.span()
            line = text[max(0, start - _NEAR) : start].rpartition("\n")[2]
            if line.count("`") % 2 or self._is_quoted(start, end) or self._is_code(at, start):
                continue
            if _BEFORE.search(text[max(0, start - 5) : start]) and _AFTER.match(text, end):
                opened = _ANYWHERE.finditer(text, at, start)
                return 0 if any(not self._is_quoted(*each.span()) for each in opened) else end
        return 0

    def _begins(self, at: int, *, led: bool) -> bool:
        """Return True if a thought may begin at a mark behind other text: at the beginning of a
        line, or of a text that was joined to the one before it."""
        near = self._text[max(0, at - _NEAR) : at]
        line = near.rstrip(" \t")
        before = line.rstrip()
        if line == before:
            return line == near and bool(_GLUED.search(near))
        if len(near) - len(line) > 3 or before.endswith((":", "：")):
            return False  # code, or an example
        return led or line.count("\n", len(before)) > 1 or bool(_ENDED.search(before))

    def _is_code(self, since: int, at: int) -> bool:
        return (bisect(self._fences, at) - bisect(self._fences, since - 1)) % 2 == 1

    def _is_quoted(self, start: int, end: int) -> bool:
        before = self._text[start - 1 : start]
        return before != "" and _QUOTES.get(before) == self._text[end : end + 1]


def _past(text: str, at: int) -> int:
    """Return the place behind white space and the header of an answer for the user."""
    header = _HEADER.match(text, at)
    return header.end() if header else at
