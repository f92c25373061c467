"""Clauses: the sentences of a passage, each with a score of how much it says. No model.

What raises a score: the user's words and rules, errors, decisions and reasons, numbers, names.
What lowers it: greetings, chatter, source lines.
This file does not handle calls, results and code (`tool_results.py`) or token budgets
(`summarize.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from math import fsum

from memtree.digests.clauses.boilerplate import is_boilerplate, without_stamp
from memtree.digests.clauses.clause import Clause, SourcePassage
from memtree.digests.clauses.outcomes import may_end, outcome
from memtree.digests.clauses.quotations import OTHERS, OWN, parts, quotation
from memtree.digests.clauses.read_lines import Judgement, ReadLines
from memtree.language import borders
from memtree.language.word_file import WordFile, WordFiles, lazily
from memtree.text.escape_codes import without_codes
from memtree.text.instructions.standing_rules import standing_rules
from memtree.text.pasted.own_words import others_words
from memtree.text.requests import orders
from memtree.text.spans import Span

_CODE = WordFile("all", "source_code")

_DATA = WordFiles("clauses")
MAX_CLAUSE = 200  # characters; a longer sentence is cut at a border
SENTENCES = 60  # sentences of one passage that are scored, half from each end
RULE = 6.0
BOILERPLATE = -5.0
LEAST_BASE = 1.0  # least score for a speaker: the assistant's


# In a story: lasting changes, and facts known from then on.
_LASTS = 1.5
_CJK_SIGNAL = _DATA.pattern("signals_unspaced")
_UNPUNCTUATED = str.maketrans(dict.fromkeys("\"'`.,:;!?()[]{}<>*/|=#“”‘’…—–-", " "))

_PLAIN = bytes(range(128)).decode().lower().translate(_UNPUNCTUATED).encode() + bytes(128)

_FENCE = ("```", "~~~")
_LEAD = re.compile(r"(?:[#>|*+\-•│├└─>\s]+(?=[\s\w`\"'“(*\[/])|\d{1,2}[.)]\s+|\[[ xX]\]\s+)++")
_LETTERS = re.compile(r"[^\W\d_]{2}|[^\x00-\x7f]")
_NUMBERED = re.compile(r"\d{1,5}\s?[:|]|[\[{]{1,2}\"\w")  # a line of output, or JSON
_DOTS = re.compile(r"\.{4,}")
SPACE = re.compile(r"\s+")
_FILLER = lazily(
    lambda: rf"(?:\w{{2,20}}: )?(?:{_DATA.part('fillers')})\b",
    re.IGNORECASE,
)
_FILLER_ELSEWHERE = _DATA.pattern("fillers_elsewhere", re.IGNORECASE)
SOURCE_LINE = _CODE.pattern("lines")
_MIDDLE_NAME = re.compile(r" [A-Z][a-z]")
_DETAIL = re.compile(r"[_/.][A-Za-z]")
NUMBER = re.compile(r"[0-9][\d,.:/-]*")


@cache
def _weights() -> dict[str, float]:
    entries = map(str.split, _DATA.entries("weights"))
    return {word: float(weight) for word, weight in entries}


def merit(text: str) -> float:
    """Score how informative a clause's words are, about -3 to 6."""
    words, weights = _words(text), _weights()
    # An exact sum: the order of a set of words differs from process to process.
    score = min(fsum(map(weights.__getitem__, weights.keys() & words)), 3.0)
    if numbers := len(NUMBER.findall(text)):
        score += 0.5 + 0.25 * min(numbers, 3)
    if names := len(_MIDDLE_NAME.findall(text)):
        score += 0.4 + 0.25 * min(names, 3)
    if _DETAIL.search(text):
        score += 0.9
    if words and words[0] in _DATA.word_set("vague"):
        score -= 0.7
    if not text.isascii():
        if _CJK_SIGNAL.search(text):
            score += 1.5
        if _FILLER_ELSEWHERE.match(text):
            score -= 2.6 if len(text) < 40 else 1.0
    if words and not _DATA.word_set("filling").isdisjoint(words[:2]) and _FILLER.match(text):
        score -= 2.6 if len(text) < 60 else 1.0
    if (len(text) < 24 and text.isascii()) or text.istitle():
        score -= 1.2  # short, or a heading
    if text[-1:] == ":":
        score -= 0.8
    return score


def _words(text: str) -> list[str]:
    """Return the words in lower case, without the marks around them."""
    if text.isascii():
        return text.encode().translate(_PLAIN).decode().split()
    return text.lower().translate(_UNPUNCTUATED).split()


def clip(text: str, size: int) -> str:
    """Cut a text to `size` characters: after a clause that ends late enough, else after a word."""
    if len(text) <= size:
        return text
    cut = text[: size + 1]
    border = max((at for at in borders.clause_ends(cut) if at <= size), default=0)
    if border < size * 0.5:
        border = max((at for at in borders.ends(cut) if at <= size and at < len(cut)), default=0)
    return cut[: border or size].rstrip(" ,;:-(，、")


