"""`memtree report` called in this process, over a store with known tallies."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memtree.days import day_of
from memtree.ports.store import TALLY_DAYS
from memtree.stores import open_store
from memtree_proxy.cli.main import main

ONE, OTHER = "t_" + "a1" * 32, "t_" + "b2" * 32
SUMMARY = {
    "summary.calls": 7, "summary.input_tokens": 61_000, "summary.cached_tokens": 20_000,
    "summary.output_tokens": 9_000, "summary.nodes": 42, "summary.rejected": 2,
    "summary.micros": 1_234_500,
}  # fmt: skip


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return f"sqlite:///{tmp_path}/store.db"


def keep(url: str, ago: int, tenant: str, amounts: Mapping[str, int]) -> None:
    async def work() -> None:
        store = open_store(url)
        await store.add(tenant, day_of(time.time()) - ago, amounts)
        await store.close()

    asyncio.run(work())


def label(url: str, name: str) -> str:
    """A key of this name; returns its tenant."""

    async def work() -> str:
        store = open_store(url)
        await store.add_key(name, [f"secret of {name}"])
        tenant = next(row.tenant for row in await store.list_keys() if row.label == name)
        await store.close()
        return tenant

    return asyncio.run(work())


def told(capsys: pytest.CaptureFixture[str], url: str, *arguments: str) -> dict[str, Any]:
    assert main(["report", "--store", url, "--json", *arguments]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_table(url: str, capsys: pytest.CaptureFixture[str]):
    keep(url, 0, ONE, SUMMARY)
    keep(url, 3, ONE, SUMMARY)
    keep(url, 5, OTHER, SUMMARY)
    assert main(["report", "--store", url]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown
    for tenant, parts in (
        (ONE, ("14", "122,000", "40,000", "18,000", "84", "4", "2.4690")),
        (OTHER, ("7", "61,000", "20,000", "9,000", "42", "2", "1.2345")),
    ):
        (line,) = [line for line in shown.splitlines() if tenant[:10] in line]
        for part in parts:
            assert f" {part} " in line
    assert ONE[:11] not in shown


def test_nothing_to_report(url: str, capsys: pytest.CaptureFixture[str]):
    assert main(["report", "--store", url]) == 0
    assert "Nothing was summarised" in capsys.readouterr().out
    keep(url, 0, ONE, {"something.else": 5})
    assert main(["report", "--store", url, "--days", "1"]) == 0
    assert "today" in capsys.readouterr().out


def test_json(url: str, capsys: pytest.CaptureFixture[str]):
    keep(url, 0, ONE, SUMMARY)
    found = told(capsys, url)
    assert found["days"] == 30
    (one,) = found["tenants"]
    assert (one["tenant"], one["labels"]) == (ONE, "")
    assert one["summaries"] == {
        "calls": 7, "input_tokens": 61_000, "cached_tokens": 20_000, "output_tokens": 9_000,
        "nodes": 42, "rejected": 2, "money": 1.2345,
    }  # fmt: skip


def test_days(url: str, capsys: pytest.CaptureFixture[str]):
    for ago in (0, 6, 7, 29, 30):
        keep(url, ago, ONE, {"summary.calls": 10**ago if ago < 8 else 1})
    for days, calls in (("1", 1), ("7", 1 + 10**6), ("8", 1 + 10**6 + 10**7)):
        found = told(capsys, url, "--days", days)
        assert found["tenants"][0]["summaries"]["calls"] == calls
    assert told(capsys, url)["tenants"][0]["summaries"]["calls"] == 2 + 10**6 + 10**7


@pytest.mark.parametrize("days", ["0", "-1", str(TALLY_DAYS + 1)])
def test_days_out_of_range(url: str, days: str, capsys: pytest.CaptureFixture[str]):
    assert main(["report", "--store", url, "--days", days]) == 1
    assert "--days must be" in capsys.readouterr().err


def test_tenants_by_hash_and_by_label(url: str, capsys: pytest.CaptureFixture[str]):
    acme = label(url, "acme [x]")
    for tenant in (ONE, OTHER, acme):
        keep(url, 0, tenant, SUMMARY)
    for wanted, tenant in (("t_a1", ONE), ("acme [x]", acme), (OTHER, OTHER)):
        (one,) = told(capsys, url, "--tenant", wanted)["tenants"]
        assert one["tenant"] == tenant
    assert len(told(capsys, url)["tenants"]) == 3
    assert main(["report", "--store", url]) == 0
    shown = capsys.readouterr().out
    assert acme[:10] in shown
    assert "acme [x]" in shown
    assert "secret" not in shown
    assert main(["report", "--store", url, "--tenant", "nobody"]) == 1
    assert "Nothing was summarised" in capsys.readouterr().out
