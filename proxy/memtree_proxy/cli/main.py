"""Parses the arguments of `memtree` first, and only then imports the command.

Importing a command takes a second, and `--help` and `--version` need none. Parsers
(`memory_parsers`, `server_parsers`) therefore name commands as `module:function`, and only this
module imports by name (docs/decisions/archive.md#0029).

`memtree completion SHELL` prints a script with which a shell completes commands and options. The
script holds all words, so completing starts no Python. Where no word fits, file names do; options
are offered behind a dash.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from importlib import import_module
from typing import Any

from memtree import __version__
from memtree.config import Settings
from memtree.setting_values import nearest
from memtree_proxy.cli import memory_parsers, server_parsers
from memtree_proxy.cli.foreign_text import plain
from memtree_proxy.cli.parser_parts import CommandGroups
from memtree_proxy.cli.server_parsers import WRAP, split_wrapped

RUNNING = "memtree_proxy.cli.running:run"
NO_COMMAND = 2  # exit code of a typing error
HEAD = "Endless conversations for any LLM client."
FOOT = """\
`memtree COMMAND --help` shows a command's options. Settings come from options, then from
variables MEMTREE_*, then from memtree.toml; `memtree serve --help` lists all of them."""


def main(argv: Sequence[str] | None = None, imported: Callable[[], None] = lambda: None) -> int:
    """Run one command. Returns the exit code: 0, 1 for a problem found or reported, 130 after
    Ctrl-C, 2 if nothing was typed. `imported` is called before the command begins."""
    parser = build_parser()
    words = sys.argv[1:] if argv is None else argv
    if not words:
        parser.print_help(sys.stderr)
        return NO_COMMAND
    if (typed := words[0]) not in parser.commands and not typed.startswith("-"):
        hint = _hint(typed, parser.commands)
        parser.error(
            f"there is no command {plain(typed)}{hint}\n`memtree --help` lists all of them."
        )
    behind: list[str] = []
    any_program = False
    if typed == WRAP:
        words, behind, any_program = split_wrapped(words)
    options, unknown = parser.parse_known_args(words)
    options.words, options.any_program = behind, any_program  # for `memtree wrap` alone
    if not options.command:
        parser.error("a COMMAND comes first; `memtree --help` lists them")
    if unknown:
        ours = [f"--{setting.name.replace('_', '-')}" for setting in fields(Settings)]
        hint = _hint(unknown[0].partition("=")[0], ours)
        parser.error(f"{options.command}: there is no {' '.join(unknown)}{hint}")
    with uncollected():
        run, command = named(RUNNING), named(options.run)
        require_store = named("memtree.stores:require_store") if options.needs_store else None
    imported()
    code: int = run(command, options, require_store)
    return code


def serving(words: Sequence[str]) -> list[str]:
    """Put the command `serve` before the options, unless a command, help or the version is
    requested."""
    if words and (not words[0].startswith("-") or words[0] in ("-h", "--help", "--version")):
        return list(words)
    return ["serve", *words]


def _hint(typed: str, known: Collection[str]) -> str:
    """Return a question after the known word that was probably meant, empty if none is near."""
    meant = nearest(typed, known)
    return f"; did you mean {meant}?" if meant else ""


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch garbage collection off while importing: collections would take a tenth of the time and
    find nothing."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def named(place: str) -> Any:
    """Import a module and return an object in it: `memtree_proxy.cli.key_commands:create`."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


class CommandParser(argparse.ArgumentParser):
    """The parser of all commands. `commands`: their names."""

    commands: Sequence[str] = ()


