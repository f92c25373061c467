"""Token counts are those of tiktoken, and cuts by tokens are as long as they may be."""

from __future__ import annotations

from hashlib import sha1
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree.text import tokens
from tests.properties.strategies import code, exotic, prose

VOCABULARY = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
TEXTS = [prose(1, 120), code(2, 30), exotic(3, 60), "    \n\n" * 20, "x" * 300, "漢字" * 40]


def vocabulary() -> Path:
    """litellm carries what tiktoken would download, under the name that tiktoken looks for."""
    litellm = find_spec("litellm")
    assert litellm
    assert litellm.origin
    folder = Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"
    return folder / sha1(VOCABULARY.encode()).hexdigest()


@pytest.fixture
def reference(monkeypatch):
    tiktoken = pytest.importorskip("tiktoken")
    assert vocabulary().exists()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary().parent))
    return tiktoken.get_encoding("o200k_base")


@pytest.mark.parametrize("text", TEXTS)
def test_counts_are_those_of_tiktoken(reference, text):
    assert tokens.count(text) == len(reference.encode(text, disallowed_special=()))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("limit", [1, 7, 50])
def test_prefix_is_that_of_tiktoken(reference, text, limit):
    ids = reference.encode(text, disallowed_special=())[:limit]
    whole = reference.decode_bytes(ids).decode("utf-8", "ignore")
    assert tokens.prefix(text, limit) == whole


def test_known_counts():
    assert tokens.count("") == 0
    assert tokens.count("hello world") == 2
    assert tokens.count_many(["", "hello", "hello world"]) == [0, 1, 2]
    assert tokens.count("<|endoftext|>") >= 1


texts = st.one_of(
    st.sampled_from(TEXTS), st.text(max_size=60), st.builds(prose, st.integers(0, 99), st.just(50))
)


@pytest.mark.slow
@settings(max_examples=40)
@given(texts, st.integers(-1, 60))
def test_a_prefix_fits_and_is_one(text, limit):
    found = tokens.prefix(text, limit)
    assert text.startswith(found)
    assert tokens.count(found) <= max(0, limit)
    assert found == text or tokens.count(text) > max(0, limit)