def spoken(
    source: SourcePassage,
    chat: bool,
    name: str = "",
    fiction: bool = False,
    lines: ReadLines | None = None,
) -> list[Clause]:
    """Return the scored clauses of what a person or a model says. `name`: the speaker's, if it
    stands before the words; `fiction`: the text is role play or a story."""
    lines = lines or read_lines()
    text, speaker = source.text, name or source.role
    base = 1.8 if chat else 2.4 if source.role == "user" else LEAST_BASE
    if fiction:  # moves and moods in it do not last, whoever tells them
        base = LEAST_BASE
    rules: tuple[str, ...] = ()
    others = source.others
    if source.role == "user":
        others = others_words(text) if others is None else others
        spans = standing_rules(text, lines.rule, others=others)
        rules = tuple({tidy(text[start:end]) for start, end in spans})
    clauses: list[Clause] = []
    goes_on = False  # True if a line break cut the request before
    for sentence, own in _sentences(text, lines, others):
        if _is_quoted(sentence, own, source.role, goes_on, lines):
            worth = lines.judgement(sentence).merit
            clauses.append(quotation(speaker, sentence, worth, OWN if own else OTHERS))
            goes_on = not own and sentence[-1] not in ".!?…:。！？"
            continue
        goes_on = False
        if name and sentence.startswith(name):
            sentence = sentence[len(name) :].lstrip(":： ") or sentence
        rule = any(rule in sentence for rule in rules) if rules else False
        sentence_merit, boilerplate, source_line, ends = lines.judgement(sentence)
        score = base + sentence_merit
        if fiction and not _DATA.word_set("lasting").isdisjoint(_words(sentence)):
            score += _LASTS
        if rule:
            score += RULE
        elif score > 0.0 and boilerplate:
            score = BOILERPLATE
        elif source_line:
            score -= 3.5
        elif sentence[-1] in "?？":
            score += 0.6 if source.role == "user" and not chat and not fiction else -0.8
        if ends and not rule and (ended := outcome(sentence, speaker)):
            clauses.append(ended)
            continue
        said = clip(sentence, 2 * MAX_CLAUSE if rule else MAX_CLAUSE)
        telling = score - base >= 1.4 and source.role != "user"
        clauses.append(Clause(speaker, said, score, telling and not chat, rule))
    if clauses and source.role != "user" and not chat and not clauses[0].quoted:
        clauses[0].score += 0.4
    return clauses


def _is_quoted(sentence: str, own: bool, role: str, goes_on: bool, lines: ReadLines) -> bool:
    """Return True for a request that is not the user's: any request in others' words, or a lasting
    order of the assistant's. A commit subject counts only if it gives an order."""
    if own:
        return role == "assistant" and orders(sentence)
    if may_end(sentence) and outcome(sentence, role):
        return orders(sentence)
    return lines.asks(sentence) or (goes_on and sentence[0].islower())


def read_lines() -> ReadLines:
    """Create an empty cache, for one history."""
    return ReadLines(_split, judgement)


def judgement(sentence: str) -> Judgement:
    sentence_merit, boilerplate = merit(sentence), is_boilerplate(sentence)
    # Boilerplate with any score counts as boilerplate, whatever else it is.
    source = not (boilerplate and sentence_merit > -LEAST_BASE) and bool(
        _NUMBERED.match(sentence) or (sentence[-1] not in ".!?…" and SOURCE_LINE.match(sentence))
    )
    return Judgement(sentence_merit, boilerplate, source, may_end(sentence))


def is_fiction(text: str) -> bool:
    """Return True if the text is role play: actions between stars, or speech in quotation marks."""
    return text.lstrip()[:1] == "*" or text.count("“") + text.count("«") > 1


def _sentences(
    text: str, known: ReadLines, others: Sequence[Span] | None = None
) -> Iterator[tuple[str, bool]]:
    """Yield sentences, each with True if it is its author's own. `others`: see `SourcePassage`."""
    fenced = False
    lines: list[tuple[int, str]] = []
    at = 0
    for whole in text.split("\n"):
        line = whole.strip()
        if line.startswith(_FENCE):
            fenced = not fenced
        elif line and not fenced:
            lines.append((at, whole))
        at += len(whole) + 1
    if len(lines) > SENTENCES:
        lines = lines[: SENTENCES // 2] + lines[-SENTENCES // 2 :]
    for start, whole in lines:
        line = whole.lstrip()
        start += len(whole) - len(line)
        for part, own in parts(line.rstrip(), start, others, known.asks):
            for sentence in known.sentences(part):
                yield sentence, own


def _split(line: str) -> tuple[str, ...]:
    """Return the sentences of a line that hold any content."""
    tidied = without_stamp(tidy(line))
    sentences = [s.strip(" *_") for s in (borders.split(tidied) if len(line) > 30 else (tidied,))]
    return tuple(
        sentence
        for sentence in sentences
        if _LETTERS.search(sentence)
        and not (len(sentence) > 60 and " " not in sentence[:60] and sentence.isascii())
    )


def tidy(line: str) -> str:
    """Strip the markup of Markdown and terminals from a line."""
    line = without_codes(line)
    if not line[:1].isalpha() and (match := _LEAD.match(line)):
        line = line[match.end() :]
    if "](" in line:
        line = _unlinked(line)
    if "...." in line:
        line = _DOTS.sub(" ", line)
    line = line[:2000].replace("**", "").replace("`", "")
    return " ".join(line.split()).strip(" *|")


def _unlinked(line: str) -> str:
    """Replace each link or image in a line by its text.

    >>> _unlinked("See [the docs](https://example.org) and ![](a.png)[x](")
    'See the docs and [x]('
    """
    pieces: list[str] = []
    done = end = 0
    middle = line.find("](")
    while middle >= 0:
        if end < middle + 2:  # not searched again for each of many beginnings
            end = line.find(")", middle + 2)
            if end < 0:
                break
        start = line.find("[", max(done, line.rfind("]", done, middle) + 1), middle)
        if start >= 0:
            image = start > done and line[start - 1] == "!"
            pieces += (line[done : start - image], line[start + 1 : middle])
            done = end + 1
        middle = line.find("](", max(done, middle + 2))
    return "".join(pieces) + line[done:]
