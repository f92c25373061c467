"""Check what of a passage gets a vector of its own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtree.ranking.segments import LEAST, MOST, MOST_SEGMENTS, segments

PARAGRAPHS = [
    "The build fails because the linker cannot find the math library on this machine.",
    "My sister keeps bees behind the old station.",
    "So I would pin the version and run the whole pipeline once more before the release.",
]


def test_a_paragraph_is_a_segment():
    found = segments("\n\n".join(PARAGRAPHS))
    assert [segment.strip() for segment in found] == PARAGRAPHS


def test_a_long_paragraph_is_cut_between_sentences_and_lines():
    prose = " ".join(PARAGRAPHS * 3)
    assert len(segments(prose)) > 2
    assert all(segment.strip()[-1] == "." for segment in segments(prose))
    code = "\n".join(f"    value_{n} = compute(argument_{n})" for n in range(30))
    assert all(segment.endswith(")\n") for segment in segments(code)[:-1])
    assert all(len(segment) <= MOST for segment in [*segments(prose), *segments(code)])


def test_scripts_without_spaces_are_cut_at_their_own_sentences():
    found = segments("我的姐姐在旧车站后面养蜜蜂，每年夏天都会送给我们几罐蜂蜜。" * 6)
    assert len(found) == 3
    assert all(segment.endswith("。") for segment in found)


def test_a_few_words_stay_with_their_neighbour():
    assert segments("Yes.\n\nNo.\n\nMaybe.") == ["Yes.\n\nNo.\n\nMaybe."]
    assert segments(f"{PARAGRAPHS[0]}\n\nThanks!") == [f"{PARAGRAPHS[0]}\n\nThanks!"]


def test_nothing_is_one_segment():
    assert segments("") == [""]
    assert segments(" \n\n \n") == [" \n\n \n"]


def test_their_number_fits_a_byte():
    assert len(segments("\n\n".join(PARAGRAPHS * 200))) == MOST_SEGMENTS


@given(st.text(st.sampled_from("ab. \n。é!"), max_size=900))
def test_joined_they_are_the_text(text):
    found = segments(text)
    assert "".join(found) == text
    assert len(found) == 1 or all(
        len(segment.strip().encode()) >= LEAST * 0.8 for segment in found[:-1]
    )