def build_parser() -> CommandParser:
    parser = CommandParser(
        prog="memtree",
        usage="memtree COMMAND [OPTIONS]",
        # argparse has no groups of commands, so they are lines of the description.
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"memtree {__version__}")
    # `runs_on`: runs until a signal, and logs meanwhile. `wraps`: starts another program.
    # `needs_store`: has nothing to do where there is no store, and makes none.
    parser.set_defaults(runs_on=False, wraps=False, needs_store=False)
    commands = CommandGroups(parser)
    commands.begin("Begin here")
    memory_parsers.add_demo(commands)
    server_parsers.add_wrap(commands)
    server_parsers.add_serve(commands)
    server_parsers.add_ui(commands)
    server_parsers.add_status(commands)
    server_parsers.add_doctor(commands)
    server_parsers.add_completion(commands)
    commands.begin("Conversations in files")
    memory_parsers.add_compress(commands)
    memory_parsers.add_tree(commands)
    memory_parsers.add_index(commands)
    memory_parsers.add_import(commands)
    memory_parsers.add_sessions(commands)
    memory_parsers.add_delete(commands)
    commands.begin("Saved memories")
    memory_parsers.add_memories(commands)
    memory_parsers.add_documents(commands)
    memory_parsers.add_schemas(commands)
    memory_parsers.add_grants(commands)
    server_parsers.add_mcp(commands)
    commands.begin("For whoever runs a server")
    server_parsers.add_keys(commands)
    server_parsers.add_tenants(commands)
    server_parsers.add_requests(commands)
    server_parsers.add_check(commands)
    server_parsers.add_store(commands)
    server_parsers.add_worker(commands)
    parser.description = "\n".join((HEAD, "", *commands.lines())).rstrip()
    parser.epilog = FOOT
    parser.commands = commands.names
    return parser


# `{commands}`: the words behind `memtree`; `{cases}`: those behind a command, or its action.
_BASH = """\
_memtree() {{
    local typed=${{COMP_WORDS[COMP_CWORD]}} key=${{COMP_WORDS[1]}} fitting="" left_out="-*"
    ((COMP_CWORD > 2)) && key+=" ${{COMP_WORDS[2]}}"
    ((COMP_CWORD == 1)) && key="" fitting="{commands}"
    case "$key" in
{cases}
    esac
    [[ $typed == -* ]] && left_out=""
    COMPREPLY=($(compgen -X "$left_out" -W "$fitting" -- "$typed"))
}}
complete -o default -F _memtree memtree"""
_ZSH = """\
#compdef memtree
_memtree() {{
    local key=${{words[2]}} fitting=""
    ((CURRENT > 3)) && key+=" ${{words[3]}}"
    ((CURRENT == 2)) && key="" fitting="{commands}"
    case "$key" in
{cases}
    esac
    local -a fitting_words=(${{=fitting}})
    [[ ${{words[CURRENT]}} == -* ]] || fitting_words=(${{fitting_words:#-*}})
    compadd -a fitting_words || _files
}}
compdef _memtree memtree"""
_FISH = """\
function __memtree_words
    set -l typed (commandline -opc)
    test (count $typed) -eq 1; and printf "%s\\n" {commands}; and return
    switch (string join " " $typed[2..3])
{cases}
    end
end
complete -c memtree -a "(__memtree_words)\""""
_CASE = """        {patterns}) fitting="{words}" ;;"""
_FISH_CASE = """        case {patterns}\n            printf "%s\\n" {words}"""
_SCRIPTS = {"bash": (_BASH, _CASE), "zsh": (_ZSH, _CASE), "fish": (_FISH, _FISH_CASE)}


async def print_completion(options: argparse.Namespace, settings: Settings) -> int:
    script, case = _SCRIPTS[options.shell]
    fish = options.shell == "fish"
    commands, *others = completed(build_parser())
    cases = []
    for path, words in others:
        typed = " ".join(path)
        patterns = [f"'{typed}'"]
        if len(path) == 1:  # also with other words behind it
            patterns += [f"'{typed} *'" if fish else f"'{typed} '*"]
        cases.append(case.format(patterns=(" " if fish else "|").join(patterns), words=words))
    print(script.format(commands=commands[1], cases="\n".join(cases)))
    return 0


def completed(
    parser: argparse.ArgumentParser, path: Sequence[str] = ()
) -> Iterator[tuple[Sequence[str], str]]:
    """Yield each command, as the words typed for it, with the words that may follow: actions and
    other fixed values, and options. The parser itself is first, a command's actions come before the
    command."""
    words, below = list[str](), dict[str, argparse.ArgumentParser]()
    for action in parser._actions:
        if action.help == argparse.SUPPRESS and not action.choices:
            continue
        words += action.option_strings or (str(each) for each in action.choices or ())
        if isinstance(action.choices, dict):
            below = action.choices
    own = (path, " ".join(words))
    if not path:
        yield own
    for name, inner in below.items():
        yield from completed(inner, (*path, name))
    if path:
        yield own
