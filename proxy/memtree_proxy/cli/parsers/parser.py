"""The parser of the whole command line, and its first page of help."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from memtree import __version__
from memtree_proxy.cli.parsers import histories, saved, serving
from memtree_proxy.cli.parsers.arguments import CommandGroups

HEAD = "Endless conversations for any LLM client."
FOOT = """\
`memtree COMMAND --help` shows a command's options. Settings come from options, then from
variables MEMTREE_*, then from memtree.toml; `memtree serve --help` lists all of them."""


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
    parser.set_defaults(runs_on=False, wraps=False)
    commands = CommandGroups(parser)
    commands.begin("Begin here")
    histories.add_demo(commands)
    serving.add_wrap(commands)
    serving.add_serve(commands)
    serving.add_ui(commands)
    serving.add_status(commands)
    serving.add_doctor(commands)
    commands.begin("Conversations in files")
    histories.add_compress(commands)
    histories.add_tree(commands)
    histories.add_index(commands)
    histories.add_import(commands)
    histories.add_sessions(commands)
    histories.add_delete(commands)
    commands.begin("Saved memories")
    saved.add_memories(commands)
    saved.add_documents(commands)
    saved.add_schemas(commands)
    saved.add_grants(commands)
    serving.add_mcp(commands)
    commands.begin("For whoever runs a server")
    serving.add_keys(commands)
    serving.add_tenants(commands)
    serving.add_requests(commands)
    serving.add_check(commands)
    serving.add_store(commands)
    serving.add_worker(commands)
    parser.description = "\n".join((HEAD, "", *commands.lines())).rstrip()
    parser.epilog = FOOT
    parser.commands = commands.names
    return parser
