"""Summarise without a model: select the most informative clauses, in the text's language.

A leaf's summary comes from its passages, a node's from its children's summaries alone. The result
is deterministic, so version 0 of any summary can be recomputed from the posted text. Clauses are
judged in `clauses.py`, anchors are found in `memtree/text/anchors.py`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, islice
from typing import NamedTuple

from memtree.digests.clause import LABEL, OTHERS, Clause, SourcePassage, is_quotation, untorn
from memtree.digests.clause import LEAST as QUOTED
from memtree.digests.clauses import clip, code, is_fiction, read_lines, results, spoken
from memtree.digests.headlines import leaf_headline, node_headline
from memtree.digests.leaf_work import LeafWork, head, plain_output
from memtree.digests.line_judgements import (
    ReadLines,
    continues,
    speaker_of,
    telling_words,
    without_stamp,
)
from memtree.digests.phrases import readable, whole
from memtree.digests.titles import HEADLINE
from memtree.digests.work_clauses import Work, merged, work_clauses, works_in
from memtree.language.borders import UNSPACED, split
from memtree.language.word_file import WordFiles, lazily
from memtree.statements.fiction import BEGINNING as HEAD
from memtree.statements.fiction import sets_up_play
from memtree.text import secrets, tokens
from memtree.text.anchors import LEAF_ANCHORS, anchors, top, weigh
from memtree.text.request_words import asks
from memtree.text.rule_sentences import standing_rules
from memtree.text.spans import Span, clipped

_DATA = WordFiles("phrases")

READ = 6_000  # characters of a message that are searched for a label
_LINE, _CAP = 300, 16  # characters of a line that are read, and tokens of its phrase
# The message shows how something is done, without a request.
_DEMONSTRATION = re.compile(
    r"(?:here|below|this) (?:is|are) (?:an? |some |the )?(?:demonstration|example)s? ",
    re.IGNORECASE,
)
_LABEL = lazily(
    lambda: rf"^(?:#{{1,6}} *)?\**(?:{_DATA.part('task_label')})\**\s?:\**[ \t]*(?=\S|\n)",
    re.I | re.M,
)
_TAG = re.compile(
    r"<(?:issue\w*|task\w*|problem\w*|user_query|request|query|goal|pr_description)>\s*", re.I
)


def labelled(text: str) -> str:
    """Return a phrase of the first line behind a label; "" if no label precedes an informative
    line, or the message only shows an example."""
    if _DEMONSTRATION.match(text.lstrip()[:200]):
        return ""
    for pattern in (_TAG, _LABEL):
        for match in islice(pattern.finditer(text[:READ]), 4):
            line = text[match.end() : match.end() + READ].lstrip().partition("\n")[0]
            phrase, _ = whole(line[:_LINE], _CAP)
            if phrase and readable(phrase) and len(set(telling_words(phrase))) > 1:
                return phrase
    return ""


__all__ = ["Extract", "SourcePassage", "anchors", "leaf_summary", "node_summary"]

LEAF_BODY = 75  # tokens, DESIGN section 6
NODE_BODY = (120, 160, 200, 300)  # levels 1, 2, 3, and above
NODE_ANCHORS = (16, 20, 24)
# Increase with each change of the summaries this package makes: stored summaries of an older
# version are made again when their history is posted. Version 1 was stored without a number.
VERSION = 12
NOTHING = "without text"  # ends the headline of a range without words
TASK, _LONG_TASK = 6.0, 600  # score of a task behind a label; least characters of its message
LEAST = -0.5  # least score of a clause in a body beside others
READ_MESSAGE = 200_000  # characters of the longest message of which a leaf knows more than its own
# Characters of one message whose leaves are read whole: more than the windows of nearly all models.
# Of each leaf after them the first `BEGINNING` are, at a fifth of the cost.
READ_WHOLE, BEGINNING = 1_000_000, 120
READ_AT_ALL = 6_000_000  # leaves after so many characters say only whose message goes on
BYTES = 4.1  # UTF-8 bytes per o200k token: a first estimate, corrected by one count

_SPEAKER = re.compile(LABEL)
_ROLE = re.compile(rf"(?:^|; |[.!?…。！？] ){LABEL}")
_PIECE = re.compile(rf"; |(?<=[.!?…。！？]) ?(?={LABEL})")
_DANGLING = re.compile(r"(?:;|(?<=[.!?…])) (?:(?:user|assistant|tool)\b:? ?)?[^;.!?]{0,16}$")
_TORN_ASIDE = re.compile(r" \([^()]{0,40}$")
_KEY = re.compile(r"\"\w{1,40}\"\s{0,4}:")
_WORD, _WORD_ASCII = re.compile(r"\w{3,}"), re.compile(r"[a-z0-9_]{3,}")


class _Weights(NamedTuple):
    """Weights of words that no other clause has, and the bytes of a clause that cost one point."""

    rare: float
    length: float


# Measured on inserted facts: leaves keep 78 of 100 (before: 46), the level above 45 (before: 20).
LEAF, NODE = _Weights(2.5, 45.0), _Weights(4.0, 30.0)


@dataclass(frozen=True, slots=True)
class Extract:
    """Extracted summary: headline and body are single lines within their caps, anchors are sorted,
    the best first."""

    headline: str
    body: str
    anchors: tuple[str, ...]


def leaf_summary(sources: Sequence[SourcePassage], lines: ReadLines | None = None) -> Extract:
    """Summarise consecutive passages: headline (<= 18 tokens), body (<= 75 tokens) and up to 12
    anchors. `lines`: cache of the same history."""
    if sources and all(source.start >= READ_AT_ALL for source in sources):
        return Extract(f"{sources[0].role} message, further text", "", ())
    masked = _masked(sources)
    if masked and masked[-1].start >= READ_WHOLE:
        masked = _beginnings(masked)
    clauses = _clauses(masked, lines or read_lines())
    if not clauses:
        return Extract(_nothing(masked), "", ())
    weights = _weights(masked)
    # Anchors, but no quoted sentence that makes a request.
    said = [word for word in weights if word.count(" ") < 2 or not asks(word)]
    names = top({word: weights[word] for word in said}, LEAF_ANCHORS)
    people = {source.name for source in masked if source.role == "user"} - {""}
    # The name of one alone tells nobody apart.
    nameable = clauses
    if len(people) < 2 and any(source.name for source in masked):
        nameable = [replace(clause, name="") for clause in clauses]
    return _extract(clauses, leaf_headline(nameable, names), LEAF_BODY, names, LEAF)


def node_summary(
    children: Sequence[Extract], level: int, lines: ReadLines | None = None
) -> Extract:
    """Summarise a node of `level` (1: just above the leaves) from its children's summaries.
    `lines`: cache of the same history."""
    known = [child for child in children if child.body or child.anchors]
    if not known:
        return Extract(children[0].headline if children else f"messages {NOTHING}", "", ())
    cap = NODE_BODY[min(max(level, 1), len(NODE_BODY)) - 1]
    limit = NODE_ANCHORS[min(max(level, 1), len(NODE_ANCHORS)) - 1]
    shared = Counter(word for child in known for word in child.anchors)
    clauses, works = _children(known, shared, cap, lines or read_lines())
    headline = node_headline(known, shared, works)
    return _extract(clauses, headline, cap, _merged(known, shared, limit), NODE)


def _masked(sources: Sequence[SourcePassage]) -> Sequence[SourcePassage]:
    if not secrets.find("\n".join(source.text for source in sources)):
        return sources  # nearly always: one test of the whole leaf
    return [
        replace(source, text=secrets.mask(source.text), others=_moved(source)) for source in sources
    ]


def _beginnings(sources: Sequence[SourcePassage]) -> Sequence[SourcePassage]:
    """Return what is read of a leaf that reaches beyond `READ_WHOLE` characters of a message."""
    if near := [source for source in sources if source.start < READ_WHOLE]:
        return near
    first = sources[0]
    others = first.others and clipped(first.others, 0, BEGINNING)
    return [replace(first, text=first.text[:BEGINNING], others=others, ends=False)]


def _moved(source: SourcePassage) -> tuple[Span, ...] | None:
    """Return the passage's spans of others, moved to their places after secrets are masked."""
    if not source.others:
        return source.others
    hidden = secrets.find(source.text)
    ends = [secret.end for secret in hidden]
    longer = list(
        accumulate((len(secrets.MASK) - secret.end + secret.start for secret in hidden), initial=0)
    )

    def moved(at: int) -> int:
        number = bisect_right(ends, at)
        inside = number < len(hidden) and hidden[number].start < at
        return (hidden[number].start if inside else at) + longer[number]

    return tuple(Span(moved(start), moved(end)) for start, end in source.others)


