"""`memtree`: reads what was typed, and only then imports what runs it.

A command needs a second to be imported, `--help` and `--version` need nothing of it. So parsers
(`parsers/`) name commands as `module:function`, and this file alone imports by name
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
from memtree_proxy.cli.drawing.foreign_text import plain
from memtree_proxy.cli.parsers import wrapping
from memtree_proxy.cli.parsers.parser import build_parser

RUNNING = "memtree_proxy.cli.running:run"
ABOUT_THE_PROGRAM = "-h", "--help", "--version"
NO_COMMAND = 2  # as for a typing error


def main(argv: Sequence[str] | None = None, imported: Callable[[], None] = lambda: None) -> int:
    """Run one command; the exit code is 0, 1 for a problem found or reported, 130 for Ctrl-C,
    2 where nothing was typed.
    `imported` is called before the command begins."""
    parser = build_parser()
    words = sys.argv[1:] if argv is None else argv
    if not words:
        parser.print_help(sys.stderr)
        return NO_COMMAND
    if (typed := words[0]) not in parser.commands and not typed.startswith("-"):
        parser.error(_no_command(typed, parser.commands))
    behind: list[str] = []
    any_program = False
    if typed == wrapping.COMMAND:
        words, behind, any_program = wrapping.split(words)
    options, unknown = parser.parse_known_args(words)
    options.words, options.any_program = behind, any_program  # of `memtree wrap` alone
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
    """Put the command `serve` before the options, if nothing else is asked for."""
    if words and (not words[0].startswith("-") or words[0] in ABOUT_THE_PROGRAM):
        return list(words)
    return ["serve", *words]


def _no_command(typed: str, commands: Collection[str]) -> str:
    meant = nearest(typed, commands)
    hint = f"; did you mean {meant}?" if meant else ""
    return f"there is no command {plain(typed)}{hint}\n`memtree --help` lists all of them."


def _unknown(arguments: Sequence[str]) -> str:
    """Say which arguments the command does not take."""
    ours = [f"--{setting.name.replace('_', '-')}" for setting in fields(Settings)]
    meant = nearest(arguments[0].partition("=")[0], ours)
    hint = f"; did you mean {meant}?" if meant else ""
    return f"there is no {' '.join(arguments)}{hint}"


@contextmanager
def uncollected() -> Iterator[None]:
    """Nothing of what is imported is garbage: to look for it is a tenth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def named(place: str) -> Any:
    """Return what stands in a module under a name: `memtree_proxy.cli.store.keys:create`."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
