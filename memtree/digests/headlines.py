"""Write headlines: a subject and its outcome in at most 18 tokens, in whole phrases.

A leaf's headline comes from its clauses, a node's from its children's headlines and anchors.
Sentences are cut in `phrases.py`, bodies are written in `summarize.py`, and topics, the shorter
form of a headline, in `titles.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice

from memtree.digests.clause import LABEL, Clause, marked
from memtree.digests.clauses import BOILERPLATE, RULE, merit
from memtree.digests.line_judgements import ERRORS, is_boilerplate, speaker_of, telling_words
from memtree.digests.phrases import (
    ASIDE,
    fits,
    is_hollow,
    is_verbless,
    leans,
    listed,
    readable,
    repeats,
    whole,
)
from memtree.digests.titles import END, HEADLINE, KINDS, SummaryText, are_talk, talked
from memtree.digests.work_clauses import is_work, short_path
from memtree.language import borders
from memtree.language.word_file import WordFile, WordFiles, lazily
from memtree.text import tokens
from memtree.text.terms import is_common

_DATA = WordFile("en", "phrases")

_THING = 11  # tokens of the subject if an outcome follows
_BESIDE = 8  # tokens of a phrase beside the request
_LOOKED_AT = 8  # best clauses that are considered
_FIRST = 13  # tokens of the first part of a parent's line
_SAYS, _TELLS = 0.7, 2.5  # scores of a part that says something, and more than most work
_ASKED = 3.0  # added if the user asked for it
_MERIT = 2.5  # the most that words add to a score
_LONG = 24  # characters of a name that is not shortened
_SHORT = 12  # tokens of a headline to which names are added
# Scores of a phrase of talk: without particular words, for each particular word, and for each of
# these that the leaf repeats.
_HEARD = 12  # best clauses of a talk that are considered
_DULL, _TELLING, _AGAIN = -2.5, 0.4, 0.4
_WORD = re.compile(r"\w+")
_TIME = re.compile(r"\b[0-9]{2}:[0-9]{2}:[0-9]{2}\b")
_CHANGED = 3.0  # least score of work that begins a line
_SHOWS = re.compile(r"lines (?:[0-9]+-[0-9]+ )?of (?:.*, )?(\S+)")
_NAMED = re.compile(r"`([^`]+)`")
# The user's plans; remarks on every answer, or on an earlier statement; and an agent's guesses
_PLANS = re.compile(r"(?:i(?:'ll|’ll| will| prefer| agreed| plan| mean)|maybe)\b", re.IGNORECASE)
_SELF = lazily(lambda: rf"(?:{WordFiles('phrases').part('self')})\b", re.IGNORECASE)
_RULES = re.compile(r"(?:always|never|whenever|it(?:'ll|'s)?|this|these|that)\b", re.IGNORECASE)
_BARE = re.compile(r"(?:an?|the|my|our)\b", re.IGNORECASE)
_UNSURE = _DATA.pattern("unsure", re.IGNORECASE, shaped=r"\b(?:{})\b".format)
_ROLES = frozenset(("user", "assistant", "tool", "function", "system", "developer", ""))
_SAYS_WHO = re.compile(LABEL)
_FAILED = re.compile(r"^\w[\w.]*(?:Error|Exception)\b|\b(?:failed|passed|FAILED)\b")


def leaf_headline(clauses: Sequence[Clause], names: Sequence[str]) -> str:
    """Write the headline of a leaf. `clauses`: those of the leaf, in order; `names`: its anchors,
    the best first. Quotations are left out; if a leaf holds nothing else, the headline says that it
    quotes something."""
    quoted, clauses = clauses[0].text, [clause for clause in clauses if not clause.quoted]
    if not clauses:
        return listed([quoted.partition(": “")[0], *names[:3], *names[:3:-1]], HEADLINE)
    good = [clause for clause in clauses if clause.score > BOILERPLATE / 2]
    if speakers := {clause.speaker for clause in clauses} - _ROLES:
        return _talk(good, [name for name in names if name not in speakers])
    best = nlargest(_LOOKED_AT, good, key=_worth)
    asks = [clause for clause in best if clause.speaker == "user" and _worth(clause) > 2.0]
    asks.sort(key=lambda clause: clause.foreign)  # what the user asks about a text says more
    for ask in asks[:2]:
        if line := _asked(ask, good):
            if END not in line:
                short, lost = _said(ask, _THING)
                others = (clause for clause in best[:5] if clause.speaker != "user")
                said = ((_worth(clause), *_said(clause, _BESIDE)) for clause in others)
                uncut = (
                    (worth, phrase)
                    for worth, phrase, gone in said
                    if phrase and gone < 1.0 and not (names and _point(phrase))
                )
                line = _joined(short if short and lost < 1.0 else line, uncut) or line
            return _with_names(line, names)
    pairs = [*_works(good), *_candidates([clause for clause in best if not clause.work], HEADLINE)]
    pairs.sort(key=lambda pair: -pair[0])
    if not pairs or pairs[0][0] < -1.0:
        return _named(clauses, names) or (pairs[0][1] if pairs else "")
    first = pairs[0][1]
    if label := _point(first):  # advice that could stand anywhere
        longer = _with_names(label, names)
        first = longer if longer != label else first
    return _joined(first, pairs[1:]) or _with_names(first, [*names, *_times(clauses)])


def _point(phrase: str) -> str:
    """Return a list item's label: `Set Goals` of `Set Goals: For each week, decide what
    matters`."""
    label, _, rest = phrase.partition(": ")
    labelled = rest and label.istitle() and 1 < len(label.split()) < 5 and rest[0].isupper()
    return label if labelled else ""


def _works(clauses: Sequence[Clause]) -> Iterator[tuple[float, str]]:
    """Yield phrases of the work done, with their scores."""
    for clause in clauses:
        if clause.work:
            plain = clause.text.replace("`", "")
            phrase = plain if fits(plain, HEADLINE) else clause.brief
            if fits(phrase, HEADLINE):
                yield clause.score, phrase


