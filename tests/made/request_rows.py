"""Rows of the log of requests, for tests."""

from __future__ import annotations

from typing import Any

from memtree.ports.request_log import UNKNOWN, RequestRow


def row(id_: str, **fields: Any) -> RequestRow:
    """A row of a request without memory, but for these fields."""
    known = {
        "number": 0,
        "time": 1.0,
        "client": "curl",
        "dialect": "chat",
        "model": "m",
        "address": b"",
        "conversation": fields.get("address", b""),
        "state": "off",
        "reason": "",
        "epoch": b"",
        "turn": 0,
        **dict.fromkeys(
            "posted_tokens sent_tokens cached_tokens written_tokens output_tokens".split(), UNKNOWN
        ),
        "saved_tokens": 0,
        "saved_before": 0,
        "first_token_ms": 5,
        "total_ms": 9,
        "memories": 0,
        "recalled": 0,
        "retries": 0,
        "wrap_run": "",
        "status": 200,
        "error_type": "",
    }
    return RequestRow(id=id_, **{**known, **fields})
