"""`memtree status`: what memory does for this user now. `--line` is for an agent's status line.

    packed by the newest request -> what the model read, saved by all requests of today

Under `memtree wrap` the agent's own base URL leads to its run, so the line is that of its session.
Elsewhere it tells the newest request of this machine's user, and that it was another session's;
without any it says how memory would be used. It is drawn again and again, so this file is a program
of its own as well, which imports no parser of other commands; and it asks the store in SQL of its
own, since opening one takes longer than all the rest.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sqlite3
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from memtree.config import Settings, environment
from memtree.settings.data_folder import STORE_FILE, data_folder
from memtree.tenant_names import LOCAL
from memtree_proxy.cli.token_sizes import short
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
    """Never fails for want of a server: a status line has nowhere to show an error."""
    if options.line:
        print_line(settings.data_folder)
        return 0
    for state in known_servers(settings.data_folder):
        what = "for `memtree wrap`" if state.for_wraps else "memtree serve"
        answers = _get(state.url, "/health") is not None
        print(f"{state.url}  {what}, {state.version}{'' if answers else ', does not answer'}")
    print(_line_here(settings.data_folder))
    return 0


def print_line(folder: Path | None) -> None:
    """Print the line. What the agent tells of its session on standard input is read and left: the
    address says which session it is."""
    if not sys.stdin.isatty():
        sys.stdin.buffer.read()
    print(_line_here(folder))


def _line_here(folder: Path | None) -> str:
    root = wrapped_root(environment())
    if root:
        today = f"/usage?days=1&timezone={quote(time.strftime('%z'))}"
        return line(_get(root, "/wrap/totals"), _get(root, today))
    return newest_line(folder, time.time())


def newest_line(folder: Path | None, now: float) -> str:
    """Tell the newest request of this machine's user in the store of a data folder."""
    path = folder / STORE_FILE if folder else None
    row = None
    try:
        if path and path.is_file():
            address = f"{path.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(address, uri=True, timeout=SECONDS / 10)) as db:
                row = db.execute(_NEWEST, (_midnight(now), LOCAL)).fetchone()
    except sqlite3.Error:  # of an older version, or busy
        pass
    if row is None:
        return OFF
    posted, sent, saved = row
    text = line({"requests": 1, "last_posted": posted, "last_sent": sent}, {"saved_tokens": saved})
    return f"memtree, newest session: {text}; this one does not go through it"


def _midnight(now: float) -> float:
    """Return when this machine's day began, in unix seconds."""
    return time.mktime((*time.localtime(now)[:3], 0, 0, 0, 0, 0, -1))


def wrapped_root(env: Mapping[str, str]) -> str | None:
    """Return the address of the wrapped path that this process stands under, without `/v1`."""
    for name in ADDRESSES:
        given = env.get(name, "")
        if urlsplit(given).hostname == "127.0.0.1" and _WRAPPED in given:
            return given.removesuffix("/v1")
    return None


def line(totals: Mapping[str, Any] | None, usage: Mapping[str, Any] | None) -> str:
    """Tell the newest request and today.

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
    """Ask a server of this machine; None where it does not answer."""
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


if __name__ == "__main__":
    own = environment()
    print_line(data_folder(own.get("MEMTREE_HOME"), own, sys.platform))