def _nothing(sources: Sequence[SourcePassage]) -> str:
    """Return a text without words as it is, or a note that there is no text."""
    for source in sources:
        if signs := " ".join(source.text.split()):
            return _cut(f"signs alone: {signs[:80]}", HEADLINE)
    roles = {source.role for source in sources}
    if roles == {"tool"} or roles == {"function"}:
        return f"tool result {NOTHING}"
    return f"{roles.pop()} message {NOTHING}" if len(roles) == 1 else f"messages {NOTHING}"


def _clauses(sources: Sequence[SourcePassage], lines: ReadLines) -> list[Clause]:
    """Return the clauses of consecutive passages in order, without repetitions."""
    clauses: list[Clause] = []
    work = LeafWork()
    has_request = played = False
    # A talk has short turns of text alone, and both sides speak about themselves.
    chat = len(sources) > 2 and all(
        source.kind == "text" and len(source.text) < 500 for source in sources
    )
    names = _speakers(sources) if chat else {}
    for number, source in enumerate(sources):
        before = len(clauses)
        if source.kind == "call":
            work.call(source)
        elif work.is_result(source):
            if work.says_all:
                continue
            ends = list(results(plain_output(source), head=head(source)))
            if ends and " lines " in ends[0].brief:
                work.shows(ends[0].brief)
                if ends[0].text == ends[0].brief:
                    ends.pop(0)
            if ends and clauses and continues(clauses[-1], ends[0]):
                ends.pop(0)
            clauses += [clause for clause in ends if not work.tells(clause)]
        elif source.role == "assistant" and work.is_call(source):
            said = replace(source, text=work.thought(source), kind="text")
            clauses += spoken(said, chat, "", False, lines)
        elif source.kind == "code":
            code_clauses = code(source.role, source.text, clauses)
            if not (code_clauses and clauses and continues(clauses[-1], code_clauses[0])):
                clauses += code_clauses
        else:
            name = names.get(number, "")
            played = played or (source.role == "user" and _is_play(source))
            fiction = played and source.role in ("user", "assistant")
            said_clauses = spoken(source, chat, name, fiction, lines)
            task = _task(source) if source.role == "user" and not (chat or fiction) else ""
            if task:
                said_clauses.insert(0, Clause("user", task, TASK))
            mine = [clause for clause in said_clauses if not (clause.quoted or clause.foreign)]
            if source.role == "user" and mine and not has_request and not chat and not fiction:
                has_request = True
                best = max(mine[:4], key=lambda clause: clause.score)
                best.score += 1.5  # the request that the rest answers
            clauses += said_clauses
        for clause in clauses[before:]:
            clause.name = source.name if clause.speaker == source.role else ""
    return _distinct([*clauses, *work_clauses(merged(work.done()))])


