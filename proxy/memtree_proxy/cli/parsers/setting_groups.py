"""Titles under which the help groups settings, where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field
from typing import Any

FEW = 10  # up to this many settings need no groups
# A setting belongs to the group that has its name or the longest prefix of it.
GROUPS: dict[str, tuple[str, ...]] = {
    "where it listens, and who may come": (
        "host", "port", "open", "allowed_", "public_url", "ui", "metrics_key",
        "requests_per_minute", "trusted_proxies", "failed_keys_per_minute",
    ),
    "the model behind it": (
        "upstream", "anthropic_upstream", "model", "passthrough_routes", "window", "prices",
        "input_prices", "overflow_status", "json_wait",
    ),
    "where data is kept, and background work": (
        "home", "store", "queue", "worker_", "index_processes", "cache_mb", "expiration_days",
        "sessions",
    ),
    "memory of long conversations": (
        "memory", "mode", "target_tokens", "recall_tools", "volatile_tags", "preamble_tags",
        "alternate", "keep_", "protected_tools", "max_waits", "wait_seconds",
    ),
    "saved memories": (
        "memories_", "max_text_chars", "max_memories", "max_imports", "import_", "extraction_chars",
        "deleted_days", "agent_", "strict_",
    ),
    "embeddings: ranking by meaning": ("embedder", "embedding_"),
    "summaries by a model": ("summary_",),
    "limits of requests": ("max_", "upload_seconds", "shutdown_seconds"),
    "logs and traces": ("log_", "requests_log", "otel_"),
}  # fmt: skip
OTHER = "other settings"


def grouped(settings: Sequence[Field[Any]]) -> dict[str, list[Field[Any]]]:
    """Group the settings by title, in the order of GROUPS; a few settings share one title."""
    if len(settings) <= FEW:
        return {"settings": list(settings)}
    by_title: dict[str, list[Field[Any]]] = {title: [] for title in (*GROUPS, OTHER)}
    for setting in settings:
        by_title[group_of(setting.name)].append(setting)
    return {title: members for title, members in by_title.items() if members}


def group_of(name: str) -> str:
    """Return the title of a setting's group."""
    fitting = [
        (len(beginning), title)
        for title, beginnings in GROUPS.items()
        for beginning in beginnings
        if name == beginning or name.startswith(f"{beginning.rstrip('_')}_")
    ]
    return max(fitting)[1] if fitting else OTHER
