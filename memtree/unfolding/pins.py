"""Choose the parts of a memory message that do not depend on the question.

These are the standing rules in force, a persona card, the request whose tool loop is cut, and the
last steps of that loop.

The ledger finds the rules in force at the end of a conversation. A later rule that repeats an
earlier one takes its place. A later rule replaces an earlier one, and names it, if it says
something else about the same thing (another number, language, name, or the contrary), if it
announces a change ("actually", "instead of"), or if it withdraws the earlier one ("forget the rule
about emojis"). Rules are found in messages by `memtree/text/rule_sentences.py`.

    >>> said = ["Never use emojis.", "Answer in French.", "You may use emojis again."]
    >>> rules = [RuleText(at, 0, len(text), text) for at, text in enumerate(said)]
    >>> [(one.rule.message, one.replaces) for one in current_rules(rules)]
    [(2, 0), (1, None)]
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from memtree.history.chat_history import History
from memtree.text import rule_sentences, tokens
from memtree.text.rule_sentences import Topic
from memtree.text.speakers import is_card
from memtree.tree.node import Node, NodePlace
from memtree.unfolding.excerpt_choice import LABEL, BudgetSplit, ExcerptChoice, Room, size_of
from memtree.unfolding.excerpt_duplicates import ShownTexts
from memtree.unfolding.labels import call_label
from memtree.unfolding.memory_plan import FoldWindow, TextSpan
from memtree.unfolding.memory_text import WRAPPER

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
        topic = rule_sentences.topic(rule.text)
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


LONG_RULE = 60  # tokens
TAIL_SHARE = 0.5  # of a memory message's room; the rest is for what is older
LEAST_TAIL = 40  # tokens; with less room the end of a cut round is not quoted
MOST_CHARACTERS = 12  # of a token, in the mean of any text but white space
TRAIL_REACH = 40  # messages before the cut that are quoted
# messages whose calls are named, and their share of the trail's room
STEPS_REACH, STEPS_SHARE = 300, 0.4


@dataclass(frozen=True, slots=True)
class PinnedRule:
    choice: ExcerptChoice
    replaces: int | None


class Pins:
    """Standing rules, newest first; a persona card; the request whose tool loop is cut, with the
    loop's trail."""

    def __init__(
        self,
        history: History,
        rules: Iterable[CurrentRule],
        window: FoldWindow,
        split: BudgetSplit,
    ) -> None:
        """`rules`: those in force, newest first."""
        budget = window.budget
        self.rules: list[PinnedRule] = []
        self._waiting = deque(_pinned_rules(rules))
        self.add_rules(Room(min(budget - WRAPPER, int(split.rules * budget))))
        room = budget - WRAPPER - size_of(rule.choice for rule in self.rules)
        self.asks = self._asks(history, window, split, room)

    @property
    def chosen(self) -> list[ExcerptChoice]:
        return [*(rule.choice for rule in self.rules), *self.asks]

    def add_rules(self, room: Room) -> None:
        """Show more of the rules in force, as far as there is room. Stops at the first that does
        not fit, so that a larger budget shows everything that a smaller one does."""
        while self._waiting and room.fits(self._waiting[0].choice.tokens + LABEL, 0):
            rule = self._waiting.popleft()
            room.pay(rule.choice.tokens + LABEL, 0)
            self.rules.append(rule)

    @staticmethod
    def _asks(
        history: History, window: FoldWindow, split: BudgetSplit, room: int
    ) -> list[ExcerptChoice]:
        budget, cut = window.budget, window.cut
        card = _card(history, window, room)
        room -= size_of(card)
        ask = asked_message(history, cut)
        is_shown = ask is None or bool(card and not ask)
        requests = card
        if ask is not None and not is_shown and window.folds(ask):
            most = max(window.ask, int(split.ask * budget))
            requests = [*card, *ask_excerpt(history, ask, min(room, most))]
        room -= size_of(requests[len(card) :])
        tail = _tail(history, window, min(int(TAIL_SHARE * room), window.tail))
        room -= size_of(tail)
        requests = [*requests, *tail]
        if ask is None or is_shown:
            return requests
        trail = min(room, int(split.trail * budget))
        steps = list(_steps(history, ask, window, int(STEPS_SHARE * trail)))
        said = list(_trail(history, ask, window, trail - size_of(steps), requests))
        messages = {choice.span.message for choice in said}
        return [*requests, *said, *(step for step in steps if step.span.message not in messages)]


