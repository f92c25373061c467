"""`memtree requests`, against a store with rows in it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from memtree.ports.request_log import RequestRow
from memtree.stores import open_store
from memtree_proxy.cli import request_log_command
from memtree_proxy.cli.main import main
from tests.made.request_rows import row

PACKED = {"state": "packed", "epoch": b"e" * 12, "posted_tokens": 50_000, "sent_tokens": 9_000}


@pytest.fixture
def url(tmp_path: Path) -> str:
    """An empty store."""
    url = f"sqlite:///{tmp_path}/m.db"
    log(url, {})
    return url


def log(url: str, rows: Mapping[str, list[RequestRow]]) -> None:
    async def write() -> None:
        store = open_store(url)
        await store.add_requests(rows)
        await store.close()

    asyncio.run(write())


def run(url: str, *words: str) -> int:
    return main(["requests", "--store", url, *words])


def test_nothing(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(url) == 1
    assert capsys.readouterr().out == "no requests are in the log of this store\n"


def test_a_table_of_all(
    url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    log(url, {"local": [row("a", time=1.0, model="gpt\x1b[31m")],
              "other": [row("b", time=2.0, saved_tokens=41_000, **PACKED)]})  # fmt: skip
    assert run(url) == 0
    said = capsys.readouterr().out
    assert said.index("packed") < said.index("off")  # the newest first
    assert "50,000" in said
    assert "\x1b" not in said
    assert "2 requests, 1 folded" in said
    assert "saved 41,000" in " ".join(said.split())
    assert run(url, "--tenant", "local") == 0
    assert "packed" not in capsys.readouterr().out


def test_json_of_a_wrapped_run(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    log(url, {"local": [row("a"), row("b", wrap_run="r1"), row("c", wrap_run="r1", time=2.0)]})
    assert run(url, "--wrap", "r1", "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["id"] for each in rows] == ["c", "b"]
    assert run(url, "--wrap", "r2") == 1


@pytest.mark.parametrize(
    "words", [("--limit", "0"), ("--wrap", "a b"), ("--tenant", "nobody at all")]
)
def test_odd_options(words: tuple[str, ...], url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(url, *words) == 1
    assert words[1 if words[0] == "--tenant" else 0].lstrip("-") in capsys.readouterr().err


def test_following(url: str) -> None:
    log(url, {"local": [row("first")]})
    command = [sys.executable, "-m", "memtree_proxy.cli", "requests", "--store", url]
    with Popen([*command, "--follow", "--json"], stdout=PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert json.loads(process.stdout.readline())["id"] == "first"
            log(url, {"local": [row("second", time=2.0)], "late": [row("third")]})
            ids = {json.loads(process.stdout.readline())["id"] for _ in range(2)}
            assert ids == {"second", "third"}
        finally:
            process.kill()


def test_a_live_table_is_drawn_again(
    url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log_command, "PACE", 0.01)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    log(url, {"local": [row("first", model="model-one")]})
    looks = 0
    read = request_log_command.read_log

    async def counted(*given):
        nonlocal looks
        looks += 1
        if looks == 4:
            raise KeyboardInterrupt
        return await read(*given)

    monkeypatch.setattr(request_log_command, "read_log", counted)
    assert run(url, "--follow") == 130
    assert capsys.readouterr().out.count("model-one") >= 3
