"""Answers of `GET /v1/requests` for the page of requests, with rows of every kind."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

CONVERSATIONS = ("The tea bar", "Berths and tides", "", "Reconcile each voucher")
KINDS: tuple[dict[str, Any], ...] = (
    {"state": "packed", "epoch": "ab" * 16, "turn": 3, "posted_tokens": 41_200,
     "sent_tokens": 9_800, "cached_tokens": 7_900, "written_tokens": 1_900, "saved_tokens": 9_310},
    {"state": "below-threshold", "posted_tokens": 6_100, "sent_tokens": 6_100},
    {"state": "passed", "reason": "cheaper-whole", "posted_tokens": 18_000,
     "sent_tokens": 18_000, "cached_tokens": 17_100},
    {"state": "packed", "epoch": "cd" * 16, "turn": 1, "posted_tokens": 22_000,
     "sent_tokens": 9_100, "saved_tokens": -4_120},
    {"state": "off", "address": None, "title": ""},
    {"state": None, "status": 502, "error_type": "upstream_error", "address": None, "title": ""},
    {"state": "degraded:embedder", "epoch": "ab" * 16, "turn": 4, "posted_tokens": 43_000,
     "sent_tokens": 9_900, "saved_tokens": 8_000, "memories": 2, "recalled": 1, "retries": 1},
)  # fmt: skip
CLIENTS = ("claude-code", "opencode", "other")


def logged(number: int, time: datetime, **fields: Any) -> dict[str, Any]:
    """A row, which is another for each number."""
    return {
        "id": f"{number:016x}",
        "time": time.isoformat().replace("+00:00", "Z"),
        "client": CLIENTS[number % len(CLIENTS)],
        "dialect": ("chat", "messages", "responses")[number % 3],
        "model": "gpt-5.1",
        "address": f"{number + 1:064x}",
        "conversation": f"{number % len(CONVERSATIONS) + 1:064x}",
        "title": CONVERSATIONS[number % len(CONVERSATIONS)],
        "reason": None,
        "epoch": None,
        "turn": None,
        "posted_tokens": None,
        "sent_tokens": None,
        "cached_tokens": None,
        "written_tokens": None,
        "output_tokens": 300 + number,
        "saved_tokens": 0,
        "first_token_ms": 700 + 10 * number,
        "total_ms": 4_000 + 100 * number,
        "memories": 0,
        "recalled": 0,
        "retries": 0,
        "wrap_run": None,
        "status": 200,
        "error_type": None,
        **KINDS[number % len(KINDS)],
        **fields,
    }


def rows(count: int, newest: datetime) -> list[dict[str, Any]]:
    """So many, a minute apart, the newest first."""
    return [logged(number, newest - timedelta(minutes=number)) for number in range(count)]


def page_of(listed: list[dict[str, Any]], cursor: str | None = None) -> dict[str, Any]:
    """One answer that holds all of these."""
    sums = ("posted_tokens", "sent_tokens", "saved_tokens")
    totals = {name: sum(row[name] or 0 for row in listed) for name in sums}
    totals |= {"requests": len(listed), "folded": sum(bool(row["epoch"]) for row in listed)}
    return {"requests": listed, "totals": totals, "next_cursor": cursor}
