"""The examples of pages about memories, run as they stand there against a real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT, block
from tests.made.scripted import Scripted
from tests.programs.server import PATIENCE, Server


def page(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def examples(name: str, before: str = "") -> list[Any]:
    """All JSON of a page, or what is shown behind a line."""
    behind = f"{before}\n\n" if before else ""
    found = re.findall(rf"{behind}```json\n(.*?)```", page(name), re.DOTALL)
    assert found, (name, before)
    return [json.loads(text) for text in found]


def key_of(name: str, block_name: str) -> str:
    return f"{Path(name).stem}-{block_name}"


def as_shown(row: dict[str, Any], said: dict[str, Any], *changing: str) -> None:
    """An answer has the fields that the page shows, in its order, and but for some their values."""
    assert list(row) == list(said)
    drop = dict.fromkeys(changing)
    assert row | drop == said | drop


def ran(command: list[str], text: str, folder: Path | None = None, **environment: str) -> str:
    """Return what a command prints that is given the text."""
    if command[0] == "sh" and not shutil.which("curl"):
        pytest.skip("there is no curl")
    text = re.sub("^memtree ", f"{sys.executable} -m memtree_proxy.cli ", text, flags=re.MULTILINE)
    done = subprocess.run(
        [*command, text], env=os.environ | environment, capture_output=True, text=True,
        timeout=PATIENCE, check=False, cwd=folder or ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass(frozen=True)
class Shown:
    """A server in front of a scripted model. `key`: a tenant; "" for one of the block's own."""

    server: Server
    upstream: Scripted
    folder: Path

    def text(self, name: str, block_name: str) -> str:
        text = block(name, block_name)
        return text.replace("http://127.0.0.1:8787", self.server.url)

    def sh(self, name: str, block_name: str, key: str = "", folder: Path | None = None) -> str:
        settings = {
            "MEMTREE_STORE": f"sqlite:///{self.folder}/docs.db", "MEMTREE_EMBEDDER": "none",
            "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": key or key_of(name, block_name),
        }  # fmt: skip
        return ran(["sh", "-ec"], self.text(name, block_name), folder, **settings)

    def python(self, name: str, block_name: str, key: str = "") -> str:
        key = key or key_of(name, block_name)
        return ran([sys.executable, "-c"], self.text(name, block_name), OPENAI_API_KEY=key)

    def answers(self, name: str, block_name: str, folder: Path | None = None) -> list[Any]:
        """Return what the curls of a block answer."""
        told, decoder = self.sh(name, block_name, folder=folder), json.JSONDecoder()
        answers, at = [], 0
        while at < len(told):
            answer, at = decoder.raw_decode(told, at)
            answers.append(answer)
        return answers

    def get(self, path: str, key: str, **headers: str) -> Any:
        return self.server.get(path, authorization=f"Bearer {key}", **headers).json()

    def post(self, path: str, body: Any, key: str) -> Any:
        answer = self.server.post(path, body, authorization=f"Bearer {key}")
        assert answer.status_code in (200, 201), answer.text
        return answer.json()
