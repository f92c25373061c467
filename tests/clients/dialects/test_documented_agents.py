"""Check what docs/clients.md says of agents that speak Messages or Responses, done with these
agents; `make agents`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests import project
from tests.clients.dialects import driven
from tests.clients.dialects.rig import MEMORY, DialectRig, dialect_rig
from tests.clients.dialects.test_dialect_agents import FILES, FIRST, fill
from tests.clients.driven import Agent, Seat
from tests.docs.pages import ROOT, block, blocks
from tests.project import DONE, TASK

pytestmark = [pytest.mark.agents, pytest.mark.slow]

PAGE = "docs/clients.md"
ADDRESS = "http://127.0.0.1:8787"


@pytest.fixture(scope="module")
def with_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DialectRig]:
    """A server that needs no header."""
    with dialect_rig(tmp_path_factory.mktemp("memory"), "--mode", "stable", "--memory") as made:
        yield made


def filled(text: str, seat: Seat, model: str = "") -> str:
    assert ADDRESS in text
    for key in ('"KEY"', "=KEY "):
        text = text.replace(key, key.replace("KEY", seat.key))
    return text.replace(ADDRESS, seat.root).replace("MODEL", model)


def claude(seat: Seat) -> Agent:
    """Started by a shell that ran the block's lines before the last."""
    lines = filled(block(PAGE, "claude-code"), seat).splitlines()
    assert lines.pop() == "claude"
    told = subprocess.run(
        ["sh", "-ec", "\n".join([*lines, "env -0"])], env={"PATH": os.environ["PATH"]},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    exported = dict(line.split("=", 1) for line in told.stdout.split("\0") if "=" in line)
    own = {name: value for name, value in exported.items() if name.startswith("ANTHROPIC_")}
    assert len(own) == 3
    return replace(driven.CLAUDE, settings=lambda _: {}, env={**driven.CLAUDE.env, **own})


def codex(seat: Seat, name: str = "codex") -> Agent:
    """The model is the one that it would have of itself, which the tests name."""
    text = f'model = "{driven.OPENAI_MODEL}"\n' + filled(block(PAGE, name), seat)
    files = {".codex/config.toml": text, ".codex/auth.json": {"OPENAI_API_KEY": seat.key}}
    env = {**driven.CODEX.env, "OPENAI_API_KEY": "{key}"}
    return replace(driven.CODEX, settings=lambda _: files, env=env)


def json_block(first: str) -> str:
    (found,) = (one for one in blocks(ROOT / PAGE) if one.first.startswith(first))
    return found.text


def cline(seat: Seat) -> Agent:
    """ "The same fields", with the provider's other name."""
    text = filled(json_block('{"version": 1'), seat, OPUS)
    text = text.replace('"openai-compatible"', '"anthropic"')
    files = {".cline/data/settings/providers.json": text}
    return replace(driven.CLINE_ANTHROPIC, settings=lambda _: files)


def opencode(seat: Seat) -> Agent:
    """ "The same `baseURL`, `apiKey` and `headers`", in the provider's own options."""
    shown = json.loads(filled(json_block('{"model": "mt/MODEL"'), seat, OPUS))
    options = {"options": shown["provider"]["mt"]["options"]}
    settings = {"model": f"anthropic/{OPUS}", "small_model": f"anthropic/{OPUS}"}
    files = {".config/opencode/opencode.json": {**settings, "provider": {"anthropic": options}}}
    return replace(driven.OPENCODE_ANTHROPIC, settings=lambda _: files)


OPUS = "claude-opus-4-8"
CASES = {"claude-code": claude, "codex": codex, "cline": cline, "opencode": opencode}


def done(rig: DialectRig, seat: Seat, agent: Agent) -> None:
    seat.home.mkdir()
    fill(seat, FILES)
    agent.sit(seat)
    steps = project.work(agent.tools, FIRST[:12], f"{seat.project}/")
    script = rig.script(seat.key, steps, tools_only=True)
    run = agent.run(seat, TASK)
    assert run.returncode == 0, run.stdout[-2000:]
    assert DONE in run.stdout
    assert script.done
    assert script.broken == []
    assert MEMORY in script.seen[-1].raw.decode()


@pytest.mark.parametrize("name", CASES)
def test_it_has_memory(rig: DialectRig, tmp_path: Path, name: str) -> None:
    seat = Seat(tmp_path / "home", tmp_path / "project", rig.url, f"documented-{name}")
    done(rig, seat, CASES[name](seat))


def test_codex_with_its_own_provider(with_memory: DialectRig, tmp_path: Path) -> None:
    url = f"{with_memory.server.url}/v1"
    seat = Seat(tmp_path / "home", tmp_path / "project", url, "documented-built-in")
    done(with_memory, seat, codex(seat, "codex-built-in"))
