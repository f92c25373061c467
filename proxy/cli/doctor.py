"""`memtree doctor`: what is configured, and what of it can be reached."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import fields

import httpx
from rich.console import Console
from rich.markup import escape

from indexer.runtime import Runtime, SystemClock, open_redis_queues, open_runtime
from memtree.budget.prices import UNKNOWN
from memtree.config import Settings, config_file, unknown_variables
from memtree.errors import EmbedderUnavailable, MemTreeError, SummarizerUnavailable
from memtree.setting_values import without_password
from memtree.stores import shown_store
from memtree.summaries.prompts import SourcePiece, leaf_task
from proxy.cli import checkups
from proxy.cli.checkups import Finding
from proxy.cli.model_terms import memory_begins
from proxy.request import context_windows
from proxy.request.fields import CHAT_MODE, CONTEXT_MODE

SAMPLE = "We meet in Lisbon on 4 May. Anna brings the boat, Tom the tents."
POSTGRES = ("postgresql://", "postgres://")
SECRETS = frozenset({"upstream_api_key", "metrics_key", "embedding_api_key", "summary_api_key"})
URLS = {"store": shown_store, "queue": without_password}  # they may carry a password
UNSET = {
    "embedding_dimensions": "the model's own",
    "embedding_relevant": "measured at the start",
    "mode": f"{CONTEXT_MODE}; on the chat routes {CHAT_MODE}",
    "window": f"as built in; {context_windows.DEFAULT:,} tokens for others",
    "prices": (
        f"as built in; {UNKNOWN.write:g}/{UNKNOWN.read:g}/{UNKNOWN.lifetime:.0f} for others, none "
        "behind an upstream of your own"
    ),
}


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Exit code 1 where something that is configured does not work."""
    console = Console()
    for setting in fields(settings):
        value = getattr(settings, setting.name)
        if isinstance(value, tuple):
            value = ", ".join(value)
        shown = ("set" if value else "not set") if setting.name in SECRETS else value
        if setting.name in URLS:
            shown = URLS[setting.name](str(value))
        shown = shown or UNSET.get(setting.name, shown)
        console.print(f"[dim]{setting.name:<20}[/dim] {escape(str(shown))}")
    sound = _show(console, checkups.settings_file(config_file(), unknown_variables()))
    try:
        async with open_runtime(settings, drain=0) as runtime:
            sound &= await _store(console, runtime)
            if settings.store.startswith(POSTGRES):
                # The optional extra, without which the store would not have been opened.
                from proxy.cli.checkup_postgres import database  # noqa: PLC0415

                sound &= _show(console, await database(settings.store))
            sound &= await _embedder(console, settings, runtime)
            sound &= await _summarizer(console, runtime)
            queues = open_redis_queues(settings, runtime.store, SystemClock())
            for finding in await checkups.queue(queues):
                sound &= _show(console, finding)
    except MemTreeError as error:
        sound = _tell(console, False, "store", error.message)
    sound &= await _upstream(console, settings)
    return 0 if await _surroundings(console, settings) and sound else 1


async def _surroundings(console: Console, settings: Settings) -> bool:
    """What the process would find: disk, port, open files, the collector of traces."""
    findings = [
        checkups.disk(settings.store),
        await checkups.port(settings),
        checkups.files(),
        await checkups.traces(settings),
    ]
    shown = [_show(console, finding) for finding in findings if finding is not None]
    return all(shown)


async def _store(console: Console, runtime: Runtime) -> bool:
    try:
        stats = await runtime.store.stats()
        keys = await runtime.store.list_keys()
    except MemTreeError as error:
        return _tell(console, False, "store", error.message)
    text = (
        f"{stats.nodes} nodes, {stats.vectors} leaves with vectors, "
        f"{stats.bytes / 1e6:.1f} MB, {len(keys)} key(s)"
    )
    return _tell(console, True, "store", text)


async def _embedder(console: Console, settings: Settings, runtime: Runtime) -> bool:
    if runtime.embedder is None:
        return _tell(
            console,
            settings.embedder == "none",
            "embedder",
            f"ranking by words alone: {runtime.trouble}",
        )
    begun = time.perf_counter()
    try:
        await runtime.embedder.embed_query("is the embedder awake?")
    except EmbedderUnavailable as error:
        return _tell(console, False, "embedder", error.message)
    spent = (time.perf_counter() - begun) * 1000
    return _tell(
        console,
        True,
        "embedder",
        f"{runtime.embedder.recipe}, relevant from {runtime.embedder.relevant:.2f}, "
        f"a query takes {spent:.0f} ms",
    )


async def _summarizer(console: Console, runtime: Runtime) -> bool:
    """Asks for one summary, of some 400 tokens."""
    if runtime.summaries is None:
        return _tell(console, True, "summaries", "extracted, no model is configured")
    summarizer = runtime.summaries.summarizer
    begun = time.perf_counter()
    try:
        written = await summarizer.write([leaf_task("1", [SourcePiece("user", 0, SAMPLE)])])
    except SummarizerUnavailable as error:
        return _tell(console, False, "summaries", error.message)
    spent = time.perf_counter() - begun
    known = getattr(summarizer, "form", None)
    form = f"with {known.format}" if known and known.format else "without structured output"
    usage = written.usage
    counted = ", counted here" if usage.counted else ""
    text = (
        f"{summarizer.recipe} answers in {spent:.1f} s {form}, "
        f"{usage.input} tokens in and {usage.output} out{counted}"
    )
    if not written.drafts:
        text += ", but with nothing that reads as a summary"
    return _tell(console, bool(written.drafts), "summaries", text)


async def _upstream(console: Console, settings: Settings) -> bool:
    if settings.upstream is None:
        _models(console, settings, ())
        return _tell(
            console, True, "upstream", "none: the chat routes answer 503, /context_memory works"
        )
    key = settings.upstream_api_key
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        async with httpx.AsyncClient(timeout=5, trust_env=False) as client:
            answer = await client.get(f"{settings.upstream.rstrip('/')}/models", headers=headers)
    except httpx.HTTPError as error:
        _models(console, settings, ())
        return _tell(
            console, False, "upstream", f"{settings.upstream}: {type(error).__name__} {error}"
        )
    _models(console, settings, checkups.listed_models(answer))
    note = (
        " (no key of our own: clients bring theirs)"
        if answer.status_code == 401 and not key
        else ""
    )
    return _tell(
        console, True, "upstream", f"{settings.upstream} answers {answer.status_code}{note}"
    )


def _models(console: Console, settings: Settings, listed: Sequence[str]) -> None:
    for finding in (checkups.models(settings, listed), *memory_begins(settings, listed)):
        _show(console, finding)


def _show(console: Console, finding: Finding) -> bool:
    """False where it is a problem."""
    mark = {"ok": "[green]ok[/green]     ", "warning": "[yellow]warning[/yellow]"}
    shown = mark.get(finding.level, "[red]problem[/red]")
    console.print(f"{shown} {finding.part:<9} {escape(finding.text)}")
    return finding.level != "problem"


def _tell(console: Console, sound: bool, part: str, text: str) -> bool:
    return _show(console, Finding(part, "ok" if sound else "problem", text))
