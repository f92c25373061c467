"""The parser of `wrap`, whose own arguments end where those of the wrapped program begin."""

from __future__ import annotations

from collections.abc import Sequence

from memtree_proxy.cli.parsers.arguments import CommandGroups, add_settings

COMMAND = "wrap"


def add_wrap(commands: CommandGroups) -> None:
    sub = commands.add(
        COMMAND,
        "start a coding agent with memory before its model",
        usage="memtree wrap [--print | --alias] [--home VALUE] AGENT [ARGUMENTS]\n"
        "       memtree wrap [--print] [--home VALUE] -- COMMAND [ARGUMENTS]",
        description="Start claude, codex, opencode, qwen, pi, continue, aider, cline, openclaw or "
        "hermes with a base URL of a server that is started for it, and ends after it. None of "
        "your files is changed. Behind `--`: any program on the SDKs of OpenAI or Anthropic.",
    )
    how = sub.add_mutually_exclusive_group()
    shown = "print what would be done, and do nothing"
    how.add_argument("--print", dest="only_print", action="store_true", help=shown)
    alias = "print a line for your shell's settings, so that AGENT alone starts it so"
    how.add_argument("--alias", action="store_true", help=alias)
    add_settings(sub, ["home"])
    sub.set_defaults(run="memtree_proxy.cli.wrap.command:run", wraps=True)


def split(words: Sequence[str]) -> tuple[list[str], list[str], bool]:
    """Split the arguments of `memtree` into its own words, the program's words, and True if a `--`
    stands between them. The program's words are not parsed.

    >>> split(["wrap", "--home", "x", "claude", "-p", "hi"])
    (['wrap', '--home', 'x'], ['claude', '-p', 'hi'], False)
    >>> split(["wrap", "--print", "--", "python", "app.py"])
    (['wrap', '--print'], ['python', 'app.py'], True)
    """
    place = 1
    while place < len(words):
        if words[place] == "--":
            return list(words[:place]), list(words[place + 1 :]), True
        if not words[place].startswith("-"):
            break
        place += 2 if words[place] == "--home" else 1
    return list(words[:place]), list(words[place:]), False
