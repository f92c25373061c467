"""A command that was typed is run: settings are read, logs are set up, errors become one line."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable

from memtree.config import Settings
from memtree.errors import MemTreeError
from memtree_proxy.cli.drawing.foreign_text import plain
from memtree_proxy.cli.parsers.arguments import given_settings
from memtree_proxy.observability import log

Command = Callable[[argparse.Namespace, Settings], Awaitable[int]]

PROBLEM = 1
INTERRUPTED = 130  # as shells say it of Ctrl-C


def run(command: Command, options: argparse.Namespace) -> int:
    """The exit code: 0, PROBLEM for one that was found or reported, or INTERRUPTED."""
    try:
        settings = _settings(options)
        log.to_stderr(_log_level(options, settings), settings.log_format)
        with asyncio.Runner(loop_factory=_loop_factory(options)) as runner:
            return runner.run(_awaited(command, options, settings)) or 0
    except MemTreeError as error:
        print(f"memtree: {plain(error.message)}", file=sys.stderr)
        return PROBLEM
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def _loop_factory(options: argparse.Namespace) -> Callable[[], asyncio.AbstractEventLoop] | None:
    """A loop in C for what serves, which relays a request in half the time; others begin sooner
    without it."""
    if not options.runs_on:
        return None
    try:
        from uvloop import new_event_loop  # noqa: PLC0415  not on Windows
    except ImportError:
        return None
    return new_event_loop


def _settings(options: argparse.Namespace) -> Settings:
    """Raises `BadRequest` for a setting that cannot be read."""
    given = dict(given_settings(options))
    if not hasattr(options, "store"):
        given["store"] = "memory:"  # nothing is said of a store that is not asked for
    return Settings.from_env(given, tell=_tell, folder_counts=not options.wraps)


def _log_level(options: argparse.Namespace, settings: Settings) -> str:
    """Return the log level: a command that runs for long tells its progress by log lines, others
    show it themselves."""
    quiet = not options.runs_on and settings.log_level == "info"
    return "warning" if quiet else settings.log_level


def _tell(line: str) -> None:
    print(f"memtree: {plain(line)}", file=sys.stderr)


async def _awaited(command: Command, options: argparse.Namespace, settings: Settings) -> int:
    return await command(options, settings)
