"""Judge single lines: how something ended, what could stand anywhere, what is boilerplate.

`outcome` reads terminal lines that report how something ended: commits, undone changes, tests,
errors. Such lines of a long output are found in `clauses.py`.

`particular` tells summary lines specific to their range from lines that could stand anywhere. A
better line is chosen in `headlines.py`.

    >>> particular("Vanessa: Who knows"), particular("Vanessa: My rabbit bit the vet")
    (False, True)

`is_boilerplate` recognises lines that recur in every session and say nothing of this one: commands,
prompts, banners and frames, of forms in a fixed list. A summary's body may hold them if there is
nothing else, its headline never. Small talk is recognised in `clauses.py`.

    >>> [is_boilerplate(line) for line in ("/undo", "continue", "Undo the last commit")]
    [True, True, False]

`ReadLines` caches what was found in the lines of one history.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from memtree.digests.clause import Clause
from memtree.language.borders import UNSPACED
from memtree.language.word_file import WordFile, WordFiles, alternation, lazily
from memtree.text import request_words
from memtree.text.rule_sentences import ReadSentence, read_sentence
from memtree.text.terms import common_words, is_common

_COMMAND_RESULTS = WordFile("all", "command_results")

_EVENT = _COMMAND_RESULTS.pattern("events", re.IGNORECASE)
_BEGIN = frozenset(("commit", "remove", "revert", "undid ", "undone", "droppe", "rolled"))
_KIND = _COMMAND_RESULTS.pattern("kinds_of_commit", re.IGNORECASE)
_NUMBERS = re.compile(r"^[ \t>]*(\d{1,6})\b", re.MULTILINE)
_HEAD_PATH = re.compile(
    r"(?<![\w/.])((?:[\w.@~+-]{0,80}/){1,20}[\w@+-][\w.@+-]{0,80}\.[A-Za-z]\w{0,5})\b"
)
_RANGE = re.compile(r"lines (\d+)-(\d+)$")


def outcome(line: str, speaker: str) -> Clause | None:
    """Return a clause that says how something ended, or None if the terminal line does not."""
    match = _EVENT.match(line) if may_end(line) else None
    if match is None:
        return None
    if (number := match["commit"] or match["undone"]) and number.isalpha():
        return None  # a word with these letters
    if commit := match["commit"]:
        made = _KIND.sub("", match["made"], count=1)
        return Clause(
            speaker,
            f"{made} (committed as {commit[:7]})",
            3.4,
            True,
            brief=f"committed as {commit[:7]}",
        )
    if undone := match["undone"]:
        taken = _KIND.sub("", match["taken"], count=1)
        brief = f"commit {undone[:7]} undone"
        return Clause(speaker, f"{brief}: {taken}" if taken else brief, 3.6, True, brief=brief)
    if tests := match["tests"]:
        return Clause(speaker, tests.strip(" ="), 3.2, True)
    if finding := match["finding"]:
        return Clause(speaker, f"{match['at']}: {finding}", 2.4, True, brief=finding)
    return Clause(
        speaker,
        f"{match['error']}{match['why']}",
        2.8,
        True,
        brief=match["error"].rpartition(".")[2],
    )


def may_end(line: str) -> bool:
    """Return True if `outcome` may find something in the line. A cheap test before the pattern is
    tried."""
    return (
        line[0] in "=[0123456789"
        or "Error" in line
        or "Exception" in line
        or line[:6].lower() in _BEGIN
        or (":" in line and "." in line and line.partition(":")[2][:1].isdigit())
    )


def numbered(text: str, head: str = "") -> str:
    """Name the file and lines that a text shows, if it numbers its lines; else return "". `head`:
    the beginning of its message, which may name the file."""
    begins = text[:800].split("\n")[:8]  # a cheap test: most texts have no line numbers
    if sum(line.lstrip(" \t>")[:1].isdigit() for line in begins) < min(2, len(begins)):
        return ""
    numbers = [int(number) for number in _NUMBERS.findall(text[:20_000])]
    if len(numbers) < 4:
        return ""
    steps = sum(after == before + 1 for before, after in pairwise(numbers))
    if 10 * steps < 6 * len(numbers) or len(numbers) < text.count("\n", 0, 20_000) // 3:
        return ""
    match = _HEAD_PATH.search(head or text[:400])
    return f"{match.group(1) + ' ' if match else ''}lines {numbers[0]}-{numbers[-1]}"


def continues(before: Clause, clause: Clause) -> bool:
    """Merge the numbered lines of `clause` into `before` if they follow its lines."""
    first, second = _RANGE.search(before.brief), _RANGE.match(clause.brief)
    if not first or not second or int(first[2]) + 1 != int(second[1]):
        return False
    brief = f"{before.brief[: first.start(2)]}{second[2]}"
    names = clause.text.partition(": ")[2]
    text = before.text.replace(before.brief, brief, 1)
    new = [name for name in names.split(", ") if name and name not in text]
    if new and len(text) + len(names) < 160:
        text += f"{', ' if ': ' in text else ': '}{', '.join(new)}"
    before.text, before.brief = text, brief
    return True


_DATA = WordFiles("boilerplate")

# A time in front of a statement; alone on its line it is boilerplate.
_STAMP = re.compile(
    r"(?:\[[^\]\n]{0,24}\d{1,2}[:.]\d\d[^\]\n]{0,32}\]|\[\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[^\]\n]{0,20}\]"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,Z+]*|\d\d:\d\d:\d\d(?:[.,]\d{1,6})?"
    r"|\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? \d{1,2}:\d\d(?::\d\d)?(?: ?[aApP][mM])?)"
    r"(?: ?[-–|:])? ?(?=\S|$)"
)
_NAME = re.compile(
    r"(?:[A-ZÀ-ÖØ-ÞА-ЯЁ][\w'’.-]{0,24}(?: [A-ZÀ-ÖØ-ÞА-ЯЁ][\w'’.-]{0,24}){0,2}"
    r"|[\u3041-\u9fff\uac00-\ud7a3]{1,8})[:：] ?(?=\S)"
)
_FORMS = lazily(
    # /undo, /add path
    lambda: rf"/[a-z][\w-]*(?: \S+){{0,3}}$|(?:{_DATA.part('forms')})",
    re.IGNORECASE,
)


def is_boilerplate(line: str) -> bool:
    """Return True if a tidied line is boilerplate."""
    if len(line) < 24 and line.lower().strip(' .!?。！“”"') in _DATA.word_set("alone"):
        return True
    return _may_be(line) and bool(_FORMS.match(line))


def _may_be(line: str) -> bool:
    first = line.partition(" ")[0].lower().rstrip(",!.:")
    return (
        first in _DATA.word_set("first")
        or not line[:1].isalpha()
        or line[-3:] in ("? y", "? n")
        or "tokens truncated…" in line[:80]
        or " v" in line[:32]
        or " chat started at " in line[:80]
    )


def without_stamp(line: str) -> str:
    """Return the line without the time in front of it."""
    if line and (line[0] in "[(" or line[0].isdigit()) and (match := _STAMP.match(line)):
        return line[match.end() :]
    return line


def speaker_of(line: str) -> str:
    """Return the speaker's name at the start of a line ("Ann" of "Ann: hello"), or ""."""
    match = _NAME.match(line)
    return match.group().rstrip(": ：") if match else ""


