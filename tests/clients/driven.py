"""Coding agents without a screen: their settings, their flags, and how each names its tools.

Found by running them; the versions are those of `agents/package.json` and
`agents/requirements.txt`. Each gets a home folder of its own, and nothing of it asks the network
for anything but the model.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.made.scripted import MODEL, Call
from tests.project import Tools

HERE = Path(__file__).parent / "agents"
BIN = HERE / "node_modules" / ".bin"
AIDER = HERE / ".venv" / "bin" / "aider"
MEMORY = {"x-polychat-memory": "on"}
WINDOW, OUTPUT = 1_000_000, 8192  # so large that no client compacts by itself
SECONDS = 400.0  # for one run on two busy cores


def needed(name: str, program: Path) -> None:
    """Skip the test where `make agents` has not installed programs; fail where it has, without this
    one."""
    if program.exists():
        return
    if any((folder / ".installed").exists() for folder in program.parents):
        pytest.fail(f"`make agents` did not install {name}")
    pytest.skip(f"{name} is not installed: `make agents` does it")


@dataclass(frozen=True, slots=True)
class Seat:
    """Where an agent sits: its home and project folders, the base URL, its API key, and what it
    says about memory in headers."""

    home: Path
    project: Path
    url: str
    key: str
    headers: Mapping[str, str] = field(default_factory=lambda: MEMORY)

    @property
    def root(self) -> str:
        """The base URL of clients that add `/v1` themselves."""
        return self.url.removesuffix("/v1")


@dataclass(frozen=True, slots=True)
class Agent:
    """`go_on` is None where a session cannot be continued without a screen."""

    name: str
    program: Path
    settings: Callable[[Seat], Mapping[str, object]]  # what goes into which file of the home
    start: tuple[str, ...]  # before the task
    go_on: tuple[str, ...] | None
    tools: Tools
    env: Mapping[str, str] = field(default_factory=dict)

    def sit(self, seat: Seat) -> None:
        """Write the settings. Skips the test of a program that is not there, as `needed` does."""
        needed(self.name, self.program)
        for name, value in self.settings(seat).items():
            path = seat.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")

    def run(
        self, seat: Seat, task: str, *, again: bool = False
    ) -> subprocess.CompletedProcess[str]:
        flags = self.go_on if again else self.start
        assert flags is not None
        command = [str(self.program), *(filled(flag, seat) for flag in flags)]
        return run([*command, task], seat, self.env)


def run(
    command: Sequence[str], seat: Seat, env: Mapping[str, str], piped: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run to the end, in a bare environment; whatever is left of it is ended."""
    clean = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    clean |= {"HOME": str(seat.home), "CI": "true", "NO_COLOR": "1", "DO_NOT_TRACK": "1"}
    clean |= {name: filled(value, seat) for name, value in env.items()}
    out = seat.home / "output.txt"
    try:
        with out.open("w", encoding="utf-8") as log:
            done = subprocess.run(
                command, cwd=seat.project, env=clean, input=piped, stdout=log,
                stderr=subprocess.STDOUT, timeout=SECONDS, check=False, text=True,
            )  # fmt: skip
        return subprocess.CompletedProcess(command, done.returncode, out.read_text("utf-8"))
    except subprocess.TimeoutExpired as error:
        tail = out.read_text("utf-8", "replace")[-2000:]
        raise AssertionError(f"{command[0]} did not end in {SECONDS:.0f} s:\n{tail}") from error
    finally:
        end_all(seat.home)


def end_all(home: Path) -> None:
    """End every process that lives in this home, daemons that an agent left behind too."""
    for signal_ in (signal.SIGTERM, signal.SIGKILL):
        left = list(_living_in(home))
        for pid in left:
            try:
                os.kill(pid, signal_)
            except ProcessLookupError:
                continue
        if not left:
            return
        time.sleep(0.5)


def _living_in(home: Path) -> Sequence[int]:
    mark = f"HOME={home}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def filled(text: str, seat: Seat) -> str:
    """`{project}` and the like in flags and variables."""
    for name in ("home", "project", "url", "key", "root"):
        text = text.replace("{" + name + "}", str(getattr(seat, name)))
    return text


