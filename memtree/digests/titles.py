r"""Write the shortest forms of a text: topics, a line for a conversation, its title, its project.

A topic of a few words, and one line for a whole conversation, are made from a summary's headline
and anchors whenever an outline is written; nothing is stored, and the text below a summary is not
read. A parent's line for talk between people names their topics in a few words each; the headline
of a leaf of talk is written in `headlines.py`.

The title of a conversation in lists is the first own words of the user's first request. It depends
on that request alone, so it stays the same while the conversation grows. Conversations with the
same first request have the same title: the stores number those.

    >>> title("Please rename parse_row to read_row?\n```\nparse_row = 1\n```")
    'Please rename parse_row to read_row?'
    >>> title("```\nparse_row = 1\n```")
    'pasted text, 2 words'
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Protocol

from memtree.digests.clause import LABEL, marked
from memtree.digests.clauses import clip, merit
from memtree.digests.line_judgements import ERRORS, speaker_of, telling_words
from memtree.digests.phrases import ASIDE, fits, is_hollow, leans, listed, readable, repeats, whole
from memtree.digests.work_clauses import is_work, merged, work_clauses, works_in
from memtree.language import borders
from memtree.language.word_file import WordFile
from memtree.text import secrets, tokens
from memtree.text.own_words import first_remark, others_words
from memtree.text.request_words import orders
from memtree.text.spans import Span, outside
from memtree.text.terms import is_common

_DATA = WordFile("en", "phrases")

HEADLINE = 18  # tokens, DESIGN section 6
TOPIC = 8  # tokens
ROOT = 40  # tokens
END = " -> "  # between a subject and its outcome
KINDS = ("code", "output")  # labels of a list of names
_THEMES, _TOPICS = 4, 6  # in the line for a whole conversation
_SPEAKER = re.compile(rf"(?:.* )?{LABEL}")
_MARKS = " ,;:.!?\"'()[]…，；：。！？、-–—"
_OFTEN = re.compile(r" [0-9]{1,6} times.*$|, last .*$")  # dropped from topics, for lack of room
_ARTICLES = ("a", "an", "the", "not", "so")
# Consecutive words that hold one of these come from two different clauses.
_BREAKS = _DATA.words("breaks")


class SummaryText(Protocol):
    """Headline and anchors, which both an extract and a stored summary have."""

    @property
    def headline(self) -> str: ...

    @property
    def body(self) -> str: ...

    @property
    def anchors(self) -> tuple[str, ...]: ...


def topic(summary: SummaryText, cap: int = TOPIC) -> str:
    """Return at most `cap` tokens of whole words that distinguish this summary from others.

    Returns "" for a summary without words. Words from a quotation keep its marks.
    """
    headline = _without_speakers(ASIDE.sub("", summary.headline))
    if "“" not in headline:
        return _topic(headline, summary, cap)
    said = _topic(headline.replace("“", "").replace("”", ""), summary, cap - 2)
    before = headline[: max(headline.find(said), 0)]
    return marked(said) if said and before.count("“") > before.count("”") else said


def _topic(headline: str, summary: SummaryText, cap: int) -> str:
    kind, _, names = headline.partition(": ")
    if kind in KINDS:
        return listed(names.split(", "), cap)
    best, weight = "", 0.0
    pieces = [part for piece in headline.split(END) for part in piece.split("; ")]
    for number, piece in enumerate(pieces):
        done = is_work(piece)  # useless if cut between its words
        phrase, lost = whole(_OFTEN.sub("", piece) if done else piece, cap)
        if phrase and readable(phrase):
            words = borders.units(phrase)
            worth = sum(_weight(word, summary.anchors) for word in words) - lost - number
            worth -= 3.0 * (leans(phrase) or is_hollow(phrase))
            if worth > weight:
                best, weight = phrase, worth
    ending, more = _stretch(headline, summary.anchors, cap, ends=True)
    if ending and more > weight + 1.5:
        return ending
    return best or _stretch(headline, summary.anchors, cap)[0] or listed(summary.anchors, cap)


def _without_speakers(headline: str) -> str:
    """Drop the speakers' names: in a few words the content matters more than the speaker."""
    return "; ".join(
        piece[len(name) + 2 :]
        if (name := speaker_of(piece)) and not name.endswith(ERRORS)
        else piece
        for piece in headline.split("; ")
    )


def _stretch(
    headline: str, anchors: Sequence[str], cap: int, *, ends: bool = False
) -> tuple[str, float]:
    """Return the heaviest run of words, and its weight. `ends`: it must end with a clause."""
    best, weight = "", -9.0
    for number, clause in enumerate(_clauses(headline)):
        for phrase, phrase_weight in _phrases(clause, anchors, cap, ends=ends):
            phrase_weight -= 0.5 * number  # the subject comes first
            if phrase_weight > weight:
                best, weight = phrase, phrase_weight
    return best, weight


