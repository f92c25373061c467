"""Text of others in a terminal is shown, never obeyed; JSON says the same with escapes."""

from __future__ import annotations

import json

import pytest

from memtree_proxy.cli.console import open_console, styled
from memtree_proxy.cli.foreign_text import json_line, one_line, plain, plain_json

STEERING = [
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x9b2J", "\x1bc", "a\rb", "a\bb", "\x7f", "\x00",
    "\u202eabc", "\u2066x\u2069", "\u200f", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("text", STEERING)
def test_nothing_steers(text: str) -> None:
    for shown in (plain(text), one_line(text)):
        assert not set(shown) & {*map(chr, range(9)), *map(chr, range(0x7F, 0xA0)), "\x1b", "\r"}
        assert not set(shown) & set("\u202e\u2066\u2069\u200f\ud800")
    assert "�" in plain(text)


@pytest.mark.parametrize("text", ["naïve café", "日本語", "👩‍💻", "{[bold]}", ":100:", "a — b"])
def test_plain_words_stay(text: str) -> None:
    assert plain(text) == one_line(text) == text


def test_lines_and_tabs_stay_but_in_one_line() -> None:
    assert plain("a\n\tb") == "a\n\tb"
    assert one_line("a\n\tb") == "a b"


def test_what_is_long_is_cut() -> None:
    assert one_line("x" * 1000, 10) == "xxxxxxxxx…"
    assert one_line(" " * 1000 + "x", 10) == "…"
    assert one_line("x" * 10, 10) == "x" * 10


@pytest.mark.parametrize("text", STEERING[:-1])
def test_json_says_the_same(text: str) -> None:
    line = json_line({"text": text})
    assert json.loads(line) == {"text": text}
    assert plain(line) == line
    document = json.dumps([text], ensure_ascii=False)
    assert json.loads(plain_json(document)) == [text]


def test_a_console_reads_no_markup_and_no_names_of_emoji(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console = open_console()
    console.print(":100: [bold]x[/bold] [/]")
    console.print(styled("[red]:smile:\x1b[2J"))
    assert capsys.readouterr().out == ":100: [bold]x[/bold] [/]\n[red]:smile:�[2J\n"