def _task(source: SourcePassage) -> str:
    """Return the task that a message hands over, without the instructions that lead to it."""
    message = source.message or source.text
    return "" if source.start or len(message) < _LONG_TASK else labelled(message)


def _is_play(source: SourcePassage) -> bool:
    """Return True if a user's text is, or sets up, a play. A persona card is meant literally."""
    head = source.text[:HEAD]
    return is_fiction(source.text) or (source.start == 0 and sets_up_play(head))


def _speakers(sources: Sequence[SourcePassage]) -> dict[int, str]:
    """Return the speaker's name of each passage, if the talk is written with names in front."""
    names: dict[int, str] = {}
    for number, source in enumerate(sources):
        for line in source.text.split("\n", 3)[:3]:
            if name := speaker_of(without_stamp(line.strip())):
                names[number] = name
                break
    counts = Counter(names.values())
    return names if 2 * len(names) > len(sources) and len(counts) < max(3, len(names)) else {}


def _distinct(clauses: Sequence[Clause]) -> list[Clause]:
    kept: dict[str, Clause] = {}
    for clause in clauses:
        key = clause.text[:50].lower()
        if key not in kept:
            kept[key] = clause
        elif clause.score > kept[key].score:
            kept[key].score = clause.score
    return [clause for clause in kept.values() if clause.text]


