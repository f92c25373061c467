"""Check which standing rules hold at the end of a conversation."""

from __future__ import annotations

import pytest

from memtree.unfolding.pinned.rule_ledger import RuleText, current_rules


def found(*texts):
    """(message, replaces, repeats) of what stands after these rules, one a message from 0 on."""
    rules = [RuleText(message, 0, len(text), text) for message, text in enumerate(texts)]
    return [(one.rule.message, one.replaces, one.repeats) for one in current_rules(rules)]


BOTH = [(1, None, ()), (0, None, ())]
REPLACED = [(1, 0, ())]
REPEATED = [(1, None, (0,))]


def test_the_newest_comes_first():
    assert found("Always cite a source.", "Never use emojis.") == BOTH


def test_a_repeat_stands_once():
    said = ("Never use emojis.", "Always cite a source.", "never  use emojis.")
    assert found(*said) == [(2, None, (0,)), (1, None, ())]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Never use emojis.", "Please never use emojis in your answers!"),
        ("Don't touch the vendor/ folder.", "Don't ever touch the vendor/ folder."),
        ("Benutze keine Emojis.", "Bitte benutze nie Emojis."),
        ("不要使用表情符号。", "以后不要使用表情符号。"),
    ],
)
def test_near_repeats_stand_once(one, other):
    assert found(one, other) == REPEATED


@pytest.mark.parametrize(
    ("rule", "correction"),
    [
        ("Use pnpm, not npm, in this project.", "Actually, use yarn instead of pnpm from now on."),
        ("Answer in French.", "From now on answer in German."),
        ("Keep answers under 100 words.", "Keep answers under 200 words."),
        ("Call me Sam.", "Call me Captain."),
        ("Never use emojis in your answers.", "Always use emojis in your answers."),
        ("Antworte immer auf Deutsch.", "Antworte ab jetzt auf Englisch."),
        ("Réponds toujours en français.", "Désormais, réponds en anglais."),
        ("Всегда отвечай по-русски.", "Теперь отвечай по-английски."),
        ("请用中文回答。", "以后请用英文回答。"),
    ],
)
def test_a_correction_replaces_what_it_corrects(rule, correction):
    assert found(rule, correction) == REPLACED


@pytest.mark.parametrize(
    ("rule", "withdrawal"),
    [
        ("You must not use emojis.", "Forget the rule about emojis."),
        ("Never use emojis.", "You may use emojis again."),
        ("Benutze keine Emojis.", "Vergiss die Regel über Emojis."),
        ("N'utilise jamais d'émojis.", "Oublie la règle sur les émojis."),
        ("No uses emojis.", "Puedes volver a usar emojis."),
        ("Не используй эмодзи.", "Забудь правило про эмодзи."),
        ("不要使用表情符号。", "可以再使用表情符号了。"),
        ("絵文字を使わないでください。", "また絵文字を使っていいです。"),
        ("이모지를 사용하지 마세요.", "이제 다시 이모지를 사용해도 됩니다."),
    ],
)
def test_a_withdrawal_takes_a_rule_back_and_says_so(rule, withdrawal):
    assert found(rule, withdrawal) == REPLACED


def test_a_withdrawal_of_nothing_is_not_told():
    assert found("Always cite a source.", "You may use emojis again.") == [(0, None, ())]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use tabs in Python files.", "Use tabs in Go files."),
        ("At most 80 columns in Python code.", "At most 100 columns in Go code."),
        ("Never use emojis in commit messages.", "Always use emojis in release notes."),
        ("Always answer in French.", "When I write German, answer in German."),
        ("Don't touch the vendor/ folder.", "Don't touch the build/ folder."),
        ("Always mention item number 7.", "Always mention item number 8."),
        ("Always include units.", "Always include version numbers."),
    ],
)
def test_rules_about_different_things_stand_both(one, other):
    assert found(one, other) == BOTH


def test_a_correction_of_a_correction_names_the_newest():
    said = ("Answer in French.", "Answer in German.", "Actually, answer in English from now on.")
    assert found(*said) == [(2, 1, ())]


@pytest.mark.slow
def test_only_the_newest_of_thousands_are_looked_at():
    words = [f"Always mention item{n} of list{n}." for n in range(3_000)]
    standing = found(*words)
    assert len(standing) == 2_000
    assert standing[0] == (2_999, None, ())


def test_no_rules():
    assert found() == []
