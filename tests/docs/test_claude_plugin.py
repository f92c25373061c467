"""The plugin for Claude Code names what there is, and its hook tells when to tell."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from memtree import __version__
from memtree_proxy.cli.main import build_parser
from memtree_proxy.mcp.listed_tools import BY_NAME
from tests.clients.dialects import driven
from tests.clients.driven import needed
from tests.docs.pages import ROOT

PLUGIN = ROOT / "integrations/claude-code"


def read(path: str) -> dict[str, Any]:
    return dict(json.loads((ROOT / path).read_text("utf-8")))


def test_its_version_is_ours_and_the_marketplace_names_it() -> None:
    manifest = read("integrations/claude-code/.claude-plugin/plugin.json")
    assert manifest["version"].replace("-", "") == __version__
    (row,) = read(".claude-plugin/marketplace.json")["plugins"]
    assert row["name"] == manifest["name"] == "memtree"
    assert (ROOT / row["source"]).resolve() == PLUGIN


def test_what_it_starts_is_there() -> None:
    commands = build_parser().commands
    (server,) = read("integrations/claude-code/.mcp.json")["mcpServers"].values()
    assert (server["command"], server["args"]) == ("uvx", ["memtree-proxy", "mcp"])
    assert "mcp" in commands
    text = (PLUGIN / "commands/memory-status.md").read_text("utf-8")
    typed = set(re.findall(r"uvx memtree-proxy ([a-z]+)", text))
    assert typed == {"status", "wrap"} <= set(commands)
    skill = (PLUGIN / "skills/memory/SKILL.md").read_text("utf-8")
    assert set(re.findall(r"`([a-z]+)`", skill)) - {"memtree"} <= set(BY_NAME)
    (hook,) = read("integrations/claude-code/hooks/hooks.json")["hooks"]["SessionStart"]
    named = re.findall(r"hooks/\w+\.sh", hook["hooks"][0]["command"])
    assert [(PLUGIN / name).is_file() for name in named] == [True]


@pytest.mark.parametrize(
    ("address", "tells"),
    [
        ("", True),
        ("https://api.anthropic.com", True),
        (f"http://127.0.0.1:4711/w/{'x' * 43}", False),
        ("http://localhost:8787", False),
    ],
)
def test_the_hook_tells_the_user_of_a_session_without_memory(address: str, tells: bool) -> None:
    env = {"PATH": os.environ["PATH"], "ANTHROPIC_BASE_URL": address}
    script = str(PLUGIN / "hooks/not_wrapped.sh")
    out = subprocess.run(["sh", script], env=env, capture_output=True, text=True, check=True)
    assert out.stderr == ""
    if tells:
        assert list(json.loads(out.stdout)) == ["systemMessage"]  # not told to the model
        assert "memtree-proxy wrap claude" in out.stdout
    else:
        assert out.stdout == ""


@pytest.mark.agents
@pytest.mark.slow
def test_claude_code_takes_it(tmp_path: Path) -> None:
    program = driven.CLAUDE.program
    needed(driven.CLAUDE.name, program)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **driven.NOWHERE}
    for path in (PLUGIN, ROOT):
        words = [str(program), "plugin", "validate", str(path)]
        ran = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "Validation passed" in ran.stdout
