"""Find the standing rules in force at the end of a conversation: the ledger of rules.

A later rule that repeats an earlier one takes its place. A later rule replaces an earlier one, and
names it, if it says something else about the same thing (another number, language, name, or the
contrary), if it announces a change ("actually", "instead of"), or if it withdraws the earlier one
("forget the rule about emojis"). Rules are found in messages by
`text/instructions/standing_rules.py`.

    >>> said = ["Never use emojis.", "Answer in French.", "You may use emojis again."]
    >>> rules = [RuleText(at, 0, len(text), text) for at, text in enumerate(said)]
    >>> [(one.rule.message, one.replaces) for one in current_rules(rules)]
    [(2, 0), (1, None)]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memtree.history.chat_history import History
from memtree.text import rule_topics
from memtree.text.rule_topics import Topic
from memtree.tree.node import Node, NodePlace

MOST = 2_000  # rules that are read, the newest
NEAR = 32  # rules in force that a rule is compared with, for each of its words
WORDS = 40  # of a rule, that are looked up

SAME = 0.8  # share of all words of two rules that they have in common
CONTRARY = 0.6  # of the words of the shorter one
CORRECTED = 0.34
WITHDRAWN = 0.5  # of the words of a withdrawal


@dataclass(frozen=True, slots=True)
class RuleText:
    """Characters [start, end) of the view of message `message`, whose text is `text`."""

    message: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class CurrentRule:
    """A rule in force. `replaces`: the message of the newest rule that it corrects or withdraws
    (None: of none); `repeats`: earlier messages with the same rule, oldest first."""

    rule: RuleText
    replaces: int | None = None
    repeats: tuple[int, ...] = ()


def current_rules(rules: Sequence[RuleText]) -> list[CurrentRule]:
    """Return the rules in force, newest first, given all rules, oldest first. A repeated rule is
    listed once, as the newest; corrected or withdrawn rules are left out, and so is a withdrawal
    without a rule. Takes time linear in `rules`."""
    ledger = _Ledger()
    for rule in rules[-MOST:]:
        ledger.add(rule)
    return ledger.newest_first()


def ledger(
    history: History, placed: Iterable[tuple[Node, NodePlace]], head: int, cut: int
) -> list[CurrentRule]:
    """Return the rules of messages [head, cut) in force, newest first. `placed`: the leaves in
    order; other nodes have no rules."""
    rules = []
    for node, place in placed:
        for message, start, end in node.rules:
            at = place.first + message
            if head <= at < cut:
                rules.append(RuleText(at, start, end, history.view(at).text[start:end]))
    return current_rules(rules)


class _Ledger:
    def __init__(self) -> None:
        self._standing: dict[int, tuple[CurrentRule, Topic]] = {}  # by the order of their addition
        self._by_word: defaultdict[str, list[int]] = defaultdict(list)
        self._by_slot: defaultdict[str, list[int]] = defaultdict(list)
        self._count = 0

    def add(self, rule: RuleText) -> None:
        topic = rule_topics.topic(rule.text)
        current = CurrentRule(rule)
        for key in self._near(topic):
            earlier, other = self._standing[key]
            if _says_the_same(topic, other):
                repeats = (*earlier.repeats, earlier.rule.message, *current.repeats)
                replaced = current.replaces if current.replaces is not None else earlier.replaces
                current = replace(current, repeats=tuple(sorted(repeats)), replaces=replaced)
            elif _replaces(topic, other):
                newest = max(earlier.rule.message, current.replaces or 0)
                current = replace(current, replaces=newest)
            else:
                continue
            del self._standing[key]
        if topic.withdraws and current.replaces is None:
            return
        self._standing[self._count] = (current, topic)
        for word in sorted(topic.words)[:WORDS]:
            self._by_word[word].append(self._count)
        if topic.slot:
            self._by_slot[topic.slot].append(self._count)
        self._count += 1

    def _near(self, topic: Topic) -> list[int]:
        """Return the rules in force among the newest that share a word or a slot with this one."""
        keys: set[int] = set(self._by_slot[topic.slot][-NEAR:]) if topic.slot else set()
        for word in sorted(topic.words)[:WORDS]:
            keys.update(self._by_word.get(word, ())[-NEAR:])
        return sorted(key for key in keys if key in self._standing)

    def newest_first(self) -> list[CurrentRule]:
        return [current for current, _ in reversed(self._standing.values())]


def _says_the_same(new: Topic, old: Topic) -> bool:
    if new.withdraws != old.withdraws or new.forbids != old.forbids or new.numbers != old.numbers:
        return False
    shared = len(new.words & old.words)
    return shared > 0 and shared >= SAME * len(new.words | old.words)


def _replaces(new: Topic, old: Topic) -> bool:
    shared = len(new.words & old.words)
    shorter = min(len(new.words), len(old.words))
    if new.withdraws:
        return shared > 0 and shared >= WITHDRAWN * min(len(new.words), len(old.words) + 1)
    if new.slot and new.slot == old.slot and new.condition == old.condition:
        return True
    if not shared:
        return False
    if new.corrects and shared >= CORRECTED * shorter:
        return True
    other_number = new.measures and old.measures and new.numbers != old.numbers
    changed = new.forbids != old.forbids or other_number
    return changed and new.condition == old.condition and shared >= CONTRARY * shorter
