"""tiktoken in the place of toktok: the same counts and cuts, and never a download."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import toktok

from memtree.errors import Unavailable
from memtree.text import tiktoken_counts
from memtree.text.tokens import ENCODING
from tests.unit.text.test_tokens import TEXTS, vocabulary

pytest.importorskip("tiktoken")


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No encoding is kept from before, neither here nor in tiktoken."""
    import tiktoken.load
    import tiktoken.registry

    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    monkeypatch.setattr(tiktoken.load, "read_file", tiktoken.load.read_file)
    tiktoken_counts.vocabulary.cache_clear()
    yield
    tiktoken_counts.vocabulary.cache_clear()


@pytest.mark.parametrize("text", TEXTS)
def test_counts_and_cuts_are_those_of_toktok(monkeypatch: pytest.MonkeyPatch, text: str):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary().parent))
    for limit in (1, 7, 50, 1 << 31):
        ours = tiktoken_counts.truncate(text, limit, ENCODING)
        assert ours == toktok.truncate(text, limit, ENCODING), limit
    many = tiktoken_counts.batch_count([text, "", text], ENCODING, 1)
    assert many == toktok.batch_count([text, "", text], ENCODING, 1)


def test_a_vocabulary_that_is_not_at_hand_is_not_fetched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("it asked the network"))
    with pytest.raises(Unavailable, match="install toktok-rs, or tiktoken with the vocabulary"):
        tiktoken_counts.truncate("hello", 1, ENCODING)
    assert list(tmp_path.iterdir()) == []
