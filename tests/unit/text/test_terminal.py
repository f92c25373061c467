"""Text is read as a terminal shows it, in spans of what was posted."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.text import terminal
from memtree.text.terminal import shown, without_codes
from tests.hostile_texts.linear_time import Subject, slow

ROWS = {
    "a bar, one state a line": [f"Building module {n} of 700" for n in range(1, 701)],
    "shares": [f"item{n:03},{n * 37 % 101}%" for n in range(120)],
}


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\r1 of 9\r2 of 9\r\nfine\n", "2 of 9\r\nfine\n"),
        ("last\r\n", "last\r\n"),
        ("bar 9%\r      \rdone\n", "done\n"),
        ("\x1b[31mred\x1b[0m \x1b[38;5;9mred\x1b[m\x1b[K\n", "red red\n"),
        ("\x1b]0;title\x07a \x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\\n", "a link\n"),
        ("\x1b]0;C:\\a\x07b \x1b]2;C:\\a\x9cb\n", "b b\n"),
        ("\x1bP1;2q#0\x1b\\a\x1b(B\x1b7b\x1b=\x0ec\x07", "abc"),
        ("cut off \x1b[3", "cut off "),
        ("N\bNA\bA_\bM\n", "NAM\n"),
        ("wait |\b/\b-\b\x08 done\n", "wait done\n"),
        ("12345\x1b[2Dxy\n", "123xy\n"),
        ("a\x1b[3Cb\n", "a b\n"),
        ("one 1%\x1b[2K\x1b[1Gone 2%\x1b[1G\x1b[0Kend\n", "end\n"),
        ("a 1\nb 1\n\x1b[2A\x1b[2Ka 2\n\x1b[2Kb 2\nend\n", "a 2\nb 2\nend\n"),
        ("a 1\nb 1\n\x1b[2Fnew\n\x1b[J\nend\n", "new\n\nend\n"),
        ("a 1\r\nb 1\r\n\x1b[2A\ra 2\r\x1b[2Bend\r\n", "b 1\r\na 2\nend\r\n"),
        ("kept\n\x1b[2J\x1b[Hscreen\n", "kept\nscreen\n"),
        ("[31mred[0m rate(x[5m]) in text\n", "red rate(x[5m]) in text\n"),
        ("first line\rother line\rlast line", "first line\rother line\rlast line"),
        ("one\x1b[E\ntwo\n", "one\n\ntwo\n"),
        ("a 1\nb 1\n\x1b[0A\x1b[2Kb 2\nend\n", "a 1\nb 2\nend\n"),
        ('print("\\x1b[31m")\n', 'print("\\x1b[31m")\n'),
    ],
)
def test_a_line_is_what_stays_of_it(text: str, seen: str) -> None:
    assert without_codes(text) == seen


def test_output_inside_json_is_read_and_stays_json() -> None:
    output = "".join(f"\r{n}% of it" for n in range(100)) + '\r\n\x1b[31mError\x1b[0m: C:\\r "q"\n'
    read = json.loads(without_codes(json.dumps({"output": output, "sep": "a\rb"})))
    assert read == {"output": '99% of it\r\nError: C:\\r "q"\n', "sep": "a\rb"}


PARAGRAPHS = (
    "Dear Ann,\rI moved to Bergen in May, and I like it.\r\rI work for Equinor.\rSee you, Ben\n",
    "I moved to Bergen in May, and I like it there.\rI work.\r" * 3,
    "The port is 8090.\rThe host is db.\n",
    "Notes:\nOslo: rain\rBergen: more rain\rVadsø: snow\n",
)
BARS = (
    ("Downloading 10%\rDownloading 100%\rDone\n", "Done\n"),
    ("Loading\r       \rDone\n", "Done\n"),
    ("1 of 99 (2s)\r10 of 99\r99 of 99\n", "99 of 99\n"),
)


@pytest.mark.parametrize("text", PARAGRAPHS)
def test_paragraphs_that_end_with_returns_stay(text: str) -> None:
    assert shown(text) is None
    mixed = f"{text}\nline 1%\rline 9%\n"
    assert without_codes(mixed) == f"{text}\nline 9%\n"
    filled = json.dumps({"output": mixed + 40 * "\nline"})
    assert without_codes(filled) == filled.replace("line 1%\\r", "")


@pytest.mark.parametrize(("text", "seen"), BARS)
def test_states_of_a_bar_are_no_paragraphs(text: str, seen: str) -> None:
    assert without_codes(text) == seen


@pytest.mark.parametrize(
    ("output", "seen"),
    [
        ('\x1b]0;C:\\a "b" é\x07c', "c"),
        ("\x1b]0;C:\\a\x1b\\b\x1b\\c \x1b]2;é\x9cd", "bc d"),
        ('\x1b"a"\x1b[\tb', '"a"\tb'),
    ],
)
@pytest.mark.parametrize("ascii", [True, False])
def test_codes_inside_json_end_where_they_end_outside(output: str, seen: str, ascii: bool) -> None:
    assert json.loads(without_codes(json.dumps([output], ensure_ascii=ascii))) == [seen]


def test_a_text_of_codes_takes_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "MOST_SPANS", 9)
    for text in ("\x1b[ma" * 99, "\x1b[3Ca" * 99, "a\n\x1b[H" * 99, json.dumps(["\x1b[ma"] * 99)):
        spans = shown(text) or ()
        assert 4 < len(spans) < 30
        assert spans[-1].end == len(text)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_below_each_other_stay(name: str, end: str) -> None:
    assert shown(end.join(["begin", *ROWS[name], "end"])) is None


@given(st.text(st.sampled_from('ab \r\n\b\x1b[]0123mKAGJ;H%\\{"u')))
def test_what_stays_are_spans_in_order_without_codes(text: str) -> None:
    spans = shown(text)
    if spans is not None:
        places = [place for span in spans for place in (span.start, span.end)]
        assert places == sorted(places)
        assert places[-1:] <= [len(text)]
        assert "\x1b" not in without_codes(text)


def test_a_run_of_returns_is_read_once() -> None:
    assert list(slow(Subject(shown, lambda text: f"{text}\n"), {"returns": "\r"}, 1 << 13)) == []
