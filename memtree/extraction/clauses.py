"""Clauses: the sentences of a passage, each with a score of how much it says. No model.

What raises a score: the user's words and rules, errors, decisions and reasons, numbers, names.
What lowers it: greetings, chatter, source lines.
What this file does not do: calls, results and code (`tool_results.py`); keeping to a budget
(`summarize.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import fsum

from memtree.extraction import borders
from memtree.extraction.boilerplate import is_boilerplate, without_stamp
from memtree.extraction.clause import Clause, SourcePassage
from memtree.extraction.outcomes import may_end, outcome
from memtree.extraction.quotations import OTHERS, OWN, parts, quotation
from memtree.extraction.read_lines import Judgement, ReadLines
from memtree.text.pasted.own_words import others_words
from memtree.text.requests import orders
from memtree.text.spans import Span
from memtree.text.standing_rules import standing_rules

MAX_CLAUSE = 200  # characters; a longer sentence is cut at a border
SENTENCES = 60  # sentences of one passage that are scored, half from each end
RULE = 6.0
BOILERPLATE = -5.0
LEAST_BASE = 1.0  # of what who says it is worth: the assistant


# Words that tell: errors, decisions and reasons, rules, changes, the state of the work, events of a
# life, times, people and things of a life; then chatter, and the same ideas in German, French,
# Spanish, Russian.
_WEIGHED_WORDS = """
    1.6  error errors failed fails failing failure exception
    1.6  bug crash crashed broke broken fatal panic regression
    1.5  decided decide decision chose agreed instead because cause caused reason
    1.5  reverted revert undo rollback
    1.3  must requirement constraint deadline prefer prefers preferred allergic
    1.1  fixed fix fixes resolved solved replaced replace renamed rename removed
    1.1  migrated switched changed
    0.9  added created updated implemented refactored deleted installed upgraded
    0.9  disabled enabled works passes
    0.9  todo blocked remaining pending finally issue problem
    0.9  however but not only always never without until unless
    0.9  married divorced born died pregnant engaged moved promoted hired fired retired
    0.9  graduated sold adopted signed won lost started quit joined accepted booked
    0.9  planned met visited launched published diagnosed
    0.9  called lives lived owns paid bought keeps inherited promised swore owes hid gave gives
    0.9  carries set pinned configured stored heißt wohnt gekauft bezahlt versprochen
    0.9  зовут живёт живет заплатил заплатила купил купила лежит отвечает s'appelle habite llama
    0.6  yesterday tomorrow tonight ago last next since week weekend month year years
    0.6  birthday summer winter
    0.6  monday tuesday wednesday thursday friday saturday sunday
    0.5  my our mother father mom dad sister brother wife husband son daughter kids
    0.5  friend partner boss dog cat job school university hospital money budget
    0.5  want need plan goal got went took made saw named name bought
    -2.2  apologize apologies confusion sorry
    -0.9  hope feel hello hi hey thanks thank welcome glad
    1.3  fehler weil entschieden entschied statt niemals immer gelöst behoben
    1.3  erreur parce décidé jamais toujours corrigé
    1.3  porque decidido decidimos nunca siempre corregido
    1.3  ошибка потому решили решил никогда всегда исправил
