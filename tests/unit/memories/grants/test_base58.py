import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.memories.grants import ed25519

# draft-msporny-base58, section 5
VECTORS = {
    b"Hello World!": "2NEpo7TZRRrLZSi2U",
    b"The quick brown fox jumps over the lazy dog.": (
        "USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z"
    ),
    bytes.fromhex("0000287fb4cd"): "11233QC4",
}


@pytest.mark.parametrize("raw", VECTORS)
def test_published_vectors(raw):
    assert ed25519.base58_encoded(raw) == VECTORS[raw]
    assert ed25519.base58_decoded(VECTORS[raw], len(raw)) == raw


@given(st.binary(min_size=1, max_size=70))
def test_what_is_encoded_is_decoded(raw):
    assert ed25519.base58_decoded(ed25519.base58_encoded(raw), len(raw)) == raw


@given(st.binary(max_size=34))
def test_another_size_is_refused(raw):
    found = ed25519.base58_decoded(ed25519.base58_encoded(raw), 32)
    assert (found == raw) if len(raw) == 32 else found is None


@given(st.text(alphabet=ed25519.ALPHABET, max_size=46))
def test_no_two_texts_mean_the_same_bytes(text):
    found = ed25519.base58_decoded(text, 32)
    assert found is None or ed25519.base58_encoded(found) == text


@pytest.mark.parametrize("text", ["", "0" * 32, "O" * 43, "l" * 43, "I" * 43, "é" * 32, " " * 32])
def test_other_characters_are_refused(text):
    assert ed25519.base58_decoded(text, 32) is None
