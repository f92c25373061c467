"""Check what says the same, what does not, and what an older version says otherwise."""

from __future__ import annotations

import pytest

from memtree.unfolding.excerpts.duplicates import (
    AROUND,
    MOST_SPANS,
    ShownTexts,
    differences,
    equal,
    near_runs,
    runs,
    says_more,
)

TEXT = "The server listens on port 8090 and answers slowly when the cache of the proxy is cold."


def near(first: str, second: str) -> bool:
    return near_runs(runs(first), runs(second))


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


def test_what_is_shown_repeats():
    shown = ShownTexts()
    shown.add(TEXT)
    assert shown.repeats(TEXT)
    assert shown.repeats(TEXT.replace("8090", "8091"))
    assert not shown.repeats("Quite another thing that was told elsewhere.")
    assert not shown.repeats("")


def test_what_is_shown_in_several_texts_repeats_too():
    shown = ShownTexts()
    first, second = TEXT.split(" and ")
    shown.add(f"{first} and answers")
    shown.add(f"8090 and {second}")
    assert shown.repeats(TEXT)


def test_what_is_lacking():
    shown = ShownTexts()
    shown.add(TEXT)
    older = TEXT.replace("8090", "8091")
    ((low, high),) = shown.lacking(older)
    assert "8091" in older[low:high]
    assert shown.lacking(TEXT.replace("slowly", "quickly")) == []


def test_what_stands_within_a_longer_text():
    shown = ShownTexts()
    inner = shown.add("when the cache of the proxy is cold")
    other = shown.add("of the weather in the north of the country")
    assert shown.inside(TEXT) == [inner]
    assert other not in shown.inside(TEXT)
    assert shown.inside("when the cache of the proxy is cold") == []


def test_numbers_of_lines_are_no_part_of_what_a_file_says():
    lines = ["def first(values):", "    return sum(values) / 2", "    # the end of the function"]
    one, other = (
        "\n".join(f"{at + number}\t{line}" for at, line in enumerate(lines)) for number in (10, 99)
    )
    assert near(one, other)
    assert not says_more(one, other)
