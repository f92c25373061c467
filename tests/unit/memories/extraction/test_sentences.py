from __future__ import annotations

import pytest

from memtree.memories.extraction.sentences import is_torn, sentences
from memtree.text.spans import Span

SENTENCES = [
    ["I live in Graz.", "I like tea!", "Do you?"],
    ["Dr. Ito moved to Kobe.", "I stayed."],
    ["I use e.g. Python 3.11 and vim.", "It is fine."],
    ["It costs 3.5 million, i.e. too much.", "I left."],
    ["See https://example.org/a.b?c=d. for it.", "I read it."],
    ["J. R. Ewing called at 5 p.m. yesterday.", "I was out."],
    ["It was me, not I.", "I know."],
    ["Well... maybe.", "I see…", "Then go."],
    ['He said "no."', "I left."],
    ["Am 3. Mai ziehe ich um.", "Es ist z.B. nah.", "Ich freue mich."],
    ["Vivo en Madrid.", "¿Y tú?", "¡Bien!"],
    ["我住在上海。", "我喜欢茶！", "你呢？"],
    ["I have version 2.", "It works."],
    ["I wrapped this line where it was rather long already,\nbut it goes on.", "Yes."],
]


@pytest.mark.parametrize("parts", SENTENCES, ids=lambda parts: parts[0][:20])
@pytest.mark.parametrize("between", [" ", "\n"])
def test_sentences_end_where_they_end(parts, between):
    text = between.join(parts)
    assert [text[a:b] for a, b in sentences(text, Span(0, len(text)))] == parts


def test_a_line_is_a_statement_of_its_own():
    text = "Name is Bob\nI live in Graz\nand like tea"
    found = [text[a:b] for a, b in sentences(text, Span(0, len(text)))]
    assert found == ["Name is Bob", "I live in Graz", "and like tea"]


def test_only_the_span_is_read():
    text = "I was. I am. I will be."
    assert [text[a:b] for a, b in sentences(text, Span(7, 12))] == ["I am."]


@pytest.mark.parametrize(
    ("text", "torn"),
    [
        ("I run |`a b` daily", True),
        ("I run.| `a b` daily", False),
        ("I run|\n`a b`", False),
        ("I run|", False),
        ('I said|".', True),
        ("I run|**", False),
    ],
)
def test_what_was_cut_in_its_middle_is_torn(text, torn):
    end = text.index("|")
    text = text.replace("|", "")
    assert is_torn(text, Span(0, end)) is torn