_PIECE = re.compile(r"; | -> | \(|\)")
_WORD = re.compile(r"[^\W_][^\W]*(?:['’][^\W_]+)*")
# The numbers or count of an output's lines say nothing about its content.
_LINES = re.compile(r"\blines? [0-9]+(?:-[0-9]+)?\b|\b[0-9]{1,9} (?:more )?lines?\b")
_GENITIVE = ("'s", "’s")
ERRORS = ("Error", "Exception")
# Common words of scripts without spaces, the longest first: they are removed from a run.
_UNSPACED_WORDS = lazily(lambda: alternation(filter(UNSPACED.search, common_words())))


def particular(text: str, anchors: Sequence[str] = (), siblings: Sequence[str] = ()) -> bool:
    """Return True if a summary line holds a number, a name, an identifier or a content word that
    few of its siblings hold.

    `text`: the line without its range; `anchors`: those of the same summary; `siblings`: the lines
    beside it, without it. The speaker's name does not count.
    """
    own_words = set(telling_words(text, anchors))
    if not own_words or not siblings:
        return bool(own_words)
    allowed = 1 + len(siblings) // 6
    others = [line.lower() for line in siblings]
    return any(sum(word in other for other in others) <= allowed for word in own_words)


def telling_words(text: str, anchors: Iterable[str] = ()) -> Iterator[str]:
    """Yield the words that may distinguish a line from others, in lower case and in order."""
    names = {word.lower() for anchor in anchors for word in _WORD.findall(anchor)}
    if "line" in text:
        text = _LINES.sub(" ", text)
    for piece in _PIECE.split(text):
        said, speaker = piece, speaker_of(piece) if ":" in piece or "：" in piece else ""
        if speaker and not speaker.endswith(ERRORS):
            said = piece[len(speaker) + 1 :]
        for number, token in enumerate(_WORD.findall(said)):
            word = token[:-2] if token[-2:] in _GENITIVE else token
            if _tells(word, names, first=number == 0):
                yield word.lower()


