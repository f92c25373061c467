"""Reading answers: whatever a model puts around its drafts, and whatever it leaves out."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memtree.tree.summary_replies import Draft, mended, read

A, B = Draft("One", "First body."), Draft("Two", "Second body.")
IDS = ("1", "2")


def entry(id_, draft):
    return {"id": id_, "headline": draft.headline, "body": draft.body}


WHOLE = json.dumps({"parts": [entry("1", A), entry("2", B)]})


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        f"```json\n{WHOLE}\n```",
        f"Sure! Here it is:\n\n{WHOLE}\n\nAnything else?",
        f'<think>Maybe {{"id": "1", "headline": "No", "body": "No."}}</think>{WHOLE}',
        f'{{"id": "1", "headline": "No", "body": "No."}} hmm</think>\n{WHOLE}',
        f"<|channel|>analysis<|message|>so<|end|><|start|>assistant<|channel|>final<|message|>{WHOLE}",
        json.dumps([entry(1, A), entry(2, B)]),
        json.dumps({"1": entry("1", A), "2": {"headline": B.headline, "body": B.body}}),
        json.dumps({f"part {id_}": {"headline": d.headline, "body": d.body}
                    for id_, d in (("1", A), ("2", B))}),
        json.dumps(entry("Part 1", A)) + "\n" + json.dumps(entry("#2", B)),
        WHOLE.replace("}, {", '}, {"id": "9", "headline": "x", "body": "y"}, {'),
        WHOLE.replace("}, {", '}, {"id": "1", "headline": "again", "body": "other"}, {'),
        "**Part 1**\n**Headline:** One\n**Body:** First body.\n\nPart 2:\nHeadline: Two\n"
        "Body: Second body.",
    ],
)  # fmt: skip
def test_both_drafts_are_read(text):
    assert read(text, IDS) == {"1": A, "2": B}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (WHOLE[: WHOLE.index("Second")], {"1": A}),
        (WHOLE[: WHOLE.index("First")], {}),
        (WHOLE[:-3], {"1": A}),
        ("<think>Let me see " + WHOLE, {}),
        ("<|channel|>analysis<|message|>" + WHOLE, {}),
        ("", {}),
        ("I cannot do that.", {}),
        ('{"error": {"message": "overloaded"}}', {}),
        ('{"parts": [{"id": "1", "headline": 5, "body": null}]}', {}),
        ('{"parts": [{"id": true, "headline": "a", "body": "b"}]}', {}),
        ('{"a":' * 5000, {}),
        ("{" * 50_000, {}),
        ('{"a":' * 900 + WHOLE + "}" * 900, {}),  # deep enough to end the stack of who walks it
        ("<think>" * 20_000, {}),
        ("<|channel|>" * 10_000, {}),
        ("[" * 50_000 + WHOLE, {"1": A, "2": B}),
    ],
)
def test_what_is_not_whole_is_not_read(text, found):
    assert read(text, IDS) == found


def test_a_single_part_needs_no_id():
    assert read('{"headline": "One", "body": "First body."}', ["x"]) == {"x": A}
    assert read("Headline: One\nBody: First body.", ["x"]) == {"x": A}
    assert read("Headline: One\nBody: First body.", ["x"], finished=False) == {}
    assert read('{"headline": "One", "body": "First body."}', IDS) == {}


def test_a_tag_inside_of_a_summary_is_no_reasoning():
    draft = Draft("Tag", "The parser drops <think> at the start.")
    assert read(json.dumps({"parts": [entry("1", draft)]}), ["1"]) == {"1": draft}


drafts = st.builds(Draft, st.text(), st.text())


@pytest.mark.slow
@given(st.dictionaries(st.from_regex(r"[1-9][0-9]?", fullmatch=True), drafts, min_size=1))
def test_what_was_written_is_read(parts):
    text = json.dumps({"parts": [entry(id_, one) for id_, one in parts.items()]})
    assume("<" not in text)  # tags of reasoning are taken out
    assert read(text, parts) == parts


@given(st.text() | st.text(st.sampled_from('{}[]":,1hb<>/think')), st.integers(0, 300))
def test_no_answer_raises_and_only_asked_ids_come_back(noise, cut):
    found = read(noise + WHOLE[:cut] + noise, IDS)
    assert set(found) <= set(IDS)
    assert all(isinstance(one, Draft) for one in found.values())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"Quoted"', "Quoted"),
        ("Summary: text. ", "text."),
        ("**Headline:** `x` is set", "`x` is set"),
        ("```\ntwo\nlines\n```", "two lines"),
        ("- bullet", "bullet"),
        ("# Title", "Title"),
        ('"a" and "b"', '"a" and "b"'),
        ("«Summary: “x y”»", "x y"),
        ("plain", "plain"),
        ("Body", "Body"),
    ],
)
def test_harmless_things_are_mended(before, after):
    assert mended(Draft(before, before)) == Draft(after, after)


@pytest.mark.parametrize("unit", ["summary: ", "- ", "```", '"', " ", "**title**:"])
def test_a_megabyte_is_mended_soon(unit):
    """No clock: what is quadratic takes minutes here."""
    text = unit * (1_000_000 // len(unit))
    assert mended(Draft(text, text)) == Draft(text, text)
    assert read(text, IDS) == {}


@given(st.text())
def test_mending_twice_changes_nothing_more(text):
    once = mended(Draft(text, text))
    assert mended(once) == once


def test_the_only_part_may_be_named_otherwise():
    """Small models number it as the message in it is numbered."""
    only = json.dumps({"parts": [entry("142", A)]})
    assert read(only, ["1"]) == {"1": A}
    two = json.dumps({"parts": [entry("142", A), entry("143", B)]})
    assert read(two, ["1"]) == read(only, IDS) == {}