"""
_WEIGHTS = {
    word: float(weight)
    for weight, *words in map(str.split, _WEIGHED_WORDS.strip().splitlines())
    for word in words
}
_SIGNALS = frozenset(_WEIGHTS)
# In a story: what changes for good, or is known from then on.
_LASTS = 1.5
_LASTING = frozenset(
    """
    give gives gave trade trades traded sell sells sold buy bought steal steals stole hide hides
    hid bury buries buried burn burns burned burnt lose loses lost die dies died dead kill killed
    drowned broke promise promises promised swear swears swore owe owes oath vow secret knows learn
    learns learned learnt nobody password poisoned wounded marry married heir son daughter twin
    carries keeps wears key map treaty ring camps meet
    """.split()
)
_CJK_SIGNAL = re.compile(
    r"叫|住在|花了|搬到|负责|という|住んで|払い|担当|错误|失败|因为|决定|必须|不要|改为|修复|エラー|失敗|ため|ので|決め|決定|必ず|修正|오류|실패|때문|결정"
)
_UNPUNCTUATED = str.maketrans(dict.fromkeys("\"'`.,:;!?()[]{}<>*/|=#“”‘’…—–-", " "))

_PLAIN = bytes(range(128)).decode().lower().translate(_UNPUNCTUATED).encode() + bytes(128)

_FENCE = ("```", "~~~")
_LEAD = re.compile(r"(?:[#>|*+\-•│├└─>\s]+(?=[\s\w`\"'“(*\[/])|\d{1,2}[.)]\s+|\[[ xX]\]\s+)++")
_SENTENCE = re.compile(
    rf"(?<=[.!?…]){borders.ORDINAL}[\"')\]”’*_]*\s+(?=[^a-z\s])|(?<=[。！？])(?=.)"
)
# The same in ASCII, with a first character that the engine can look for; group 1 is the border.
_SENTENCE_ASCII = re.compile(rf"[.!?]{borders.ORDINAL}([\"')\]*_]*\s+)(?=[^a-z\s])")
_SENTENCE_END = re.compile(r"[.!?…。！？]")
_ANSI = re.compile(r"\x1b?\[[0-9;]{1,12}m")
_LETTERS = re.compile(r"[^\W\d_]{2}|[^\x00-\x7f]")
_NUMBERED = re.compile(r"\d{1,5}\s?[:|]|[\[{]{1,2}\"\w")  # a line of output, or JSON
_DOTS = re.compile(r"\.{4,}")
SPACE = re.compile(r"\s+")
# The first words of fillers: a cheap test before the pattern.
_FILLING = frozenset(
    """
    hello hi hey long how how's what's bye take
    ok okay yes yeah yep no certainly sure absolutely of definitely totally got i
    great awesome nice cool wow good sounds congrats congratulations
    thanks thank thx you're you glad happy hope feel
    gerne klar danke verstanden hallo prima super merci bonjour parfait claro gracias hola
    that that's if is would let let's here here's now by remember these this
    """.split()
)
_FILLER = re.compile(
    r"(?:\w{2,20}: )?(?:"
    r"long time no|how are you|how(?:'s| is) it going|what's up"
    r"|certainly|sure|absolutely|of course|great|awesome|thanks|thank you|thx"
    r"|hello|hi|hey|wow|cool|nice|ok(?:ay)?|yes|yeah|yep|no problem|you're welcome"
    r"|sounds (?:good|great)|good (?:luck|morning|night|to)|got it|i see|take care|bye"
    r"|feel free|let me know|hope|glad|congrat\w*|definitely|totally|you're right"
    r"|i appreciate|gerne|klar|danke|verstanden|hallo|prima|super|merci|bonjour|parfait"
    r"|claro|gracias|hola"
    r"|that(?:'s| is| sounds) (?:so |really |very )?"
    r"(?:great|awesome|amazing|cool|good|wonderful)"
    r"|if you (?:have|need)|is there anything|would you like|here(?:'s| is| are)"
    r"|let's|let me|now,? let|i hope|happy to|i understand|by following|remember,"
    r"|these? (?:changes|modifications))\b",
    re.IGNORECASE,
)
_FILLER_ELSEWHERE = re.compile(
    r"もちろん|おめでとう|ありがとう|はい|了解|承知|なるほど|そうですね|それは.{0,12}(?:ですね|よかった)"
    r"|当然|好的|没问题|恭喜|谢谢|明白|太好了|这确实|不客气|물론|네[,. ]|감사|축하"
    r"|(?:конечно|поздравляю|спасибо|хорошо|понятно|отлично|пожалуйста|привет|natürlich|glückwunsch"
    r"|schön|selbstverständlich|d'accord|très bien|bien sûr|félicitations|¡|de nada|por supuesto)",
    re.IGNORECASE,
)
SOURCE_LINE = re.compile(
    r"(?:def|class|import|return|raise|elif|async def|const|let|var|function|public|private"
    r"|static|func|fn|package|using|#include)\s.*[:;{(),\]}\"']$"
    r"|(?:except|try|else|finally)\b.*:$|(?:if|for|while|with)\s.*[:{]$|from \S+ import"
    r"|@\w+(?:\(.*\))?$|[)}\]]+[,;]?$|[\w-]+:\S+$|</?\w[^>]*>|//|/\*"
    r"|\d{1,5}\s*[:|│]|(?:[+]|-{3}|[<=>]{5,})"
    r"|[\w.\[\]\"']+\s*[-+*|]?=\s*\S|[\w.]+\(.*\)?[;,{]?$"
    r"|(?:\$|\w+@\w+:.*\$) |\"[^\"]*\"\s*:|print\(|.*[;{]$"
)
_MIDDLE_NAME = re.compile(r" [A-Z][a-z]")
_DETAIL = re.compile(r"[_/.][A-Za-z]")
NUMBER = re.compile(r"[0-9][\d,.:/-]*")
# A clause that begins so leans on another, or says what everybody says.
_VAGUE = frozenset(
    """
    it this that these those they he she which there ensure ensures you if consider can could
    how hmm so and but also then additionally overall finally remember
    """.split()
)


def merit(text: str) -> float:
    """How telling a clause is by its words alone, about -3 to 6."""
    words = _words(text)
    # An exact sum: the order of a set of words differs from process to process.
    score = min(fsum(map(_WEIGHTS.__getitem__, _SIGNALS.intersection(words))), 3.0)
    if numbers := len(NUMBER.findall(text)):
        score += 0.5 + 0.25 * min(numbers, 3)
    if names := len(_MIDDLE_NAME.findall(text)):
        score += 0.4 + 0.25 * min(names, 3)
    if _DETAIL.search(text):
        score += 0.9
    if words and words[0] in _VAGUE:
        score -= 0.7
    if not text.isascii():
        if _CJK_SIGNAL.search(text):
            score += 1.5
        if _FILLER_ELSEWHERE.match(text):
            score -= 2.6 if len(text) < 40 else 1.0
    if words and not _FILLING.isdisjoint(words[:2]) and _FILLER.match(text):
        score -= 2.6 if len(text) < 60 else 1.0
    if (len(text) < 24 and text.isascii()) or text.istitle():
        score -= 1.2  # short, or a heading
    if text[-1:] == ":":
        score -= 0.8
    return score


def _words(text: str) -> list[str]:
    """Lower-case words without the marks around them."""
    if text.isascii():
        return text.encode().translate(_PLAIN).decode().split()
    return text.lower().translate(_UNPUNCTUATED).split()


def clip(text: str, size: int) -> str:
    """At most `size` characters: cut after a clause that ends late enough, else after a word."""
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
    """`name`: of who speaks, where that stands before what is said; `fiction`: it plays a part or
    tells a story."""
    lines = lines or read_lines()
    text, speaker = source.text, name or source.role
    base = 1.8 if chat else 2.4 if source.role == "user" else LEAST_BASE
    if fiction:  # its moves and its mood pass, whoever tells them
        base = LEAST_BASE
    rules: tuple[str, ...] = ()
    others = source.others
    if source.role == "user":
        others = others_words(text) if others is None else others
        spans = standing_rules(text, lines.rule, others=others)
        rules = tuple({tidy(text[start:end]) for start, end in spans})
    clauses: list[Clause] = []
    goes_on = False  # the request before was cut by the end of its line
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
        told, boilerplate, source_line, ends = lines.judgement(sentence)
        score = base + told
        if fiction and not _LASTING.isdisjoint(_words(sentence)):
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
    """Return True for a request that is not the user's: any in words of others, or what the
    assistant orders for good. The subject of a commit is one only where it orders."""
    if own:
        return role == "assistant" and orders(sentence)
    if may_end(sentence) and outcome(sentence, role):
        return orders(sentence)
    return lines.asks(sentence) or (goes_on and sentence[0].islower())


def read_lines() -> ReadLines:
    """Empty: for one history."""
    return ReadLines(_split, judgement)


def judgement(sentence: str) -> Judgement:
    told, boilerplate = merit(sentence), is_boilerplate(sentence)
    # Boilerplate that is worth anything at all counts as such, whatever else it is.
    source = not (boilerplate and told > -LEAST_BASE) and bool(
        _NUMBERED.match(sentence) or (sentence[-1] not in ".!?…" and SOURCE_LINE.match(sentence))
    )
    return Judgement(told, boilerplate, source, may_end(sentence))


def is_fiction(text: str) -> bool:
    """Return True if the text plays a part: actions between stars, or speech in quotation marks."""
    return text.lstrip()[:1] == "*" or text.count("“") + text.count("«") > 1


def _sentences(
    text: str, known: ReadLines, others: Sequence[Span] | None = None
) -> Iterator[tuple[str, bool]]:
    """Sentences, each with whether it is its author's own. `others`: as `SourcePassage.others`."""
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
    """The sentences of one line that say anything."""
    tidied = without_stamp(tidy(line))
    sentences = [s.strip(" *_") for s in (_cut(tidied) if len(line) > 30 else (tidied,))]
    return tuple(
        sentence
        for sentence in sentences
        if _LETTERS.search(sentence)
        and not (len(sentence) > 60 and " " not in sentence[:60] and sentence.isascii())
    )


