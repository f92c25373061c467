"""What says the same, what does not, and what an older version says otherwise."""

from __future__ import annotations

import pytest

from memtree.unfolding.duplicates import (
    AROUND,
    MOST_SPANS,
    ShownTexts,
    differences,
    equal,
    near,
    says_more,
)

TEXT = "The server listens on port 8090 and answers slowly when the cache of the proxy is cold."


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (TEXT, True),
        (TEXT.replace("8090", "8091"), True),
        (f"They wrote: {TEXT} Then they left.", True),
        ("Something else was said of the weather in the north of the country.", False),
        ("", False),
    ],
)
def test_near_duplicates(other, expected):
    assert near(TEXT, other) is expected
    assert near(other, TEXT) is expected


def test_near_duplicates_in_a_script_without_spaces():
    text = "数据库连接失败，因为密码已经过期，需要重新设置。"
    assert near(text, text.replace("失败", "出错"))
    assert not near(text, "今天天气很好，我们去公园散步，然后回家吃饭。")


def test_equal_is_equal_but_for_white_space():
    assert equal("a  b\nc", "a b c")
    assert not equal("a b c", "a b d")


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (TEXT, False),
        (TEXT.lower(), False),
        (TEXT.replace("8090", "8091"), True),
        (TEXT.replace("slowly", "quickly"), False),
    ],
)
def test_what_tells_two_texts_apart(other, expected):
    assert says_more(TEXT, other) is expected


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("it does not work here", "it does work here"),
        ("das geht nicht so", "das geht so"),
        ("это не работает", "это работает"),
        ("我不喜欢咖啡", "我喜欢咖啡"),
        ("use get_user here", "use it here"),
        ("ask Ingrid now", "ask her now"),
    ],
)
def test_negations_identifiers_and_names_tell_apart(text, other):
    assert says_more(text, other)


def test_what_differs_is_a_line_or_some_words_of_a_long_one():
    newer = "a = 1\npatience = 250\nb = 2"
    older = "a = 1\npatience = 200\nb = 2"
    assert [older[low:high] for low, high in differences(older, newer)] == ["patience = 200"]
    before, behind = "one two three four five six", "seven eight nine ten eleven twelve"
    older = f"{before} 8090 {behind}"
    (span,) = differences(older, f"{before} 8091 {behind}")
    shown = older[span[0] : span[1]].split()
    assert len(shown) == 2 * AROUND + 1
    assert shown[AROUND] == "8090"


def test_what_differs_is_bounded():
    older = "\n".join(f"value {n} stands here" for n in range(100))
    assert len(differences(older, "nothing of it")) == MOST_SPANS


def test_shown_texts_are_found_again():
    shown = ShownTexts()
    first = shown.add(TEXT)
    assert shown.nearest(TEXT) == first
    assert shown.nearest(TEXT.replace("8090", "8091")) == first
    assert shown.nearest("Quite another thing that was told elsewhere.") is None
    assert shown.nearest("") is None
    shown.remove(first)
    assert shown.nearest(TEXT) is None


def test_what_a_shown_text_lacks():
    shown = ShownTexts()
    first = shown.add(TEXT)
    older = TEXT.replace("8090", "8091")
    ((low, high),) = shown.lacks(first, older)
    assert "8091" in older[low:high]
    assert shown.lacks(first, TEXT.replace("slowly", "quickly")) == []


def test_a_short_text_within_a_long_one_does_not_hold_most_of_it():
    shown = ShownTexts()
    first = shown.add("when the cache of the proxy is cold")
    assert shown.nearest(TEXT) == first
    assert not shown.holds_most_of(first, f"{TEXT} {TEXT[::-1]}")
    assert shown.holds_most_of(first, "the cache of the proxy is cold")
