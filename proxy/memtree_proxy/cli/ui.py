"""`memtree ui`: open the web pages of a running server, as this machine's user."""

from __future__ import annotations

import argparse
import asyncio
import hmac
import secrets
import webbrowser
from collections.abc import Sequence

import httpx2

from memtree.config import Settings
from memtree.errors import BadRequest
from memtree_proxy.http.local_user import CODE_SECONDS, new_code, server_proof
from memtree_proxy.server.page_session import PATH
from memtree_proxy.server.state_file import ServerState, known_servers

SECONDS = 5.0  # seconds for a server to answer


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Open the pages. Raises `BadRequest` if no server with pages is running, or several are."""
    server = await chosen_server(settings, options.only_port)
    address = f"{server.url}/ui#code={new_code(server.secret)}"
    if not options.only_print and await asyncio.to_thread(webbrowser.open, address):
        print(f"opened {server.url}/ui in a browser")
        return 0
    print(f"Open this address within {CODE_SECONDS} seconds; it is good once:\n{address}")
    return 0


async def chosen_server(settings: Settings, port: int | None) -> ServerState:
    """Return the one running server (on `port`, if given), after it has proved to be that of its
    state file.

    Raises `BadRequest` if there is none, or more than one to choose from.
    """
    known = [each for each in known_servers(settings.data_folder) if port in (None, each.port)]
    proven = await asyncio.gather(*(proves_itself(each) for each in known))
    servers = [server for server, sound in zip(known, proven, strict=True) if sound]
    # A server of `memtree wrap` ends by itself, so it is chosen only if there is no other.
    running = [server for server in servers if not server.for_wraps] or servers
    if len(running) == 1:
        return running[0]
    raise BadRequest(_refusal(running, port, settings), param="port")


async def proves_itself(server: ServerState) -> bool:
    """Return True if the listening process knows the secret of the state file: the server may have
    been killed, and its port reused by another program."""
    nonce = secrets.token_urlsafe(16)
    try:
        async with httpx2.AsyncClient(timeout=SECONDS, trust_env=False) as client:
            answer = await client.get(server.url + PATH, params={"nonce": nonce})
            proof = str(answer.json()["proof"])
    except (httpx2.HTTPError, ValueError, KeyError, TypeError):
        return False
    return hmac.compare_digest(proof.encode(), server_proof(server.secret, nonce).encode())


def _refusal(running: Sequence[ServerState], port: int | None, settings: Settings) -> str:
    if running:
        places = ", ".join(each.url for each in running)
        return f"several servers run ({places}): name one with --port"
    where = f" on port {port}" if port is not None else ""
    return (
        f"no server of this user with web pages runs{where}; `memtree serve` starts one "
        f"(looked in {settings.data_folder or 'no folder: HOME is not set'})"
    )