def _tail(history: History, window: FoldWindow, room: int) -> list[ExcerptChoice]:
    """Return the end of the round before the cut, which is not sent whole for want of room: whole
    messages, and the last lines of the one before them."""
    chosen: list[ExcerptChoice] = []
    first = history.cuts[bisect_left(history.cuts, window.cut) - 1] if window.cut else 0
    for message in range(window.cut - 1, first - 1, -1):
        room -= LABEL
        if room < LEAST_TAIL or not window.folds(message):
            break
        text = history.view(message).text
        start, size = last_lines(text, room)
        if start < len(text):
            chosen.append(ExcerptChoice(TextSpan(message, start, len(text)), size, "tail", -1))
        room -= size
        if start:
            break
    return chosen


def last_lines(text: str, room: int) -> tuple[int, int]:
    """Return where the last lines of a text begin that have at most `room` tokens, and their
    tokens; of a last line that is longer, where its last words begin. Each step drops a part of the
    text, so that texts of cheap characters take few steps."""
    text_end = text[-MOST_CHARACTERS * room :]
    size = tokens.count(text_end)
    while size > room and text_end:
        over = max(1, len(text_end) // 64, int(len(text_end) * (size - room) / size))
        line = text_end.find("\n", over)
        word = text_end.find(" ", over)
        cut = line if 0 <= line < len(text_end) - 1 else word
        text_end = text_end[cut + 1 :] if cut >= 0 else ""
        size = tokens.count(text_end)
    return len(text) - len(text_end), size


def _card(history: History, window: FoldWindow, room: int) -> list[ExcerptChoice]:
    """Return a persona or role-play card in the first message, whole or its beginning, since all
    later messages depend on it."""
    if window.head or not window.cut or history.facts[0].role != "user":
        return []
    if not is_card(history.view(0).text):
        return []
    shown = ask_excerpt(history, 0, min(room, window.ask))
    return [replace(choice, reason="card") for choice in shown]


def _pinned_rules(rules: Iterable[CurrentRule]) -> Iterator[PinnedRule]:
    """Yield the rules in the order in which they are shown: short ones first, so that a long one
    keeps none out, both newest first."""
    sized = [(current, tokens.count(current.rule.text)) for current in rules]
    for current, size in sorted(sized, key=lambda each: each[1] > LONG_RULE):
        span = TextSpan(current.rule.message, current.rule.start, current.rule.end)
        yield PinnedRule(ExcerptChoice(span, size, "rule", -1), current.replaces)


def _trail(
    history: History, ask: int, window: FoldWindow, room: int, requests: Iterable[ExcerptChoice]
) -> Iterator[ExcerptChoice]:
    """Yield the last texts and calls of the assistant in the cut part of a tool loop, newest first:
    they let the loop continue where it was, with its files and commands. Those that repeat them, or
    `requests`, are left out."""
    shown = ShownTexts()
    for choice in requests:
        shown.add(history.view(choice.span.message).text[choice.span.start : choice.span.end])
    for index in range(window.cut - 1, max(ask, window.cut - TRAIL_REACH), -1):
        fact = history.facts[index]
        if fact.role == "assistant" and fact.tokens + LABEL <= room and window.folds(index):
            text = history.view(index).text
            if text.strip() and not shown.repeats(text):
                room -= fact.tokens + LABEL
                shown.add(text)
                yield ExcerptChoice(TextSpan(index, 0, len(text)), fact.tokens, "trail", -1)


def _steps(history: History, ask: int, window: FoldWindow, room: int) -> Iterator[ExcerptChoice]:
    """Yield labels of the last calls in the cut part of a tool loop, newest first, without their
    text: what was read, changed and run. A repeated call is named once."""
    named: set[str] = set()
    oldest = max(ask, window.head, window.cut - STEPS_REACH)
    for index in range(window.cut - 1, oldest, -1):
        if not history.facts[index].calls or not window.folds(index):
            continue
        calls = [call_label(call) for call in history.messages[index].calls]
        if named.issuperset(calls):
            continue
        named.update(calls)
        size = tokens.count("; ".join(calls))
        if size + LABEL > room:
            return
        room -= size + LABEL
        yield ExcerptChoice(TextSpan(index, 0, 0), size, "step", -1)


def asked_message(history: History, cut: int) -> int | None:
    """Return the user message that the recent rounds work for, if it lies before the cut."""
    if any(history.asks(index) for index in range(cut, len(history))):
        return None
    return next((index for index in range(cut - 1, -1, -1) if history.asks(index)), None)


def ask_excerpt(history: History, ask: int, room: int) -> list[ExcerptChoice]:
    """Return a user message, whole or its first `room` tokens."""
    if room <= 0:
        return []
    text = history.view(ask).text
    size = tokens.count(text)
    end = len(text)
    if size > room:  # an estimate by length, corrected if the beginning has longer words
        end = int(len(text) * room / size)
        for _ in range(3):
            if (shown := tokens.count(text[:end])) >= room or not shown:
                break
            end += int(end * (room - shown) / shown) + 1
    return [ExcerptChoice(TextSpan(ask, 0, end), min(size, room), "ask", -1)] if end else []
