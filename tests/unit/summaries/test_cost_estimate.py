"""Check what an estimate says against what summarising then takes, on a scripted server."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from memtree.background.runtime import open_runtime
from memtree.config import Settings
from memtree.context.request import UNHURRIED, CompressRequest
from memtree.conversation.history import read
from memtree.conversation.message import Message, Volatile
from memtree.summaries.cost_estimate import Estimate, Level, Part, PlannedCall, estimate
from memtree.text import tokens
from memtree.tree.btree import walk
from memtree.tree.work import NodeWork
from memtree_proxy.cli.history import estimate as estimating
from memtree_proxy.cli.main import main
from tests.made.summaries import Summaries, serving
from tests.programs.sessions import coding

MESSAGES = tuple(Message(json.dumps(one).encode()) for one in coding(14_000))
TENANT = "local"


def settings(folder: Path, url: str, **more: object) -> Settings:
    base = Settings(
        store=f"sqlite:///{folder}/s.db",
        embedder="none",
        index_processes=False,
        summary_base_url=url,
        summary_model="m",
        summary_parallel=1,
    )
    return replace(base, **more)  # type: ignore[arg-type]


async def summarised(given: Settings, messages: tuple[Message, ...] = MESSAGES) -> None:
    async with open_runtime(given) as runtime:
        await runtime.memory.index(CompressRequest(TENANT, messages, patience=UNHURRIED))
        await runtime.settle()


@pytest.mark.slow
@pytest.mark.parametrize("parts", [pytest.param(1, marks=pytest.mark.long), 4])
async def test_what_is_told_is_what_is_asked(tmp_path, parts):
    async with serving(Summaries()) as server:
        given = settings(tmp_path, server.url, summary_leaves=parts)
        found = await estimating.estimated(MESSAGES, TENANT, given)
        assert server.calls == 0
        await summarised(given)
    rejected = sum(count - 1 for count in server.summarised.values())
    assert rejected == 0
    assert found.calls == server.calls
    assert found.constant == sum(
        tokens.count(asked.messages[0]["content"]) for asked in server.asked
    )
    by_level = {one.level: one for one in found.levels()}
    assert by_level.keys() >= {0, 1}
    assert sum(one.nodes for one in by_level.values()) == len(server.summarised)
    # With the summaries that were written in the place of the extraction's it is exact.
    known = await again(given)
    assert known.input + known.constant == server.input_tokens
    if parts == 1:
        leaves = sum(
            tokens.count(one.messages[1]["content"])
            for one in server.asked
            if not is_note(one.parts[0])
        )
        assert by_level[0].input == leaves
    assert found.most <= 0.25 * found.history
    assert found.expected <= found.most


async def again(given: Settings) -> Estimate:
    """Return what it would have been, had the summaries of the children been known."""
    alone = estimating.without_models(given)
    async with open_runtime(alone, drain=0) as runtime:
        ask = CompressRequest(TENANT, MESSAGES, patience=UNHURRIED)
        posted, frontier, nodes = await runtime.memory.outline(ask)
    everything = [NodeWork(node, place) for node, place in walk(frontier.nodes, nodes)]
    later = {id_: node.summary for id_, node in nodes.items()}
    assert all(one.by_model for one in later.values())
    return estimate(posted, nodes, everything, later, given.summary_leaves)


def is_note(part):
    return part.pieces[0][0] == "note"


@pytest.mark.slow
async def test_what_the_store_has_is_left_out(tmp_path):
    half = MESSAGES[: len(MESSAGES) // 2]
    async with serving(Summaries()) as server:
        given = settings(tmp_path, server.url)
        whole = await estimating.estimated(MESSAGES, TENANT, given)
        await summarised(given, half)
        rest = await estimating.estimated(MESSAGES, TENANT, given)
        calls = server.calls
        await summarised(given)
        assert server.calls == calls + rest.calls
        done = await estimating.estimated(MESSAGES, TENANT, given)
        other = await estimating.estimated(MESSAGES, "another", given)
    assert 0 < rest.calls < whole.calls
    assert rest.done > 0
    assert (done.calls, done.planned) == (0, ())
    assert other == whole


@pytest.mark.slow
def test_nothing_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMTREE_SUMMARY_INPUT_PRICE", "2")
    path = tmp_path / "session.json"
    path.write_text(json.dumps(coding(8_000)))
    assert main(["index", str(path), "--estimate"]) == 0
    said = capsys.readouterr().out
    assert "expected" in said
    assert "no price" not in said
    assert [one.name for one in tmp_path.iterdir()] == ["session.json"]


def test_a_short_history_has_nothing_to_summarise(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "short.json"
    path.write_text(json.dumps([{"role": "user", "content": "Hello."}]))
    assert main(["index", str(path), "--estimate"]) == 0
    assert "nothing to summarise yet" in capsys.readouterr().out


def test_without_prices_no_money_is_told():
    found = Estimate(1_000, 0, (PlannedCall(300, (Part(0, 700, 90, 110),)),))
    assert "no price set" in "\n".join(estimating.lines(found, Settings()))
    priced = replace(Settings(), summary_input_price=1.0, summary_output_price=10.0)
    money = next(one for one in estimating.lines(found, priced) if one.startswith("money"))
    assert "0.0020 expected, 0.0022 at the caps" in money


# ---------------------------------------------------------------- the numbers


def planned(count: int) -> Estimate:
    parts = (Part(0, 600, 82, 112), Part(1, 400, 142, 172))
    return Estimate(100_000, 3, (PlannedCall(300, parts),) * count)


def test_sums():
    found = planned(10)
    assert (found.calls, found.constant, found.input) == (10, 3_000, 10_000)
    assert (found.expected, found.most) == (2_320, 2_920)
    assert found.levels() == [Level(0, 10, 6_000, 820, 1_120), Level(1, 10, 4_000, 1_420, 1_720)]
    assert found.money(2.0, 10.0) == pytest.approx((13_000 * 2 + 2_320 * 10) / 1e6)
    assert found.money(2.0, 10.0, most=True) == pytest.approx((13_000 * 2 + 2_920 * 10) / 1e6)


def test_time_follows_the_parallel_calls_and_the_limits():
    found = planned(240)
    assert found.seconds(4) == pytest.approx(found.seconds(1) / 4)
    assert found.seconds(10_000) == pytest.approx(found.seconds(240))
    # 60 calls begin at once, the last of the other 180 three minutes later.
    assert found.seconds(240, requests_per_minute=60) == pytest.approx(180)
    size = 240 * (1_300 + 232)
    assert found.seconds(240, tokens_per_minute=size // 4) == pytest.approx(180)
    assert Estimate(0, 0, ()).seconds(4) == 0


def test_nothing_lacking_is_no_call():
    history = read("t", [], Volatile(()))
    assert estimate(history, {}, [], {}, 4) == Estimate(0, 0, ())
