"""`memtree doctor`: show the configuration, and check that the services it names can be reached."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator
from dataclasses import asdict, fields, replace
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memtree import __version__
from memtree.budget.prices import UNKNOWN
from memtree.config import Settings, config_file, unknown_variables
from memtree.errors import MemTreeError
from memtree.jobs.runtime import Runtime, SystemClock, open_runtime
from memtree.setting_values import without_password
from memtree.stores import require_store, shown_store
from memtree_indexer.queues import open_redis_queues
from memtree_proxy.chat import model_tables
from memtree_proxy.chat.request_fields import CHAT_MODE, CONTEXT_MODE
from memtree_proxy.cli.foreign_text import json_line
from memtree_proxy.cli.terminal_drawing import open_console, styled
from memtree_proxy.server import part_checks, surroundings
from memtree_proxy.server.part_checks import memory_begins, models
from memtree_proxy.server.surroundings import Finding

WIDEST_LEVEL, WIDEST_PART = len("problem"), len("summaries")
URLS = {"store": shown_store, "queue": without_password}  # these may hold a password
UNSET = {
    "home": "the user's folder for data of programs",
    "embedding_dimensions": "the model's own",
    "embedding_relevant": "measured at the start",
    "mode": f"{CONTEXT_MODE}; on the chat routes {CHAT_MODE}",
    "window": f"as built in; {model_tables.DEFAULT:,} tokens for others",
    "prices": (
        f"as built in; {UNKNOWN.write:g}/{UNKNOWN.read:g}/{UNKNOWN.lifetime:.0f} for others, none "
        "behind an upstream of your own"
    ),
}


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Show all findings. Returns exit code 1 if a configured part does not work."""
    console = None if options.json else open_console()
    if console:
        namesake = "(`memtree` on the public index is another project)"
        console.print(f"memtree-proxy {__version__} {namesake}")
    sound = _show(console, surroundings.settings_file(config_file(), unknown_variables()))
    opened = settings
    try:
        await require_store(settings.store)
    except MemTreeError as error:
        _show(console, Finding("store", "warning", error.message))  # so it is before the first use
        opened = replace(settings, store="memory:")  # for the other parts; it is not shown
    try:
        async with open_runtime(opened, drain=0) as runtime:
            async for finding in _opened(settings, runtime):
                if finding.part != "store" or opened is settings:
                    sound &= _show(console, finding)
    except MemTreeError as error:
        sound = _show(console, Finding("store", "problem", error.message))
    sound &= await _upstream(console, settings)
    sound &= await _surroundings(console, settings)
    shown = {
        each.name: _shown(each.name, getattr(settings, each.name)) for each in fields(settings)
    }
    if console is None:
        settings_shown = {"settings": shown} if options.settings else {}
        print(json_line({"version": __version__, "sound": sound, **settings_shown}))
    elif options.settings:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")  # long values wrap within their column
        for name, value in shown.items():
            table.add_row(name, styled(value))
        console.print(table)
    else:
        console.print("`memtree doctor --settings` shows all settings as well.", style="dim")
    return 0 if sound else 1


def _shown(name: str, value: Any) -> str:
    if name.endswith("_key"):
        return "set" if value else "not set"
    if name in URLS:
        return URLS[name](str(value))
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        value = ", ".join(value)
    return str(value or UNSET.get(name, value if value == 0 else "none"))


async def _opened(settings: Settings, runtime: Runtime) -> AsyncIterator[Finding]:
    """Yield the findings on the parts of a process that keeps memory."""
    yield await part_checks.store(runtime.store)
    if (server := await part_checks.database(settings.store)) is not None:
        yield server
    yield await part_checks.embedder(settings, runtime)
    stage = runtime.summaries
    yield await part_checks.asked_summarizer(stage.summarizer if stage else None)
    queues = open_redis_queues(settings, runtime.store, SystemClock())
    try:
        for finding in await surroundings.queue(queues):
            yield finding
    finally:
        if queues is not None:
            await queues.close(0)


async def _surroundings(console: Console | None, settings: Settings) -> bool:
    """Check the surroundings of the process: packages, disk, port, open files, the trace
    collector."""
    findings = [
        surroundings.namesake(),
        surroundings.token_counter(),
        surroundings.disk(settings.store),
        await surroundings.port(settings),
        surroundings.files(),
        await surroundings.traces(settings),
    ]
    shown = [_show(console, finding) for finding in findings if finding is not None]
    return all(shown)


async def _upstream(console: Console | None, settings: Settings) -> bool:
    """Check the upstream, and show the properties assumed for the models that it lists."""
    upstream_finding, listed = await part_checks.upstream(settings)
    apart, more = await part_checks.messages(settings)
    listed = [*listed, *more]
    for finding in (models(settings, listed), *memory_begins(settings, listed)):
        _show(console, finding)
    shown = [_show(console, finding) for finding in (upstream_finding, *apart)]
    return all(shown)


def _show(console: Console | None, finding: Finding) -> bool:
    """Print a finding, as JSON without a console. Returns False if it is a problem."""
    if console is None:
        print(json_line(asdict(finding)))
        return finding.level != "problem"
    table = Table.grid(padding=(0, 1))
    table.add_column(width=WIDEST_LEVEL)
    table.add_column(width=WIDEST_PART)
    table.add_column(overflow="fold")
    style = {"ok": "green", "warning": "yellow"}.get(finding.level, "red")
    table.add_row(Text(finding.level, style), finding.part, styled(finding.text))
    console.print(table)
    return finding.level != "problem"
