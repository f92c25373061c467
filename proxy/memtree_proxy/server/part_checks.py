"""Check the store, the models and the upstream of a server, and show the terms of its models.

The terms assumed for the upstream's models are the window and the prices of each, and the size at
which memory begins.

Findings contain no credential: addresses lose their passwords, and only the type of a library's
error is shown.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memtree.config import Settings
from memtree.errors import EmbedderUnavailable, MemTreeError, SummarizerUnavailable
from memtree.jobs.runtime import Runtime
from memtree.ports.context_store import Store
from memtree.ports.models import Summarizer
from memtree.setting_values import AUTO, without_password
from memtree.tree.summary_prompts import SourcePiece, leaf_task
from memtree_proxy.chat import model_tables
from memtree_proxy.chat.request_fields import CHAT_MODE, chat_folds_at, is_local
from memtree_proxy.http.headers import X_API_KEY
from memtree_proxy.server.surroundings import Finding, judged
from memtree_proxy.upstream.upstreams import VERSION_HEADER, anthropic_base, is_apart

if TYPE_CHECKING:
    import httpx2

SHOWN_NAMES, SHOWN_LINES = 3, 5
LOOKED_AT = 1_000  # names; gateways list hundreds
ANY = ""  # stands for an unknown model
SHOWN_MODELS = 5


def listed_models(answer: httpx2.Response) -> list[str]:
    """Return the names in an upstream's answer to `GET /models`; none if it has another form."""
    try:
        body = answer.json()
    except ValueError:
        return []
    listed = body.get("data") if isinstance(body, dict) else None
    models = listed if isinstance(listed, list) else []
    names = (model.get("id") for model in models if isinstance(model, dict))
    return [name for name in names if isinstance(name, str)]


def models(settings: Settings, listed: Sequence[str]) -> Finding:
    """Report the assumed window, and for which of the upstream's models (`listed`)."""
    window = model_tables.assumed_window(settings.window)
    text = f"an unknown model is taken to have a window of {window:,} tokens"
    unknown = [name for name in listed if model_tables.known_window(name, settings.window) is None]
    if unknown:
        text += f", as {_names(unknown, SHOWN_MODELS)}"
    return Finding("models", "ok", f"{text}; --window NAME=TOKENS changes it")


def memory_begins(settings: Settings, listed: Sequence[str]) -> list[Finding]:
    """Return one line for unknown models, and one for each group of `listed` models that are known
    and have equal terms."""
    unknown = f"an unknown model{_place(settings.upstream)}: {_terms(ANY, settings)}"
    groups: dict[str, list[str]] = {}
    for name in listed[:LOOKED_AT]:
        if model_tables.known_prices(name, settings.prices) is not None:
            groups.setdefault(_terms(name, settings), []).append(name)
    lines = [f"{_names(names, SHOWN_NAMES)}: {terms}" for terms, names in groups.items()]
    if len(lines) > SHOWN_LINES:
        left = sum(len(names) for names in list(groups.values())[SHOWN_LINES:])
        lines = [*lines[:SHOWN_LINES], f"and {left} more models that are known"]
    return [Finding("memory", "ok", line) for line in (unknown, *lines)]


def _place(upstream: str | None) -> str:
    if upstream is None:
        return ""
    own = "your own upstream " if is_local(upstream) else ""
    return f" behind {own}{without_password(upstream)}"


def _names(names: Sequence[str], most: int) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _terms(model: str, settings: Settings) -> str:
    window = model_tables.window_of(model, settings.window)
    prices = model_tables.prices_of(model, settings.prices, local=is_local(settings.upstream))
    cost = f"{prices.write:g}/{prices.read:g}/{prices.lifetime:.0f}"
    if not prices.metered:
        cost += ", which delay nothing"
    begins = f"memory begins at about {chat_folds_at(model, settings):,} tokens"
    return f"window {window:,}, prices {cost}; in mode {settings.mode or CHAT_MODE} {begins}"


SAMPLE = "We meet in Lisbon on 4 May. Anna brings the boat, Tom the tents."
QUESTION = "is the embedder awake?"
POSTGRES = ("postgresql://", "postgres://")
VERSION = "2023-06-01"  # of the Messages API, which requires one
SECONDS = 5.0  # for the upstream's list of models


async def store(opened: Store) -> Finding:
    try:
        stats = await opened.stats()
        keys = await opened.list_keys()
    except MemTreeError as error:
        return Finding("store", "problem", error.message)
    text = (
        f"{stats.nodes} nodes, {stats.vectors} leaves with vectors, "
        f"{stats.bytes / 1e6:.1f} MB, {len(keys)} key(s); {stats.schema}"
    )
    return Finding("store", "ok", text)


