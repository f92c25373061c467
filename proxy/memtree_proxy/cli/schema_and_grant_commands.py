"""Runs `memtree schemas` and `memtree grants`.

`schemas` manages the schemas of structured memories, one for each kind. It is for the operator: it
opens the store itself, beside a running server, which notices a change with the next memory.

`grants` creates test wallets, and signs, inspects, encodes and revokes grants. A private key is
read from a file or standard input, never from an argument: arguments are visible in the list of
processes and in the shell's history.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from memtree.agents import evm
from memtree.agents.grant import Chain, GrantPayload, SignedGrant, grant_digest, signed_text
from memtree.agents.grant_book import GrantBook
from memtree.agents.grant_json import (
    CODE_PREFIX,
    grant_json,
    read_grant,
    read_share_code,
    share_code,
)
from memtree.agents.schema_book import SchemaBook
from memtree.agents.wallets import (
    PrivateKey,
    canonical_address,
    chain_of,
    is_signed_by,
    read_private_key,
    shown_address,
)
from memtree.config import Settings
from memtree.errors import BadRequest, NotFound
from memtree.jobs.runtime import SystemClock
from memtree.memories.checked_fields import ttl_seconds
from memtree.memories.scope import checked_id
from memtree.stores import open_memories
from memtree_proxy.cli.foreign_text import json_line, one_line, plain, plain_json
from memtree_proxy.cli.key_commands import named_tenant, opened, secret
from memtree_proxy.wire.schema_and_grant_bodies import ShownSchema

STDIN = "-"
_ONCE = "This is the only time the private key is shown. Use it for tests: it was on a screen."


async def show_all(options: argparse.Namespace, settings: Settings) -> int:
    async with _book(options, settings) as (book, tenant):
        for schema in await book.list(tenant):
            if options.json:
                print(json_line(ShownSchema.of(schema)))
            else:
                unique = f"  (one for each {', '.join(schema.unique_on)})" * bool(schema.unique_on)
                description = f"  {one_line(schema.description)}" * bool(schema.description)
                print(f"{schema.kind}{plain(unique)}{description}")
    return 0


async def show(options: argparse.Namespace, settings: Settings) -> int:
    async with _book(options, settings) as (book, tenant):
        print(plain_json((await book.get(tenant, options.kind)).document))
    return 0


async def keep(options: argparse.Namespace, settings: Settings) -> int:
    document = _read_schema(options.file)
    async with _book(options, settings) as (book, tenant):
        put = await book.put(tenant, options.kind, document, options.unique_on, options.description)
    print(f"{put.schema.kind} {'kept' if put.created else 'replaced'}")
    return 0


async def remove(options: argparse.Namespace, settings: Settings) -> int:
    async with _book(options, settings) as (book, tenant):
        if options.dry_run:
            await book.get(tenant, options.kind)
            print(f"{options.kind} would be deleted; its memories stay")
            return 0
        if not await book.delete(tenant, options.kind):
            raise NotFound("There is no schema of this kind.")
    print(f"{options.kind} deleted; its memories stay")
    return 0


@asynccontextmanager
async def _book(
    options: argparse.Namespace, settings: Settings
) -> AsyncIterator[tuple[SchemaBook, str]]:
    async with opened(settings.store) as store:
        memories = open_memories(store)
        tenant = await named_tenant(store, memories, options.tenant)
        yield SchemaBook(memories, SystemClock()), tenant


def _read_schema(file: str) -> str:
    try:
        return sys.stdin.read() if file == STDIN else Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise BadRequest(f"{file}: {why}") from None


async def new_wallet(options: argparse.Namespace, _: Settings) -> int:
    wallet = PrivateKey(Chain(options.chain), secrets.token_bytes(32))
    if options.output is None:
        print(f"{wallet.address}\n{wallet.exported}\n{_ONCE}")
        return 0
    try:
        handle = os.open(options.output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise BadRequest(f"--output: {options.output}: {error.strerror}") from None
    with os.fdopen(handle, "w") as file:
        file.write(f"{wallet.exported}\n")
    print(wallet.address)
    return 0


async def sign(options: argparse.Namespace, _: Settings) -> int:
    file = options.key_file
    wallet = read_private_key(
        secret("private key: ") if file is None else _file(file, "--key-file")
    )
    if wallet is None:
        raise BadRequest("this is not a private key: 32 bytes in hex, or 64 or 32 bytes in base58")
    payload = GrantPayload(
        grantor=wallet.address,
        grantee=_grantee(options.to),
        expires=int(time.time() + ttl_seconds(options.expires_in, "--expires-in")),
        agent=None if options.agent is None else checked_id(options.agent, "--agent"),
        subject=None if options.subject is None else checked_id(options.subject, "--subject"),
    )
    grant = SignedGrant(payload, wallet.sign(signed_text(payload)), wallet.chain)
    print(share_code(grant) if options.code else _json(grant))
    return 0


async def inspect(options: argparse.Namespace, _: Settings) -> int:
    """Inspect a grant. Returns exit code 1 if nobody could open anything with it."""
    grant = _read(_text(options.grant))
    payload = grant.payload
    ends = datetime.fromtimestamp(payload.expires, UTC).replace(tzinfo=None)
    sound = is_signed_by(payload.grantor, signed_text(payload), grant.signature)
    expired = payload.expires <= time.time()
    print(f"id         {grant_digest(payload).hex()}")
    print(f"grantor    {shown_address(payload.grantor)}  ({grant.chain})")
    print(f"grantee    {shown_address(payload.grantee)}")
    print(f"agent      {one_line(payload.agent or 'all')}")
    print(f"subject    {one_line(payload.subject or 'all')}")
    print(f"expires    {ends.isoformat()}Z{'  (it has expired)' * expired}")
    print(f"signature  {'valid' if sound else 'not of its grantor'}")
    return 0 if sound and not expired else 1


async def convert(options: argparse.Namespace, _: Settings) -> int:
    text = _text(options.grant)
    grant = _read(text)
    print(_json(grant) if text.startswith(CODE_PREFIX) else share_code(grant))
    return 0


async def revoke(options: argparse.Namespace, settings: Settings) -> int:
    grant = _read(_text(options.grant))
    grantor = canonical_address(grant.payload.grantor) or ""
    async with opened(settings.store) as store:
        memories = open_memories(store)
        tenant = (await memories.wallet_tenants([grantor])).get(grantor)
        if tenant is None:
            raise NotFound("nobody has proved the grantor's wallet in this store: it opens nothing")
        new = await GrantBook(memories, SystemClock()).revoke(tenant, grant)
    print("revoked" if new else "it opened nothing before: it was revoked, or has expired")
    return 0


async def show_wallets(options: argparse.Namespace, settings: Settings) -> int:
    async with opened(settings.store) as store:
        memories = open_memories(store)
        rows = await memories.wallets(await named_tenant(store, memories, options.tenant))
    for address, since in rows:
        shown = datetime.fromtimestamp(since, UTC).date()
        print(f"{shown_address(address)}  {chain_of(address)}  since {shown}")
    if not rows:
        print("it has no wallets")
    return 0


async def release(options: argparse.Namespace, settings: Settings) -> int:
    """Release a wallet from whichever tenant holds it, for an owner whose proof somebody else used
    first."""
    address = canonical_address(options.address)
    if address is None:
        raise BadRequest("ADDRESS is not the address of a wallet")
    async with opened(settings.store) as store:
        memories = open_memories(store)
        tenant = (await memories.wallet_tenants([address])).get(address)
        if tenant is None or not await memories.release_wallet(address, tenant):
            raise NotFound("nobody has proved this wallet in this store")
    print(f"{shown_address(address)} was tenant {tenant}'s and is free")
    return 0


def _grantee(address: str) -> str:
    """Check and return the grantee's address: a typing error would give the grant to nobody, or to
    somebody else."""
    if canonical_address(address) is None:
        raise BadRequest("--to is not the address of a wallet")
    if chain_of(address) is Chain.EVM and evm.has_wrong_checksum(address):
        raise BadRequest(
            "--to: capitals and small letters of this address do not fit its digits (EIP-55): "
            "there is a typing error in it"
        )
    return shown_address(address)


def _read(text: str) -> SignedGrant:
    if text.startswith(CODE_PREFIX):
        return read_share_code(text)
    try:
        return read_grant(msgspec.json.decode(text))
    except msgspec.DecodeError as error:
        raise BadRequest("GRANT is neither a share code nor JSON") from error


def _text(given: str) -> str:
    if given.startswith(CODE_PREFIX):
        return given
    return sys.stdin.read().strip() if given == STDIN else _file(given, "GRANT")


def _file(path: str, name: str) -> str:
    try:
        return Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "no text"
        raise BadRequest(f"{name}: {path}: {problem}") from None


def _json(grant: SignedGrant) -> str:
    return msgspec.json.encode(grant_json(grant)).decode()