def root_summary(children: Sequence[SummaryText], title: str = "") -> str:
    """Return one line (<= 40 tokens) for a whole conversation: its title, the themes its parts
    share, the topic of each part, and how the last part ended. `children`: its top nodes in
    order."""
    if not children:
        return ""
    pieces = (piece for child in children for piece in child.body.split("; "))
    by_piece = (works_in(_SPEAKER.sub("", piece).rstrip(". ")) for piece in pieces)
    works = work_clauses(merged(chain.from_iterable(by_piece)))
    done = [work.brief for work in sorted(works, key=lambda work: -work.score)[:2]]
    parts: list[str] = []
    for child in _spread(children, _TOPICS):
        part = topic(child)
        if part and not any(_same(part, other) for other in (*parts, title) if other):
            parts.append(part)
    said = [part for part in parts if not (_is_list(part) or (done and is_work(part)))]
    last = topic(children[-1])
    if done and (is_work(last) or "]" in last):
        last = ""
    if not (done or title or len(said) > 1):
        said, done = [", ".join(_themes(children)), *(said or parts)], []
    said = [part for part in said if part and part != last]
    if title and last and _same(last, title):
        last = ""
    while True:
        end = f"last {last}" if last and not _is_list(last) and (said or done or title) else ""
        line = "; ".join(piece for piece in (title, *said, *done, end) if piece) or last
        if tokens.count(line) <= ROOT or not (said or done):
            return line if tokens.count(line) <= ROOT else title or last
        if said:
            said.pop(len(said) // 2)
        else:
            done.pop()


def _is_list(part: str) -> bool:
    """Return True for names or paths alone."""
    return all(" " not in name for name in part.split(", "))


def _themes(children: Sequence[SummaryText]) -> list[str]:
    """Return the anchors that several children share, the most common first."""
    if len(children) < 2:
        return []
    counts = Counter(word for child in children for word in child.anchors)
    named = [word for word in counts if counts[word] > 1 and word[0].isalpha()]
    named.sort(key=lambda word: -counts[word])
    themes: list[str] = []
    for word in named:
        if len(word) <= 40 and not any(_same(word, other) for other in themes):
            themes.append(word)
        if len(themes) == _THEMES:
            break
    return themes


def _spread(children: Sequence[SummaryText], most: int) -> Iterable[SummaryText]:
    """Return up to `most` of the children, including the first and the last."""
    if len(children) <= most:
        return children
    return [children[at * (len(children) - 1) // (most - 1)] for at in range(most)]


def _clauses(headline: str) -> Iterable[str]:
    for piece in headline.split(END):
        for part in piece.split("; "):
            if not is_work(part):
                yield from borders.clauses(part)


def _phrases(
    clause: str, anchors: Sequence[str], cap: int, *, ends: bool
) -> Iterable[tuple[str, float]]:
    """Yield the runs of words in a clause, within `cap` tokens, that begin and end with an
    informative word, each with its weight."""
    words = borders.units(clause)[:40]
    weights = [_weight(word, anchors) for word in words]
    sizes = tokens.count_many(" " + word for word in words)
    broken = [
        word.lower().strip(_MARKS) in _BREAKS
        or (at and word in _ARTICLES and words[at - 1].endswith(("'s", "’s")))
        for at, word in enumerate(words)
    ]
    between = "" if borders.UNSPACED.search(clause) else " "
    for start, weight in enumerate(weights):
        if weight <= 0.0:
            continue
        end, room, total = start, cap, 0.0
        best_end, best = start, 0.0
        while end < len(words) and room >= sizes[end] and not broken[end]:
            room -= sizes[end]
            total += weights[end]
            end += 1
            if weights[end - 1] > 0.0:
                best_end, best = end, total
        if ends and (best_end < len(words) or best_end - start < 3):
            continue
        if start + 2 < best_end < len(words) and words[best_end - 2] in ("and", "or"):
            best_end -= 2  # the words behind belong to another clause
        phrase = between.join(words[start:best_end]).strip(_MARKS)
        torn = any(phrase.count(first) != phrase.count(last) for first, last in ("()", "[]"))
        torn = torn or phrase.count('"') % 2 == 1
        if phrase and not torn and tokens.count(phrase) <= cap:
            goes_on = best_end < len(words) and best_end == end and broken[end]
            yield phrase, best - 0.05 * start - goes_on


def _weight(word: str, anchors: Sequence[str]) -> float:
    bare = word.strip(_MARKS)
    if not bare or is_common(bare):
        return 0.0
    if any(bare in anchor for anchor in anchors):
        return 2.0
    return 1.0 if len(bare) > 2 else 0.5


def _same(first: str, second: str) -> bool:
    return first.lower() in second.lower() or second.lower() in first.lower()


_TOPIC = 6  # tokens of a topic
# Beginnings that refer to an earlier statement.
_SPEAKS = re.compile(r"(?:must(?:'ve)?|it|you|they|this|that|those|there|in)\b", re.IGNORECASE)


def are_talk(children: Sequence[SummaryText]) -> bool:
    """Return True if at least a third of the children name a speaker, and the names recur."""
    lines = {child.headline: child for child in children}  # repeated lines are list items
    names = [speaker_of(child.body) or speaker_of(line) for line, child in lines.items()]
    often = Counter(name for name in names if name and not name.endswith(ERRORS))
    return 3 * often.total() >= len(children) and len(often) < min(4, often.total())


def talked(children: Sequence[SummaryText]) -> str:
    """Return the topics of a talk in order, in a few words each; the lines below name the
    speakers."""
    topics = [(at, topic(child, _TOPIC)) for at, child in enumerate(children)]

    def tells(text: str) -> float:
        words = {word for word in telling_words(text) if not word.isdigit()}
        size = 0.5 * min(len(borders.units(text)), 4)
        leaning = 2.0 if leans(text) or is_hollow(text) else float(bool(_SPEAKS.match(text)))
        return 1.5 * min(len(words), 3) + size + 0.3 * merit(text) - leaning

    chosen: list[tuple[int, str]] = []
    for at, text in sorted(topics, key=lambda pair: -tells(pair[1]) if pair[1] else 0.0):
        line = "; ".join(said for _, said in sorted([*chosen, (at, text)]))
        if not text or (chosen and len(borders.units(text)) < 2):
            continue  # a single word says little
        if not any(repeats(text, said) for _, said in chosen) and fits(line, HEADLINE):
            chosen.append((at, text))
    return "; ".join(said for _, said in sorted(chosen))


LONGEST = 60  # characters of a title, or of a name
_MASKED = 8_000  # characters in which secrets are looked for: a private key fits
MESSAGES = 40  # first messages among which the first request is searched
_MARKDOWN = " #*_>|•-"  # Markdown before a request


def title(request: str) -> str:
    """Return a title of at most `LONGEST` characters, without secrets; "" for a request without
    text. Without own words it is the beginning, unless that orders something for good."""
    own = outside([Span(0, len(request))], others_words(request))
    words = " ".join(" ".join(request[start:end] for start, end in own).split()).lstrip(_MARKDOWN)
    if not own and not orders(remark := first_remark(request)):
        words = " ".join(remark.split()).lstrip(_MARKDOWN)
    if any(map(str.isalnum, words)):
        return clip(secrets.mask(clip(words, _MASKED)), LONGEST)
    count = sum(any(map(str.isalnum, unit)) for unit in borders.units(request))
    return f"pasted text, {count} word{'s' if count > 1 else ''}" if count else ""


_READ = 200_000  # characters that are searched in a text
_PLACES = 400  # words in a text that may precede a path
# One of these words stands shortly before the path.
_WORD = re.compile(r"director(?:y|io)|<cwd>|\bcwd\b|workspace|uploaded_files|project[ _]root", re.I)
_BEFORE, _BEHIND = 40, 400  # characters around such a word
_NAMED = re.compile(
    r"(?:<(?:cwd|uploaded_files|working_?directory|workspace)>\s{0,9}"
    r"|\b(?:(?:primary|current|present|initial|active) )?(?:working|workspace|project)[ _-]?"
    r"(?:directory|root(?: (?:folder|directory))?|path|folder|dir)\b(?P<open> \()?"
    r"|\bworking in the directory\b|\bcurrent directory\b|\bcwd\b)"
    r"[\"'`*]{0,3}(?: is| of the user is)?\s?[:=]?[ \t]{0,4}[\"'`(*]{0,3}"
    r"(?P<path>(?:~|[A-Za-z]:)?[\\/][^\n<>\"'`|*?]{0,300})",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"[\\/]+")


def project_of(texts: Iterable[str]) -> str:
    """Return the name of the project that a conversation works in, without secrets: the last part
    of the directory that its client names. Empty where no text names one. `texts`: of the system
    messages, and of the first messages of the user.

    Coding agents write the working directory into their system prompt or into a block of the first
    user message, each in words of its own. It is recognised by its form: words like "working
    directory", followed by an absolute path.
    """
    for text in texts:
        for word in islice(_WORD.finditer(text[:_READ]), _PLACES):
            window = text[max(0, word.start() - _BEFORE) : word.start() + _BEHIND]
            if (match := _NAMED.search(window)) and (name := _last(match)):
                return name
    return ""


def _last(match: re.Match[str]) -> str:
    path = match["path"]
    if match["open"] or ") " in path:
        path = path.partition(")")[0]
    parts = [part for part in _SEPARATOR.split(path.strip(" \t.,;:)")) if part.strip()]
    name = parts[-1] if parts else ""
    plain = "".join(c for c in secrets.mask(name) if c.isprintable()).strip()
    return plain if len(plain) <= LONGEST else ""
