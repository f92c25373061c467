"""Thoughts are found in answers by their marks; an answer about the marks loses nothing."""

from __future__ import annotations

import pytest

from memtree.text import thoughts as module
from memtree.text.thoughts import MOST_MARKS, thoughts, without_thoughts
from tests.hostile_texts.linear_time import Subject, slow

THOUGHT = "The limit is 51? No, that was the old file."
ANSWER = "I looked. The limit is 521."
CHANNEL = "<|channel|>analysis<|message|>"
FINAL = "<|start|>assistant<|channel|>final<|message|>"


@pytest.mark.parametrize(
    "form",
    [
        "<think>\n{}\n</think>\n\n",
        " \n<THINK>{}</Think> ",
        "<thinking>{}</thinking>",
        "<thought>{}</thought>\n",
        "<thoughts>{}</thoughts>\n",
        "<reason>{}</reason>\n",
        "<reasoning effort=\"high\">{}</reasoning >\n",
        "<reflection>{}</reflection>\n",
        "<analysis>{}</analysis>\n",
        "<scratchpad>{}</scratchpad>\n",
        "<antThinking>{}</antThinking>\n",
        "<chain_of_thought>{}</chain_of_thought>\n",
        "<inner_monologue>{}</inner_monologue>\n",
        "<internal_thoughts>{}</internal_thoughts>\n",
        "<seed:think>{}</seed:think>",
        "[THINK]{}[/THINK]",
        "◁think▷{}◁/think▷",
        "<|START_THINKING|>{}<|END_THINKING|>",
        "<|begin_of_thought|>\n{}\n<|end_of_thought|>\n",
        "<|think|>{}<|/think|>",
        "<|inner_prefix|>{}<|inner_suffix|>",
        "<|channel>thought\n{}<channel|>",
        "<unused94>thought\n{}<unused95>",
        f"{CHANNEL}{{}}<|end|>{FINAL}",
        f"{CHANNEL}{{}}<|end|><|start|>assistant{CHANNEL}{{}}<|end|>{FINAL}",
        f"{CHANNEL}{{}}<|channel|>final<|message|>",
        "<|channel|>commentary<|message|>",
        '<details type="reasoning" done="true">\n<summary>Thought</summary>\n{}\n</details>\n',
        ":::thinking\n{}\n:::\n\n",
        "Here's my thought process:\n{}\nHere is my response:\n",
        "Here are my reasoning steps:\n{}\n[BEGIN FINAL RESPONSE]\n",
        "Thinking...\n{}\n...done thinking.\n\n",
        "*Thinking...*\n\n> {}\n>\n> So.\n\n",
        "analysis{}assistantfinal",
        # only the closing mark, since the opening one stood in the prompt
        "{}\n</think>\n\n",
        "{}</think>",
        "{}[/THINK]",
        "{}\n</think>\n</think>\n\n",
        # several, empty, one in another, closed by another mark, about the marks themselves
        "<think>{}</think>\n<think>{}</think>\n",
        "<think>\n\n</think>\n\n",
        "<thinking><thought>{}</thought>\nSo.\n</thinking>\n",
        "<thinking>{}</think>",
        "<think>\nThe user asks for `</think>`. {}\n</think>\n",
    ],
)  # fmt: skip
def test_thoughts_at_the_beginning(form):
    assert without_thoughts(form.replace("{}", THOUGHT) + ANSWER) == ANSWER


@pytest.mark.parametrize("text", ["<think>", f"<think>\n{THOUGHT}", f"[THINK]{THOUGHT}"])
def test_a_thought_that_was_cut_off_takes_the_rest(text):
    assert without_thoughts(text) == ""


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<think>a</think>One\n<think>b</think>two", "One\ntwo"),
        ("I look.\n\n<thinking>\nHm.\n</thinking>\n\n<read>x</read>", "I look.\n\n<read>x</read>"),
        ("I look.\n<think>Hm.</think>\nDone.", "I look.\nDone."),
        ("<read>x</read>\n<thinking>Hm.</thinking>\nDone.", "<read>x</read>\nDone."),
        ("I look.<think>Hm.</think>Done.", "I look.Done."),  # items of one answer, joined
        ("```\nx = 1\n```\n\n<think>Hm.</think>Done.", "```\nx = 1\n```\n\nDone."),
    ],
)  # fmt: skip
def test_thoughts_between_words(text, rest):
    assert without_thoughts(text) == rest


@pytest.mark.parametrize(
    "text",
    [
        "The <think> tag opens a thought and </think> closes it.",
        "<think> and </think> are the tags of R1.",
        "<think> opens a thought.",
        "Use `<think>` and `</think>`.",
        "`<think>` comes first. Then\n`</think>`\nends it.",
        "The thought ends with </think> and the answer goes on.",
        'It ends with "</think>".\nAlways.',
        "Such as `a</think>`\nor `b </think>\n`.",
        "A line of it has\n<think> at its beginning and\n</think> at its end.",
        "R1 answers like this:\n\n<think>\nHm.\n</think>\nDone.",
        "```xml\n<think>\nHm.\n</think>\n```\nSo it looks.",
        "Some text.\n\n~~~\n<a>\n<think>Hm.</think>\n</a>\n~~~",
        "In code:\n\n    <think>Hm.</think>\n",
        "> <think>Hm.</think>\n",
        "<thinking about it> Where is he?",
        "It is a Vec<Thought> of them.",
        "Four.<|end|>",
        "<details><summary>More</summary>Four.</details>",
        "Here is my thought process: I count.",
        "analysis of the data, as assistantfinal has it",
        "Four.\n\n<think>\nAn opening mark in the middle, without another",
    ],
)
def test_an_answer_about_marks_loses_nothing(text):
    assert without_thoughts(text) == text


def test_the_marks_of_one_text_that_are_looked_at_are_bounded():
    thought = "<think>a</think>"
    assert without_thoughts(thought * (2 * MOST_MARKS + 3) + "b") == thought * 3 + "b"


def test_a_closing_mark_is_looked_for_once():
    words = Subject(lambda text: thoughts(f"a{text}</think> it.</thought> it."), str)
    shapes = ("\n<think> and\n[think] a", "\n</think>\nA", "\n```\n</think>\n<think>")
    assert list(slow(words, {shape: shape for shape in shapes}, 1 << 14)) == []


@pytest.mark.parametrize(
    "text", ["\n a < b", "<p>a</p>", "x |> f", "[a](/b) [/c]", ":::note\na\n:::"]
)
def test_a_text_without_marks_is_not_searched_for_thoughts(text, monkeypatch):
    monkeypatch.setattr(module, "MOST_MARKS", None)  # each search counts up to it
    assert thoughts(text) == ()
