"""Commands, and what they draw in a terminal."""

from __future__ import annotations

import asyncio
import inspect
import io
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from memtree.config import Settings, variable
from memtree.context.answer import Answer
from memtree.context.answer_state import State
from memtree.history.message import Message
from memtree.memories.draft import DedupPolicy, MemoryDraft
from memtree.memories.scope import Scope
from memtree.unfolding.explain import ExplainedExcerpt, ExplainedNode, Explanation
from memtree_proxy.cli import memory_commands
from memtree_proxy.cli.foreign_text import json_line, one_line, plain, plain_json
from memtree_proxy.cli.main import build_parser, main, named, serving
from memtree_proxy.cli.memory_commands import LATER, embed_rest
from memtree_proxy.cli.parser_parts import GROUPS, OTHER, group_of
from memtree_proxy.cli.terminal_drawing import (
    draw_path,
    draw_unfolded,
    open_console,
    quoted_messages,
    quoted_text,
    styled,
    summary_line,
)
from tests.unit.memories.books import MoodyEmbedder, Opened, opened

# ------------------------------------------------------------------------------------------------
# Every command is shown under a title, and what it names can be imported and awaited.


# One line for each command and action, as it may be typed.
LINES = Path(__file__).with_name("command_lines.txt").read_text("utf-8").splitlines()


def help_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def listed(text: str) -> list[str]:
    """The names at the beginning of the lines that are indented by as much as names are."""
    return re.findall(r"^ {2,4}([a-z][a-z-]*)(?:  +|$)", text, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_what_a_command_names_is_there(line: str) -> None:
    assert inspect.iscoroutinefunction(named(build_parser().parse_args(line.split()).run))


@pytest.mark.slow
def test_all_commands_and_actions_are_in_the_table_above(
    capsys: pytest.CaptureFixture[str],
) -> None:
    typed = [line.split() for line in LINES]
    commands = listed(help_of(capsys))
    assert commands == list(dict.fromkeys(words[0] for words in typed))
    for command in commands:
        shown = help_of(capsys, command)
        assert shown.startswith(f"usage: memtree {command} ")
        _, _, actions = shown.partition("\nactions:\n")
        assert listed(actions) == [words[1] for words in typed if words[0] == command and actions]


def test_the_help_of_serve_has_every_setting_under_a_title(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = help_of(capsys, "serve")
    for setting in fields(Settings):
        assert f"--{setting.name.replace('_', '-')}" in shown
        assert variable(setting.name) in shown
        assert group_of(setting.name) != OTHER, f"add {setting.name} to setting_groups.py"
    assert [line.rstrip(":") for line in shown.splitlines() if line.rstrip(":") in GROUPS] == [
        *GROUPS
    ]


def test_a_few_settings_need_no_titles(capsys: pytest.CaptureFixture[str]) -> None:
    shown = help_of(capsys, "check")
    assert "\nsettings:\n" in shown
    assert "--store VALUE" in shown


def test_a_name_that_is_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["sreve"])
    assert ended.value.code == 2
    assert "there is no command sreve; did you mean serve?\n" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["\x1b[31mx"])
    err = capsys.readouterr().err
    assert "there is no command" in err
    assert "did you mean" not in err
    assert "\x1b" not in err


def test_nothing_typed_shows_the_help(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["memtree"])
    assert main() == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == help_of(capsys)
    with pytest.raises(SystemExit) as ended:
        main(["--port", "1"])
    assert ended.value.code == 2


def test_a_misspelt_option_is_told_with_the_one_that_is_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words, told in (
        (["serve", "--prto", "1"], "serve: there is no --prto 1; did you mean --port?"),
        (["keys", "list", "--stoer=memory:"], "did you mean --store?"),
        (["check", "--qxz"], "check: there is no --qxz\n"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("", "serve"),
        ("--port 9000 --memory", "serve --port 9000 --memory"),
        ("doctor --settings", "doctor --settings"),
        ("servw", "servw"),
        ("--help", "--help"),
        ("--version", "--version"),
    ],
)
def test_memtree_proxy_serves_where_no_command_is_typed(typed: str, meant: str) -> None:
    assert serving(typed.split()) == meant.split()


# Commands that make a store if there is none; `doctor` says itself that there is none.
MAKING = {
    "compress", "doctor", "documents add", "grants revoke", "import", "index", "keys create",
    "keys plan", "mcp", "memories add", "memories import", "schemas put", "serve", "tree", "worker",
}  # fmt: skip


