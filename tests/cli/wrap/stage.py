"""A user with a home, a project and agents that do what a test says, and `memtree wrap` on it."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.http.served.running import running
from tests.http.served.upstream import FakeUpstream
from tests.programs.processes import gone
from tests.programs.server import PATIENCE

KEY = "sk-of-the-user"
# What every agent begins with; its test's code follows.
AGENT = """\
import json, os, signal, sys, time, urllib.error, urllib.request

def settings():
    words = sys.argv
    return json.load(open(words[words.index("--settings") + 1]))

def root():
    if "--settings" in sys.argv:
        return settings()["env"]["ANTHROPIC_BASE_URL"]
    return os.environ["OPENAI_BASE_URL"].removesuffix("/v1")

def ask(path, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    given = {"content-type": "application/json", "authorization": "Bearer KEY"}
    request = urllib.request.Request(root() + path, data, {**given, **headers})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=600) as answer:
            return answer.status, dict(answer.headers), answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read().decode()

def chat(text):
    message = {"role": "user", "content": text}
    return ask("/v1/chat/completions", {"model": "m", "messages": [message]})

def tell(name, value):
    path = os.path.join(os.environ["AGENT_OUT"], name)
    with open(path + ".new", "w") as file:
        json.dump(value, file)
    os.rename(path + ".new", path)

def wait(name):
    while not os.path.exists(os.path.join(os.environ["AGENT_OUT"], name)):
        time.sleep(0.02)
""".replace("KEY", KEY)


@dataclass(frozen=True, slots=True)
class Stage:
    folder: Path
    upstream: FakeUpstream
    above: str

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def project(self) -> Path:
        return self.home / "project"

    def write(self, name: str, content: object) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return path

    def env(self, code: str = "", **more: str) -> dict[str, str]:
        """`code`: what the agent does."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("MEMTREE_", "ANTHROPIC"))}
        return clean | {
            "HOME": str(self.home),
            "MEMTREE_HOME": str(self.data),
            "MEMTREE_EMBEDDER": "none",
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "AGENT_OUT": str(self.folder / "out"),
            "AGENT_CODE": code,
            **more,
        }

    def start(self, code: str, *words: str, **more: Any) -> subprocess.Popen[str]:
        """Begin `memtree wrap` with these words."""
        env = self.env(code, OPENAI_BASE_URL=f"{self.above}/v1", **more.pop("env", {}))
        given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command(*words), cwd=self.project, env=env, text=True,
                                **{**given, **more})  # fmt: skip

    def run(self, code: str, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
        process = self.start(code, *words, **more)
        out, err = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def told(self, name: str) -> Any:
        """Wait for what an agent tells under this name."""
        path = self.folder / "out" / name
        until(path.exists)
        return json.loads(path.read_text("utf-8"))

    def say(self, name: str) -> None:
        """Let an agent that waits for this name go on."""
        self.write(f"out/{name}", "")

    def servers(self) -> list[dict[str, Any]]:
        files = list((self.data / "servers").glob("*.json"))
        return [json.loads(path.read_bytes()) for path in files]

    def runs(self) -> list[Path]:
        return list((self.data / "wraps").glob("*"))

    def all_bytes(self) -> bytes:
        """Return all bytes in the data folder, and the log of the server."""
        return b"".join(p.read_bytes() for p in self.data.rglob("*") if p.is_file())

    def user_files(self) -> dict[str, bytes]:
        return {str(p): p.read_bytes() for p in self.home.rglob("*") if p.is_file()}


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "memtree_proxy.cli", "wrap", *words]


def until(seen: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not seen():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


@contextmanager
def staged(folder: Path) -> Iterator[Stage]:
    upstream = FakeUpstream()
    with running(upstream) as above:
        stage = Stage(folder, upstream, above)
        for path in (stage.project, folder / "out"):
            path.mkdir(parents=True)
        program = f"#!{sys.executable}\n{AGENT}exec(os.environ['AGENT_CODE'])\n"
        for name in ("claude", "codex", "anything"):
            path = stage.write(f"bin/{name}", program)
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        try:
            yield stage
        finally:
            pids = {state["pid"] for state in stage.servers()}
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGTERM)
                except ProcessLookupError:
                    continue
            gone(pids)