def tools_of(read: str, path: str, run: str, write: str, text: str, **more: Any) -> Tools:
    """Tools that take a path, a command (and `more`), a path and a text."""
    return Tools(
        read=lambda name: Call(read, {path: name}),
        run=lambda command: Call(run, {"command": command, **more}),
        write=lambda name, body: Call(write, {path: name, text: body}),
    )


# ---------------------------------------------------------------- opencode and its relative Kilo


def _opencode(seat: Seat) -> dict[str, object]:
    model = {"name": MODEL, "limit": {"context": WINDOW, "output": OUTPUT}, "tool_call": True}
    options = {"baseURL": seat.url, "apiKey": seat.key, "headers": MEMORY}
    return {
        "$schema": "https://opencode.ai/config.json",
        "model": f"mt/{MODEL}",
        "small_model": f"mt/{MODEL}",
        "permission": "allow",
        "autoupdate": False,
        "share": "disabled",
        "provider": {
            "mt": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "MemTree",
                "options": options,
                "models": {MODEL: model},
            }
        },
    }


def switches(prefix: str) -> dict[str, str]:
    names = "AUTOUPDATE MODELS_FETCH LSP_DOWNLOAD SHARE DEFAULT_PLUGINS SESSION_INGEST".split()
    return {f"{prefix}_DISABLE_{name}": "1" for name in names}


OPENCODE_TOOLS = tools_of(
    "read", "filePath", "bash", "write", "content", description="Runs a command"
)
OPENCODE_FLAGS = ("run", "--auto", "--format", "json", "-m", f"mt/{MODEL}")

OPENCODE = Agent(
    "opencode",
    BIN / "opencode",
    lambda seat: {".config/opencode/opencode.json": _opencode(seat)},
    OPENCODE_FLAGS,
    (*OPENCODE_FLAGS, "-c"),
    OPENCODE_TOOLS,
    switches("OPENCODE"),
)
KILO = Agent(
    "kilo",
    BIN / "kilo",
    lambda seat: {".config/kilo/kilo.json": _opencode(seat)},
    OPENCODE_FLAGS,
    (*OPENCODE_FLAGS, "-c"),
    OPENCODE_TOOLS,
    switches("KILO"),
)

# ---------------------------------------------------------------- Cline


def _cline(seat: Seat) -> dict[str, object]:
    settings = {
        "provider": "openai-compatible",
        "apiKey": seat.key,
        "model": MODEL,
        "baseUrl": seat.url,
        "headers": MEMORY,
    }
    entry = {
        "settings": settings,
        "updatedAt": "2026-01-01T00:00:00.000Z",
        "tokenSource": "manual",
    }
    providers = {"openai-compatible": entry}
    return {
        ".cline/data/settings/providers.json": {
            "version": 1,
            "lastUsedProvider": "openai-compatible",
            "modes": {},
            "providers": providers,
        }
    }


CLINE_FLAGS = (
    "--json", "--auto-approve", "true", "--compaction", "off", "-P", "openai-compatible", "-c",
    "{project}",
)  # fmt: skip
CLINE = Agent(
    "cline",
    BIN / "cline",
    _cline,
    CLINE_FLAGS,
    None,
    Tools(
        read=lambda path: Call("read_files", {"files": [{"path": path}]}),
        run=lambda command: Call("run_commands", {"commands": [command]}),
        write=lambda path, text: Call("editor", {"path": path, "new_text": text}),
    ),
    {"CLINE_TELEMETRY_DISABLED": "1"},
)

# Its own compaction, by its own estimate of the size: about 290 KB.
CLINE_COMPACTING = replace(
    CLINE,
    name="cline, compacting",
    start=tuple(flag for flag in CLINE_FLAGS if flag not in ("--compaction", "off")),
)

# ---------------------------------------------------------------- pi


def _pi(seat: Seat) -> dict[str, object]:
    model = {
        "id": MODEL,
        "name": MODEL,
        "reasoning": False,
        "input": ["text"],
        "contextWindow": WINDOW,
        "maxTokens": OUTPUT,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
    }
    provider = {
        "baseUrl": seat.url,
        "api": "openai-completions",
        "apiKey": seat.key,
        "headers": MEMORY,
        "models": [model],
    }
    return {".pi/agent/models.json": {"providers": {"mt": provider}}}


