"""`memtree`: parse the arguments first, and only then import the command.

Importing a command takes a second, and `--help` and `--version` need none. Parsers (`parsers/`)
therefore name commands as `module:function`, and only this file imports by name
(docs/decisions/0029-commands-by-name.md).
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from importlib import import_module
from typing import Any

from memtree.config import Settings
from memtree.settings.setting_values import nearest
from memtree_proxy.cli.foreign_text import plain
from memtree_proxy.cli.parsers.parser import build_parser
from memtree_proxy.cli.parsers.serving import WRAP, split_wrapped

RUNNING = "memtree_proxy.cli.running:run"
ABOUT_THE_PROGRAM = "-h", "--help", "--version"
NO_COMMAND = 2  # exit code of a typing error


def main(argv: Sequence[str] | None = None, imported: Callable[[], None] = lambda: None) -> int:
    """Run one command. Returns the exit code: 0, 1 for a problem found or reported, 130 after
    Ctrl-C, 2 if nothing was typed. `imported` is called before the command begins."""
    parser = build_parser()
    words = sys.argv[1:] if argv is None else argv
    if not words:
        parser.print_help(sys.stderr)
        return NO_COMMAND
    if (typed := words[0]) not in parser.commands and not typed.startswith("-"):
        parser.error(_no_command(typed, parser.commands))
    behind: list[str] = []
    any_program = False
    if typed == WRAP:
        words, behind, any_program = split_wrapped(words)
    options, unknown = parser.parse_known_args(words)
    options.words, options.any_program = behind, any_program  # for `memtree wrap` alone
    if not options.command:
        parser.error("a COMMAND comes first; `memtree --help` lists them")
    if unknown:
        parser.error(f"{options.command}: {_unknown(unknown)}")
    with uncollected():
        run, command = named(RUNNING), named(options.run)
    imported()
    code: int = run(command, options)
    return code


def serving(words: Sequence[str]) -> list[str]:
    """Put the command `serve` before the options, unless a command, help or the version is
    requested."""
    if words and (not words[0].startswith("-") or words[0] in ABOUT_THE_PROGRAM):
        return list(words)
    return ["serve", *words]


def _no_command(typed: str, commands: Collection[str]) -> str:
    meant = nearest(typed, commands)
    hint = f"; did you mean {meant}?" if meant else ""
    return f"there is no command {plain(typed)}{hint}\n`memtree --help` lists all of them."


def _unknown(arguments: Sequence[str]) -> str:
    """Describe the arguments that the command does not take."""
    ours = [f"--{setting.name.replace('_', '-')}" for setting in fields(Settings)]
    meant = nearest(arguments[0].partition("=")[0], ours)
    hint = f"; did you mean {meant}?" if meant else ""
    return f"there is no {' '.join(arguments)}{hint}"


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
    """Import a module and return an object in it: `memtree_proxy.cli.keys:create`."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
