"""Runs the commands for a history file and for the store.

These are `compress`, `index`, `tree` and `delete`, and `check` and `store copy FROM TO`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from memtree.config import Settings
from memtree.context.answer_state import State
from memtree.context.turn_request import UNHURRIED, CompressRequest
from memtree.dialects import posted_history
from memtree.dialects.posted_history import PostedDialectHistory
from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.json_body import Body
from memtree.history.message import Message, read_messages
from memtree.history.posted_json import mended
from memtree.jobs.runtime import open_runtime
from memtree.ports.indexing_stages import SummaryStatus
from memtree.stores import require_store, shown_store
from memtree.stores.context.store_copy import copy
from memtree.tenant_names import LOCAL
from memtree.text.json_lines import as_utf8
from memtree_proxy.chat import model_tables, request_fields
from memtree_proxy.cli.foreign_text import json_line, plain, plain_json
from memtree_proxy.cli.key_commands import opened
from memtree_proxy.cli.terminal_drawing import (
    bar,
    draw_all,
    draw_unfolded,
    open_console,
    styled,
    summary_line,
)
from memtree_proxy.wire.context_bodies import Explain
from memtree_proxy.wire.context_bodies import Tree as ShownTree

LEAST_TARGET = 1_000  # tokens, as on POST /context_memory


async def compress(options: argparse.Namespace, settings: Settings) -> int:
    """Print the compressed messages as JSON, and numbers on standard error. Answers at once, as a
    server would, unless told to wait for embeddings."""
    history = posted_history_of(options.file)
    ask = history.complete(_ask(options, settings, history.messages))
    console = open_console(stderr=True)
    # Summaries that are started and not awaited would be paid for and lost.
    own = settings if options.wait else replace(settings, summary_model=None)
    async with open_runtime(own, drain=0) as runtime:
        if options.wait:
            await runtime.memory.index(CompressRequest(LOCAL, ask.messages, patience=UNHURRIED))
            await bar(runtime.memory, LOCAL, console)
        answer, details = await runtime.memory.compress_with_details(ask)
    if options.explain:
        draw_unfolded(console, details.explain(), ask.messages)
    console.print(summary_line(answer))
    if answer.state == State.PROVISIONAL:
        console.print("With --wait it waits for them.")
    sent = msgspec.json.decode(history.sent(answer))
    sys.stdout.write(plain_json(json.dumps(sent, ensure_ascii=False, indent=1)) + "\n")
    return 0


async def index(options: argparse.Namespace, settings: Settings) -> int:
    messages = read_history(options.file)
    console = open_console()
    async with open_runtime(settings, drain=0) as runtime:
        answer = await runtime.memory.index(CompressRequest(LOCAL, messages, patience=UNHURRIED))
        await bar(runtime.memory, LOCAL, console)
        stats = await runtime.store.stats()
        summaries = await runtime.memory.summary_status(LOCAL)
    console.print(
        f"{len(messages)} messages, {answer.raw_tokens:,} tokens; {answer.indexed_tokens:,} in "
        f"{stats.leaves:,} leaves of {stats.nodes:,} nodes; store {stats.bytes / 1e6:.1f} MB"
    )
    if summaries.state != "off":
        console.print(_summary_line(summaries))
    return 0


async def tree(options: argparse.Namespace, settings: Settings) -> int:
    ask = _ask(options, settings, read_history(options.file))
    console = open_console()
    unfolds = options.query or options.target
    # Drawing awaits no model, so none is called: a started summary would be paid for and lost.
    own = settings if unfolds else replace(settings, summary_model=None)
    async with open_runtime(own, drain=0) as runtime:
        known = CompressRequest(LOCAL, ask.messages, patience=UNHURRIED)
        address = (await runtime.memory.index(known)).address
        if not options.json:
            # the title that the list of conversations has for this address
            page = await runtime.memory.conversations.page(LOCAL, 1)
            for row in page.conversations:
                if row.address == address and row.title:
                    project = f" ({row.project})" if row.project else ""
                    console.print(styled(f"{row.title}{project}", "bold"))
        if unfolds:
            await bar(runtime.memory, LOCAL, open_console(stderr=True))
            answer, details = await runtime.memory.compress_with_details(ask)
            if options.json:
                print(json_line(Explain.of(details.explain())))
                return 0
            draw_unfolded(console, details.explain(), ask.messages, scores=options.scores)
            console.print(summary_line(answer))
        else:
            view = await runtime.memory.tree(CompressRequest(LOCAL, ask.messages))
            if options.json:
                print(json_line(ShownTree.of(view)))
            else:
                draw_all(console, view)
    return 0


async def delete(options: argparse.Namespace, settings: Settings) -> int:
    """Delete a history, an address, or everything that the command line has stored."""
    messages = read_history(options.file) if options.file else ()
    address = options.address and request_fields.address(options.address, "--address")
    # Deleting ranks and summarises nothing, so no model needs to be loaded.
    own = replace(settings, embedder="none", summary_model=None)
    async with open_runtime(own, drain=0) as runtime:
        if messages:
            ask = CompressRequest(LOCAL, messages)
            receipt = await runtime.memory.forget_history(ask, dry_run=options.dry_run)
        elif address:
            receipt = await runtime.memory.forget_address(LOCAL, address, dry_run=options.dry_run)
        else:
            receipt = await runtime.memory.forget_tenant(LOCAL, dry_run=options.dry_run)
    done = "would be forgotten" if options.dry_run else "forgotten"
    counts = [f"{count:,} {name}" for name, count in receipt._asdict().items() if count]
    print(f"{done}: {', '.join(counts)}" if counts else "nothing was kept of it")
    return 0


async def check(options: argparse.Namespace, settings: Settings) -> int:
    """Check the store and print its problems. Returns exit code 1 if there are any."""
    async with opened(settings.store) as store:
        problems = await store.check()
        stats = await store.stats()
    if options.json:
        print(json_line({**asdict(stats), "problems": problems}))
        return 1 if problems else 0
    for problem in problems:
        print(plain(problem))
    print(stats.schema)
    print(f"{stats.nodes} nodes, {stats.leaves} leaves, {stats.addresses} addresses, "
          f"{stats.vectors} leaves with vectors: {len(problems) or 'no'} problem(s)")  # fmt: skip
    return 1 if problems else 0


def read_history(file: str) -> tuple[Message, ...]:
    """Read the canonical messages of a file. Raises the errors of `posted_history_of`."""
    return tuple(posted_history_of(file).messages)


def posted_history_of(file: str) -> PostedDialectHistory:
    """Read a file with chat messages (a JSON array, an object with `messages`, or one message on
    each line), or with the body of a request to `/messages` or `/responses`.

    Raises `BadRequest` that names the file or the message.
    """
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise BadRequest(f"{file}: {error.strerror}", param=file) from error
    data = mended(as_utf8(raw))
    if (body := _request_body(data)) is not None:
        return posted_history.read(body, LOCAL)
    messages = read_messages(_fragments(data, file))
    return PostedDialectHistory(posted_history.CHAT, posted_history.MESSAGES, b"", messages)


def _request_body(data: bytes) -> Body | None:
    """Return a request body, None if the data are no body or a chat's."""
    try:
        body = json_body.split(data)
    except BadRequest:
        return None
    return None if posted_history.dialect_of(body) == posted_history.CHAT else body