def _talk(clauses: Sequence[Clause], names: Sequence[str]) -> str:
    """Write the headline of a talk, in which most phrases could stand anywhere, from its particular
    and its recurring words. `names`: those of the leaf without the speakers."""
    heard = nlargest(_HEARD, clauses, key=_worth)
    said = [set(telling_words(clause.text)) for clause in heard]
    often = Counter(word for words in said for word in words)

    def interest(words: set[str]) -> float:
        again = sum(often[word] > 1 for word in words)
        return _TELLING * min(len(words), 4) + _AGAIN * min(again, 3) if words else _DULL

    scored = [
        (_worth(clause) + interest(words), clause)
        for clause, words in zip(heard, said, strict=True)
    ]
    phrases: list[tuple[float, str]] = []
    for worth, clause in sorted(scored, key=lambda pair: -pair[0]):
        if len(phrases) > 1 and worth < phrases[0][0] - 0.5:
            break
        phrase, lost = _said(clause, HEADLINE)
        if phrase:
            short = 0.6 * max(0, 5 - len(borders.units(phrase)))
            worth = _worth(clause) + interest(set(telling_words(phrase))) - lost - short
            phrases.append((worth, phrase))
            phrases.sort(key=lambda pair: -pair[0])
    again = sorted((word for word in often if often[word] > 1), key=lambda w: (-often[w], w))
    about = [*names[:2], *_apart(names[:2], again)[:2]]
    if not phrases:
        return listed(about, HEADLINE)
    return _joined(phrases[0][1], phrases[1:]) or _with_names(phrases[0][1], about)


def _apart(names: Sequence[str], words: Iterable[str]) -> list[str]:
    """Return the words that are no part of a name or of each other ("cat", "cats")."""
    kept: list[str] = []
    for word in words:
        others = [*(name.lower() for name in names), *kept]
        if not any(word in other or other in word for other in others):
            kept.append(word)
    return kept


