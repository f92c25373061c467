"""Check what stands there whatever is asked, and places that a person pinned."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise

import pytest

from memtree.history.chat_history import read
from memtree.history.message import Message, Volatile
from memtree.text import tokens
from memtree.unfolding import pins
from memtree.unfolding.excerpt_choice import LASTING, ONE_SHOT, Room, size_of
from memtree.unfolding.kept_passages import (
    PinnedPlace,
    kept_passages,
    pinned_spans,
    read_places,
    written,
)
from memtree.unfolding.memory_plan import FoldWindow
from memtree.unfolding.memory_text import quote_lines
from memtree.unfolding.pins import (
    CurrentRule,
    Pins,
    RuleText,
    ask_excerpt,
    asked_message,
    last_lines,
)
from tests.unit.unfolding.histories import answering, call, calling, history

# ------------------------------------------------------------------------------------------------
# Check what stands there whatever is asked: here the steps of a cut tool loop.


def loop(rounds):
    made = ["Rename frobnicate everywhere."]
    for n in range(rounds):
        id_ = f"c{n}"
        made += [
            calling(
                call("read_file", f'{{"path": "src/file{n % 30}.py"}}', id_), content="x " * 90
            ),
            answering(f"text {n}", id_),
        ]
    return history(*made)


def pinned(found, budget=2_000, split=LASTING, head=0):
    window = FoldWindow(len(found) - 6, budget, head)
    return Pins(found, (), window, split).chosen


def test_the_last_calls_are_named_once_each():
    found = loop(60)
    steps = [choice for choice in pinned(found) if choice.reason == "step"]
    lines = list(quote_lines([choice.span for choice in steps], found))
    assert len(lines) == len(steps) > 5
    named = [line.partition(", calls ")[2] for line in lines]
    assert len(set(named)) == len(named)
    assert all(line.startswith("read_file src/") for line in named)
    whole = {choice.span.message for choice in pinned(found) if choice.reason == "trail"}
    assert whole
    assert whole.isdisjoint(choice.span.message for choice in steps)


def test_steps_keep_to_a_part_of_the_trail():
    sizes = [
        sum(c.tokens for c in pinned(loop(200), n) if c.reason == "step") for n in (500, 4_000)
    ]
    assert sizes[0] < sizes[1] <= 0.2 * 4_000


def test_an_answer_for_one_question_names_no_steps():
    assert {choice.reason for choice in pinned(loop(60), split=ONE_SHOT)} == {"ask"}


def test_the_beginning_of_a_long_ask_has_no_more_tokens_than_it_may():
    found = history(" ".join(["x"] * 400))
    (shown,) = ask_excerpt(found, 0, 100)
    assert tokens.count(found.view(0).text[: shown.span.end]) == shown.tokens == 100


def test_the_ask_is_found_behind_a_reminder():
    """A program's words among the recent rounds are not what the loop works for."""
    found = loop(60)
    messages = [*found.messages, Message(found.messages[0].raw, joined=True, aside=True)]
    reminded = read("t", messages, Volatile())
    cut = len(found) - 2
    assert asked_message(found, cut) == asked_message(reminded, cut) == 0
    messages[-1] = Message(found.messages[0].raw, joined=True)
    assert asked_message(read("t", messages, Volatile()), cut) is None


def test_nothing_is_quoted_of_a_pinned_round():
    found = loop(60)
    cut = len(found) - 2
    window = FoldWindow(cut, 2_000, pinned=((cut - 4, cut - 2),))
    chosen = Pins(found, (), window, LASTING).chosen
    quoted = {choice.span.message for choice in chosen}
    assert 0 in quoted
    assert quoted.isdisjoint({cut - 4, cut - 3})
    assert quoted & {cut - 6, cut - 2}


def test_the_ask_is_not_pinned_where_it_goes_whole():
    assert "ask" not in {choice.reason for choice in pinned(loop(60), head=1)}


CARD = """You are Marisol Vane, keeper of the harbour archive. Stay in character.
Name: Marisol Vane
Age: 41
Personality: dry, patient, curious
Scenario: {{user}} comes in from the rain and asks for a ledger.
"""


def carded(card, budget=2_000, ask=400):
    found = history(card, *(f"line {n}" for n in range(20)))
    return Pins(found, (), FoldWindow(len(found) - 2, budget, ask=ask), LASTING).chosen


def test_a_persona_card_is_pinned_whole():
    (card,) = carded(CARD)
    assert card.reason == "card"
    assert (card.span.start, card.span.end) == (0, len(CARD))


def test_of_a_long_card_the_beginning_stays():
    (card,) = carded(CARD + "She tells a long story of the harbour. " * 300)
    assert 300 < card.tokens <= 400
    assert card.span.start == 0


def test_an_ordinary_first_request_is_no_card():
    assert carded("Please rename the function frobnicate everywhere in src.") == []


RULE = "Never touch the files in vendor{n}, ask me before instead."
LONG = "From now on mention the " + "colour, the weight, the price, " * 12 + "and the day."


def ruled(budget, split=ONE_SHOT):
    said = [RULE.format(n=n) if n % 8 else LONG for n in range(24)]
    found = history(*said, *(f"line {n}" for n in range(20)))
    rules = [CurrentRule(RuleText(n, 0, len(said[n]), said[n])) for n in range(24)]
    return Pins(found, rules[::-1], FoldWindow(len(found) - 2, budget), split)