def _extract(
    clauses: Sequence[Clause],
    headline: str,
    cap: int,
    kept: tuple[str, ...],
    weights: _Weights,
) -> Extract:
    clauses = [clause for clause in clauses if clause.score > LEAST] or clauses
    words = [_words(clause.text) for clause in clauses]
    worth = _worth(clauses, words, weights)
    room = cap * BYTES
    body = _joined(_chosen(clauses, words, worth, room))
    size = tokens.count(body)
    if tokens.count(headline) > HEADLINE:
        headline = _cut(headline, HEADLINE)
    for _ in range(3):  # dense text has fewer bytes per token, so less of it fits
        if size > cap:
            room = _size(body) * 0.96 * cap / size
            body = _joined(_chosen(clauses, words, worth, room))
            size = tokens.count(body)
    if size > cap:
        body = untorn(_cut(body, cap))
    headline = headline or untorn(_cut(_SPEAKER.sub("", body), HEADLINE))
    headline = headline.replace("`", "")
    return Extract(headline or OTHERS, body, kept)


def _chosen(
    clauses: Sequence[Clause], words: Sequence[set[str]], worth: Sequence[float], room: float
) -> list[Clause]:
    """Return the best clauses that fit `room` bytes, in their order and without repetitions."""
    kept: list[tuple[int, Clause]] = []
    said: list[set[str]] = []
    for index in sorted(range(len(clauses)), key=lambda at: -worth[at]):
        clause = clauses[index]
        if kept and room < 40:
            break
        size = _size(clause.shown) + 4
        if size > room and (clause.quoted or (kept and (clause.verbatim or room < 70))):
            continue  # rules and quotations are never cut
        own = words[index]
        if not clause.work and any(len(own & other) > 0.65 * len(own) for other in said):
            continue
        if size > room:
            clause = replace(clause, text=_shorter(clause.text, room))
            size = _size(clause.shown) + 4
        kept.append((index, clause))
        said.append(own)
        room -= size
    return [clause for _, clause in sorted(kept, key=lambda pair: pair[0])]


def _worth(clauses: Sequence[Clause], words: Sequence[set[str]], weights: _Weights) -> list[float]:
    """Weigh each clause for a body: unique clauses more than recurring ones, short ones more than
    long ones."""
    seen: set[str] = set()
    again: set[str] = set()
    for own in words:
        again |= seen & own
        seen |= own
    return [
        clause.score
        + weights.rare * len(own - again) / max(4, len(own))
        - (0.0 if clause.verbatim else min(_size(clause.text), 240) / weights.length)
        for clause, own in zip(clauses, words, strict=True)
    ]


def _words(text: str) -> set[str]:
    """Return the words of a text, and the character pairs of scripts without spaces."""
    lower = text.lower()
    if lower.isascii():
        return set(_WORD_ASCII.findall(lower))
    if UNSPACED.search(lower):
        return {lower[at : at + 2] for at in range(len(lower) - 1)}
    return set(_WORD.findall(lower))


def _joined(chosen: Sequence[Clause]) -> str:
    pieces: list[str] = []
    before = ""
    for clause in chosen:
        if pieces:
            pieces.append(" " if pieces[-1][-1:] in ".!?…。！？" else "; ")
        speaker = f"{clause.speaker} ({clause.name})" if clause.name else clause.speaker
        if speaker != before:
            before = speaker
            pieces.append(f"{speaker}: " if speaker else "")
        pieces.append(clause.shown)
    return "".join(pieces).strip()


