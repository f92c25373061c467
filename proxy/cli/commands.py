"""What the command line does with a history file and with the store."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from indexer.runtime import Runtime, open_runtime
from memtree.config import Settings
from memtree.context.request import UNHURRIED, CompressRequest
from memtree.conversation.message import Message, read_messages
from memtree.errors import BadRequest
from memtree.ports.queues import SummaryStatus
from memtree.ports.store import Receipt
from memtree.stores import open_store
from proxy.cli import estimate
from proxy.cli.terminal import bar, draw_all, draw_unfolded, summary_line
from proxy.dialects import openai_chat
from proxy.request import fields, price_table

TENANT = "local"


async def compress(options: argparse.Namespace, settings: Settings) -> int:
    """Messages out as JSON on standard output; numbers on standard error."""
    messages = read_history(options.file)
    async with open_runtime(settings, drain=0) as runtime:
        await runtime.memory.index(CompressRequest(TENANT, messages, patience=UNHURRIED))
        await progress(runtime, Console(stderr=True))
        answer, details = await runtime.memory.compress_with_details(
            _ask(options, settings, messages)
        )
    console = Console(stderr=True)
    if options.explain:
        draw_unfolded(console, details.explain())
    console.print(summary_line(answer))
    sent = [msgspec.json.decode(raw) for raw in openai_chat.messages(answer.items, messages)]
    sys.stdout.write(json.dumps(sent, ensure_ascii=False, indent=1) + "\n")
    return 0


async def index(options: argparse.Namespace, settings: Settings) -> int:
    messages = read_history(options.file)
    if options.estimate:
        return await estimate.run(messages, TENANT, settings)
    console = Console()
    async with open_runtime(settings, drain=0) as runtime:
        answer = await runtime.memory.index(CompressRequest(TENANT, messages, patience=UNHURRIED))
        await progress(runtime, console)
        stats = await runtime.store.stats()
        summaries = await runtime.memory.summary_status(TENANT)
    console.print(
        f"{len(messages)} messages, {answer.raw_tokens:,} tokens; {answer.indexed_tokens:,} in "
        f"{stats.leaves:,} leaves of {stats.nodes:,} nodes; store {stats.bytes / 1e6:.1f} MB"
    )
    if summaries.state != "off":
        console.print(_summary_line(summaries))
    return 0


async def tree(options: argparse.Namespace, settings: Settings) -> int:
    messages = read_history(options.file)
    console = Console()
    unfolds = options.query or options.target
    # Drawing waits for no model, so none is asked: what it has begun would be paid and lost.
    own = settings if unfolds else replace(settings, summary_model=None)
    async with open_runtime(own, drain=0) as runtime:
        await runtime.memory.index(CompressRequest(TENANT, messages, patience=UNHURRIED))
        if unfolds:
            await progress(runtime, Console(stderr=True))
            answer, details = await runtime.memory.compress_with_details(
                _ask(options, settings, messages)
            )
            draw_unfolded(console, details.explain())
            console.print(summary_line(answer))
        else:
            draw_all(console, await runtime.memory.tree(CompressRequest(TENANT, messages)))
    return 0


async def delete(options: argparse.Namespace, settings: Settings) -> int:
    """Forget a history, an address, or everything that the command line has kept."""
    messages = read_history(options.file) if options.file else ()
    address = options.address and fields.address(options.address, "--address")
    # Deleting ranks and summarises nothing, so no model need be loaded.
    own = replace(settings, embedder="none", summary_model=None)
    async with open_runtime(own, drain=0) as runtime:
        if messages:
            receipt = await runtime.memory.forget_history(CompressRequest(TENANT, messages))
        elif address:
            receipt = await runtime.memory.forget_address(TENANT, address)
        else:
            receipt = await runtime.memory.forget_tenant(TENANT)
    print(_receipt_line(receipt))
    return 0


async def check(options: argparse.Namespace, settings: Settings) -> int:
    """Exit code 1 where the store has a problem."""
    store = await asyncio.to_thread(open_store, settings.store)
    try:
        problems = await store.check()
        stats = await store.stats()
    finally:
        await store.close()
    for problem in problems:
        print(problem)
    print(f"{stats.nodes} nodes, {stats.leaves} leaves, {stats.addresses} addresses, "
          f"{stats.vectors} leaves with vectors: {len(problems) or 'no'} problem(s)")  # fmt: skip
    return 1 if problems else 0


async def progress(runtime: Runtime, console: Console) -> None:
    """Draw a bar until all stages of what was posted are done."""
    await bar(runtime.memory, TENANT, console)


def read_history(file: str) -> tuple[Message, ...]:
    """Messages of a file: a JSON array, an object with `messages`, or one message a line.

    Raises `BadRequest` that names the file or the message.
    """
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise BadRequest(f"{file}: {error.strerror}", param=file) from error
    return read_messages(_fragments(data, file))


def _fragments(data: bytes, file: str) -> list[msgspec.Raw]:
    text = data.lstrip()
    try:
        if text[:1] == b"[":
            return msgspec.json.decode(data, type=list[msgspec.Raw])
        if b"\n" not in text.strip() or text[:2] in (b"{\n", b"{\r"):
            return _single(msgspec.json.decode(data, type=dict[str, msgspec.Raw]), data)
        lines = [line for line in data.splitlines() if line.strip()]
        return [msgspec.Raw(line) for line in lines]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"{file}: not JSON or JSONL of messages: {error}", param=file) from error


def _single(fields: dict[str, msgspec.Raw], data: bytes) -> list[msgspec.Raw]:
    if "messages" in fields:
        return msgspec.json.decode(fields["messages"], type=list[msgspec.Raw])
    return [msgspec.Raw(data)]


def _ask(
    options: argparse.Namespace, settings: Settings, messages: tuple[Message, ...]
) -> CompressRequest:
    given: dict[str, Any] = {"target": settings.target_tokens}
    if options.target is not None:
        given = {"target": max(1_000, options.target), "hard": True}
    return CompressRequest(
        TENANT,
        messages,
        patience=UNHURRIED,
        window=1_000_000_000,
        query=options.query,
        # One file, one question: there is no provider's cache that a stable prefix would keep warm.
        mode=options.mode or "fresh",
        prices=price_table.of("", settings.prices),
        **given,
    )


def _summary_line(status: SummaryStatus) -> str:
    states = {"limit_reached": "the day's limit is reached", "unavailable": "no answer"}
    left = f"{status.pending_nodes:,} nodes left ({states.get(status.state, status.state)})"
    return (
        f"summaries today: {status.calls:,} calls, {status.input_tokens:,} tokens read and "
        f"{status.output_tokens:,} written, {status.money:.4f} spent; "
        + (left if status.pending_nodes else "all nodes done")
    )


def _receipt_line(receipt: Receipt) -> str:
    if not any(receipt):
        return "nothing was kept of it"
    counts = [f"{count:,} {name}" for name, count in receipt._asdict().items() if count]
    return f"forgotten: {', '.join(counts)}"
