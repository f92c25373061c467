"""Check what checkups report of parts, models and ports."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from memtree.budget.first_fold import in_a_usual_chat
from memtree.budget.packing import TokenLimits
from memtree.budget.prices import LOCAL, UNKNOWN
from memtree.config import Settings
from memtree.context.answer_state import Reason
from memtree.errors import StoreUnavailable
from memtree_proxy.chat import model_tables
from memtree_proxy.server.health_report import HealthReport, PartCheck
from memtree_proxy.server.listener import port_owner
from memtree_proxy.server.part_checks import SHOWN_LINES, memory_begins
from memtree_proxy.server.surroundings import Finding

# ------------------------------------------------------------------------------------------------
# A report asks each part seldom, once at a time, and never longer than it may take.


class Part:
    """A part that counts how often it is asked; `blocks`: it never answers."""

    def __init__(self) -> None:
        self.asked, self.ended, self.blocks = 0, 0, False
        self.error: Exception | None = None
        self.begun = asyncio.Event()

    async def find(self) -> list[Finding]:
        self.asked += 1
        self.begun.set()
        try:
            if self.error:
                raise self.error
            if self.blocks:
                await asyncio.Event().wait()
            await asyncio.sleep(0)
            return [Finding("part", "ok", f"look {self.asked}")]
        finally:
            self.ended += 1


class HandClock:
    def __init__(self) -> None:
        self.now = 5.0

    def __call__(self) -> float:
        return self.now


async def test_a_finding_stands_for_its_seconds() -> None:
    part, clock = Part(), HandClock()
    report = HealthReport([PartCheck("part", part.find, 10.0)], monotonic=clock)
    for later, text in ((0.0, "look 1"), (9.9, "look 1"), (0.1, "look 2"), (5.0, "look 2")):
        clock.now += later
        assert await report.findings() == [Finding("part", "ok", text)]
    assert part.asked == 2


async def test_many_callers_ask_once() -> None:
    part = Part()
    report = HealthReport([PartCheck("part", part.find, 10.0)], monotonic=HandClock())
    answers = await asyncio.gather(*(report.findings() for _ in range(20)))
    assert part.asked == 1
    assert all(answer == [Finding("part", "ok", "look 1")] for answer in answers)


async def test_a_part_that_hangs_is_a_problem_and_is_left_alone() -> None:
    stuck, sound = Part(), Part()
    stuck.blocks = True
    looks = [PartCheck("stuck", stuck.find, 10.0), PartCheck("part", sound.find, 10.0)]
    found = await HealthReport(looks, patience=0.05).findings()
    assert found == [
        Finding("stuck", "problem", "no answer within 0.05 seconds"),
        Finding("part", "ok", "look 1"),
    ]
    assert stuck.ended == 1


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (StoreUnavailable("the store is locked"), "the store is locked"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError(), "OSError"),
    ],
)
async def test_a_part_that_fails_is_a_problem(error: Exception, text: str) -> None:
    part = Part()
    part.error = error
    found = await HealthReport([PartCheck("disk", part.find, 10.0)]).findings()
    assert found == [Finding("disk", "problem", text)]


async def test_a_caller_that_goes_takes_its_look_along() -> None:
    part = Part()
    part.blocks = True
    report = HealthReport([PartCheck("part", part.find, 10.0)])
    first = asyncio.create_task(report.findings())
    await part.begun.wait()
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    assert (part.asked, part.ended) == (1, 1)
    part.blocks = False
    assert await report.findings() == [Finding("part", "ok", "look 2")]


async def test_a_report_without_parts_is_empty() -> None:
    assert await HealthReport().findings() == []


# ------------------------------------------------------------------------------------------------
# Check what `memtree doctor` says is assumed of the upstream's models.


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
        for prices in [model_tables.known_prices(model) for model in models] or [place]:
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


# ------------------------------------------------------------------------------------------------
# Who listens on a port, as `/proc` shows it.


HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid"
# Port 8787 is 2253 in hexadecimal; the second socket is connected and does not listen.
LINES = """
   0: 0100007F:2253 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0 0 4242 1 0
   1: 0100007F:2254 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  0 0 4343 1 0"""


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "tcp").write_text(HEAD + LINES)
    for number, socket, name in (("17", "4343", "curl"), ("18", "4242", "rival\x1b[31m\n")):
        (tmp_path / number / "fd").mkdir(parents=True)
        (tmp_path / number / "fd" / "3").symlink_to(f"socket:[{socket}]")
        (tmp_path / number / "comm").write_text(name)
    return tmp_path


def test_a_process_is_named_without_its_control_characters(proc: Path):
    assert port_owner(8787, proc) == "rival?[31m (process 18)"


def test_a_connection_is_no_listener(proc: Path):
    assert port_owner(8788, proc) is None


def test_another_users_process_is_not_known(proc: Path):
    (proc / "18" / "fd" / "3").unlink()
    (proc / "18" / "fd").rmdir()
    assert port_owner(8787, proc) is None


def test_without_proc_nothing_is_known(tmp_path: Path):
    assert port_owner(8787, tmp_path) is None
