"""Headlines of extraction, judged by rule: torn, empty, repeated, a child's line; and facts kept.

A headline is torn where one of its phrases stands in the text below it word for word and goes on
there within the same clause. It is empty where it has less than two telling words and no name. It
is repeated where another node of the tree has the same line, and a child's where it begins with the
line of a node right below it or the other way round.

Only stage 1 runs, without a store. The cases in other languages and the story are our own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks import facts, multilingual, stories
from benchmarks.data import Data
from benchmarks.facts import CHAT, CODING, FACTS, TOP, Fact
from benchmarks.report import Row
from benchmarks.session import first
from benchmarks.subject import Bench
from memtree.history import chat_history
from memtree.history.chat_history import History
from memtree.history.message import Message
from memtree.history.volatile_blocks import Volatile
from memtree.tree import growth
from memtree.tree.growth import Tail
from memtree.tree.node import EMPTY, Node

CODING_TOKENS = 300_000
CHATS = 4  # of each data set
GOAL = 10.0  # percent

_END = re.compile(
    r"\s*(?:$|[\n,;:.!?()\[\]{}<>|*_#\"'“”„«»…，。；：！？、「」『』（）]|[-–—=]+[\s>]|->)"
    r"|\s+(?:and|but|or|because|so|which|who|when|while|if|where|though|although|unless|until|after"
    r"|before|und|aber|weil|oder|и|а|но|что|потому)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_SPACE = re.compile(r"[^\S\n]+")
_MARKUP = re.compile(r"[*_`#>]+")
_DULL = frozenset(
    """
    empty continue undo yes no ok okay thanks hello hi done sure the and for you this that with it
    is are be to of in on any fix errors below if possible
    """.split()
)


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    messages: tuple[Message, ...]
    facts: tuple[Fact, ...] = ()
    retold: bool = False  # the same scenes again and again: that lines repeat is no fault


@dataclass(frozen=True, slots=True)
class Grown:
    history: History
    nodes: tuple[Node, ...]  # leaves in order, children before their parents


def cases(data: Data) -> Iterator[Case]:
    coding, chat = _about(CODING), _about(CHAT)
    session = first(data.coding_session(), CODING_TOKENS)
    yield Case("coding", tuple(facts.plant(session, coding)), coding)
    for talk in list(data.trajectories())[:CHATS]:
        yield Case("agents", talk.messages)
    for capture in data.captures():
        yield Case("captures", max(capture.requests, key=len))
    for talk in list(data.beam("100k"))[:CHATS]:
        yield Case("beam", tuple(facts.plant(talk.messages, coding)), coding)
    for talk in list(data.locomo())[:CHATS]:
        yield Case("locomo", tuple(facts.plant(talk.messages, chat)), chat)
    yield Case("story", tuple(facts.plant(stories.story(), stories.FACTS)), stories.FACTS)
    for language in multilingual.LANGUAGES:
        own = multilingual.facts(language)
        planted = tuple(facts.plant(multilingual.messages(language), own))
        yield Case(language, planted, own, retold=True)


def grown(messages: Sequence[Message]) -> Grown:
    """The tree of a history, by stage 1 alone."""
    posted = chat_history.read("bench", tuple(messages), Volatile())
    tail = Tail(
        frontier=EMPTY,
        loose={},
        messages=tuple(message.raw for message in posted.messages),
        digests=tuple(fact.digest for fact in posted.facts),
        addresses=posted.addresses[1:],
        volatile=posted.volatile.tags,
    )
    return Grown(posted, growth.grow(tail).nodes)


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    kept: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for case in cases(bench.data):
        tree = grown(case.messages)
        for fault in faults(tree):
            fault["repeated"] *= not case.retold
            counts[case.name].update(fault)
        for level, kinds in facts.shares(case.facts, facts.told(tree.history, tree.nodes)).items():
            kept[case.name][level][0] += kinds["all"][0]
            kept[case.name][level][1] += kinds["all"][1]
    counts["all"] = sum(counts.values(), Counter())
    rows = [row for name, count in counts.items() for row in _rows(name, count)]
    return [*rows, *_kept(kept)], []


def _rows(name: str, count: Counter[str]) -> Iterator[Row]:
    yield Row(f"{name}: headlines", count["headlines"])
    for fault in ("torn", "empty", "repeated", "child's line"):
        share = 100 * count[fault] / max(1, count["headlines"])
        yield Row(f"{name}: {fault}", share, "%", GOAL, at_most=True)


def _kept(kept: Mapping[str, Mapping[str, Sequence[int]]]) -> Iterator[Row]:
    for level, goal in (("0", 65), ("1", 45), (TOP, 25)):
        for name, levels in kept.items():
            if level in levels and levels[level][1]:
                good, whole = levels[level]
                yield Row(f"{name}: facts kept, level {level}", 100 * good / whole, "%", goal)


def faults(tree: Grown) -> Iterator[Counter[str]]:
    """Yield the faults of each headline of a tree."""
    lines = {node.id: node.summary.headline for node in tree.nodes}
    often = Counter(map(_plain, lines.values()))
    below = _texts(tree)
    for node in tree.nodes:
        line = _plain(lines[node.id])
        found = Counter({"headlines": 1})
        found["torn"] = is_torn(lines[node.id], below[node.id])
        found["empty"] = is_empty(lines[node.id])
        found["repeated"] = often[line] > 1
        found["child's line"] = any(_begins(line, _plain(lines[child])) for child in node.children)
        yield found


def is_torn(headline: str, text: str) -> bool:
    """Return True if a phrase of the headline goes on in the text, in the same clause."""
    source = _spaced(text)
    return any(
        _goes_on(phrase, source) for piece in headline.split(" -> ") for phrase in piece.split("; ")
    )


def _goes_on(phrase: str, source: str) -> bool:
    bare = _spaced(phrase).rstrip(" .!?")
    if len(bare) < 8:
        return False
    ends = bare[-28:]
    at = source.find(ends)
    if at < 0:
        return False
    while at >= 0:
        if _END.match(source, at + len(ends)):
            return False
        at = source.find(ends, at + 1)
    return True


def is_empty(headline: str) -> bool:
    if re.search(r"\w[_/.]\w|[^\x00-\x7f]{4}|\w(?:Error|Exception)\b", headline):
        return False
    words = {word.lower() for word in _WORD.findall(headline)} - _DULL
    return len(words) < 2


def _begins(line: str, other: str) -> bool:
    return bool(line and other) and (line.startswith(other) or other.startswith(line))


def _plain(line: str) -> str:
    return _spaced(line).lower()


def _spaced(text: str) -> str:
    return _SPACE.sub(" ", _MARKUP.sub(" ", text)).strip()


def _texts(tree: Grown) -> dict[bytes, str]:
    """The text below each node."""
    below: dict[bytes, str] = {}
    begins = 0
    for node in tree.nodes:
        if node.is_leaf:
            below[node.id] = "\n".join(
                tree.history.view(begins + p.message).text[p.start : p.end] for p in node.passages
            )
            begins += node.messages
        else:
            below[node.id] = "\n".join(below[id_] for id_ in node.children)
    return below


def _about(subject: str) -> tuple[Fact, ...]:
    return tuple(fact for fact in FACTS if fact.about == subject)
