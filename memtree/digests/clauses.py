"""Split a passage into clauses: its sentences, each with a score of how much it says. No model.

What raises a score: the user's words and rules, errors, decisions and reasons, numbers, names.
What lowers it: greetings, chatter, source lines.
Tool results and blocks of code are no speech, so their clauses are made otherwise: a result yields
its errors or how it ended; code yields its path and the names it defines. Repeated log lines count
as one. Token budgets are kept in `summarize.py`; what calls did is told in `work_clauses.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import fsum

from memtree.digests.clause import OTHERS, OWN, RESULT, Clause, SourcePassage, parts, quotation
from memtree.digests.line_judgements import (
    Judgement,
    ReadLines,
    is_boilerplate,
    may_end,
    numbered,
    outcome,
    without_stamp,
)
from memtree.language import borders
from memtree.language.word_file import WordFile, WordFiles, lazily
from memtree.text.own_words import others_words
from memtree.text.request_words import asks, orders
from memtree.text.rule_sentences import standing_rules
from memtree.text.spans import Span

_RESULTS = WordFile("all", "command_results")

HITS = 24  # error and outcome lines read in one result
ERROR, OUTCOME = 2.6, 1.8
CODE_LINE = -3.0  # used only if there is nothing else

_TROUBLE = _RESULTS.pattern("troubles")
_COUNTED = re.compile(
    r"(?<![0-9])[0-9]++ (?:passed|failed|errors?|warnings?|tests?)\b"
    r"|xit(?:ed)?(?: with)?(?: code| status)?[: ]+\d+"
)
_ENDS = _RESULTS.words("endings")
_FINAL_ERROR = re.compile(
    r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b:? ?\S|E {2,}\S"
    r"|error(?:\[\w+\])?:|fatal:"
)
# White space up to the line's end at most: else each of many empty lines would be read again.
_DEFINED = re.compile(
    r"^(?:[^\S\n]|\+)*+(?:\d{1,6}[:|│→]?[^\S\n]*+)?"
    r"(?:(?:export|default|public|private|static|async|pub) )*"
    r"((?:def|class|function|fn|func|interface|struct|trait|enum"
    r"|CREATE TABLE|create table) +\w+)",
    re.MULTILINE,
)
_COMMENT = re.compile(r"^[^\S\n]*+(?:#|//|--) ?([A-Za-z][^\n]{12,})", re.MULTILINE)
_PATH_ALONE = re.compile(r"[/\w.@~+-]*\.\w{1,5}:?$|[\w.-]+(?:/[\w.-]+)+:?$|Makefile|Dockerfile")


def results(text: str, label: str = RESULT, head: str = "") -> Iterator[Clause]:
    """Yield one to three clauses: the errors, how it ended, or the first line and the number of
    lines. Requests are quoted behind `label`. `head`: the beginning of the message, if the text
    does not begin it."""
    for clause in _results(text, head):
        said = clause.text.removeprefix(clause.brief)  # "lines 1-9" is our own wording
        asking = orders(said) if clause.outcome else asks(said)
        yield quotation("tool", clause.text, clause.score, label) if asking else clause


def _results(text: str, head: str) -> Iterator[Clause]:
    if shown := numbered(text, head):
        names = ", ".join(list(dict.fromkeys(_DEFINED.findall(text)))[:4])
        if not names and shown.startswith("lines "):  # only their words tell which file
            names = " ".join(words for line in _first_line(text) for words in line.text.split()[:9])
        yield Clause("tool", f"{shown}: {names}" if names else shown, 0.9, brief=shown)
        return
    troubles = _lines_of(_TROUBLE, text) if _may_tell_trouble(text) else ()
    real = [
        line
        for line in troubles
        if (not SOURCE_LINE.match(line) or _FINAL_ERROR.match(line)) and not is_boilerplate(line)
    ]
    final = [line for line in real if _FINAL_ERROR.match(line)]
    errors = _collapsed([*final[-1:], *real], 2)
    for error in errors:
        yield outcome(error, "tool") or Clause(
            "tool", error, ERROR + min(merit(error), 2.0), outcome=True
        )
    ended = [*_lines_of(_COUNTED, text), *_endings(text)]
    outcomes = _collapsed([line for line in ended if line not in real], 2)
    for line in outcomes:
        yield outcome(line, "tool") or Clause(
            "tool", line, OUTCOME + min(merit(line), 1.5), outcome=True
        )
    if not errors and not outcomes:
        yield from _first_line(text)


def _first_line(text: str) -> Iterator[Clause]:
    lines = [line for line in text.split("\n") if line.strip(" \r\t>#|-=*\"'.")]
    for line in lines[:8]:
        shown = clip(tidy(line), 120)
        if len(shown) > 1 and not (len(shown) > 60 and " " not in shown):
            more = f" ({len(lines)} lines)" if len(lines) > 3 else ""
            yield Clause("tool", shown + more, 0.3 + min(0.5 * merit(shown), 0.8))
            return


def _endings(text: str) -> Iterator[str]:
    lines = text.split("\n")
    for line in (
        lines if len(lines) <= SENTENCES else lines[: SENTENCES // 2] + lines[-SENTENCES // 2 :]
    ):
        line = line.lstrip("> \t*-")
        if line.partition(" ")[0] in _ENDS:
            yield tidy(line[: 2 * MAX_CLAUSE])


def _lines_of(pattern: re.Pattern[str], text: str) -> list[str]:
    """Return the lines of `text` that hold a match, tidied."""
    lines: list[str] = []
    end = -1
    for match in pattern.finditer(text):
        if match.start() < end:
            continue
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        # A line of thousands of characters is data: the text around the match is enough.
        start = max(start, match.start() - MAX_CLAUSE // 2)
        lines.append(tidy(text[start : min(end, match.end() + MAX_CLAUSE)]))
        if len(lines) == HITS:
            break
    return [line for line in lines if line]


@cache
def _trouble_words() -> frozenset[str]:
    """Return the words in the pattern of trouble: each match holds one of them."""
    return frozenset(re.findall("[a-z][a-z ]{3,}", _RESULTS.part("troubles")))


def _may_tell_trouble(text: str) -> bool:
    """Return False for most texts without trouble: a cheap test before the pattern."""
    return any(map(text.lower().__contains__, _trouble_words()))


def _collapsed(lines: Iterable[str], most: int) -> list[str]:
    """Return the first `most` lines that differ in more than digits, with their counts."""
    counts: dict[str, int] = {}
    shown: dict[str, str] = {}
    for line in lines:
        key = NUMBER.sub("0", line)[:60]
        counts[key] = counts.get(key, 0) + 1
        shown.setdefault(key, line)
    return [
        clip(line, 150) + (f" (x{counts[key]})" if counts[key] > 2 else "")
        for key, line in list(shown.items())[:most]
    ]


def code(role: str, text: str, before: list[Clause]) -> list[Clause]:
    """Return a clause of the names a block of code defines, after the path that stands before
    it."""
    names = list(dict.fromkeys(_DEFINED.findall(text)))[:5]
    if not names and _may_tell_trouble(text) and _TROUBLE.search(text):
        clauses = list(results(text, OTHERS))
        for clause in clauses:
            clause.speaker = role
        return clauses
    path = ""
    if before and before[-1].speaker == role and _PATH_ALONE.match(before[-1].text):
        path = before.pop().text.rstrip(":") + ": "
    comment = _COMMENT.search(text)
    said = clip(tidy(comment.group(1)), 90) if comment else ""
    shown = ", ".join(names) or ("" if asks(said) else said)
    if not (path or shown):
        lines = numbered(text)
        if lines:
            return [Clause(role, lines, 0.9, brief=lines)]
        first = _first_line(text.strip("`~\n"))
        return [
            quotation(role, clause.text, CODE_LINE, OTHERS)
            if asks(clause.text)
            else Clause(role, clause.text, CODE_LINE)
            for clause in first
        ]
    label = f"{path}{shown or 'code'}"
    return [Clause(role, label, (1.8 if path else 0.9) + 0.1 * len(names), outcome=bool(path))]


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
        sentence_merit, boilerplate, source_line, ends, _ = lines.judgement(sentence)
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
        foreign = source.role == "user" and not (name or rule) and (fiction or not own)
        clauses.append(Clause(speaker, said, score, telling and not chat, rule, foreign=foreign))
    if clauses and source.role != "user" and not chat and not clauses[0].quoted:
        clauses[0].score += 0.4
    return clauses


def _is_quoted(sentence: str, own: bool, role: str, goes_on: bool, lines: ReadLines) -> bool:
    """Return True for a request that is not the user's: any request in others' words, or a lasting
    order of the assistant's. A commit subject counts only if it gives an order."""
    if own:
        return role == "assistant" and lines.judgement(sentence).orders
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
    return Judgement(sentence_merit, boilerplate, source, may_end(sentence), orders(sentence))


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
    """Strip the markup of Markdown from a line."""
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
