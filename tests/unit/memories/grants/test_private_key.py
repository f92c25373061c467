import pytest

from memtree.memories.grants.grant import Chain
from memtree.memories.grants.wallets import (
    PrivateKey,
    chain_of,
    is_signed_by,
    read_private_key,
)


@pytest.mark.parametrize("chain", list(Chain))
def test_a_key_signs_as_its_address(chain):
    key = PrivateKey(chain, bytes(range(32)))
    assert chain_of(key.address) is chain
    assert is_signed_by(key.address, "text", key.sign("text"))
    assert read_private_key(key.exported) == key


@pytest.mark.parametrize("chain", list(Chain))
def test_a_key_is_not_shown_by_accident(chain):
    raw = b"\x07" * 32
    shown = f"{PrivateKey(chain, raw)}"
    assert raw.hex() not in shown
    assert repr(raw) not in shown


def test_what_is_no_key():
    for text in ("", "0x", "secret", "0" * 64, "1" * 88):
        assert read_private_key(text) is None