def _children(
    children: Sequence[Extract], shared: Counter[str], cap: int, lines: ReadLines
) -> tuple[list[Clause], list[Clause]]:
    """Return the clauses of the children's bodies, and those of them that report work. Each child's
    best clause comes first, so that none is left out."""
    clauses: list[Clause] = []
    longest = max(70, round(cap * BYTES * 2.5 / len(children)))
    works: list[Work] = []
    for child in children:
        own = list(_pieces(child, longest, lines, works))
        for clause in own:
            held = (word for word, count in shared.items() if count > 1 and word in clause.text)
            clause.score += min(sum(0.4 for _ in held), 0.4)
        if own:
            max(own, key=lambda clause: clause.score).score += 1.0
        clauses += own
    done = work_clauses(merged(works))
    return [*clauses, *done], done


def _pieces(child: Extract, longest: int, lines: ReadLines, works: list[Work]) -> Iterator[Clause]:
    """Yield the clauses of a child's body, except work, which is added to `works`."""
    body = child.body or child.headline
    named = not _ROLE.search(body)
    speaker = person = ""
    for piece in chain.from_iterable(map(split, _PIECE.split(body))):
        if match := _SPEAKER.match(piece):
            speaker, _, person = match[0].rstrip("): ").partition(" (")
            piece = piece[match.end() :]
        elif named and (name := speaker_of(piece)) and name in child.anchors:
            speaker = name
            piece = piece[len(name) + 2 :]
        if not piece:
            continue
        if told_work := list(works_in(piece)):
            works += told_work
            continue
        if is_quotation(piece):
            yield Clause(speaker, piece, QUOTED, verbatim=True, quoted=True, name=person)
            continue
        if foreign := piece[0] == "“" and piece[-1] == "”":
            piece = piece[1:-1]
        ruled = speaker not in ("assistant", "tool") and not foreign
        rule = ruled and bool(standing_rules(piece, lines.rule))
        sentence_merit = lines.judgement(piece).merit  # mostly cached, as a sentence of a leaf
        score = sentence_merit + (1.4 if speaker == "user" else 0.0) + (6.0 if rule else 0.0)
        text = piece if rule else clip(piece, longest)
        yield Clause(speaker, text, score, verbatim=rule, name=person, foreign=foreign)


def _weights(sources: Sequence[SourcePassage]) -> dict[str, float]:
    """Weigh the anchors of a leaf: those in the user's words most, those in code least."""
    parts: dict[float, list[str]] = {}
    for source in sources:
        text = source.text
        if source.role == "assistant" and '":' in text:
            text = _KEY.sub(" ", text)  # argument names are not anchors
        share = (
            0.65
            if source.kind == "code"
            else 0.8
            if source.kind == "result"
            else 1.5
            if source.role == "user"
            else 1.0
        )
        parts.setdefault(share, []).append(text)
    total: dict[str, float] = {}
    for share, texts in sorted(parts.items(), reverse=True):
        for word, weight in weigh("\n".join(texts), prose=share > 0.9).items():
            total[word] = max(share * weight, total.get(word, 0.0) + 0.5)
    return total


def _merged(children: Sequence[Extract], shared: Counter[str], limit: int) -> tuple[str, ...]:
    """Merge anchors: those of many children first, then each child's first, second and so on."""
    place: dict[str, float] = {}
    for child in children:
        for index, word in enumerate(child.anchors):
            place[word] = min(place.get(word, 99.0), float(index))
    return top({word: 2.0 * min(shared[word], 4) - at for word, at in place.items()}, limit)


def _shorter(text: str, room: float) -> str:
    size = _size(text)
    return text if size <= room else clip(text, max(1, int(len(text) * room / size)))


def _cut(text: str, cap: int) -> str:
    """Cut a text to at most `cap` tokens, between words if its script separates words."""
    cut = False
    while tokens.count(text) > cap:
        cut = True
        inside = tokens.prefix(text, cap)
        text = clip(text, min(len(inside), len(text) - 1)) if len(inside) > 4 else inside
    return _DANGLING.sub("", _TORN_ASIDE.sub("", text)) if cut else text


def _size(text: str) -> int:
    """Return the UTF-8 bytes, which are closer to tokens across scripts than characters are."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
