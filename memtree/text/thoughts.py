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
from collections.abc import Iterator
from itertools import islice

from memtree.text.spans import Span, without

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


_OPENS = "|".join(opens for opens, _ in (*_EITHER, *_PAIRED))
_OPENING = _any(*(f"({opens})" for opens, _ in (*_EITHER, *_PAIRED, *_PLAIN)))
# A mark that is quoted itself is none.
_CLOSING = [
    _any(rf"(?<![`\"'“(])(?:{closes})", rf"(?:{closes})(?![`\"'”)])")
    for _, closes in (*_EITHER, *_PAIRED, *_PLAIN)
]
_SIGN = _any(*(closes for _, closes in _EITHER), *(opens for opens, _ in _PAIRED), _CHANNEL)
_OPENED = _any(rf"(?<![`\"'“(])(?:{_OPENS})")
# Where a line begins, or a text that was joined to another
_LATER = _any(rf"(?<=[\n\w.!?…。！？)\]}}>])(?:{_OPENS})")
_ALONE = _any(
    r"(?:(?<=\n)|(?<![\s\"'`“”‘’(\[{<,;:/=])|(?<=[.!?…。！？] ))"
    rf"(?:{'|'.join(closes for _, closes in _EITHER)})"
    r"(?:(?=[ \t]{0,9}(?:\r?\n|\Z|(?-i:[^\W\d_a-z])|[\d*#>|\[<-]))|(?=\w))"
)
_HEADER = _any(rf"\s*+{_CHANNEL}(?:final|commentary)\s{{0,9}}<\|message\|>\s*+", r"[\s\ufeff]*+")
_GOES_ON = re.compile(r"[ \t]{1,9}(?:[a-z]|[^\w\s])|[.,;:!?)\]}\"'`”’]")  # the sentence does
_FENCES = ("```", "~~~")
_Closings = dict[int, re.Match[str] | None]  # the next closing mark of each kind of opening mark
MOST_MARKS = 4_000  # marks of one text that are looked at: a bound on the time for it


def thoughts(text: str) -> tuple[Span, ...]:
    """Return the spans of the thoughts in a text, in order, with the white space after them; at the
    beginning one span for all. Takes time linear in the text."""
    start = _past(text, 0)
    if not (_is_marked(text) or _OPENING.match(text, start)):
        return ()
    at = _leading(text, start)
    first = [Span(0, at)] if text[:at].strip() else []
    return (*first, *_later(text, at))


def without_thoughts(text: str) -> str:
    """Return a text without the thoughts in it."""
    return without(text, thoughts(text))


def _is_marked(text: str) -> bool:
    """Return True if there is a closing mark that is not plain, or an opening mark that needs
    one. Most texts are decided by characters, which are found faster than patterns."""
    signs = "<" in text and (
        "</" in text or "<|" in text or "<channel|>" in text or "<unused95>" in text
    )
    others = "▷" in text or ("[" in text and "[/" in text) or ":::thinking\n" in text
    return (signs or others) and _SIGN.search(text) is not None


def _leading(text: str, at: int) -> int:
    """Return the end of the thoughts at the beginning, which are read from `at` on."""
    closings: _Closings = {}
    for _ in range(MOST_MARKS):
        opening = _OPENING.match(text, at)
        end = _closed(text, opening, closings) if opening else _unopened(text, at)
        if end is None and opening and (opening.lastindex or 0) <= len(_EITHER) + len(_PAIRED):
            end = 0 if _GOES_ON.match(text, opening.end()) else len(text)  # it was cut off
        if not end:
            break
        at = _past(text, end)
    return at


def _later(text: str, at: int) -> Iterator[Span]:
    """Yield the thoughts from `at` on that have both of their marks."""
    closings: _Closings = {}
    fenced = text.startswith(_FENCES, at)
    for _ in range(MOST_MARKS):
        place = _LATER.search(text, at)
        opening = place and _OPENING.match(text, place.start())
        if opening is None:
            return
        start = opening.start()
        fenced ^= _odd_fences(text, at, start)
        at = opening.end()
        if fenced or text[max(0, start - 9) : start].rstrip().endswith(":"):
            continue  # code, or an example
        if end := _closed(text, opening, closings):
            at = _past(text, end)
            yield Span(start, at)


def _closed(text: str, opening: re.Match[str], known: _Closings) -> int | None:
    """Return where the thought behind an opening mark ends; None without a closing mark, 0 if both
    are words of a sentence. `known`: the closing marks found so far."""
    kind, at = opening.lastindex or 1, opening.end()
    closing = known.get(kind)
    if kind not in known or (closing is not None and closing.start() < at):
        closing = known[kind] = _CLOSING[kind - 1].search(text, at)
    if closing is None:
        return None
    both = _GOES_ON.match(text, at) and _GOES_ON.match(text, closing.end())
    return 0 if both else closing.end()


def _unopened(text: str, at: int) -> int:
    """Return the end of a closing mark that no opening mark precedes; 0 without."""
    fenced, before = text.startswith(_FENCES, at), at
    for closing in islice(_ALONE.finditer(text, at), MOST_MARKS):
        fenced ^= _odd_fences(text, before, closing.start())
        before = closing.end()
        if not fenced:
            return 0 if _OPENED.search(text, at, closing.start()) else before
    return 0


def _odd_fences(text: str, start: int, end: int) -> bool:
    """Return True if an odd number of fences of code stands between two places."""
    return sum(text.count(f"\n{fence}", start, end) for fence in _FENCES) % 2 == 1


def _past(text: str, at: int) -> int:
    """Return the place behind white space and the header of an answer for the user."""
    header = _HEADER.match(text, at)
    return header.end() if header else at
