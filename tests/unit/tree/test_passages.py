"""Passages cover a document, end where it does, and fit an embedder and a line."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memtree.tree.chunking import LEAST, MOST, passages

PARAGRAPH = "The proxy listens on 8787 and answers nobody else but its owner. " * 5 + "\n\n"


def texts(text: str) -> list[str]:
    return [text[start:end] for start, end in passages(text)]


def test_what_fits_one_passage_is_one():
    assert passages("# Ports\n\nStaging listens on 8090.\n") == [(0, 34)]


def test_a_passage_ends_before_a_heading_rather_than_after_a_paragraph():
    found = texts(PARAGRAPH * 2 + "## Next\n\n" + PARAGRAPH * 2)
    assert found[1].startswith("## Next")
    assert len(found) == 2


def test_paragraphs_are_joined_until_they_say_enough():
    found = texts("One short paragraph.\n\n" * 200)
    assert all(LEAST <= len(text) <= MOST for text in found[:-1])
    assert all(text.endswith("\n\n") for text in found)


def test_a_function_stays_whole_where_it_fits():
    function = "def port():\n" + "    work()\n" * 45 + "    return 8090\n\n\n"
    found = texts("```python\n" + function * 4 + "```\n")
    assert sum("return 8090" in text for text in found) == 4
    assert all(text.lstrip("`python\n").startswith("def ") for text in found)


def test_an_endless_line_is_cut_at_words():
    found = texts("lorem ipsum " * 1_000)
    assert all(text.endswith(" ") for text in found)
    assert max(map(len, found)) <= MOST


def test_white_space_is_no_passage_of_its_own():
    found = texts("begin" + "\n" * 5_000 + "end")
    assert all(text.strip() for text in found)
    assert found[-1].strip() == "end"


PIECES = st.lists(
    st.sampled_from(
        ["word ", "# Head\n", "\n", "```\n", "漢字", "é. ", "a" * 700, "{", "}", "😀" * 90, " "]
    ),
    max_size=120,
)


@given(PIECES)
@settings(deadline=None)
@example(["😀" * 90] * 30)
@example(["a" * 700] * 5)
@example(["\n"] * 120)
@example([])
def test_passages_cover_the_text_and_are_neither_long_nor_many(pieces: list[str]):
    text = "".join(pieces)
    found = passages(text)
    assert "".join(text[start:end] for start, end in found) == text
    assert all(start < end for start, end in found) or not text
    assert all(text[start:end].strip() for start, end in found) or not text.strip()
    sizes = [len(text[start:end].strip().encode()) for start, end in found]
    assert max(sizes, default=0) <= MOST
    # Two in a row say more than one may hold.
    assert len(found) <= 2 * len(text.encode()) / MOST + 2
