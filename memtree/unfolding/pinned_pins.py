"""Choose the parts of a memory message that do not depend on the question: standing rules, a
persona card, the request whose tool loop is cut, and the last steps of that loop."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from memtree.history.chat_history import History
from memtree.text import tokens
from memtree.text.persona_card import is_card
from memtree.unfolding.budget_split import BudgetSplit
from memtree.unfolding.excerpt_duplicates import ShownTexts
from memtree.unfolding.excerpts_excerpt_choice import LABEL, ExcerptChoice, Room
from memtree.unfolding.labels import call_label
from memtree.unfolding.memory_message_memory_text import WRAPPER
from memtree.unfolding.memory_plan import FoldWindow, TextSpan
from memtree.unfolding.rule_ledger import CurrentRule

LONG_RULE = 60  # tokens
TAIL_SHARE = 0.5  # of a memory message's room; the rest is for what is older
LEAST_TAIL = 40  # tokens; with less room the end of a cut round is not quoted
MOST_CHARACTERS = 12  # of a token, in the mean of any text but white space
TRAIL_REACH = 40  # messages before the cut that are quoted
# messages whose calls are named, and their share of the trail's room
STEPS_REACH, STEPS_SHARE = 300, 0.4


def size_of(choices: Iterable[ExcerptChoice]) -> int:
    """Return the tokens of choices with their labels."""
    return sum(choice.tokens + LABEL for choice in choices)


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
