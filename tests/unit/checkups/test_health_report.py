"""A report asks each part seldom, once at a time, and never longer than it may take."""

from __future__ import annotations

import asyncio

import pytest

from memtree.errors import StoreUnavailable
from memtree_proxy.checkups.finding import Finding
from memtree_proxy.checkups.health_report import HealthReport, PartCheck


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
