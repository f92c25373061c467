"""Text is read as a terminal shows it, in spans of what was posted."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.text.terminal import shown, without_codes

BARS = {
    "tqdm": [
        f"{n // 4:3}%|{'█' * (n // 40):10}| {n}/400 [00:0{n // 100}<00:10, {n / 9:.1f}it/s]"
        for n in range(1, 401)
    ],
    "wget": [
        f"{n * 50:6}K {'.......... ' * 5}{n // 7:2}% {n % 5 + 1}.{n % 9}M {90 - n // 9}s"
        for n in range(690)
    ],
    "pip": [f"   {'━' * (n // 3)}╸ {n / 10:.1f}/9.0 MB 3.{n % 9} MB/s" for n in range(1, 91)],
    "words": [f"Building module {n} of 700" for n in range(1, 701)],
    "other words": [f"Modul {n} von 700" for n in range(1, 701)],
    "a spinner": [f"{'⠋⠙⠹⠸'[n % 4]} Installing packages ({n}s)" for n in range(60)],
    "a bar without a number": [f"[{'=' * n:60}] copying" for n in range(61)],
    "a log": [f"2026-01-02 10:00:{n:02},{n * 9:03} INFO read {n} of 60" for n in range(60)],
    "two bars": [f"Reading: {n}%" for n in (*range(0, 101, 2), *range(0, 100, 3), 100)],
}
DATA = {
    "losses": [f"Epoch {n}/50 - loss: {1 / n:.3f}" for n in range(1, 51)],
    "a column of shares": [f"{n},{n * n},{n % 7}%" for n in range(60)],
    "shares that rise": [f"{n} {n * 3 % 11} {n}%" for n in range(60)],
    "a table": [f"| {n}% | {n}ms |" for n in range(60)],
    "percentiles": [f"{n}%\t{n}ms" for n in range(60)],
    "a chart": [f"{chr(97 + n % 26)} {'█' * (n % 9)} {n}" for n in range(60)],
    "bars of a chart": [f"{'█' * (n % 9)} {n * 7 % 11}" for n in range(60)],
    "counts": [f"row {n} of the year {1900 + n}" for n in range(60)],
    "few": [f"step {n} of 9" for n in range(1, 10)],
    "steps": [f"[{n}%] Building {chr(97 + n % 26)}x.o" for n in range(60)],
    "falling": [f"left: {90 - n}%" for n in range(60)],
}


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\r1 of 9\r2 of 9\r\nfine\n", "2 of 9\r\nfine\n"),
        ("last\r\n", "last\r\n"),
        ("bar 9%\r      \rdone\n", "done\n"),
        ("\x1b[31mred\x1b[0m \x1b[38;5;9mred\x1b[m\x1b[K\n", "red red\n"),
        ("\x1b]0;title\x07a \x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\\n", "a link\n"),
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
        ('print("\\x1b[31m")\n', 'print("\\x1b[31m")\n'),
    ],
)
def test_a_line_is_what_stays_of_it(text: str, seen: str) -> None:
    assert without_codes(text) == seen


def test_output_inside_json_is_read_and_stays_json() -> None:
    output = "".join(f"\r{n}% of it" for n in range(100)) + '\r\n\x1b[31mError\x1b[0m: C:\\r "q"\n'
    read = json.loads(without_codes(json.dumps({"output": output, "sep": "a\rb"})))
    assert read == {"output": '99% of it\r\nError: C:\\r "q"\n', "sep": "a\rb"}


@pytest.mark.parametrize("name", BARS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_of_the_lines_of_a_bar_the_last_stays(name: str, end: str) -> None:
    lines = BARS[name]
    seen = without_codes(end.join(["begin", *lines, "end"])).split(end)
    last = [lines[50], lines[-1]] if name == "two bars" else [lines[-1]]
    assert [seen[0], *seen[-1 - len(last) :]] == ["begin", *last, "end"]
    assert len(seen) < 12


@pytest.mark.parametrize("name", DATA)
def test_rows_of_data_stay(name: str) -> None:
    assert shown("\n".join(["begin", *DATA[name], "end"])) is None


@given(st.text(st.sampled_from('ab \r\n\b\x1b[]0123mKAGJ;H%\\{"u')))
def test_what_stays_are_spans_in_order_without_codes(text: str) -> None:
    spans = shown(text)
    if spans is not None:
        places = [place for span in spans for place in (span.start, span.end)]
        assert places == sorted(places)
        assert places[-1:] <= [len(text)]
        assert "\x1b" not in without_codes(text)