def _tells(word: str, names: set[str], first: bool) -> bool:
    if is_common(word):
        return False
    if not word.isascii() and UNSPACED.search(word):
        return max(map(len, _UNSPACED_WORDS.split(word))) > 1
    if len(word) > 2 or word.lower() in names:
        return True
    return any(map(str.isdigit, word)) or (not first and len(word) > 1 and word[0].isupper())


LONGEST = 1_000  # characters of a cached line: longer lines rarely occur again
MOST = 4_000_000  # characters in all


class Judgement(NamedTuple):
    """Judgement of a sentence by itself, whoever the speaker.

    `merit`: how informative its words are; `boilerplate`: it recurs in every session; `source`: it
    is a line of source or numbered output (not tested for boilerplate that is excluded anyway);
    `ends`: it may say how something ended; `orders`: it orders something permanently.
    """

    merit: float
    boilerplate: bool
    source: bool
    ends: bool
    orders: bool


class ReadLines:
    """Cache of the sentences of each line and, for each sentence, its judgement, its reading as a
    standing rule, and whether it is a request. It is emptied when it grows too large.

    A coding session shows files and outputs again and again: in a million tokens, four lines in
    five have occurred before. The cache lives only while one history is read, since it holds that
    history's words. Lines are judged by the functions that it is given, those of `clauses.py`.
    """

    def __init__(
        self,
        split: Callable[[str], tuple[str, ...]],
        judge: Callable[[str], Judgement],
        most: int = MOST,
    ) -> None:
        """Create an empty cache. `split`, `judge`: pure functions. `most`: cached characters in
        all."""
        self._split, self._judge, self._most = split, judge, most
        self._sentences: dict[str, tuple[str, ...]] = {}
        self._judgements: dict[str, Judgement] = {}
        self._rules: dict[str, ReadSentence] = {}
        self._asks: dict[str, bool] = {}
        self.size = 0

    def sentences(self, line: str) -> tuple[str, ...]:
        pieces = self._sentences.get(line)
        if pieces is None:
            pieces = self._split(line)
            if self._has_room(line):
                self._sentences[line] = pieces
        return pieces

    def judgement(self, sentence: str) -> Judgement:
        verdict = self._judgements.get(sentence)
        if verdict is None:
            verdict = self._judge(sentence)
            if self._has_room(sentence):
                self._judgements[sentence] = verdict
        return verdict

    def rule(self, sentence: str) -> ReadSentence:
        """Return `read_sentence` from the cache. The user's sentences are read in the message, in
        the passage, and in the summaries of each level."""
        reading = self._rules.get(sentence)
        if reading is None:
            reading = read_sentence(sentence)
            if self._has_room(sentence):
                self._rules[sentence] = reading
        return reading

    def asks(self, sentence: str) -> bool:
        """Return `request_words.asks` from the cache. Used for texts of others: mails and files
        come again many times."""
        asking = self._asks.get(sentence)
        if asking is None:
            asking = request_words.asks(sentence)
            if self._has_room(sentence):
                self._asks[sentence] = asking
        return asking

    def _has_room(self, text: str) -> bool:
        if len(text) > LONGEST:
            return False
        self.size += len(text)
        if self.size > self._most:
            self._sentences.clear()
            self._judgements.clear()
            self._rules.clear()
            self._asks.clear()
            self.size = len(text)
        return True