def node_headline(
    children: Sequence[SummaryText], shared: Counter[str], works: Sequence[Clause] = ()
) -> str:
    """Write the headline of a node: its most informative part first, then the work done or another
    part, and names that the children share. `works`: clauses of the children's work."""
    if are_talk(children):
        return talked(children)
    done = sorted(works, key=lambda work: -work.score)[:2]
    named = [name for work in done for name in _NAMED.findall(work.text)]
    subjects = _subjects(children, shared, _FIRST)
    parts = [part for part in _parts(children, subjects) if not part.names(named)]
    first = max(parts, key=lambda part: part.worth, default=None)
    is_request = first is not None and _asked_there(first.text, children[first.at].body)
    if line := _listing(children, 0.75 if is_request else 0.5):
        return line
    if first is None or first.worth < _SAYS:
        if work := _apart_from(children, done) or _done(done):
            return work
        names = [] if first is None else [first.text]
        names += _themes(children, shared)
        names += (word for child in children for word in child.anchors[:2] if _is_name(word))
        return listed(names, HEADLINE)
    said = [first]
    room = HEADLINE - 1 - tokens.count(first.text)
    subjects = _subjects(children, shared, room, subjects) if room > 3 else []
    others = _parts(children, subjects)
    others = [part for part in others if part.at != first.at and not part.names(named)]
    others = [part for part in others if not repeats(part.text, first.text)]
    second = max(others, key=lambda part: part.worth, default=first)
    work = next((text for text in _briefs(done) if fits(text, room)), "")
    if work and (done[0].score >= _CHANGED or second.worth < _TELLS or second is first):
        said.append(_Part(len(children), 0.0, work))
    elif second is not first and second.worth > _SAYS:
        said.append(second)
    line = "; ".join(part.text for part in sorted(said, key=lambda part: part.at))
    for theme in _themes(children, shared)[:1]:
        longer = f"{line} ({theme})"
        if theme.lower() not in line.lower() and tokens.count(longer) <= HEADLINE:
            return longer
    return _with_names(line, children[first.at].anchors[:3]) if len(said) == 1 else line


def _listing(children: Sequence[SummaryText], most: float) -> str:
    """List the files of a long paste if more than the share `most` of the children hold names only;
    else return ""."""
    lists = [kind for child in children if (kind := child.headline.partition(": "))[0] in KINDS]
    if len(children) < 3 or len(lists) <= most * len(children):
        return ""
    names = [name for _, _, said in lists for name in said.split(", ")[:2]]
    files = [name for name in names if "/" in name or "." in name]
    return f"{lists[0][0]}: {listed(files or names, HEADLINE - 2)}"


def _briefs(works: Sequence[Clause]) -> Iterator[str]:
    """Yield the work done, the most informative first, each in a long and a brief form."""
    for work in works:
        yield work.text.replace("`", "")
        yield work.brief


def _done(works: Sequence[Clause]) -> str:
    """Return a line of work alone, with two works if both fit."""
    texts = list(_briefs(works))
    pairs = [f"{text}; {texts[-1]}" for text in texts[:2]] if len(works) > 1 else []
    return next((line for line in (*pairs, *texts) if fits(line, HEADLINE)), "")


def _apart_from(children: Sequence[SummaryText], works: Sequence[Clause]) -> str:
    """Return the line of reading many files with the last file shown below, if a child has that
    line already: each part of a long read shows other files. Else return ""."""
    line = _done(works)
    shown = [match[1] for child in children if (match := _SHOWS.fullmatch(child.headline))]
    if len(works) != 1 or not shown or all(child.headline != line for child in children):
        return ""
    return f"{works[0].brief}; lines to {_short_path(shown[-1])}"


def _worth(clause: Clause) -> float:
    """Score a clause; rules count as any other sentence, since they are pinned elsewhere."""
    return clause.score - (RULE if clause.verbatim else 0.0)


def _candidates(clauses: Sequence[Clause], cap: int) -> list[tuple[float, str]]:
    """Return phrases with their scores, the best first. `clauses`: the best first; clauses that can
    no longer come near the best phrase are skipped."""
    phrases: list[tuple[float, str]] = []
    for clause in clauses:
        worth = _worth(clause)
        if len(phrases) > 1 and worth < phrases[0][0] - 1.0:
            break
        phrase, lost = _said(clause, cap)
        if phrase:
            words = len(borders.units(phrase))
            short = 0.6 * max(0, 5 - words) if not clause.outcome else 0.0
            phrases.append((worth - lost - short, phrase))
            phrases.sort(key=lambda pair: -pair[0])
    return phrases


def _said(clause: Clause, cap: int) -> tuple[str, float]:
    """Return a clause as a phrase for a headline, with its loss; "" if none fits."""
    phrase, lost = whole(clause.text, cap := cap - 2 * clause.foreign)
    if clause.brief and (not phrase or lost >= 0.3) and fits(clause.brief, cap):
        phrase, lost = clause.brief, 0.3
    if not phrase or is_boilerplate(phrase):
        return "", 0.0
    if not (readable(phrase) or clause.brief or (clause.outcome and _FAILED.search(phrase))):
        return "", 0.0
    if is_hollow(phrase) or leans(phrase):
        lost += 2.0
    speaker = clause.speaker if clause.speaker not in _ROLES else clause.name
    who = f"{speaker}: " if speaker else ""
    if who and not fits(who + phrase, cap):
        phrase, lost = whole(clause.text, cap - tokens.count(who))
    said = marked(phrase) if clause.foreign else phrase
    return (who + said, lost) if phrase else ("", 0.0)


