"""Conversations that wait: one job each, the newest payload, bounded, tried again, ended."""

from __future__ import annotations

import asyncio

from memtree.background.extraction_queue import ExtractionJob, ExtractionQueue
from memtree.conversation.message import Message
from memtree.errors import StoreUnavailable
from memtree.memories.scope import Scope
from memtree.memories.user_memories import UserSettings

ME = Scope.of_user("t")
ON = UserSettings(save=True)


class HandClock:
    """`monotonic` is what a test sets, so that no test waits for a pause to be over."""

    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> float:
        return 1_000_000.0 + self.at

    def monotonic(self) -> float:
        return self.at


class Reader:
    """It keeps the jobs that it is given; `failures`: how many it fails first; `gate`: it waits."""

    def __init__(self, error: Exception | None = None, failures: int = 0) -> None:
        self.jobs: list[ExtractionJob] = []
        self.error, self.failures = error, failures
        self.gate = asyncio.Event()
        self.gate.set()
        self.begun = asyncio.Event()

    async def read(self, job: ExtractionJob) -> None:
        self.begun.set()
        await self.gate.wait()
        self.jobs.append(job)
        if self.error and self.failures:
            self.failures -= 1
            raise self.error


def said(*texts: str) -> list[Message]:
    return [
        Message.of({"role": "user" if at % 2 == 0 else "assistant", "content": text})
        for at, text in enumerate(texts)
    ]


def texts(job: ExtractionJob) -> list[str]:
    return [message.words for message in job.posted]


async def drained(queue: ExtractionQueue) -> None:
    queue.start()
    await queue.join()
    await queue.close()


async def test_a_conversation_that_goes_on_while_it_waits_is_read_once_in_its_newest_form() -> None:
    reader, clock = Reader(), HandClock()
    queue = ExtractionQueue(reader, clock)
    queue.submit(ME, said("I live in Rome"), ON)
    clock.at = 90_000.0
    queue.submit(ME, said("I live in Rome", "Nice", "Thanks"), ON)
    assert len(queue) == 1
    await drained(queue)
    [job] = reader.jobs
    assert texts(job) == ["I live in Rome", "Nice", "Thanks"]
    # Of both payloads it is known when they came: each ended with what was said then.
    assert job.ends == ((1, 1_000_000.0), (3, 1_090_000.0))


async def test_other_conversations_branches_and_users_wait_beside_it() -> None:
    reader = Reader()
    queue = ExtractionQueue(reader, HandClock())
    queue.submit(ME, said("Hi", "Hello", "I live in Rome"), ON)
    queue.submit(ME, said("Hi", "Hello", "I live in Pisa"), ON)  # a branch of the same length
    queue.submit(ME, said("Hi"), ON)  # shorter: what was said in the longer one is not in it
    queue.submit(Scope.of_user("t", "other"), said("Hi", "Hello", "I live in Rome"), ON)
    await drained(queue)
    assert [len(job.posted) for job in reader.jobs] == [3, 3, 1, 3]
    assert [job.scope.owner for job in reader.jobs] == ["", "", "", "other"]


async def test_nothing_is_taken_where_both_switches_are_off_or_after_the_end() -> None:
    reader = Reader()
    queue = ExtractionQueue(reader, HandClock())
    queue.submit(ME, said("I live in Rome"), UserSettings())
    queue.submit(ME, [], ON)
    assert len(queue) == 0
    queue.submit(ME, said("I live in Rome"), UserSettings(history=True))
    await drained(queue)
    queue.submit(ME, said("I live in Pisa"), ON)
    assert len(queue) == 0
    assert len(reader.jobs) == 1


async def test_the_oldest_go_where_too_many_or_too_large_ones_wait() -> None:
    reader = Reader()
    queue = ExtractionQueue(reader, HandClock(), max_jobs=3)
    for name in "abcde":
        queue.submit(ME, said(name), ON)
    assert (len(queue), queue.totals.dropped) == (3, 2)
    await drained(queue)
    assert [texts(job) for job in reader.jobs] == [["c"], ["d"], ["e"]]

    reader = Reader()
    queue = ExtractionQueue(reader, HandClock(), max_bytes=1_000)
    queue.submit(ME, said("a" * 600), ON)
    queue.submit(ME, said("b" * 600), ON)
    assert (len(queue), queue.totals.dropped) == (1, 1)
    assert queue.size < 1_000
    queue.submit(ME, said("c" * 5_000), ON)  # alone it may be as large as a request
    await drained(queue)
    assert [texts(job)[0][0] for job in reader.jobs] == ["c"]
    assert queue.size == 0


