"""`memtree status`: show what memory saves this user now. `--line` prints an agent's status line.

    tokens posted by the newest request -> tokens sent to the model, saved by today's requests

Under `memtree wrap` the agent's own base URL identifies its run, so the line is about its session.
Elsewhere it shows the newest request of this machine's user, and says that it belongs to another
session; without any request it says how to use memory. The line is drawn again and again, so this
file is also a program of its own, which imports no other command's parser. It queries the store by
its own SQL, since opening a store takes longer than everything else.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sqlite3
import sys
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from memtree.config import Settings, environment
from memtree.data_folder import STORE_FILE, data_folder
from memtree.tenant_names import LOCAL
from memtree_proxy.server.state_file import known_servers

ADDRESSES = ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL")
SECONDS = 2.0
_WRAPPED = "/w/"
_NEWEST = """
    SELECT posted_tokens, sent_tokens, (
        SELECT coalesce(sum(saved_tokens), 0) FROM requests AS today
        WHERE today.tenant = requests.tenant AND today.time >= ?)
    FROM requests WHERE tenant = (SELECT number FROM tenants WHERE name = ?)
        AND posted_tokens > 0 AND sent_tokens > 0
    ORDER BY time DESC, number DESC LIMIT 1"""
OFF = "memtree: this session does not go through it; `memtree wrap` starts one that does"


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Print the status. A missing server is no error, since a status line has nowhere to show an
    error."""
    if options.line:
        print_line(settings.data_folder)
        return 0
    servers = []
    for state in known_servers(settings.data_folder):
        what = "for `memtree wrap`" if state.for_wraps else "memtree serve"
        answers = _get(state.url, "/health") is not None
        servers.append({"url": state.url, "for_wraps": state.for_wraps, "version": state.version,
                        "answers": answers})  # fmt: skip
        if not options.json:
            print(f"{state.url}  {what}, {state.version}{'' if answers else ', does not answer'}")
    if options.json:
        print(json.dumps({"servers": servers, **_numbers_here(settings.data_folder)}))
    else:
        print(_line_here(settings.data_folder))
    return 0


def print_line(folder: Path | None) -> None:
    """Print the line. Reads and ignores what the agent writes about its session to standard input:
    the address identifies the session."""
    if not sys.stdin.isatty():
        sys.stdin.buffer.read()
    print(_line_here(folder))


def _line_here(folder: Path | None) -> str:
    root = wrapped_root(environment())
    return line(*_wrapped(root)) if root else newest_line(folder, time.time())


def _wrapped(root: str) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the totals of a run of `memtree wrap`, and today's usage."""
    today = f"/usage?days=1&timezone={quote(time.strftime('%z'))}"
    return _get(root, "/wrap/totals"), _get(root, today)


def _numbers_here(folder: Path | None) -> dict[str, Any]:
    """Return the numbers of the line. `wrapped`: this session goes through MemTree."""
    root = wrapped_root(environment())
    totals, usage = _wrapped(root) if root else (None, None)
    posted, sent, saved = newest_row(folder, time.time()) or (None, None, None)
    if root:
        known = {**(totals or {}), **(usage or {})}
        posted, sent, saved = map(known.get, ("last_posted", "last_sent", "saved_tokens"))
    return {"wrapped": bool(root), "posted_tokens": posted, "sent_tokens": sent,
            "saved_tokens_today": saved}  # fmt: skip


def newest_line(folder: Path | None, now: float) -> str:
    """Describe the newest request of this machine's user in the store of a data folder."""
    row = newest_row(folder, now)
    if row is None:
        return OFF
    posted, sent, saved = row
    text = line({"requests": 1, "last_posted": posted, "last_sent": sent}, {"saved_tokens": saved})
    return f"memtree, newest session: {text}; this one does not go through it"


def newest_row(folder: Path | None, now: float) -> tuple[int, int, int] | None:
    """Return the tokens of that request, posted and sent, and those saved today."""
    path = folder / STORE_FILE if folder else None
    row = None
    with suppress(sqlite3.Error):  # the database is of an older version, or busy
        if path and path.is_file():
            address = f"{path.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(address, uri=True, timeout=SECONDS / 10)) as db:
                midnight = time.mktime((*time.localtime(now)[:3], 0, 0, 0, 0, 0, -1))
                row = db.execute(_NEWEST, (midnight, LOCAL)).fetchone()
    return row


def wrapped_root(env: Mapping[str, str]) -> str | None:
    """Return the address, without `/v1`, of the wrapped path that this process uses."""
    for name in ADDRESSES:
        given = env.get(name, "")
        if urlsplit(given).hostname == "127.0.0.1" and _WRAPPED in given:
            return given.removesuffix("/v1")
    return None


def line(totals: Mapping[str, Any] | None, usage: Mapping[str, Any] | None) -> str:
    """Describe the newest request, and the tokens saved today.

    >>> line({"requests": 3, "last_posted": 412_300, "last_sent": 18_200},
    ...      {"saved_tokens": 2_140_000})
    '412k -> 18k, saved 2.1M today'
    """
    if totals is None:
        return "memtree: its server has ended"
    if not totals["requests"]:
        return "memtree: no request yet"
    shown = f"{short(totals['last_posted'])} -> {short(totals['last_sent'])}"
    saved = (usage or {}).get("saved_tokens", 0)
    return f"{shown}, saved {short(saved)} today" if saved > 0 else shown


def _get(root: str | None, path: str) -> dict[str, Any] | None:
    """Fetch JSON from a server of this machine; returns None if it does not answer."""
    url = urlsplit(root or "")
    if not url.hostname:
        return None
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=SECONDS)
    try:
        connection.request("GET", url.path + path)
        answer = connection.getresponse()
        return dict(json.loads(answer.read())) if answer.status == 200 else None
    except (OSError, ValueError, TypeError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def short(tokens: float) -> str:
    """Write a number of tokens in a few characters.

    >>> short(950), short(18_200), short(2_140_000)
    ('950', '18k', '2.1M')
    """
    if tokens < 1_000:
        return f"{tokens:.0f}"
    return f"{tokens / 1_000:.0f}k" if tokens < 999_500 else f"{tokens / 1_000_000:.1f}M"


if __name__ == "__main__":
    own = environment()
    print_line(data_folder(own.get("MEMTREE_HOME"), own, sys.platform))
