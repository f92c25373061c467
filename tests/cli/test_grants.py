"""`memtree grants` called in this process."""

from __future__ import annotations

import asyncio
import io
import json
import time
from pathlib import Path

import pytest

from memtree.agents.grant import Chain, grant_digest, signed_text
from memtree.agents.grant_json import grant_json, read_grant, read_share_code, share_code
from memtree.agents.wallets import is_signed_by, read_private_key
from memtree.stores import open_memories, open_store
from memtree_proxy.cli.main import main
from tests.made.wallets import Wallet

ADA, BOB = Wallet("Ada"), Wallet("Bob", Chain.SOLANA)
LATER = 4_102_444_800
GRANT = ADA.grant(BOB, expires=LATER, agent="a")


class Shell:
    def __init__(self, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self._capsys, self._patch = capsys, patch

    def run(self, *words: str, typed: str = "", code: int = 0) -> list[str]:
        """Lines of standard output, of standard error where it fails."""
        self._patch.setattr("sys.stdin", io.StringIO(typed))
        ended = main(["grants", *words])
        printed = self._capsys.readouterr()
        assert ended == code, printed.err
        return (printed.err if code and not printed.out else printed.out).splitlines()


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(capsys, monkeypatch)


@pytest.fixture
def store(tmp_path: Path) -> list[str]:
    """A store in which two tenants have a wallet each."""
    url = f"sqlite:///{tmp_path}/store.db"

    async def bind() -> None:
        opened = open_store(url)
        memories = open_memories(opened)
        await memories.prove_wallet(ADA.canonical, "t-ada", b"1", 0)
        await memories.prove_wallet(BOB.canonical, "t-bob", b"2", 0)
        await opened.close()

    asyncio.run(bind())
    return ["--store", url]


@pytest.mark.parametrize("chain", list(Chain))
def test_a_new_wallet_signs(shell: Shell, chain: Chain) -> None:
    address, key, warning = shell.run("new-wallet", "--chain", chain)
    assert "only time" in warning
    other, *_ = shell.run("new-wallet", "--chain", chain)
    assert other != address
    (line,) = shell.run("sign", "--to", BOB.address, typed=f"{key}\n")
    grant = read_grant(json.loads(line))
    assert (grant.payload.grantor, grant.payload.grantee) == (address, BOB.address)
    assert (grant.payload.agent, grant.payload.subject, grant.chain) == (None, None, chain)
    assert abs(grant.payload.expires - time.time() - 7 * 86_400) < 600
    assert is_signed_by(address, signed_text(grant.payload), grant.signature)


def test_a_key_goes_to_a_file_that_nobody_else_reads(shell: Shell, tmp_path: Path) -> None:
    (address,) = shell.run("new-wallet", "-o", "key")
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    written = read_private_key((tmp_path / "key").read_text().strip())
    assert written is not None
    assert written.address == address
    (said,) = shell.run("new-wallet", "-o", "key", code=1)
    assert said == "memtree: --output: key: File exists"
    limits = ("--agent", "a", "--subject", "u", "--expires-in", "1h", "--key-file", "key")
    (code,) = shell.run("sign", "--to", ADA.canonical, *limits, "--code")
    payload = read_share_code(code).payload
    assert (payload.grantor, payload.grantee) == (address, ADA.address)
    assert (payload.agent, payload.subject) == ("a", "u")
    assert abs(payload.expires - time.time() - 3600) < 600


@pytest.mark.parametrize(
    ("words", "typed", "said"),
    [
        (("--to", "0x1"), ADA.key.hex(), "--to is not the address of a wallet"),
        (("--to", ADA.address.swapcase().replace("X", "x")), ADA.key.hex(), "typing error"),
        (("--to", BOB.address), "", "the private key is empty"),
        (("--to", BOB.address), "a secret", "this is not a private key"),
        (("--to", BOB.address, "--agent", "*"), ADA.key.hex(), "--agent"),
        (("--to", BOB.address, "--expires-in", "soon"), ADA.key.hex(), "--expires-in"),
        (("--to", BOB.address, "--key-file", "none"), "", "--key-file: none: No such file"),
    ],
)
def test_what_cannot_be_signed(shell: Shell, words: tuple[str, ...], typed: str, said: str) -> None:
    (line,) = shell.run("sign", *words, typed=typed, code=1)
    assert said in line
    assert "secret" not in line


@pytest.mark.parametrize("key", [BOB.private.exported, BOB.key.hex()])
def test_keys_of_both_chains_are_told_apart(shell: Shell, key: str) -> None:
    (line,) = shell.run("sign", "--to", ADA.address, typed=key)
    assert json.loads(line)["c"] == ("evm" if key == BOB.key.hex() else "sol")


def test_a_grant_is_shown(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "grant.json").write_text(json.dumps(grant_json(GRANT)))
    shown = [
        f"id         {grant_digest(GRANT.payload).hex()}",
        f"grantor    {ADA.address}  (evm)",
        f"grantee    {BOB.address}",
        "agent      a",
        "subject    all",
        "expires    2100-01-01T00:00:00Z",
        "signature  valid",
    ]
    assert shell.run("inspect", "grant.json") == shown
    assert shell.run("inspect", share_code(GRANT)) == shown
    assert shell.run("inspect", "-", typed=share_code(GRANT) + "\n") == shown
    old = shell.run("inspect", share_code(ADA.grant(BOB, expires=1)), code=1)
    assert old[5] == "expires    1970-01-01T00:00:01Z  (it has expired)"
    forged = {**grant_json(GRANT), "s": BOB.sign("x")}
    (tmp_path / "grant.json").write_text(json.dumps(forged))
    assert shell.run("inspect", "grant.json", code=1)[6] == "signature  not of its grantor"


def test_codes_and_json_are_made_of_each_other(shell: Shell) -> None:
    (line,) = shell.run("convert", share_code(GRANT))
    assert json.loads(line) == grant_json(GRANT)
    assert shell.run("convert", "-", typed=line) == [share_code(GRANT)]


@pytest.mark.parametrize("given", ["{", "zkg1_x", "[]", "none.json"])
def test_what_is_no_grant(shell: Shell, given: str) -> None:
    words = (given,) if given.startswith("zkg1_") or "." in given else ("-",)
    (line,) = shell.run("inspect", *words, typed=given, code=1)
    assert line.startswith("memtree: ")


def test_the_operator_revokes_and_releases(shell: Shell, store: list[str]) -> None:
    code = share_code(GRANT)
    assert shell.run("revoke", code, *store) == ["revoked"]
    assert shell.run("revoke", code, *store)[0].startswith("it opened nothing before")
    shown = shell.run("wallets", "t-ada", *store, code=1)
    assert "there is no key t-ada" in shown[0]
    released = shell.run("release", ADA.address, *store)
    assert released == [f"{ADA.address} was tenant t-ada's and is free"]
    for words in (("release", ADA.address), ("revoke", code)):
        assert "nobody has proved" in shell.run(*words, *store, code=1)[0]
    assert "not the address" in shell.run("release", "0x1", *store, code=1)[0]