async def test_a_tenant_has_three_quarters_of_the_queue_so_others_find_room() -> None:
    reader = Reader()
    queue = ExtractionQueue(reader, HandClock(), max_jobs=4)
    for name in "abcd":
        queue.submit(ME, said(name), ON)
    assert (len(queue), queue.totals.dropped) == (3, 1)
    queue.submit(Scope.of_user("u"), said("e"), ON)
    await drained(queue)
    assert [texts(job) for job in reader.jobs] == [["b"], ["c"], ["d"], ["e"]]


async def test_what_fails_is_tried_again_after_a_pause_and_then_given_up() -> None:
    reader, clock = Reader(StoreUnavailable("down"), failures=99), HandClock()
    queue = ExtractionQueue(reader, clock, max_tries=3)
    queue.submit(ME, said("I live in Rome"), ON)
    queue.start()
    for _ in range(3):
        reader.begun.clear()
        clock.at += 1_000.0  # every pause is over
        queue.submit(Scope.of_user("t", f"wakes {clock.at}"), said("x"), ON)
        await reader.begun.wait()
        await asyncio.sleep(0.02)
    await queue.close(patience=0.0)
    assert queue.totals.given_up >= 1
    assert [texts(job) for job in reader.jobs].count(["I live in Rome"]) == 3


async def test_a_failure_of_our_own_keeps_no_other_conversation_from_being_read() -> None:
    reader = Reader(ValueError("with a message's text in it"), failures=1)
    queue = ExtractionQueue(reader, HandClock())
    queue.submit(ME, said("a"), ON)
    queue.submit(ME, said("b"), ON)
    await drained(queue)
    assert [texts(job) for job in reader.jobs] == [["a"], ["b"]]
    assert (queue.totals.read, queue.totals.given_up) == (1, 1)


async def test_the_log_of_a_failure_holds_no_text(caplog) -> None:
    reader = Reader(ValueError("a secret sentence"), failures=1)
    queue = ExtractionQueue(reader, HandClock())
    queue.submit(ME, said("a"), ON)
    await drained(queue)
    assert "ValueError" in caplog.text
    assert "secret sentence" not in caplog.text


async def test_closing_ends_what_is_under_way_and_lets_go_of_all_that_waits() -> None:
    reader = Reader()
    reader.gate.clear()
    queue = ExtractionQueue(reader, HandClock())
    queue.submit(ME, said("a"), ON)
    queue.submit(ME, said("b"), ON)
    queue.start()
    await reader.begun.wait()
    before = asyncio.all_tasks()
    await queue.close(patience=0.01)
    assert reader.jobs == []
    assert (len(queue), queue.size) == (0, 0)
    ended = before - asyncio.all_tasks()
    assert [task.get_name() for task in ended] == ["memory extraction"]
    await queue.join()  # nobody waits for ever


async def test_a_newer_payload_takes_the_place_of_one_that_has_to_wait_after_a_failure() -> None:
    reader, clock = Reader(StoreUnavailable("down"), failures=1), HandClock()
    queue = ExtractionQueue(reader, clock)
    reader.gate.clear()
    queue.submit(ME, said("a"), ON)
    queue.start()
    await reader.begun.wait()
    queue.submit(ME, said("a", "b", "c"), ON)  # while the older one is read
    reader.gate.set()
    await asyncio.sleep(0.02)
    assert (len(reader.jobs), len(queue)) == (1, 1)
    clock.at = 1_000.0
    queue.submit(ME, said("a", "b", "c"), ON)
    await queue.join()
    await queue.close()
    assert [texts(job) for job in reader.jobs] == [["a"], ["a", "b", "c"]]
