"""Shadow mode: measure how much of a history would still be visible after a fold.

Probes are drawn from the leaves before the cut: their anchors by kind, numbers with the word next
to them, and the user's standing rules word for word. A probe survives if it appears in the messages
that would have been sent. Deterministic: the same request has the same probes. What the model
actually used is measured in `usage.py`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from memtree.conversation.history import History
from memtree.conversation.message import SYSTEM_ROLES, Message
from memtree.tree.btree import walk
from memtree.tree.node import Frontier, Node, NodePlace

VALUE, IDENTIFIER, PATH, NAME, RULE = "value", "identifier", "path", "name", "rule"
KINDS = (VALUE, IDENTIFIER, PATH, NAME, RULE)
PROBES = 16  # of each kind, for one request
NEAR = 40  # characters between a number and its word

_PATH = re.compile(
    r"\S*[/\\]\S*|[\w.@+-]*\w\.(?:py|pyi|[mc]?jsx?|tsx?|rs|go|java|kt|c|cc|h|cpp|hpp|cs|rb|php|"
    r"swift|md|rst|txt|toml|jsonl?|ya?ml|sh|sql|html?|css|cfg|ini|lock|xml|csv|log|ipynb|png|"
    r"jpe?g|svg|pdf|zip|gz|db|conf)(?::\d+)?"
)
_COMMIT = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}")
_VALUE = re.compile(r"[$€£¥#v]?\d|[^\W\d_]+ .*\d")  # matches "March 3" as well
_IDENTIFIER = re.compile(r"\S*(?:[\d_.:#@=-]|[a-z][A-Z])\S*|E[A-Z]{4,}|SIG[A-Z]{3,}")
_BEHIND = re.compile(r"[^\w\n]{0,3}([^\W\d_]{3,})")
_BEFORE = re.compile(r"([^\W\d_]{3,})[^\w\n]{0,3}\Z")


class Probe(NamedTuple):
    """A fact to look for. `word`: for a number, the noun after it in lower case; else empty."""

    kind: str
    text: str
    word: str = ""


class Score(NamedTuple):
    probes: int = 0
    kept: int = 0


@dataclass(frozen=True, slots=True)
class ShadowResult:
    """Result for one request in shadow mode. `raw`, `sent`: tokens of the whole request; `folded`:
    memory would have changed it."""

    raw: int
    sent: int
    folded: bool = False
    scores: Mapping[str, Score] = field(default_factory=dict)

    def amounts(self) -> dict[str, int]:
        """Return the amounts to add to the tallies. Tokens are counted for folded requests only, so
        that their ratio is that of folding."""
        amounts = {"shadow.requests": 1}
        if self.folded:
            amounts |= {
                "shadow.folded": 1,
                "shadow.raw_tokens": self.raw,
                "shadow.sent_tokens": self.sent,
            }
        for kind, score in self.scores.items():
            amounts |= {
                f"shadow.{kind}.probes": score.probes,
                f"shadow.{kind}.kept": score.kept,
            }
        return amounts


def survival(probes: Iterable[Probe], visible: str) -> dict[str, Score]:
    """Return by kind how many probes there were and how many appear in the visible text."""
    scores: dict[str, Score] = {}
    for probe in probes:
        old = scores.get(probe.kind, Score())
        scores[probe.kind] = Score(old.probes + 1, old.kept + is_kept(probe, visible))
    return scores


def probes(
    history: History, frontier: Frontier, nodes: Mapping[bytes, Node], cut: int, most: int = PROBES
) -> list[Probe]:
    """Return a sample of what the leaves before `cut` (index in the history) contain, `most` of
    each kind. The address is the seed, so that the turns of a chat are probed for different things.
    Raises `KeyError` if a node is not in `nodes`.
    """
    placed = walk(frontier.nodes, nodes)
    pairs = [(node, at) for node, at in placed if node.is_leaf and at.last < cut]
    seed = history.addresses[-1]
    named = ((anchor, place) for leaf, place in pairs for anchor in leaf.summary.anchors)
    by_kind: dict[str, dict[str, NodePlace]] = {}
    for anchor, place in named:
        by_kind.setdefault(kind(anchor), {}).setdefault(anchor, place)
    drawn = [Probe(RULE, rule) for rule in _shuffled(_rules(history, pairs), seed)[:most]]
    for name, anchors in by_kind.items():
        drawn += _anchor_probes(history, name, anchors, seed, most)
    return drawn


def kind(anchor: str) -> str:
    """Return the kind of an anchor, by its form alone."""
    if _PATH.fullmatch(anchor):
        return PATH
    if _VALUE.match(anchor) and not _COMMIT.fullmatch(anchor):
        return VALUE
    return IDENTIFIER if _IDENTIFIER.fullmatch(anchor) else NAME


def is_kept(probe: Probe, visible: str) -> bool:
    """Return True if the probe appears as a separate word, and a number with its word nearby."""
    for start in positions(probe.text, visible):
        around = visible[max(0, start - NEAR) : start + len(probe.text) + NEAR]
        if probe.word in around.lower():
            return True
    return False


def positions(term: str, text: str) -> Iterator[int]:
    """Yield offsets of a term in a text, except within a longer word or number."""
    start = text.find(term)
    while start >= 0:
        end = start + len(term)
        if not _joined(text[start - 1 : start], term[0]) and not _joined(
            term[-1], text[end : end + 1]
        ):
            yield start
        start = text.find(term, start + 1)


def visible(fragments: Iterable[bytes]) -> str:
    """Return the text that a model would read in these raw messages, without system messages."""
    messages = map(Message, fragments)
    return "\n".join(message.text for message in messages if message.role not in SYSTEM_ROLES)


def cut_of(history: History, recent: int) -> int:
    """Return the cut of an answer that sent the last `recent` tokens of the history unchanged."""
    return bisect_left(range(len(history)), -recent, key=lambda at: -history.size(at))


def text_of(history: History, place: NodePlace) -> str:
    """Return the text that a node covers."""
    pieces = []
    for message in range(place.first, place.last + 1):
        text = history.view(message).text
        low = place.start if message == place.first else 0
        pieces.append(text[low : place.tail if message == place.end else None])
    return "\n".join(pieces)


def _rules(history: History, pairs: Sequence[tuple[Node, NodePlace]]) -> list[str]:
    return [
        history.view(place.first + message).text[start:end]
        for leaf, place in pairs
        for message, start, end in leaf.rules
    ]


def _anchor_probes(
    history: History, name: str, anchors: Mapping[str, NodePlace], seed: bytes, most: int
) -> list[Probe]:
    """Return anchors that appear in their leaf's text: a masked secret does not."""
    drawn: list[Probe] = []
    for anchor in _shuffled(anchors, seed):
        if len(drawn) == most:
            break
        text = text_of(history, anchors[anchor])
        start = next(positions(anchor, text), None)
        if start is not None:
            drawn.append(Probe(name, anchor, _word(anchor, text, start) if name == VALUE else ""))
    return drawn


def _word(number: str, text: str, start: int) -> str:
    """Return the word that a bare number counts: the word after it, else the one before it."""
    if any(char.isalpha() for char in number):
        return ""
    end = start + len(number)
    match = _BEHIND.match(text, end) or _BEFORE.search(text, max(0, start - NEAR), start)
    return match.group(1).lower() if match else ""


def _shuffled(texts: Iterable[str], seed: bytes) -> list[str]:
    """Shuffle by the seed, in the same way in every process."""
    return sorted(
        set(texts), key=lambda text: blake2b(text.encode("utf-8", "replace"), key=seed).digest()
    )


def _joined(before: str, after: str) -> bool:
    """Return True if two adjacent characters are letters or digits of one word."""
    return _is_wordy(before) and _is_wordy(after)


def _is_wordy(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")