PI = Agent(
    "pi",
    BIN / "pi",
    _pi,
    ("-p", "--provider", "mt", "--model", MODEL),
    ("-p", "-c", "--provider", "mt", "--model", MODEL),
    tools_of("read", "path", "bash", "write", "content"),
    {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"},
)

# ---------------------------------------------------------------- Qwen Code


def _qwen(seat: Seat) -> dict[str, object]:
    generation = {"customHeaders": MEMORY, "contextWindowSize": WINDOW}
    return {
        ".qwen/settings.json": {
            "security": {"auth": {"selectedType": "openai"}},
            "model": {"name": MODEL, "generationConfig": generation},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
            "telemetry": {"enabled": False},
        }
    }


QWEN_FLAGS = ("--auth-type", "openai", "-m", MODEL, "--approval-mode", "yolo")
QWEN = Agent(
    "qwen",
    BIN / "qwen",
    _qwen,
    (*QWEN_FLAGS, "-p"),
    (*QWEN_FLAGS, "-c", "-p"),
    tools_of(
        "read_file",
        "file_path",
        "run_shell_command",
        "write_file",
        "content",
        is_background=False,
        description="Runs a command",
    ),
    {"OPENAI_API_KEY": "{key}", "OPENAI_BASE_URL": "{url}", "OPENAI_MODEL": MODEL},
)

# ---------------------------------------------------------------- Continue


def _continue(seat: Seat) -> dict[str, object]:
    return {
        "config.yaml": "\n".join(
            [
                "name: tests",
                "version: 1.0.0",
                "schema: v1",
                "models:",
                f"  - name: {MODEL}",
                "    provider: openai",
                f"    model: {MODEL}",
                f"    apiBase: {seat.url}",
                f"    apiKey: {seat.key}",
                "    roles: [chat]",
                "    capabilities: [tool_use]",
                "    defaultCompletionOptions:",
                f"      contextLength: {WINDOW}",
                f"      maxTokens: {OUTPUT}",
                "    requestOptions:",
                "      headers:",
                '        x-polychat-memory: "on"',
                "",
            ]
        )
    }


CONTINUE_FLAGS = ("--config", "{home}/config.yaml", "--auto")
CONTINUE = Agent(
    "continue",
    BIN / "cn",
    _continue,
    (*CONTINUE_FLAGS, "-p"),
    (*CONTINUE_FLAGS, "--resume", "-p"),
    tools_of("Read", "filepath", "Bash", "Write", "content"),
    {"CONTINUE_CLI_ENABLE_TELEMETRY": "0", "CONTINUE_METRICS_ENABLED": "0"},
)

WITH_TOOLS = (OPENCODE, CLINE, PI, KILO, QWEN, CONTINUE)

# ---------------------------------------------------------------- aider, which has no tools


def aider_settings(seat: Seat) -> dict[str, object]:
    settings = {
        "name": f"openai/{MODEL}",
        "edit_format": "whole",
        "use_repo_map": False,
        "extra_params": {"extra_headers": MEMORY},
    }
    limits = {"max_input_tokens": WINDOW, "max_tokens": OUTPUT, "litellm_provider": "openai"}
    return {
        "settings.json": [settings],  # JSON is YAML
        "metadata.json": {f"openai/{MODEL}": {**limits, "mode": "chat"}},
    }


AIDER_FLAGS = (
    f"--model openai/{MODEL} --weak-model openai/{MODEL} "
    "--model-settings-file {home}/settings.json "
    "--model-metadata-file {home}/metadata.json --yes-always --no-auto-commits --no-check-update "
    "--no-show-model-warnings --no-analytics --no-pretty --no-fancy-input --no-gitignore "
    "--no-suggest-shell-commands --no-detect-urls --no-show-release-notes --map-tokens 0 "
    "--max-chat-history-tokens 1000000"
).split()
AIDER_ENV = {
    "OPENAI_API_KEY": "{key}",
    "OPENAI_API_BASE": "{url}",
    "AIDER_ANALYTICS": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}


def aider(seat: Seat, tasks: Sequence[str], *more: str) -> subprocess.CompletedProcess[str]:
    """One session, a line of standard input for each turn."""
    for name, value in aider_settings(seat).items():
        (seat.home / name).write_text(json.dumps(value), "utf-8")
    command = [str(AIDER), *(filled(flag, seat) for flag in AIDER_FLAGS), *more]
    return run(command, seat, AIDER_ENV, "\n".join([*tasks, "/exit", ""]))