def _asked(ask: Clause, clauses: Sequence[Clause]) -> str:
    """Return the user's request, and how it ended if that is known."""
    after = clauses[clauses.index(ask) + 1 :]
    ends = [clause for clause in after if clause.outcome and clause.speaker != "user"]
    ends.sort(key=lambda clause: -clause.score)
    thing, lost = _said(ask, HEADLINE)
    if not thing:
        return ""
    short = thing if fits(thing, _THING) else ""
    if not short:
        shorter, more = _said(ask, _THING)
        short = shorter if more < 1.0 or lost >= 1.0 else ""
    for end in ends[:3]:
        for start in dict.fromkeys((short, thing)):
            room = HEADLINE - 1 - tokens.count(start)
            if start and room >= 4:
                phrase, gone = _said(end, room)
                if end.brief and repeats(phrase, start) and fits(end.brief, room):
                    phrase = end.brief
                if phrase and gone < 1.0 and not repeats(phrase, start):
                    line = f"{start}{END}{phrase}"
                    if tokens.count(line) <= HEADLINE:
                        return line
    return thing


def _with_names(line: str, names: Sequence[str]) -> str:
    """Add to a short line names that it lacks."""
    if tokens.count(line) > _SHORT or (is_work(line) and ", last " in line):
        return line
    lower = line.lower()
    lacking = [_short_path(name) for name in names if _is_name(name) or "/" in name or ":" in name]
    lacking = [
        name
        for name in dict.fromkeys(lacking)
        if sum(map(str.isalnum, name)) > 1 and name.lower() not in lower and not is_common(name)
    ]
    for chosen in (lacking[:2] + lacking[-1:], lacking[:1] + lacking[-1:], lacking[-1:]):
        longer = f"{line} ({', '.join(dict.fromkeys(chosen))})"
        if chosen and tokens.count(longer) <= HEADLINE:
            return longer
    return line


def _times(clauses: Sequence[Clause]) -> list[str]:
    """Return the first time of day in the clauses, which distinguishes runs of a command."""
    for clause in clauses:
        if ":" in clause.text and (match := _TIME.search(clause.text)):
            return [match.group()]
    return []


def _short_path(name: str) -> str:
    """Return the last part of a path, which is the most informative."""
    return name.rstrip("/").rpartition("/")[2]


def _joined(first: str, rest: Iterable[tuple[float, str]]) -> str:
    """Join a second phrase to the first; return "" if none fits."""
    for worth, phrase in islice(rest, 4):
        if worth < 0.5 or repeats(phrase, first):
            continue
        line = f"{first}; {phrase}"
        if fits(line, HEADLINE):
            return line
    return ""


def _named(clauses: Sequence[Clause], names: Sequence[str]) -> str:
    """Return the names in clauses that give no whole phrase, or their words as they are."""
    kinds = {clause.speaker for clause in clauses}
    telling = [name for name in names if _is_name(name) or "/" in name or "." in name]
    if any("/" in name for name in telling):  # a list of files, in which no error is told
        telling = [name for name in telling if not name.endswith(ERRORS)]
    # The last parts of a long path or address are the most informative.
    telling = [short_path(name) if len(name) > _LONG and "/" in name else name for name in telling]
    telling = telling[:2] + telling[:1:-1]  # rare names distinguish it from its neighbours
    if line := listed([*telling, *_times(clauses)], HEADLINE - 2):
        return f"{'output' if kinds == {'tool'} else 'code'}: {line}"
    for clause in clauses:
        phrase, _ = whole(clause.text, HEADLINE)
        if phrase:
            return phrase
    for clause in clauses:
        if words := borders.units(clause.text):
            return listed(words, HEADLINE)
    return ""


@dataclass(frozen=True, slots=True)
class _Part:
    """Subject of the child at index `at`, with its score."""

    at: int
    worth: float
    text: str

    def names(self, names: Sequence[str]) -> bool:
        return any(name in self.text for name in names)


def _subjects(
    children: Sequence[SummaryText],
    shared: Counter[str],
    cap: int,
    known: Sequence[tuple[float, str]] = (),
) -> list[tuple[float, str]]:
    """Return the subject of each child, with its score. `known`: subjects for a larger cap, which
    are kept if they fit."""
    if not known:
        return [_subject(child, shared, cap) for child in children]
    return [
        pair if fits(pair[1], cap) else _subject(child, shared, cap)
        for child, pair in zip(children, known, strict=True)
    ]


