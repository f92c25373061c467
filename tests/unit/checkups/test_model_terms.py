"""Check what `memtree doctor` says is assumed of the upstream's models."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from memtree.budget.first_fold import in_a_usual_chat
from memtree.budget.packing import TokenLimits
from memtree.budget.prices import LOCAL, UNKNOWN
from memtree.config import Settings
from memtree.context.state import Reason
from memtree_proxy.checkups.model_terms import SHOWN_LINES, memory_begins
from memtree_proxy.request import price_table

PAGE = Path(__file__).parents[3] / "docs" / "modes.md"
HOME = "http://localhost:11434/v1"


def lines(*listed: str, **settings: Any) -> list[str]:
    found = memory_begins(Settings(**settings), listed)
    assert {(finding.part, finding.level) for finding in found} == {("memory", "ok")}
    return [finding.text for finding in found]


def test_an_unknown_model_by_the_place_of_the_upstream() -> None:
    assert lines(upstream="https://models.example.com/v1") == [
        "an unknown model behind https://models.example.com/v1: window 128,000, prices "
        "1/0.25/3600; in mode auto memory begins at about 22,000 tokens"
    ]
    assert lines(upstream=HOME) == [
        f"an unknown model behind your own upstream {HOME}: window 128,000, prices "
        "1.25/0.1/3600, which delay nothing; in mode auto memory begins at about 20,000 tokens"
    ]
    assert lines(upstream=None)[0].startswith("an unknown model: window 128,000, prices 1/0.25")


def test_settings_are_told() -> None:
    settings = {"prices": ("*=1/0.5/60",), "window": ("*=32768",), "target_tokens": 12_000}
    (line,) = lines(upstream=HOME, **settings)
    assert "window 32,768, prices 1/0.5/60; in mode auto memory begins at about 12,000" in line
    assert "in mode fresh memory begins at about 20,000" in lines(upstream=HOME, mode="fresh")[0]


def test_known_models_that_are_alike_share_a_line() -> None:
    told = lines("gpt-4o", "gpt-4o-mini", "my-own", "claude-sonnet-4-5", upstream=HOME)
    assert len(told) == 3
    assert told[1].startswith("gpt-4o, gpt-4o-mini: window 128,000, prices 1/0.5/3600; ")
    assert "about 20,000" in told[1]
    assert told[2].startswith("claude-sonnet-4-5: window 200,000, prices 1.25/0.1/300; ")
    assert "about 50,000" in told[2]


def test_a_gateway_that_lists_hundreds_is_told_in_a_few_lines() -> None:
    told = lines(
        *[f"gpt-4o-{n}" for n in range(300)],
        "gpt-4.1", "gpt-5", "claude-opus-4-6", "grok-4", "deepseek-chat", "kimi-k2", "glm-4.6",
        upstream="https://models.example.com/v1",
    )  # fmt: skip
    assert len(told) == SHOWN_LINES + 2
    assert told[1].startswith("gpt-4o-0, gpt-4o-1, gpt-4o-2 and 297 more: ")
    assert told[-1] == "and 3 more models that are known"


def test_a_password_is_not_shown() -> None:
    (line,) = lines(upstream="http://me:hush@localhost:4000/v1")
    assert "hush" not in line
    assert "your own upstream" in line


def test_the_page_says_what_is_reckoned() -> None:
    wide = {
        target: TokenLimits.of(target=target, hard=False, window=1_000_000, reserve=4_096)
        for target in (10_000, 20_000)
    }
    rows = re.findall(r"^\| (`.*?`|any other.*?) \|(.*)\|$", PAGE.read_text("utf-8"), re.MULTILINE)
    tables = [(names, cells.split("|")) for names, cells in rows if cells.count("|") == 4]
    assert len(tables) == 10
    for names, cells in tables:
        models = re.findall(r"`(.*?)`", names)
        place = LOCAL if "your own" in names else UNKNOWN
        for prices in [price_table.known(model) for model in models] or [place]:
            assert prices is not None
            if prices.metered:
                assert [float(cell) for cell in cells[:2]] == [prices.write, prices.read]
            found = [
                in_a_usual_chat(wide[target], prices, mode)
                for target, mode in ((10_000, "auto"), (20_000, "auto"), (20_000, "stable"))
            ]
            assert [cell.strip() for cell in cells[2:]] == [f"{round(n, -3):,}" for n in found]


def test_the_page_names_each_reason_of_what_passes() -> None:
    text = PAGE.read_text("utf-8")
    for reason in set(Reason) - {Reason.NONE, Reason.EMBEDDINGS_PENDING}:
        assert f"| `{reason}" in text