@pytest.mark.slow
def test_every_other_command_needs_a_store_that_is_there() -> None:
    parser = build_parser()
    for words in (line.split() for line in LINES):
        options = parser.parse_args(words)
        makes = bool({words[0], " ".join(words[:2])} & MAKING)
        assert options.needs_store is (hasattr(options, "store") and not makes), words


# ------------------------------------------------------------------------------------------------
# Commands embed what they stored before they end.


ADA, BEN = Scope.of_user("t", "ada"), Scope.of_user("t", "ben")
BEGINS = "embedding 3 memories; Ctrl-C is safe: a server embeds the rest\n"


async def left_behind(of: Opened, scope: Scope) -> None:
    """Save three memories as a process without an embedder does."""
    for number in range(3):
        draft = MemoryDraft(f"fact {number} of {scope.owner}")
        await of.book.save(scope, draft, DedupPolicy.INSERT)


async def test_it_ends_when_the_vectors_of_the_scope_are_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with opened(None) as of:
        await left_behind(of, ADA)
        embedder = MoodyEmbedder()
        book = Opened(embedder, of.book.rules, of).book
        await asyncio.wait_for(embed_rest(book, ADA, "memories"), 300)
        assert await of.store.count_without_vectors(ADA, embedder.recipe) == 0
        await embed_rest(book, ADA, "memories")  # nothing is left: says nothing
        await book.close()
    assert capsys.readouterr().err == BEGINS


async def test_an_interruption_says_how_many_are_left(capsys: pytest.CaptureFixture[str]) -> None:
    async with opened(None) as of:
        await left_behind(of, ADA)
        embedder = MoodyEmbedder()
        embedder.seconds = 300.0
        book = Opened(embedder, of.book.rules, of).book
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(embed_rest(book, ADA, "memories"), 0.3)
        await book.close()
    assert capsys.readouterr().err == f"{BEGINS}3 memories are without vectors: {LATER}\n"


async def test_an_embedder_that_makes_no_vector_is_not_waited_for_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_commands, "MAX_STILL", 0.2)
    async with opened(None) as of:
        await left_behind(of, ADA)
        embedder = MoodyEmbedder()
        embedder.down = True
        book = Opened(embedder, of.book.rules, of).book
        await asyncio.wait_for(embed_rest(book, ADA, "memories"), 300)
        await book.close()
    assert capsys.readouterr().err == f"{BEGINS}3 memories are without vectors: {LATER}\n"


async def test_another_scope_is_not_waited_for() -> None:
    async with opened(None) as of:
        await left_behind(of, ADA)
        await left_behind(of, BEN)
        embedder = MoodyEmbedder()
        embedder.seconds = 0.2
        book = Opened(embedder, of.book.rules, of).book
        await asyncio.wait_for(embed_rest(book, BEN, "memories"), 300)
        assert await of.store.count_without_vectors(BEN, embedder.recipe) == 0
        await book.close()


# ------------------------------------------------------------------------------------------------
# Text of others in a terminal is shown, never obeyed; JSON says the same with escapes.


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


# ------------------------------------------------------------------------------------------------
# Check what is drawn of a tree: words, in order, without what a terminal would obey.


WORDS = "the tide turns at noon"
MESSAGES = [
    Message.of({"role": ("user", "assistant")[at % 2], "content": f"{at}: {WORDS} :100:"})
    for at in range(12)
]
TOP, LEAF, NEXT = b"top", b"leaf", b"next"
NODES = (
    ExplainedNode(TOP, 1, 0, 11, 0, False, "a day at sea [bold]", 0),
    ExplainedNode(LEAF, 0, 0, 7, 1, True, "the morning\x1b[2J", 0),
    ExplainedNode(NEXT, 0, 8, 11, 1, False, "the evening", 0),
)


def excerpt(message: int, *path: bytes, reason: str = "excerpt", rank: int = 1) -> ExplainedExcerpt:
    size = len(MESSAGES[message].text)
    return ExplainedExcerpt(
        message, "content", 0, size, "", 9, {"fused": 0.25}, reason, path=path, rank=rank
    )


def drawn(draw: Any, *given: Any, width: int = 100, **options: Any) -> list[str]:
    file = io.StringIO()
    draw(Console(file=file, width=width, markup=False, emoji=False), *given, **options)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_excerpts_stand_under_their_summary_in_order() -> None:
    shown = Explanation(NODES, (excerpt(9, TOP, NEXT), excerpt(2, TOP, LEAF)))
    assert drawn(draw_unfolded, shown, MESSAGES) == [
        "memory message: summaries, and 2 excerpts, word for word",
        "└── 0-11 a day at sea [bold]",
        "    ├── 0-7 the morning�[2J",
        "    │   └── 2 user: “2: the tide turns at noon :100:”",
        "    └── 8-11 the evening",
        "        └── 9 assistant: “9: the tide turns at noon :100:”",
    ]