def _parts(children: Sequence[SummaryText], subjects: Sequence[tuple[float, str]]) -> list[_Part]:
    """Return the subjects in order, without repetitions."""
    words = [set(_WORD.findall(part.lower())) for _, part in subjects]
    parts: list[_Part] = []
    for at, (worth, part) in enumerate(subjects):
        alike = [len(words[at] & other) >= 0.6 * len(words[at]) for other in words]
        if part and not any(alike[:at]):
            # A subject of several children distinguishes them less, unless the user asked for it.
            many = 0 if _asked_there(part, children[at].body) else sum(alike)
            again = 1.5 * (many > 1) + 2.0 * (many > max(2, len(children) / 4))
            last = at == len(children) - 1  # it tells how the range ended
            parts.append(_Part(at, worth - again + 0.5 * last, part))
    return parts


def _subject(child: SummaryText, shared: Counter[str], cap: int) -> tuple[float, str]:
    """Return a score and the best phrase of a child's headline; shared names do not count."""
    best, weight = "", -9.0
    for number, clause in enumerate(_clauses(ASIDE.sub("", child.headline), cap)):
        foreign = clause[:1] == "“" and clause[-1:] == "”"
        phrase, lost = whole(clause.strip("“”") if foreign else clause, cap - 2 * foreign)
        if not phrase and (name := speaker_of(clause)):
            phrase, lost = whole(clause[len(name) + 2 :], cap)
        if not phrase or is_boilerplate(phrase) or not readable(phrase) or is_work(phrase):
            continue
        own = sum(0.4 for word in child.anchors if shared[word] == 1 and word in phrase)
        score = min(own, 0.8) + min(merit(phrase), _MERIT) - lost - 0.2 * number
        said = phrase.partition(": ")[2] or phrase
        is_request = not foreign and _asked_there(phrase, child.body)
        if leans(said):
            score, is_request = score - 2.0, False
        elif _RULES.match(said):
            score, is_request = score - 3.0, False
        elif _SELF.match(said) or _PLANS.match(said):
            score -= 1.0  # actions and plans say less than requests
        elif said != phrase:
            score -= 1.5  # a list item
        elif not is_request and _is_heading(said):
            score -= 4.5  # its capital letters count as names
        elif _BARE.match(said) and is_verbless(said):  # a thing without a statement
            score, is_request = score - 0.5, False
        if _UNSURE.search(said):
            score -= 2.0
        size = len(borders.units(phrase))
        telling = set(telling_words(phrase, child.anchors))
        score += 0.25 * min(size, 5) - (size < 3) + 0.35 * min(len(telling), 4)
        if is_hollow(phrase) or not telling:
            score -= 3.0
        elif is_request:
            score += _ASKED
        if score > weight:
            best, weight = marked(phrase) if foreign else phrase, score
    names = (word for word in child.anchors if shared[word] == 1 and _is_name(word))
    return (weight, best) if best else (-1.0, listed(list(islice(names, 3)), cap))


def _asked_there(phrase: str, body: str) -> bool:
    """Return True if a body attributes the phrase to the user."""
    at = body.find(phrase)
    roles = [match[0] for match in _SAYS_WHO.finditer(body, 0, max(at, 0)) if match[0][0] != "t"]
    return bool(roles) and roles[-1].startswith("user")


def _is_heading(phrase: str) -> bool:
    """Return True for a heading such as `Handle Errors and Edge Cases`."""
    words = [word for word in phrase.split() if len(word) > 3 and word.isalpha()]
    return len(words) > 1 and all(word[0].isupper() for word in words)


def _clauses(headline: str, cap: int) -> Iterator[str]:
    """Yield the phrases of a headline, and the clauses of those that do not fit."""
    for piece in headline.split(END):
        for part in piece.split("; "):
            yield part
            cut = () if fits(part, cap) else list(borders.clauses(part))
            if len(cut) > 1:
                yield from cut


def _themes(children: Sequence[SummaryText], shared: Counter[str]) -> list[str]:
    """Return the names that a third of the children share, the most common first."""
    many = max(2, -(-len(children) // 3))
    words = [word for word, count in shared.items() if count >= many and _is_name(word)]
    return sorted(words, key=lambda word: -shared[word])[:4]


def _is_name(word: str) -> bool:
    """Return True if an anchor names a thing, so is no number, option, date or amount."""
    return word[0].isalpha() and len(word) < 40 and sum(map(str.isalpha, word)) > 0.6 * len(word)
