"""Headlines: the thing and its outcome in at most 18 tokens, in phrases that are whole.

A phrase is a sentence, or its beginning up to the end of a clause; where none is short enough, one
that ends before a further detail ("for ...", "with ..."). What cannot be said whole is named: its
files, identifiers, names.

A leaf's headline comes from its clauses, a node's from its children's headlines and anchors.
What this file does not do: bodies (`summarize.py`), the shorter form of a headline (`topics.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from memtree.extraction import borders
from memtree.extraction.boilerplate import is_boilerplate
from memtree.extraction.clause import Clause
from memtree.extraction.clauses import BOILERPLATE, RULE, SOURCE_LINE, merit
from memtree.extraction.topics import END, SummaryText
from memtree.text import tokens

HEADLINE = 18  # tokens, DESIGN section 6
_THING = 11  # of them, where an outcome follows
_LOOKED_AT = 8  # clauses, the best ones
_LEAST = 3  # words of a phrase
_SHAPES = ((2, 10), (2, 8), (3, 6), (2, 6), (1, 14), (1, 8))  # parts of a line, tokens of each
_TELLS = 1.5  # what a part of a headline is worth that says something
_SHORT = 12  # tokens of a headline that has room for names
_BYTES = 4.1  # UTF-8 bytes a token of o200k, about

_POLITE = re.compile(
    r"(?:/\w+ (?=\w+ \w+ \w)|step \d+[:.]? |\d+(?:\.\d+)+ |\d+[.)] )?"
    r"(?:(?:ok(?:ay)?|so|now|well|and|but|also|please|hi|hey|thanks|great|hmm|first|next|then|finally"
    r"|additionally|however|therefore|actually|basically|certainly|sure|yes|no|wow|oh)\b[,!.]? )*"
    r"(?:(?:can|could|would|will) you (?:please |help me (?:to )?)?"
    r"|i(?:'d| would) like (?:you )?to |i want (?:you )?to |i need (?:you )?to "
    r"|i need help (?:with|to) "
    r"|to (?=\w+ \w+ \w)|i(?:'m| am) (?:trying|planning|hoping|looking) to |help me (?:to )?"
    r"|please "
    r"|let'?s |we need to |we should |we (?:can|could) |you should "
    r"|i think (?:that )?|i noticed that "
    r"|kannst du (?:bitte )?|könntest du (?:bitte )?|bitte |peux-tu |pourrais-tu |puedes "
    r"|por favor,? "
    r"|пожалуйста,? |можешь )?",
    re.IGNORECASE,
)
# Before a detail that may be left out.
_DETAIL = re.compile(
    r" (?=(?:and|or|to|for|with|using|by|from|into|including|such as|through|without|during|about"
    r"|in|on"
    r"|at|as|und|mit|für|von|bei|и|для|с|в|на|pour|avec|dans|con|para|en)\b)",
    re.IGNORECASE,
)
_COMMA = re.compile(r", |，")
_ASIDE = re.compile(r" ?\([^()]{0,200}\)")
_OPEN = re.compile(
    r"(?:^|[\s,])(?:the|a|an|to|of|and|or|for|with|in|on|at|by|from|as|is|are|was|be|that|this|if|when"
    r"|because|which|get|make|be|have|help|take|use|more|most|very|some|any|it's|such|not|how|what|who"
    r"|want|would|could|should|will|can|may|might|must|has|had|do|does|did|i|you|we|they|it|he|she|my|your|our|their|his|her|its|der|die|das|und|mit|ein|eine|zu|и|в|на|с|не|что)$",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?:if|when|whenever|since|because|although|though|while|as|after|before|once|for example"
    r"|by \w+ing"
    r"|wenn|weil|obwohl|nachdem|quand|comme|cuando|если|когда)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_ROLES = frozenset(("user", "assistant", "tool", "function", "system", "developer", ""))
_LINKED = re.compile(r"(?:such as|which|that|who|whose|and|but|or|so|where|we'll|it's)\b", re.I)
_CODE = re.compile(r"\w_\w|[=(){}<>\[\];\\]|\w[/.]\w")
_FAILED = re.compile(r"^\w[\w.]*(?:Error|Exception)\b|\b(?:failed|passed|FAILED)\b")
# What is asked or done without a word of what it is about.
_HOLLOW = re.compile(
    r"(?:\w+ ){1,3}(?:it|this|that|these|those|them|the)(?: (?:changes?|errors?|issues?|problems?|files?"
    r"|code|tests?|fix|update))?(?: too| again| now)?[.!?]?$",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"(?:return|raise|import|from|def|class|const|let|var|await|yield) .*[(){}=\"']"
)
_TELLING = re.compile(r"[^\W\d_]{2,}")
_MARKS = " ,;:.-–—*_|>#，。；：、"


def leaf_headline(clauses: Sequence[Clause], names: Sequence[str]) -> str:
    """`clauses`: of the leaf, in order; `names`: its anchors, the best first."""
    told = [clause for clause in clauses if clause.score > BOILERPLATE / 2]
    best = sorted(told, key=lambda clause: -_worth(clause))[:_LOOKED_AT]
    asks = [clause for clause in best if clause.speaker == "user" and _worth(clause) > 2.0]
    for ask in asks[:2]:
        if line := _asked(ask, told):
            return _with_names(line, names)
    found = _candidates(best, HEADLINE)
    if not found or found[0][0] < -1.0:
        return _named(clauses, names) or (found[0][1] if found else "")
    first = found[0][1]
    return _joined(first, found[1:]) or _with_names(first, names)


def node_headline(children: Sequence[SummaryText], shared: Counter[str]) -> str:
    """What the children share, what the most telling of them are about, and how the last ended."""
    theme = next(iter(_themes(children, shared)), "")
    parts: list[tuple[float, str]] = []
    for size, cap in _SHAPES:
        every = _parts(children, shared, cap)
        parts = [part for part in every if part[0] > 0.0] or every
        if len(parts) < size:
            continue
        said = "; ".join(_chosen(parts, size))
        for beside in (theme, "") if size < 4 else ("",):
            line = f"{said} ({beside})" if beside and beside.lower() not in said.lower() else said
            if (size > 1 or beside) and tokens.count(line) <= HEADLINE:
                return line
    names = [word for child in children for word in child.anchors[:2] if _is_name(word)]
    return listed([*(part for _, part in parts), *_themes(children, shared), *names], HEADLINE)


def whole(text: str, cap: int) -> tuple[str, float]:
    """A whole phrase of the text within `cap` tokens, and what was lost: 0 nothing, 1 a detail
    within the clause. Empty where there is none."""
    bare = _bare(text)
    if _fits(bare, cap):
        return bare, 0.0
    short = _ASIDE.sub("", bare)
    if short != bare and _fits(short, cap):
        return short, 0.2
    ends = borders.clause_ends(short[: 16 * cap])
    main, lost = short, 0.3
    comma = _COMMA.search(short)
    if comma and _CONDITION.match(short):  # what follows from it says more
        main, lost = _bare(short[comma.end() :]), 0.4
        if len(borders.units(main)) < _LEAST:
            main = short
        elif _fits(main, cap):
            return main, lost
        elif phrase := _until(main, borders.clause_ends(main[: 16 * cap]), cap):
            return phrase, lost
    if phrase := _bare(_until(short, ends, cap)):
        if len(borders.units(phrase)) >= _LEAST or not phrase.isascii():
            return phrase, lost
    for rest in (main, short):
        details = [match.start() for match in _DETAIL.finditer(rest[: 16 * cap])]
        if phrase := _until(rest, details, cap):
            return phrase, 1.5
    if not short.isascii() and borders.UNSPACED.search(short):
        return _until(short, borders.ends(short[:200]), cap), 1.7
    return "", 0.0


def listed(names: Sequence[str], cap: int) -> str:
    """As many of the names as fit."""
    line = ""
    for name in dict.fromkeys(names):
        longer = f"{line}, {name}" if line else name
        if len(name) < 100 and tokens.count(longer) <= cap:
            line = longer
    return line


def _worth(clause: Clause) -> float:
    """A rule counts as any other sentence: rules are pinned elsewhere."""
    return clause.score - (RULE if clause.verbatim else 0.0)


def _candidates(clauses: Sequence[Clause], cap: int) -> list[tuple[float, str]]:
    """Phrases with what they are worth, the best first. `clauses`: the best first; those that
    cannot come near the best phrase any more are not looked at."""
    found: list[tuple[float, str]] = []
    for clause in clauses:
        worth = _worth(clause)
        if len(found) > 1 and worth < found[0][0] - 1.0:
            break
        phrase, lost = _said(clause, cap)
        if phrase:
            words = len(borders.units(phrase))
            short = 0.6 * max(0, 5 - words) if not clause.outcome else 0.0
            found.append((worth - lost - short, phrase))
            found.sort(key=lambda pair: -pair[0])
    return found


def _said(clause: Clause, cap: int) -> tuple[str, float]:
    """A clause as a headline says it; empty where it cannot."""
    phrase, lost = whole(clause.text, cap)
    if clause.brief and (not phrase or lost >= 0.3) and _fits(clause.brief, cap):
        phrase, lost = clause.brief, 0.3
    if not phrase or is_boilerplate(phrase):
        return "", 0.0
    if not (_readable(phrase) or clause.brief or (clause.outcome and _FAILED.search(phrase))):
        return "", 0.0
    if _HOLLOW.match(phrase):
        lost += 2.0
    who = f"{clause.speaker}: " if clause.speaker not in _ROLES else ""
    if who and not _fits(who + phrase, cap):
        phrase, lost = whole(clause.text, cap - tokens.count(who))
    return (who + phrase, lost) if phrase else ("", 0.0)


def _readable(phrase: str) -> bool:
    """Words rather than code or data."""
    if not (phrase[0].isalnum() or phrase[0] in "\"'“„«「/~") or phrase.startswith('"""'):
        return False
    if not phrase.isascii() and not _TELLING.sub("", phrase).isascii():
        return False
    if _SOURCE.match(phrase):
        return False
    words = _TELLING.findall(phrase)
    parts = phrase.split()
    if phrase.isascii() and 5 * sum(map(bool, map(_CODE.search, parts))) > 2 * len(parts):
        return False
    if sum(map(len, words)) + phrase.count(" ") < 0.7 * len(phrase):
        return False
    return (len(words) > 1 or not phrase.isascii()) and (
        phrase[-1] in ".!?" or not SOURCE_LINE.match(phrase)
    )