def _cut(line: str) -> Sequence[str]:
    """A line between its sentences."""
    if not line.isascii():
        ends = _SENTENCE_END.search(line)  # much cheaper than to split
        return _SENTENCE.split(line) if ends else (line,)
    pieces: list[str] = []
    start = 0
    for border in _SENTENCE_ASCII.finditer(line):
        pieces.append(line[start : border.start(1)])
        start = border.end(1)
    return (*pieces, line[start:]) if pieces else (line,)


def tidy(line: str) -> str:
    """One line without the marks of markdown and terminals."""
    if "\x1b" in line or "[0m" in line:
        line = _ANSI.sub("", line)
    if not line[:1].isalpha() and (match := _LEAD.match(line)):
        line = line[match.end() :]
    if "](" in line:
        line = _unlinked(line)
    if "...." in line:
        line = _DOTS.sub(" ", line)
    line = line[:2000].replace("**", "").replace("`", "")
    return " ".join(line.split()).strip(" *|")


def _unlinked(line: str) -> str:
    """One line with the text of each link, or image, in its place.

    >>> _unlinked("See [the docs](https://example.org) and ![](a.png)[x](")
    'See the docs and [x]('
    """
    pieces: list[str] = []
    done = end = 0
    middle = line.find("](")
    while middle >= 0:
        if end < middle + 2:  # and not for each of many beginnings again
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