def _fragments(data: bytes, file: str) -> list[msgspec.Raw]:
    text = data.lstrip()
    if not text:
        raise BadRequest(f"{file}: is empty", param=file)
    try:
        if text[:1] == b"[":
            return msgspec.json.decode(data, type=list[msgspec.Raw])
        if b"\n" not in text.strip() or text[:2] in (b"{\n", b"{\r"):
            fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
            if "messages" in fields:
                return msgspec.json.decode(fields["messages"], type=list[msgspec.Raw])
            return [msgspec.Raw(data)]
        return [msgspec.Raw(line) for line in data.splitlines() if line.strip()]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"{file}: not JSON or JSONL of messages: {error}", param=file) from error


def _ask(
    options: argparse.Namespace, settings: Settings, messages: Sequence[Message]
) -> CompressRequest:
    given: dict[str, Any] = {"target": settings.target_tokens}
    if options.target is not None:
        if options.target < LEAST_TARGET:
            raise BadRequest(
                f"--target {options.target}: at least {LEAST_TARGET:,} tokens are needed for a "
                "memory of anything",
                param="target",
            )
        given = {"target": options.target, "hard": True}
    return CompressRequest(
        LOCAL,
        messages,
        patience=UNHURRIED,
        window=1_000_000_000,
        query=options.query,
        # A single question: no provider's cache would profit from a stable prefix.
        mode=options.mode or "fresh",
        prices=model_tables.prices_of("", settings.prices),
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


async def copy_store(options: argparse.Namespace, settings: Settings) -> int:
    """Copy the store. Returns exit code 1 if the check of the copy finds a problem."""
    del settings  # both stores are named on the command line
    if options.source == options.target:
        raise BadRequest("FROM and TO are the same store.", param="to")
    await require_store(options.source, "from")
    console = open_console(stderr=True)
    async with AsyncExitStack() as stack:
        both = (options.source, options.target)
        source, target = [await stack.enter_async_context(opened(url)) for url in both]
        total = sum((await source.counts()).values())
        columns = (TextColumn("copying"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as drawn:
            task = drawn.add_task("copying", total=total)
            rows = await copy(source, target, lambda count: drawn.advance(task, count))
        with console.status("checking the copy"):
            problems = await target.check()
    for problem in problems:
        print(problem)
    held = ", ".join(f"{count:,} {name}" for name, count in rows.items() if count)
    print(f"copied {held or 'nothing'} to {shown_store(options.target)}: "
          f"{len(problems) or 'no'} problem(s)")  # fmt: skip
    return 1 if problems else 0
