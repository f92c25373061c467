"""Every command is shown under a title, and what it names can be imported and awaited."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest

from memtree.config import Settings, variable
from memtree_proxy.cli.main import build_parser, main, named, serving
from memtree_proxy.cli.parsers.arguments import GROUPS, OTHER, group_of

# One line for each command and action, as it may be typed.
LINES = """\
demo --query x --full
wrap --print
serve --port 0
ui --port 1 --print
status --json
doctor --json
completion bash
compress x.json --wait --target 4000
tree x.json --query x --json
index x.json
import x.json -o y.json --force
sessions search x --project y --wait
sessions forget
delete --all
memories list
memories add x
memories search x
memories delete 1
memories history 1
memories settle 1 2 replace
memories undelete 1
memories export
memories import x
memories confirm 1
memories pin 1
documents add n x
documents list
documents search n x
documents delete n x
schemas list
schemas show x
schemas put x y
schemas delete x
grants new-wallet
grants sign --to x
grants inspect x
grants convert x
grants revoke x
grants wallets x
grants release x
mcp
keys create x
keys add-value x
keys remove-value x
keys list --json
keys plan x pro
keys revoke x
tenants list --json
tenants move x y
requests --follow --all
check --json
store copy x y
worker --burst
""".splitlines()


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
