"""Standing rules: what is found as one, in which languages, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtree.text.rule_score import Scorer, phrases
from memtree.text.rule_sentences import standing_rules, warm_up

# Of each language: rules, and sentences that hold some of the same words and are none.
RULES = Path(__file__).with_name("standing_rules.txt").read_text("utf-8").splitlines()
OTHERS = Path(__file__).with_name("other_sentences.txt").read_text("utf-8").splitlines()


def rules_in(text):
    return [text[start:end] for start, end in standing_rules(text)]


def test_standing_rules_are_found_verbatim():
    for rule in (
        "Always include units when I ask about sizes.",
        "Never use emojis in your answers.",
        "Please always answer in French.",
        "From now on, call me Sam.",
        "I want you to always show the command first.",
        "You must always cite a source.",
        "Whenever I ask for a summary, keep it under five lines.",
        "Going forward, please write dates as YYYY-MM-DD.",
        "Make sure you always mention the version.",
    ):
        assert rules_in(f"Thanks for that. {rule} And now the next topic: the weather.") == [rule]
        assert rules_in(f"- {rule}\n- other point") == [rule]


def test_other_sentences_are_no_standing_rules():
    for text in (
        "I've always used tabs. Never mind.",
        "It never includes the header, why?",
        "He always answers late.",
        "How can I always include the header?",
        "I've been told to always show my work when asking about proofs.",
        "We will use pnpm going forward.",
        "```\nAlways include units.\n```",
        "    Always include units.",
        "> Always include units.",
        "Set `always include` in the config.",
        "2024-01-01 12:00:00 always retry",
        "",
    ):
        assert rules_in(text) == []


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_in_any_language(rule):
    assert rules_in(rule) == [rule]
    assert rules_in(f"OK.\n{rule}\n42") == [rule]


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_no_rule_in_any_language(text):
    assert rules_in(text) == []


def test_quoted_sentences_are_no_rules():
    assert rules_in('"Never commit to main." he wrote.') == []
    assert rules_in('My teacher used to say "always show your work".') == []
    assert rules_in("The config says `never use tabs here`.") == []


def test_a_word_in_quotation_marks_or_code_belongs_to_its_rule():
    for rule in ('Never use the word "delve" in your answers.', "Use `pnpm`, not `npm`, here."):
        assert rules_in(rule) == [rule]


def test_items_below_a_heading_need_less():
    items = "- Type hints everywhere\n- Return early from functions\n"
    assert rules_in(items) == []
    assert "Return early from functions" in rules_in(f"## Rules for this repo\n\n{items}")
    assert "Return early from functions" not in rules_in(f"## Shopping\n\n{items}")


def test_the_middle_of_a_long_text_needs_more():
    weak = "Use double quotes."
    filler = "The weather was fine and the boats were out. " * 120
    assert rules_in(weak) == rules_in(f"{weak} {filler}") == rules_in(f"{filler}{weak}") == [weak]
    assert rules_in(f"{filler}{weak} {filler}") == []


def test_what_is_longer_than_a_sentence_is_no_rule():
    assert rules_in("Always answer in French " + "and so on " * 80) == []


@pytest.mark.parametrize(
    "said", ["You may use emojis again.", "Forget the rule about emojis.", "Vergiss die Regel."]
)
def test_a_withdrawal_counts_for_who_knows_the_rules_before(said):
    assert standing_rules(said) == ()
    assert standing_rules(said, withdrawals=True) == ((0, len(said)),)


def test_asking_for_consent_is_no_question():
    rule = "From now on please answer in German, ok?"
    assert rules_in(rule) == [rule]
    assert rules_in("Do you always answer in German?") == []


def test_what_is_compiled_ahead_changes_nothing():
    """One step a pattern, so that whoever is called away in between waits for one of them."""
    before = standing_rules(text := "Always answer in German. Utilise toujours le tutoiement.")
    assert len(list(warm_up())) > 12 * 20
    assert standing_rules(text) == before


def test_a_sentence_compiles_no_more_patterns_than_it_needs():
    scorer = Scorer(phrases("es"))
    assert scorer.score("la torta está en la mesa.") == 0
    compiled = [pattern for pattern in scorer.patterns() if "search" in vars(pattern)]
    assert 0 < len(compiled) < len(list(scorer.patterns())) / 2