def test_a_larger_budget_shows_all_rules_of_a_smaller_one():
    """Though a long rule fits only into the larger one."""
    shown = [
        {rule.choice.span for rule in ruled(budget).rules} for budget in range(300, 9_000, 100)
    ]
    assert all(one <= other for one, other in pairwise(shown))
    assert (len(shown[0]), len(shown[-1])) == (3, 24)


def test_rules_that_found_no_place_take_what_is_left():
    pins = ruled(600)
    few = [rule.choice.span.message for rule in pins.rules]
    assert few == [23, 22, 21, 20, 19, 18]
    left = Room(3_000)
    pins.add_rules(left)
    assert len(pins.rules) == 24
    assert left.excerpts == 3_000 - size_of(r.choice for r in pins.rules[len(few) :])
    pins.add_rules(left)
    assert len(pins.rules) == 24


def test_the_end_of_a_round_that_does_not_fit_is_quoted():
    found = loop(60)
    window = FoldWindow(len(found) - 6, 2_000, tail=60)
    tail = [
        choice for choice in Pins(found, (), window, ONE_SHOT).chosen if choice.reason == "tail"
    ]
    result, words = (choice.span for choice in tail)
    assert (result.message, words.message) == (window.cut - 1, window.cut - 2)
    assert found.view(result.message).text[result.start :] == "text 56"
    text = found.view(words.message).text
    assert 0 < words.start < words.end == len(text)
    assert sum(choice.tokens for choice in tail) <= 60
    unlimited = FoldWindow(len(found) - 6, 2_000)
    assert "tail" not in {choice.reason for choice in Pins(found, (), unlimited, ONE_SHOT).chosen}


def test_the_last_lines_of_a_text_keep_to_their_tokens():
    text = "\n".join(f"line {n} of the output" for n in range(100))
    start, size = last_lines(text, 50)
    assert text[start - 1] == "\n"
    assert 30 < size == tokens.count(text[start:]) <= 50
    assert last_lines("short", 50) == (0, tokens.count("short"))
    one_line = "word " * 500
    start, size = last_lines(one_line, 50)
    assert 30 < size <= 50


def test_the_request_of_a_loop_stays_beside_a_large_end_of_its_round():
    found = loop(60)
    window = FoldWindow(len(found) - 6, 2_000, ask=200, tail=5_000)
    chosen = Pins(found, (), window, LASTING).chosen
    assert chosen[0].reason == "ask"
    assert found.view(0).text == "Rename frobnicate everywhere."
    assert 0 < sum(choice.tokens for choice in chosen if choice.reason == "tail") <= 1_000


def test_the_last_lines_of_cheap_characters_take_few_counts(monkeypatch):
    counts = []
    monkeypatch.setattr(pins.tokens, "count", lambda text: counts.append(text) or len(text) // 2)
    last_lines("=" * 90_000 + "\n" + "= " * 5_000, 1_000)
    assert len(counts) < 200


# ------------------------------------------------------------------------------------------------
# Places that a person pinned: where their text stands in a history.


FOUND = history(
    {"role": "system", "content": "Be brief."},
    "The gateway 😀 listens on port 8443.",
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
    "<system-reminder>late</system-reminder>behind a reminder",
)


def place(message, start, end, text, part="content"):
    return PinnedPlace(message, part, start, end, sha256(text.encode()).hexdigest())


def shown(*places):
    spans = pinned_spans(FOUND, places)
    return [(s.message, FOUND.view(s.message).text[s.start : s.end]) for s in spans]


@pytest.mark.parametrize(
    ("pinned", "text"),
    [
        (place(1, 12, 23, "😀 listens o"), (0, "😀 listens o")),
        (place(3, 0, 3, "two", "content[1]"), (2, "two")),
        (place(4, 39, 45, "behind"), (3, "behind")),
    ],
)
def test_a_place_is_found_by_its_message_and_hash(pinned: PinnedPlace, text: tuple[int, str]):
    assert shown(pinned) == [text]


def test_a_place_may_lie_in_a_decoded_argument_of_a_call():
    body = {"name": "write", "arguments": '{"text": "one\\ntwo\\nthree"}'}
    call = {"id": "c", "type": "function", "function": body}
    found = history("Go.", {"role": "assistant", "content": None, "tool_calls": [call]})
    pinned = place(1, 2, 5, "e\nt", "tool_calls[0].function.arguments.text")
    (span,) = pinned_spans(found, [pinned])
    assert found.view(1).text[span.start : span.end] == "e\\nt"


@pytest.mark.parametrize(
    "pinned",
    [
        place(1, 12, 23, "another text"),
        place(0, 0, 3, "Be "),
        place(9, 0, 3, "abc"),
        place(3, 0, 3, "two"),
        place(3, 0, 3, "two", "content[7]"),
        place(2, 900, 901, ""),
        place(4, 0, 10, "<system-re"),
    ],
)
def test_where_another_text_stands_nothing_is_pinned(pinned: PinnedPlace):
    assert shown(pinned) == []


def test_pins_come_before_marks_newest_first():
    found = history("<keep>marked</keep>", "first", "second")
    pins = [place(1, 0, 5, "first"), place(2, 0, 6, "second")]
    assert [each.span.message for each in kept_passages(found, pins=pins)] == [2, 1, 0]


def test_what_is_stored_holds_no_text_and_may_be_of_a_later_version():
    stored = written([place(1, 0, 11, "The gateway")])
    assert "gateway" not in stored
    assert read_places(stored) == (place(1, 0, 11, "The gateway"),)
    assert written(()) == ""
    assert [read_places(text) for text in ("", "{}", "[[1]]", "x")] == [()] * 4