async def database(url: str) -> Finding | None:
    """Check a store in PostgreSQL; None for any other."""
    if not url.startswith(POSTGRES):
        return None
    # The optional extra, without which the store would not have been opened.
    from memtree_proxy.server.postgres_check import database  # noqa: PLC0415

    return await database(url)


async def embedder(settings: Settings, runtime: Runtime, question: str = QUESTION) -> Finding:
    """Check whether the embedders work, that of conversations and that of memories. `question`: the
    text to embed; the vector of a text that was embedded before may come from a cache."""
    model, memories = runtime.opened.embedder, runtime.opened.memories
    if model is None or memories is None:
        wanted = settings.embedder == "none"
        return judged("embedder", wanted, f"ranking by words alone: {runtime.opened.trouble}")
    try:
        if memories is not model:
            await memories.embed_query(question)
        begun = time.perf_counter()
        await model.embed_query(question)
    except EmbedderUnavailable as error:
        return Finding("embedder", "problem", error.message)
    spent = (time.perf_counter() - begun) * 1000
    text = f"{model.recipe}, relevant from {model.relevant:.2f}, a query takes {spent:.0f} ms"
    if memories is not model:
        text += f"; memories by {memories.recipe}"
    return Finding("embedder", "ok", text)


async def asked_summarizer(summarizer: Summarizer | None) -> Finding:
    """Check the summarizer by having it write one summary of some 400 tokens."""
    if summarizer is None:
        return Finding("summaries", "ok", "extracted, no model is configured")
    begun = time.perf_counter()
    try:
        written = await summarizer.write([leaf_task("1", [SourcePiece("user", 0, SAMPLE)])])
    except SummarizerUnavailable as error:
        return Finding("summaries", "problem", error.message)
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
    return judged("summaries", bool(written.drafts), text)


def seen_summarizer(settings: Settings, runtime: Runtime) -> Finding:
    """Judge the summarizer by its calls so far, without another one, since each costs money."""
    if not settings.summary_model:
        return Finding("summaries", "ok", "extracted, no model is configured")
    stage = runtime.summaries
    if stage is None:
        return Finding("summaries", "ok", f"{settings.summary_model} is called by the workers")
    waiting = f"{stage.queue.waiting} nodes wait"
    if stage.queue.state("") != "ok":
        text = f"{stage.summarizer.recipe}: the last call failed, {waiting}"
        return Finding("summaries", "problem", text)
    calls = sum(stage.queue.totals.calls.values())
    text = f"{stage.summarizer.recipe}: {calls} calls since the start, {waiting}"
    return Finding("summaries", "ok", text)


async def upstream(settings: Settings) -> tuple[Finding, Sequence[str]]:
    """Check whether the upstream answers, and return the models that it lists."""
    if settings.upstream is None:
        none = "none: the chat routes answer 503, /context_memory works"
        return Finding("upstream", "ok", none), ()
    key = settings.upstream_api_key
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return await _listing("upstream", settings.upstream, headers, keyed=bool(key))


async def messages(settings: Settings) -> tuple[Sequence[Finding], Sequence[str]]:
    """Check the upstream of the Messages API in the same way; nothing if `upstream` serves it."""
    key = settings.anthropic_upstream_api_key
    if not is_apart(settings):
        unused = (
            "anthropic_upstream_api_key goes nowhere: requests to /messages go to upstream, and a "
            "key never goes to another's address; name anthropic_upstream"
        )
        return ((Finding("messages", "warning", unused),) if key else ()), ()
    base = anthropic_base(settings)
    if base is None:
        return (Finding("messages", "ok", "none: /messages answers 503"),), ()
    headers = {VERSION_HEADER: VERSION, **({X_API_KEY.decode(): key} if key else {})}
    finding, listed = await _listing("messages", base, headers, keyed=bool(key))
    if finding.level == "problem" and settings.anthropic_upstream == AUTO:
        finding = replace(finding, level="warning")  # it was not configured explicitly
    return (finding,), listed


async def _listing(
    part: str, base: str, headers: dict[str, str], *, keyed: bool
) -> tuple[Finding, Sequence[str]]:
    import httpx2  # noqa: PLC0415  45 ms, for a check alone

    shown = without_password(base)
    try:
        async with httpx2.AsyncClient(timeout=SECONDS, trust_env=False) as client:
            answer = await client.get(f"{base.rstrip('/')}/models", headers=headers)
    except httpx2.HTTPError as error:
        text = f"{shown} does not answer ({type(error).__name__})"
        return Finding(part, "problem", text), ()
    denied = answer.status_code == httpx2.codes.UNAUTHORIZED
    note = " (no key of our own: clients bring theirs)" if denied and not keyed else ""
    text = f"{shown} answers {answer.status_code}{note}"
    return Finding(part, "ok", text), listed_models(answer)
