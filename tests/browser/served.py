"""A running server as a test of the pages sees it."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from tests.browser.chat.chat_upstream import ChatUpstream
from tests.made.scripted import Script, Scripted, Step
from tests.programs.server import Server

NOBODY_ASKED = "nobody was asked for the key yet"
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Served:
    """A server for one test. `key`: what the page and the test say who they are with. `host`: what
    the browser calls it."""

    server: Server
    upstream: Scripted
    key: str
    host: str = "127.0.0.1"

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.server.port}"

    def script(self, *steps: Step) -> Script:
        """Return what the upstream answers this test's key."""
        return self.upstream.script(self.key, steps)

    def call(self, method: str, path: str, json: Any = None, **headers: str) -> httpx.Response:
        """A request to the API as this test's tenant; `path` as in "/v1/memories"."""
        sent = {"authorization": f"Bearer {self.key}"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.request(
            method, self.server.url + path, json=json, headers=sent, timeout=180, trust_env=False
        )


@dataclass(frozen=True, slots=True)
class Chatting:
    """A server for one test of the chat, and the upstream whose answers the test writes."""

    served: Served
    upstream: ChatUpstream


def new_key() -> str:
    """No two tests share one, nor two processes."""
    return f"sk-test-{os.getpid()}-{next(_numbers)}"


def keyed(serve: Callable[..., Served], folder: Path) -> Served:
    """A server of the fixture `serve` with one access key, which is the test's own."""
    key = new_key()

    command = [sys.executable, "-m", "memtree_proxy.cli", "keys", "create", "own", "--value", key]
    store = f"sqlite:///{folder / 'own.db'}"
    subprocess.run([*command, "--store", store], check=True, capture_output=True)
    return replace(serve(), key=key)
