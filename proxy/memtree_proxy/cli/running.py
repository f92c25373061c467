"""Run a command: read the settings, set up logs, and print each error as one line."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable

from memtree.config import Settings
from memtree.errors import MemTreeError
from memtree_proxy.cli.foreign_text import plain
from memtree_proxy.cli.parser_parts import given_settings
from memtree_proxy.http import log

Command = Callable[[argparse.Namespace, Settings], Awaitable[int]]
Require = Callable[[str], Awaitable[None]]

PROBLEM = 1
INTERRUPTED = 130  # exit status of shells after Ctrl-C


def run(command: Command, options: argparse.Namespace, require_store: Require | None = None) -> int:
    """Run a command. `require_store`: raises if there is none, for a command that needs one; others
    start sooner without its module. Returns the exit code: 0, PROBLEM if one was found or reported,
    or INTERRUPTED."""
    try:
        given = dict(given_settings(options))
        if not hasattr(options, "store"):
            given["store"] = "memory:"  # no log about a store that the command does not use
        settings = Settings.from_env(given, tell=_tell, folder_counts=not options.wraps)
        # Commands that run on report progress in logs, others in the terminal.
        quiet = not options.runs_on and settings.log_level == "info"
        log.to_stderr("warning" if quiet else settings.log_level, settings.log_format)
        with asyncio.Runner(loop_factory=_loop_factory(options)) as runner:
            return runner.run(_awaited(command, options, settings, require_store)) or 0
    except MemTreeError as error:
        print(f"memtree: {plain(error.message)}", file=sys.stderr)
        return PROBLEM
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def _loop_factory(options: argparse.Namespace) -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return the event loop's factory: a loop written in C for servers, which relay a request in
    half the time; other commands start sooner without it."""
    if not options.runs_on:
        return None
    try:
        from uvloop import new_event_loop  # noqa: PLC0415  not on Windows
    except ImportError:
        return None
    return new_event_loop


def _tell(line: str) -> None:
    print(f"memtree: {plain(line)}", file=sys.stderr)


async def _awaited(
    command: Command, options: argparse.Namespace, settings: Settings, require_store: Require | None
) -> int:
    if require_store:
        await require_store(settings.store)
    return await command(options, settings)
