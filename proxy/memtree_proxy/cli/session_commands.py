"""`memtree sessions`: search earlier sessions of the coding agents on this machine, or delete the
index.

The transcripts belong to the agents and are only read; only an index without text is stored.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.text import Text

from memtree.config import Settings, environment
from memtree.errors import BadRequest
from memtree.jobs.embedding import open_embedder
from memtree_proxy.cli.foreign_text import json_line, one_line, plain
from memtree_proxy.cli.terminal_drawing import open_console, styled
from memtree_proxy.sessions import session_index, session_search, transcripts
from memtree_proxy.sessions.session_search import SessionAnswer, SessionSearch

PATIENCE = 10.0  # seconds for vectors, without --wait


async def find(options: argparse.Namespace, settings: Settings) -> int:
    """Search the sessions. Returns exit code 1 if nothing is found."""
    if not 1 <= options.limit <= session_search.MOST_QUOTED:
        raise BadRequest(f"--limit must be from 1 to {session_search.MOST_QUOTED}", param="limit")
    if not options.query.strip():
        raise BadRequest("QUERY must not be empty", param="query")
    # Transcripts are sent to no embedder outside this machine.
    choice = "none" if settings.embedder == "none" else "local"
    embedder, _ = await open_embedder(replace(settings, embedder=choice), patient=False)
    try:
        with _drawn(open_console(stderr=True)) as show:
            answer = await SessionSearch(
                folder_of(settings), transcripts.folders(environment()), embedder
            ).search(
                options.query,
                project=options.project,
                limit=options.limit,
                patience=math.inf if options.wait else PATIENCE,
                progress=show,
            )
    finally:
        if embedder:
            await embedder.close()
    if options.json:
        for each in answer.quotations:
            print(json_line(asdict(each)))
    else:
        _show(open_console(), answer)
    _tell(open_console(stderr=True), answer, embedder is not None)
    return 0 if answer.quotations else 1


async def forget(options: argparse.Namespace, settings: Settings) -> int:
    size = session_index.forget(folder_of(settings))
    kept = "the transcripts are as they were"
    print(f"forgot an index of {size / 1e6:.1f} MB; {kept}" if size else "there is no index")
    return 0


def folder_of(settings: Settings) -> Path:
    """Return the folder of the index. Raises `BadRequest` if there is none."""
    if settings.data_folder is None:
        raise BadRequest("HOME is not set, so there is no folder for MemTree's data", param="home")
    return settings.data_folder


def _show(console: Console, answer: SessionAnswer) -> None:
    for each in answer.quotations:
        title = one_line(each.title, max(20, console.width - len(each.day) - 2))
        console.print(Text.assemble((each.day, "cyan"), "  ", (title, "bold")))
        where = f"{each.agent}, session {each.session}, message {each.message} ({each.role})"
        console.print(styled(f"  {where}", "dim"), soft_wrap=True)
        console.print(styled(f"  {each.file}", "dim"), soft_wrap=True)
        console.print(Padding(Text(plain(each.text)), (0, 0, 1, 4), expand=False))


def _tell(console: Console, answer: SessionAnswer, by_meaning: bool) -> None:
    """Describe on standard error what was searched."""
    for reason in answer.left_out:
        console.print(styled(f"left out: {reason}", "dim"), soft_wrap=True)
    counted = "1 session" if answer.sessions == 1 else f"{answer.sessions:,} sessions"
    line = f"{counted} of {session_search.NEWEST_DAYS} days searched"
    if not answer.quotations:
        line = f"nothing found; {line}"
    if not by_meaning:
        line += ", by words alone: there is no embedder on this machine"
    elif answer.unembedded:
        line += f", {answer.unembedded:,} of them by words alone so far (--wait, or ask again)"
    console.print(styled(line, "dim"), soft_wrap=True)


@contextmanager
def _drawn(console: Console) -> Iterator[session_search.Progress]:
    """Draw a bar for long steps, in a terminal only."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=of)
            bar.update(tasks[what], total=of, completed=done)

        yield show