def _asked(ask: Clause, clauses: Sequence[Clause]) -> str:
    """What the user asked, and how it ended where that is known."""
    after = clauses[clauses.index(ask) + 1 :]
    ends = [clause for clause in after if clause.outcome and clause.speaker != "user"]
    ends.sort(key=lambda clause: -clause.score)
    thing, lost = _said(ask, HEADLINE)
    if not thing:
        return ""
    short = thing if _fits(thing, _THING) else ""
    if not short:
        shorter, more = _said(ask, _THING)
        short = shorter if more < 1.0 or lost >= 1.0 else ""
    for end in ends[:4]:
        for start in dict.fromkeys((short, thing)):
            room = HEADLINE - 1 - tokens.count(start)
            if start and room >= 4:
                phrase, gone = _said(end, room)
                if end.brief and _repeats(phrase, start) and _fits(end.brief, room):
                    phrase = end.brief
                if phrase and gone < 1.0 and not _repeats(phrase, start):
                    line = f"{start}{END}{phrase}"
                    if tokens.count(line) <= HEADLINE:
                        return line
    return thing


def _repeats(phrase: str, other: str) -> bool:
    words = set(_WORD.findall(phrase.lower()))
    return 2 * len(words & set(_WORD.findall(other.lower()))) > len(words)


