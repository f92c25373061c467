"""Build the memory of a session before its first request: index imported conversations for the
tenant of the client's credential, in the configured store or by a running server."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
from rich.console import Console

from memtree.background.runtime import open_runtime
from memtree.config import Settings
from memtree.context.request import UNHURRIED, CompressRequest
from memtree.context.state import is_degraded
from memtree.conversation.message import Message
from memtree.errors import BadRequest, Unauthorized, Unavailable
from memtree.ports.store import Credentials
from memtree_proxy.access import auth
from memtree_proxy.cli.foreign_text import plain
from memtree_proxy.cli.progress import Progress, bar
from memtree_proxy.imports.conversation import Conversation, fields

Read = tuple[int, Conversation, tuple[Message, ...]]
POLL_SECONDS = 0.2
TIMEOUT = httpx2.Timeout(300, connect=10)  # the request runs the first stage of a long history


async def warm(
    chosen: Iterable[Read], options: argparse.Namespace, settings: Settings, console: Console
) -> None:
    """Index all conversations. Raises `BadRequest`, `Unauthorized`, or `Unavailable`."""
    key = _key(options)
    if options.server:
        await _by_server(chosen, options.server, key, console)
    else:
        await _in_store(chosen, settings, key, console)


async def tenant_of(keys: Credentials, credential: str | None) -> str:
    """Return the tenant that a server with this store would give the credential (see `auth.Gate`).

    Raises `Unauthorized` if the server would refuse it.
    """
    if await keys.has_keys():
        known = await keys.tenant_of(credential) if credential else None
        if known is None:
            why = "this key is not one of them" if credential else "give the client's with --key"
            raise Unauthorized(f"the store has access keys: {why}")
        return known
    return await auth.bare_tenant(keys, credential)


def _key(options: argparse.Namespace) -> str | None:
    """Return the client's credential: from an option, a prompt or a file."""
    given = options.key
    if options.key_file:
        try:
            given = Path(options.key_file).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadRequest(f"--key-file {options.key_file}: cannot be read: {error}") from error
    elif given == "-":
        asks = sys.stdin.isatty()
        given = getpass.getpass("API key of the client: ") if asks else sys.stdin.readline()
    if given is None:
        return None
    if not given.strip():
        raise BadRequest("--key: is empty")
    return str(given).strip()


async def _in_store(
    chosen: Iterable[Read], settings: Settings, key: str | None, console: Console
) -> None:
    if settings.store.startswith("memory:"):
        raise BadRequest("--warm: a store in memory ends with this command; name one with --store")
    async with open_runtime(settings, drain=0) as runtime:
        tenant = await tenant_of(runtime.store, key)
        for _, conversation, messages in chosen:
            ask = CompressRequest(
                tenant,
                messages,
                expiration_days=settings.expiration_days,
                patience=UNHURRIED,
            )
            answer = await runtime.memory.index(ask)
            _check(answer.state)
            await bar(runtime.memory, tenant, console)
            _tell(console, conversation, answer.raw_tokens, answer.indexed_tokens)
    _hint(console, key)


async def _by_server(
    chosen: Iterable[Read], server: str, key: str | None, console: Console
) -> None:
    base = _checked(server)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    # A proxy named in the environment is for outside addresses, not for this machine.
    outside = not auth.is_loopback(urlsplit(base).hostname or "")
    async with httpx2.AsyncClient(headers=headers, timeout=TIMEOUT, trust_env=outside) as client:
        for _, conversation, messages in chosen:
            raw = b",".join(message.raw for message in messages)
            body = b'{"index_only":true,"messages":[' + raw + b"]}"
            answer = await _asked(client, "POST", f"{base}/context_memory", body)
            memory, usage = fields(answer.get("memory")), fields(answer.get("usage"))
            _check(str(memory.get("state")))
            with Progress(console) as progress:
                while left := await _pending(client, base):
                    progress.show(left)
                    await asyncio.sleep(POLL_SECONDS)
            tokens, indexed = usage.get("prompt_tokens"), memory.get("indexed_tokens")
            _tell(console, conversation, tokens or 0, indexed or 0)
    _hint(console, key)


async def _pending(client: httpx2.AsyncClient, base: str) -> int:
    status = await _asked(client, "GET", f"{base}/context_memory/status")
    return int(status.get("pending_tokens") or 0)


async def _asked(
    client: httpx2.AsyncClient, method: str, url: str, body: bytes | None = None
) -> dict[str, Any]:
    sent = {"Content-Type": "application/json"} if body else None
    try:
        answer = await client.request(method, url, content=body, headers=sent)
    except httpx2.HTTPError as error:
        raise Unavailable(f"{url}: {str(error) or type(error).__name__}") from error
    shown = _object(answer)
    if answer.is_success and shown is not None:
        return shown
    why = fields((shown or {}).get("error")).get("message")
    raise Unavailable(f"{url}: status {answer.status_code}: {why or 'not a MemTree server'}")


def _check(state: str) -> None:
    if is_degraded(state):
        raise Unavailable(f"--warm: nothing was kept ({state})")


def _object(answer: httpx2.Response) -> dict[str, Any] | None:
    try:
        shown = answer.json()
    except ValueError:
        return None
    return shown if isinstance(shown, dict) else None


def _checked(server: str) -> str:
    if not server.startswith(("http://", "https://")):
        raise BadRequest(f"--server {server}: must be a URL beginning with http:// or https://")
    return server.rstrip("/")


def _tell(console: Console, conversation: Conversation, tokens: int, indexed: int) -> None:
    text = f"{conversation.title}: {tokens:,} tokens, {indexed:,} indexed"
    console.print(plain(text), markup=False, highlight=False, soft_wrap=True)


def _hint(console: Console, key: str | None) -> None:
    if key is None:
        text = "Without --key this memory is for requests without a credential."
        console.print(text, style="dim")
