"""Grants, addresses, signatures and proofs of hostile shapes, and what reads them;
`test_linear_time.py` measures it."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace

from memtree.agents import ed25519
from memtree.agents.evm import keccak256
from memtree.agents.grant_json import read_grant, read_header, read_share_code
from memtree.agents.wallets import WalletProof, is_signed_by, proven, read_private_key
from tests.hostile_texts import hostile
from tests.hostile_texts.linear_time import Subject
from tests.made.wallets import NOW, Wallet

ADDRESS = Wallet("Ada").address
SIGNATURE = Wallet("Ada").sign("text")


def grants(text: str) -> str:
    rows = [{"p": {"f": text, "g": text, "e": 1, "a": text}, "s": text, "c": "evm"}, text]
    return b64encode(json.dumps(rows).encode()).decode()


def fields(text: str) -> list[object]:
    payload = {"f": ADDRESS, "g": ADDRESS, "e": 1}
    sound = {"p": payload, "s": SIGNATURE, "c": "evm"}
    return [
        *({**sound, "p": {**payload, name: text}} for name in "aefgux"),
        {**sound, "p": {**payload, text: text}},
        {**sound, "s": text},
        {**sound, "c": text},
    ]


def read(values: list[object]) -> object:
    return [hostile.refused(read_grant)(value) for value in values]


def prove(text: str) -> object:
    sound = WalletProof(ADDRESS, str(int(NOW * 1000)), SIGNATURE, "GET", ("/memories",), b"")
    return [
        hostile.refused(lambda proof: proven(proof, NOW))(proof)
        for proof in (
            replace(sound, address=text),
            replace(sound, timestamp=text),
            replace(sound, signature=text),
        )
    ]


TEXTS = {
    "a header of grants": Subject(hostile.refused(read_header)),
    "grants of a header": Subject(hostile.refused(read_header), grants),
    "a grant": Subject(read, fields),
    "a share code": Subject(hostile.refused(read_share_code), lambda text: f"zkg1_{text}"),
    "base58": Subject(lambda text: ed25519.base58_decoded(text, 32)),
    "a private key": Subject(read_private_key),
    "a signed text": Subject(lambda text: is_signed_by(ADDRESS, text, SIGNATURE)),
    "a signature": Subject(lambda text: is_signed_by(ADDRESS, "", text)),
    "keccak": Subject(keccak256, str.encode),
    "a wallet's proof": Subject(prove),
}
READS = {
    "a header of grants": (*hostile.JSON, "W10=", "e30"),
    "a share code": ("e30", "=", "-_"),
    "base58": ("1", "z", "2"),
    "a private key": ("1", "z", "0x"),
    "a signature": ("0x", "ab", "A="),
}