def _with_names(line: str, names: Sequence[str]) -> str:
    """A short line tells more with the names that it lacks."""
    if tokens.count(line) > _SHORT:
        return line
    lower = line.lower()
    lacking = [_short_path(name) for name in names if _is_name(name) or "/" in name]
    lacking = [name for name in dict.fromkeys(lacking) if name and name.lower() not in lower]
    for count in (3, 2, 1):
        longer = f"{line} ({', '.join(lacking[:count])})"
        if len(lacking) >= count and tokens.count(longer) <= HEADLINE:
            return longer
    return line


def _short_path(name: str) -> str:
    """The last part of a path, which tells most of it."""
    return name.rstrip("/").rpartition("/")[2]


def _joined(first: str, rest: Sequence[tuple[float, str]]) -> str:
    """With a second phrase, where both fit."""
    for worth, phrase in rest[:4]:
        if worth < 0.5 or _repeats(phrase, first):
            continue
        line = f"{first}; {phrase}"
        if _fits(line, HEADLINE):
            return line
    return ""


def _named(clauses: Sequence[Clause], names: Sequence[str]) -> str:
    """What cannot be said in a sentence: the names in it, or its words as they are."""
    kinds = {clause.speaker for clause in clauses}
    telling = [name for name in names if _is_name(name) or "/" in name or "." in name]
    if line := listed(telling, HEADLINE - 2):
        return f"{'output' if kinds == {'tool'} else 'code'}: {line}"
    for clause in clauses:
        phrase, _ = whole(clause.text, HEADLINE)
        if phrase:
            return phrase
    for clause in clauses:
        if words := borders.units(clause.text):
            return listed(words, HEADLINE)
    return ""


