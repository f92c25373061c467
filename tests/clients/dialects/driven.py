"""Coding agents that speak Messages or Responses: their settings, their flags, their tools.

Found by running them; the versions are those of `agents/package.json`. See `clients/driven.py`,
which has those that speak chat completions.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tests.clients.driven import (
    BIN,
    CLINE_FLAGS,
    HERE,
    OPENCODE_TOOLS,
    WINDOW,
    Agent,
    Seat,
    switches,
    tools_of,
)
from tests.made.scripted import Call
from tests.project import Tools

MODULES = HERE / "node_modules"
NEW_MODEL, OLD_MODEL = "claude-sonnet-5-5", "claude-sonnet-4-5"
OPENAI_MODEL = "gpt-5.5"
NOWHERE = {
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1",
}  # nothing but the model answers

# ---------------------------------------------------------------- Claude Code


def _claude(seat: Seat) -> dict[str, object]:
    """Its headers are an environment variable, which a file of settings may set."""
    headers = "\n".join(f"{name}: {value}" for name, value in seat.headers.items())
    return {".claude/settings.json": {"env": {"ANTHROPIC_CUSTOM_HEADERS": headers}}}


CLAUDE_ENV = {
    "ANTHROPIC_BASE_URL": "{root}",
    "ANTHROPIC_API_KEY": "{key}",
    "CLAUDE_CONFIG_DIR": "{home}/.claude",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    **NOWHERE,
    "IS_SANDBOX": "1",  # no permission is asked for, even for root
}


def _claude_flags(model: str) -> tuple[str, ...]:
    return (
        "-p", "--model", model, "--output-format", "stream-json", "--verbose",
        "--permission-mode", "bypassPermissions",
    )  # fmt: skip


def claude(name: str, program: Path, model: str) -> Agent:
    flags = _claude_flags(model)
    return Agent(
        name,
        program,
        _claude,
        flags,
        ("-c", *flags),
        tools_of("Read", "file_path", "Bash", "Write", "content"),
        CLAUDE_ENV,
    )


def _native() -> Path:
    """The binary of this machine, which the package itself would link in a script."""
    found = sorted((MODULES / "@anthropic-ai").glob("claude-code-*/claude"))
    return found[0] if found else MODULES / "@anthropic-ai" / "claude-code" / "claude"


CLAUDE = claude("claude code", _native(), NEW_MODEL)
CLAUDE_OLD_MODEL = claude("claude code, old model", _native(), OLD_MODEL)
CLAUDE_NODE = claude("claude code 2.1.112", MODULES / "claude-code-js" / "cli.js", OLD_MODEL)

# ---------------------------------------------------------------- Codex


def _codex(seat: Seat) -> dict[str, object]:
    headers = ", ".join(f"{json.dumps(k)} = {json.dumps(v)}" for k, v in seat.headers.items())
    lines = [
        f'model = "{OPENAI_MODEL}"',
        'model_provider = "memtree"',
        "[model_providers.memtree]",
        'name = "MemTree"',
        f'base_url = "{seat.url}"',
        'env_key = "MEMTREE_TEST_KEY"',
        'wire_api = "responses"',
        f"http_headers = {{ {headers} }}",
        "",
    ]
    return {".codex/config.toml": "\n".join(lines)}


def _patch(path: str, text: str) -> Call:
    body = "".join(f"+{line}\n" for line in text.splitlines())
    patch = f"*** Begin Patch\n*** Add File: {path}\n{body}*** End Patch\n"
    return Call("apply_patch", {"input": patch})


CODEX_FLAGS = ("--json", "--dangerously-bypass-approvals-and-sandbox")
CODEX = Agent(
    "codex",
    BIN / "codex",
    _codex,
    ("exec", *CODEX_FLAGS),
    ("exec", "resume", "--last", *CODEX_FLAGS),
    Tools(
        read=lambda path: Call("exec_command", {"cmd": f"cat {path}"}),
        run=lambda command: Call("exec_command", {"cmd": command}),
        write=_patch,
    ),
    {"CODEX_HOME": "{home}/.codex", "MEMTREE_TEST_KEY": "{key}", **NOWHERE},
)


def _codex_built_in(seat: Seat) -> dict[str, object]:
    """The provider that it has of its own, with another address: it opens a WebSocket first, and
    sends no header of ours."""
    lines = [
        f'model = "{OPENAI_MODEL}"',
        f'openai_base_url = "{seat.url}"',
        "",
    ]
    auth = {"OPENAI_API_KEY": seat.key}
    return {".codex/config.toml": "\n".join(lines), ".codex/auth.json": auth}


CODEX_BUILT_IN = replace(CODEX, name="codex, built-in provider", settings=_codex_built_in)

# ---------------------------------------------------------------- opencode


def _opencode(seat: Seat, provider: str, model: str) -> dict[str, object]:
    options = {"baseURL": seat.url, "apiKey": seat.key, "headers": dict(seat.headers)}
    limit = {"context": WINDOW, "output": 32_000}
    models = {model: {"limit": limit}}
    return {
        ".config/opencode/opencode.json": {
            "$schema": "https://opencode.ai/config.json",
            "model": f"{provider}/{model}",
            "small_model": f"{provider}/{model}",
            "permission": "allow",
            "autoupdate": False,
            "share": "disabled",
            "provider": {provider: {"options": options, "models": models}},
        }
    }


def _opencode_with(provider: str, model: str, tools: Tools) -> Agent:
    flags = ("run", "--auto", "--format", "json", "-m", f"{provider}/{model}")
    return Agent(
        f"opencode, {provider}",
        BIN / "opencode",
        lambda seat: _opencode(seat, provider, model),
        flags,
        (*flags, "-c"),
        tools,
        switches("OPENCODE"),
    )


OPENCODE_ANTHROPIC = _opencode_with("anthropic", "claude-opus-4-8", OPENCODE_TOOLS)
# With these models it has a tool for patches in place of one that writes.
OPENCODE_OPENAI = _opencode_with(
    "openai",
    OPENAI_MODEL,
    replace(
        OPENCODE_TOOLS,
        write=lambda path, text: Call(
            "apply_patch", {"patchText": str(_patch(path, text).arguments["input"])}
        ),
    ),
)

# ---------------------------------------------------------------- Cline


def _cline(seat: Seat) -> dict[str, object]:
    settings = {
        "provider": "anthropic", "apiKey": seat.key, "model": "claude-opus-4-8",
        "baseUrl": seat.url, "headers": dict(seat.headers),
    }  # fmt: skip
    when = {"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    return {
        ".cline/data/settings/providers.json": {
            "version": 1,
            "lastUsedProvider": "anthropic",
            "modes": {},
            "providers": {"anthropic": {"settings": settings, **when}},
        }
    }


CLINE_ANTHROPIC = Agent(
    "cline, anthropic",
    BIN / "cline",
    _cline,
    tuple("anthropic" if flag == "openai-compatible" else flag for flag in CLINE_FLAGS),
    None,
    Tools(
        read=lambda path: Call("read_files", {"files": [{"path": path}]}),
        run=lambda command: Call("run_commands", {"commands": [command]}),
        write=lambda path, text: Call("editor", {"path": path, "new_text": text}),
    ),
    {"CLINE_TELEMETRY_DISABLED": "1"},
)

ALL = (
    CLAUDE,
    CLAUDE_OLD_MODEL,
    CLAUDE_NODE,
    CODEX,
    OPENCODE_ANTHROPIC,
    OPENCODE_OPENAI,
    CLINE_ANTHROPIC,
)
# They end their run where an answer breaks off in the middle of a call.
ENDS_AT_A_CUT = (CLAUDE_NODE, CLINE_ANTHROPIC)
