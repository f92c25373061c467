"""Receipts of deletions, as the tests read them."""

from __future__ import annotations

from typing import Any


def counts(receipt: dict[str, Any]) -> tuple[int, bool]:
    """How many memories went, and whether that is verified."""
    assert set(receipt) == {"deleted", "verified", "apart"}
    assert receipt["apart"]["other_scopes"] == "kept"
    return receipt["deleted"], receipt["verified"]