def _parts(
    children: Sequence[SummaryText], shared: Counter[str], cap: int
) -> list[tuple[float, str]]:
    """What each child is about, with how much that tells, in order; none says the same twice."""
    found = [_part(child, shared, cap) for child in children]
    words = [set(_WORD.findall(part.lower())) for _, part in found]
    parts: list[tuple[float, str]] = []
    for at, (worth, part) in enumerate(found):
        alike = [len(words[at] & other) >= 0.6 * len(words[at]) for other in words]
        if part and not any(alike[:at]):
            # What several children say tells them apart less.
            parts.append((worth - 1.5 * (sum(alike) > 1), part))
    return parts


def _part(child: SummaryText, shared: Counter[str], cap: int) -> tuple[float, str]:
    """What a child is about, apart from what it shares with others."""
    best, weight = "", -9.0
    for number, clause in enumerate(_clauses(_ASIDE.sub("", child.headline))):
        phrase, lost = whole(clause, cap)
        if not phrase or is_boilerplate(phrase) or not _readable(phrase):
            continue
        own = sum(0.4 for word in child.anchors if shared[word] == 1 and word in phrase)
        score = min(own, 0.8) + merit(phrase) - lost - 0.2 * number
        said = phrase.partition(": ")[2] or phrase
        if _CONDITION.match(said) or _LINKED.match(said):
            score -= 2.0
        elif said != phrase:
            score -= 0.5  # a point of a list
        score += 0.25 * min(len(borders.units(phrase)), 5)
        if _HOLLOW.match(phrase):
            score -= 2.0
        elif _asked_there(phrase, child.body):
            score += 1.0
        if score > weight:
            best, weight = phrase, score
    if best:
        return weight, best
    names = [word for word in child.anchors if shared[word] == 1 and _is_name(word)]
    return -1.0, listed(names[:3], cap)


def _asked_there(phrase: str, body: str) -> bool:
    """Whether a body says that the user said it."""
    at = body.find(phrase)
    return at >= 0 and body.rfind("user: ", 0, at) > body.rfind("assistant: ", 0, at)


def _clauses(headline: str) -> Iterator[str]:
    for piece in headline.split(END):
        for part in piece.split("; "):
            yield part
            cut = list(borders.clauses(part))
            if len(cut) > 1:
                yield from cut


def _themes(children: Sequence[SummaryText], shared: Counter[str]) -> list[str]:
    """Names that a third of the children share, the commonest first."""
    many = max(2, -(-len(children) // 3))
    words = [word for word, count in shared.items() if count >= many and _is_name(word)]
    return sorted(words, key=lambda word: -shared[word])[:4]


def _is_name(word: str) -> bool:
    """Whether an anchor names a thing: no number, option, date or amount."""
    return word[0].isalpha() and len(word) < 40 and sum(map(str.isalpha, word)) > 0.6 * len(word)


def _chosen(parts: Sequence[tuple[float, str]], most: int) -> list[str]:
    """The best `most` of them in their order; the last one, which tells how it ended, among them
    where it tells anything."""
    order = sorted(range(len(parts)), key=lambda at: -parts[at][0])
    kept = order[:most]
    last = len(parts) - 1
    if last not in kept and parts[last][0] > _TELLS:
        kept[-1] = last
    return [parts[at][1] for at in sorted(kept)]


def _until(text: str, ends: Sequence[int], cap: int) -> str:
    """The longest beginning that ends at one of these and fits."""
    for end in sorted({end for end in ends if end < len(text)}, reverse=True):
        if end > 12 * cap:
            continue
        phrase = text[:end].strip(_MARKS)
        enough = len(borders.units(phrase)) >= _LEAST or 3 * len(phrase) > 2 * cap
        if phrase.count("(") != phrase.count(")") or phrase.count('"') % 2:
            continue
        if enough and not _OPEN.search(phrase) and _fits(phrase, cap):
            return phrase
    return ""


def _bare(text: str) -> str:
    """Without the polite beginning and the marks around it."""
    match = _POLITE.match(text)
    if match and match.end() < len(text) - 8:
        text = text[match.end() :]
    return text.strip(_MARKS)


def _fits(text: str, cap: int) -> bool:
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size <= cap:
        return True
    return size < cap * 3 * _BYTES and tokens.count(text) <= cap