def test_a_long_run_is_told_by_its_beginning() -> None:
    many = Explanation(NODES, tuple(excerpt(at, TOP, LEAF) for at in range(6)))
    lines = drawn(draw_unfolded, many, MESSAGES)
    assert "    │   ├── 1 assistant: “1: the tide turns at noon :100:”" in lines
    assert "    │   └── … and of 4 more messages up to 5: 36 tokens" in lines
    assert not any("2 user" in line for line in lines)


def test_scores_are_shown_where_they_are_asked_for() -> None:
    shown = Explanation(NODES, tuple(excerpt(at, TOP, LEAF) for at in range(6)))
    assert "0.25" not in "".join(drawn(draw_unfolded, shown, MESSAGES))
    lines = drawn(draw_unfolded, shown, MESSAGES, scores=True)
    assert sum("9 tokens, excerpt: fused 0.25" in line for line in lines) == 6


def test_rules_stand_apart() -> None:
    shown = Explanation(NODES, (excerpt(3, TOP, LEAF, reason="rule"),))
    assert drawn(draw_unfolded, shown, MESSAGES)[-2:] == [
        "└── standing rules, always shown",
        "    └── 3 assistant: “3: the tide turns at noon :100:”",
    ]


def test_what_has_no_summary_above_it_stands_at_the_top() -> None:
    shown = Explanation((), (excerpt(3), excerpt(4, b"gone")))
    assert drawn(draw_unfolded, shown, MESSAGES)[1:] == [
        "├── 3 assistant: “3: the tide turns at noon :100:”",
        "└── 4 user: “4: the tide turns at noon :100:”",
    ]


def test_a_path_holds_the_summaries_above_and_the_words() -> None:
    one, other = excerpt(9, TOP, NEXT), excerpt(8, TOP, NEXT)
    shown = Explanation(NODES, (one, other))
    assert drawn(draw_path, shown, MESSAGES, [one, other], mark="noon") == [
        "the whole conversation, messages 0 to 11",
        "└── 0-11 a day at sea [bold]",
        "    └── 8-11 the evening",
        "        ├── message 8, user: 8: the tide turns at noon :100:",
        "        └── message 9, assistant: 9: the tide turns at noon :100:",
    ]


def test_excerpts_of_one_message_are_one() -> None:
    first = ExplainedExcerpt(2, "content", 3, 11, "", 2, {}, "excerpt")
    later = ExplainedExcerpt(2, "content", 12, 17, "", 2, {}, "excerpt")
    (quoted,) = quoted_messages([later, first], MESSAGES)
    assert (quoted.texts, quoted.tokens) == (("the tide", "turns"), 4)


def test_what_is_quoted_is_found_in_every_part() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": "sea"}'}}
    message = Message.of({"role": "assistant", "content": [{"type": "text", "text": "one"}],
                          "tool_calls": [call]})  # fmt: skip
    place = "tool_calls[0].function.arguments"
    found = ExplainedExcerpt(0, place, 7, 10, "", 1, {}, "excerpt")
    assert quoted_text(message, found) == "sea"
    assert quoted_text(message, ExplainedExcerpt(0, "content[0]", 0, 3, "", 1, {}, "")) == "one"
    assert quoted_text(message, ExplainedExcerpt(0, "gone", 0, 3, "", 1, {}, "")) == ""


@pytest.mark.parametrize("width", [20, 40])
def test_a_narrow_terminal_is_enough(width: int) -> None:
    shown = Explanation(NODES, (excerpt(9, TOP, NEXT), excerpt(2, TOP, LEAF)))
    assert all(len(line) <= width for line in drawn(draw_unfolded, shown, MESSAGES, width=width))


def answer(state: State, raw: int, sent: int, **counts: Any) -> Answer:
    return Answer(state, True, (), b"", raw, sent, 0, **counts)


def test_a_summary_line_says_what_its_numbers_are() -> None:
    folded = answer(State.PROVISIONAL, 9000, 900, outline_tokens=300, recent_tokens=100, excerpts=4)
    assert summary_line(folded) == (
        "9,000 tokens posted, 900 sent (10.0%): summaries of 300 tokens, 4 excerpts, newest "
        "messages of 100 tokens; ranked by words for now, until there are embeddings"
    )
    whole = answer(State.BELOW_THRESHOLD, 90, 90)
    assert summary_line(whole) == "90 tokens posted, 90 sent; sent whole: it is short"
