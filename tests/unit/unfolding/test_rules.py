"""Which standing rules hold at the end of a conversation."""

from __future__ import annotations

from memtree.unfolding.rules import RuleText, current_rules


def found(*texts):
    """(message, replaces, repeats) of what stands after these rules, one a message from 0 on."""
    rules = [RuleText(message, 0, len(text), text) for message, text in enumerate(texts)]
    return [(one.rule.message, one.replaces, one.repeats) for one in current_rules(rules)]


def test_the_newest_comes_first():
    assert found("Always cite a source.", "Never use emojis.") == [(1, None, ()), (0, None, ())]


def test_a_repeat_stands_once():
    said = ("Never use emojis.", "Always cite a source.", "never  use emojis.")
    assert found(*said) == [(2, None, (0,)), (1, None, ())]


def test_no_rules():
    assert found() == []
