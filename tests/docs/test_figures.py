"""Figures in the pages that the code decides are the code's."""

from __future__ import annotations

import pytest

from memtree.budget.packing import THRESHOLD
from memtree.config import Settings
from memtree_proxy.chat import model_tables
from tests.docs.pages import ROOT

SETTINGS = Settings()


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("questions", f"{SETTINGS.max_messages:,} messages and {SETTINGS.max_body_bytes >> 20} MB"),
        ("questions", f"{SETTINGS.target_tokens:,} tokens unless you say otherwise"),
        ("questions", f"Conversations for {SETTINGS.expiration_days} days after their last use"),
        ("questions", f"{model_tables.DEFAULT:,} tokens for every other model"),
        ("modes", f"assumes {model_tables.DEFAULT:,} tokens for any other"),
        ("modes", f"larger than {THRESHOLD:,} tokens"),
        ("context-memory", f"A history under {THRESHOLD:,} tokens comes back unchanged"),
        (
            "chat-completions",
            f"up to {SETTINGS.wait_seconds // 60:.0f} minutes".replace("5", "five"),
        ),
        ("memories", f"at most {SETTINGS.max_text_chars:,} characters"),
        ("memories", f"within {SETTINGS.embedding_seconds} seconds (`--embedding-seconds`)"),
        ("memories", f"brought back for {SETTINGS.deleted_days} days"),
        ("deployment", f"`MEMTREE_SHUTDOWN_SECONDS` ({SETTINGS.shutdown_seconds})"),
        ("getting-started", f"http://{SETTINGS.host}:{SETTINGS.port}/v1"),
    ],
)
def test_figures_are_the_codes(page: str, said: str):
    text = " ".join((ROOT / f"docs/{page}.md").read_text("utf-8").split())
    assert said in text
