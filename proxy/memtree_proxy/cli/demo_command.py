"""`memtree demo`: ask about an old detail of a session, and show how memory finds it and what it
costs.

Only the session is prepared (`memtree_proxy.server.demo_session`): it is indexed in a store of its
own and asked about at once, as a chat would do, and again when its embeddings are ready. The demo
needs no key, no upstream and no network, and keeps nothing.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from memtree.config import Settings
from memtree.context.context_memory import Answer
from memtree.context.turn_request import UNHURRIED, CompressRequest
from memtree.dialects import openai_chat
from memtree.errors import BadRequest
from memtree.history.message import Message
from memtree.jobs.runtime import Runtime, open_runtime
from memtree.setting_values import INPROCESS
from memtree.tenant_names import LOCAL
from memtree.unfolding.explain import ExplainedExcerpt, Explanation
from memtree_proxy.cli.terminal_drawing import (
    bar,
    draw_path,
    draw_unfolded,
    open_console,
    styled,
    summary_line,
)
from memtree_proxy.server.demo_session import DemoFact, session

TARGET = 4_000
SHOWN = 3  # excerpts shown with their path
OTHERS = 4  # further questions after the first
MILLION = 1_000_000
LEAST, MOST = 10_000, 2_000_000  # tokens: fewer are sent whole to any model, more take half an hour
EMBEDDING = (
    "Embeddings are being made, so that passages are found by what they mean, too. A chat would go "
    "on meanwhile; here the same questions are asked again after it. Ctrl-C ends the demo."
)
FULL = "`memtree demo --full` shows all that the model gets to read, `--query TEXT` asks another."
NEXT = (
    "`memtree serve` does this for your own chats; `memtree compress FILE` for a history in a file."
)
PRICE = 1.0  # price of a million input tokens: a round number, near that of mid-sized models


@dataclass(frozen=True, slots=True)
class DemoAnswer:
    """Answer to one question of the demo. `text`: of all messages that are sent; `seconds`: time
    that the answer took."""

    answer: Answer
    explained: Explanation
    messages: tuple[Message, ...]
    text: str
    seconds: float

    @property
    def best(self) -> list[ExplainedExcerpt]:
        """Return the excerpts that rank first."""
        known = [(row.rank, row.message, row.start, row) for row in self.explained.excerpts
                 if row.rank is not None and row.reason != "rule"]  # fmt: skip
        return [excerpt for *_, excerpt in sorted(known, key=lambda ranked: ranked[:3])[:SHOWN]]


async def run(options: argparse.Namespace, settings: Settings) -> int:
    console = open_console()
    if not LEAST <= options.tokens <= MOST:
        raise BadRequest(
            f"--tokens {options.tokens}: the demo's session has from {LEAST:,} to {MOST:,} tokens"
        )
    posted, facts = session(options.tokens)
    first, others = _questions(facts, options.query)
    after: list[DemoAnswer] = []
    with tempfile.TemporaryDirectory(prefix="memtree-demo-") as folder:
        async with open_runtime(_own(settings, folder), drain=0) as runtime:
            newest = at_once = await _ask(runtime, posted, first)
            console.print(
                f"A made-up coding session of {len(posted):,} messages, "
                f"{at_once.answer.raw_tokens:,} tokens. "
                "It stays on this machine, and nothing of it is kept.\n"
            )
            console.print("The question, asked at the end of it", style="bold")
            console.print(styled(f"  {first.question}\n", "cyan"))
            _show_path(console, at_once, first)
            _show_cost(console, at_once)
            before = [await _ask(runtime, posted, fact) for fact in others]
            if runtime.embedder is None:
                console.print(styled(f"Ranked by words alone: {runtime.opened.trouble}.\n"))
            else:
                console.print(EMBEDDING, style="dim")
                await bar(runtime.memory, LOCAL, console)
                newest = await _ask(runtime, posted, first)
                after = [await _ask(runtime, posted, fact) for fact in others]
                _show_again(console, at_once, newest, first)
    _compare(console, others, before, after)
    if options.full:
        draw_unfolded(console, newest.explained, newest.messages)
        console.print(summary_line(newest.answer), "\n")
    console.print(NEXT if options.full else f"{FULL}\n{NEXT}")
    return 0


def _own(settings: Settings, folder: str) -> Settings:
    """Return settings with which the demo sends nothing to a server and keeps nothing."""
    return replace(
        settings,
        store=f"sqlite:///{Path(folder) / 'demo.db'}",
        queue=INPROCESS,
        embedder="none" if settings.embedder == "none" else "auto",
        embedding_base_url=None,
        embedding_model=None,
        summary_base_url=None,
        summary_model=None,
    )


def _questions(facts: list[DemoFact], query: str | None) -> tuple[DemoFact, list[DemoFact]]:
    """Return the question that is shown, and some others spread over the session."""
    if query is not None:
        return DemoFact(query, ""), []
    first = facts[len(facts) // 4]
    left = [fact for fact in facts if fact is not first]
    return first, left[:: max(1, len(left) // OTHERS)][:OTHERS]


async def _ask(runtime: Runtime, posted: tuple[Message, ...], fact: DemoFact) -> DemoAnswer:
    begun = time.perf_counter()
    messages = (*posted, Message.of({"role": "user", "content": fact.question}))
    request = CompressRequest(LOCAL, messages, target=TARGET, patience=UNHURRIED)
    answer, details = await runtime.memory.compress_with_details(request)
    seconds = time.perf_counter() - begun
    sent = openai_chat.messages(answer.items, messages)
    text = "\n".join(str(msgspec.json.decode(raw).get("content")) for raw in sent)
    return DemoAnswer(answer, details.explain(), messages, text, seconds)


def _show_path(console: Console, demo: DemoAnswer, fact: DemoFact) -> None:
    if not demo.best:
        return
    console.print("What memory finds: from the summaries down to the words", style="bold")
    draw_path(console, demo.explained, demo.messages, demo.best, mark=fact.answer)
    console.print()


def _show_cost(console: Console, demo: DemoAnswer) -> None:
    sent, whole = demo.answer.sent_tokens, demo.answer.raw_tokens
    console.print("What the model has to read for this question", style="bold")
    table = Table.grid(padding=(0, 2))
    for justify in ("left", "right", "right", "left"):
        table.add_column(justify=justify)
    times = f"{whole / max(1, sent):.0f} times as much" if whole > sent else ""
    table.add_row("  with memory", f"{sent:,} tokens", f"${sent * PRICE / MILLION:.3f}", "")
    table.add_row(
        "  without", f"{whole:,} tokens", f"${whole * PRICE / MILLION:.3f}", times, style="dim"
    )
    console.print(table)
    console.print(
        f"  (at ${PRICE:g} for a million input tokens; memory was made and asked in "
        f"{demo.seconds:.1f} seconds, before any embedding)\n",
        style="dim",
    )


def _show_again(console: Console, before: DemoAnswer, after: DemoAnswer, fact: DemoFact) -> None:
    console.print(
        f"The same question with embeddings: answered in {after.seconds:.1f} seconds, "
        f"{after.answer.sent_tokens:,} tokens to read.",
        style="bold",
    )
    if [excerpt.message for excerpt in before.best] == [excerpt.message for excerpt in after.best]:
        console.print("It finds the same words.\n")
    else:
        _show_path(console, after, fact)


def _compare(
    console: Console,
    facts: Sequence[DemoFact],
    before: Sequence[DemoAnswer],
    after: Sequence[DemoAnswer],
) -> None:
    if not facts:
        return
    heads = ["at once", "with embeddings"][: 1 + bool(after)]
    table = Table.grid(padding=(0, 2))
    table.add_row(Text("Does the model get to see the answer?", "bold"), *heads)
    for at, fact in enumerate(facts):
        shown = [answers[at] for answers in (before, after) if answers]
        verdicts = (
            Text("yes", "green") if fact.answer in demo.text else Text("no", "red")
            for demo in shown
        )
        table.add_row(f"  {fact.question}", *verdicts)
    console.print(table)
    console.print()
