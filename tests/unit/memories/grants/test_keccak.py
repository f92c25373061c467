import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.memories.grants.evm import RATE, keccak256, keccak256_many

# The team's own vectors (KeccakKAT, ShortMsgKAT_256), and what wallets' documents show
VECTORS = {
    b"": "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
    b"\xcc": "eead6dbfc7340a56caedc044696a168870549a6a7f6f56961e84a54bd9970b8a",
    b"\x41\xfb": "a8eaceda4d47b3281a795ad9e1ea2122b407baf9aabcb9e18b5717b7873537d2",
    b"abc": "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
    b"transfer(address,uint256)": (
        "a9059cbb2ab09eb219583f4a59a5d0623ade346d962bcd4e46b11da047c9049b"
    ),
}


@pytest.mark.parametrize("message", VECTORS)
def test_published_vectors(message):
    assert keccak256(message).hex() == VECTORS[message]


@pytest.mark.parametrize("length", [RATE - 2, RATE - 1, RATE, RATE + 1, 2 * RATE - 1, 2 * RATE])
def test_lengths_around_a_block_hash_apart(length):
    """The padding of the last block may have one byte, or all."""
    assert keccak256(bytes(length)) != keccak256(bytes(length + 1))


@pytest.mark.parametrize("length", [0, 1, RATE - 1, RATE, RATE + 1, 3 * RATE - 1, 1000])
def test_the_permutation_is_that_of_sha3(length):
    """SHA3-256 is the same with another first byte of padding: that is the standard library's."""
    message = bytes(at % 251 for at in range(length))
    assert keccak256(message, padding=6) == hashlib.sha3_256(message).digest()


@given(st.lists(st.binary(max_size=3 * RATE + 1), max_size=33))
def test_many_are_hashed_as_each_alone(messages):
    assert keccak256_many(messages, 6) == [hashlib.sha3_256(one).digest() for one in messages]
    assert keccak256_many(messages[:3]) == [keccak256(one) for one in messages[:3]]
