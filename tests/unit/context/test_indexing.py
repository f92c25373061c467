"""Check what is indexed of a history: projects, prefixes, tasks behind answers."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.context import growth_commits
from memtree.context.context_memory import ContextMemory
from memtree.context.growth_commits import Generations
from memtree.context.index_lookup import LEAVES, NEWEST, STRIDE, TAIL, first_probes, thinned
from memtree.context.indexing import BackgroundTasks
from memtree.digests.titles import project_of
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import SystemClock
from memtree.stores import open_store
from memtree.tree.node import Frontier

# ------------------------------------------------------------------------------------------------
# Work behind an answer: of one conversation once at a time, and an end that waits only so long.


NAME, OTHER = ("t", b"1"), ("t", b"2")


class Work:
    """Counts how often it was begun and ended; goes on until `go` is set."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun = self.ended = 0

    async def __call__(self) -> None:
        self.begun += 1
        await self.go.wait()
        self.ended += 1


async def test_a_conversation_has_one_task_at_a_time() -> None:
    tasks, work = BackgroundTasks("prepare"), Work()
    for name in (NAME, NAME, OTHER):
        tasks.start(name, work)
    await asyncio.sleep(0)
    assert work.begun == 2
    work.go.set()
    await tasks.close(9)
    tasks.start(NAME, work)
    await tasks.close(9)
    assert (work.begun, work.ended) == (3, 3)


async def test_what_takes_too_long_is_cancelled() -> None:
    tasks, work = BackgroundTasks("prepare"), Work()
    tasks.start(NAME, work)
    await tasks.close(0)
    assert (work.begun, work.ended) == (1, 0)


async def test_what_has_not_begun_leaves_nothing_behind() -> None:
    """A coroutine that nobody awaits would be a warning, and warnings are errors here."""
    tasks, work = BackgroundTasks("prepare"), Work()
    tasks.start(NAME, work)
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await tasks.close(9)
    assert work.begun == 0


# ------------------------------------------------------------------------------------------------
# Deletions, counted by tenant.


def test_a_deletion_changes_the_number_of_its_tenant_alone() -> None:
    counted = Generations()
    before = counted.of("a"), counted.of("b")
    counted.change("a")
    assert counted.of("a") != before[0]
    assert counted.of("b") == before[1]


def test_a_deletion_of_some_tenant_changes_all_numbers() -> None:
    counted = Generations()
    counted.change("a")
    before = counted.of("a"), counted.of("b")
    counted.change(None)
    assert counted.of("a") != before[0]
    assert counted.of("b") != before[1]


def test_no_number_comes_twice() -> None:
    counted, seen = Generations(), set()
    for _ in range(5):
        counted.change("a")
        seen.add(counted.of("a"))
        counted.change(None)
        seen.add(counted.of("a"))
    assert len(seen) == 10


def test_of_many_tenants_the_oldest_deletions_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(growth_commits, "MAX_TENANTS", 2)
    counted = Generations()
    for tenant in "abc":
        counted.change(tenant)
    assert counted.of("a") == Generations().of("a")
    assert counted.of("c") > counted.of("b") > counted.of("a")


async def test_whoever_keeps_posted_text_is_told_of_each_deletion() -> None:
    told: list[str | None] = []
    memory = ContextMemory(open_store("memory:"), StageOne(child=False), NoQueue(), SystemClock())
    memory.on_deletion(told.append)
    await memory.forget_tenant("a")
    memory.forgotten("b")
    memory.forgotten(None)
    assert told == ["a", "b", None]


# ------------------------------------------------------------------------------------------------
# The project of a conversation: the last part of the directory that a client names.


@pytest.mark.parametrize(
    ("text", "project"),
    [
        (
            "<env>\n  Working directory: /home/dev/tea-shop\n  Is directory a git repo: yes",
            "tea-shop",
        ),
        ("<env>\n4. Working Directory: /home/dev/tea-shop\n</env>", "tea-shop"),
        (" - Primary working directory: /home/ann/code/proj\n - Is a git repository", "proj"),
        ("<environment_context>\n  <cwd>/home/ann/code/proj</cwd>\n  <shell>bash", "proj"),
        ("# Current Working Directory (/home/ann/My Shop) Files\nsrc/", "My Shop"),
        ("Current date: 2026-11-21\nCurrent working directory: /srv/api/", "api"),
        ("I'm currently working in the directory: /home/ann/notes\n", "notes"),
        ("You work in `C:\\Users\\ann\\src\\Parser`. cwd: C:\\Users\\ann\\src\\Parser", "Parser"),
        ("The working directory is ~/code/garden.", "garden"),
        (
            "<uploaded_files>\n/workspace/ponylang__ponyc__0.1\n</uploaded_files>",
            "ponylang__ponyc__0.1",
        ),
        ("You are a coding agent. Working directory: /home/dev/project", "project"),
        ("Avoid using cd; commands run in the current working directory by default.", ""),
        ("Run `ls` in the working directory: it lists /etc", ""),
        ("Which directory is it?", ""),
        ("Working directory: /", ""),
        ("Working directory: /home/" + "x" * 61, ""),
    ],
)
def test_what_clients_write(text: str, project: str) -> None:
    assert project_of([text]) == project
    assert project_of(["Be brief.", text, "Working directory: /later"]) in (project, "later")


def test_no_secret_and_no_control_character_is_a_project() -> None:
    key = "ghp_" + "a1B2c3" * 6
    assert key not in project_of([f"Working directory: /home/ann/{key}"])
    assert project_of(["Working directory: /home/ann/a\u202eb\x07c"]) == "abc"


# ------------------------------------------------------------------------------------------------
# Check which prefixes are stored, and that one near a branch is found, wherever that is.


def chain(leaves: list[int]) -> dict[bytes, Frontier]:
    """A frontier for each prefix, which gains so many leaves with each message."""
    found, total = {}, 0
    for length, more in enumerate(leaves, 1):
        total += more
        found[length.to_bytes(4)] = Frontier(leaves=total, messages=length)
    return found


lengths = st.integers(1, 3_000)


@given(lengths)
def test_short_messages_keep_every_eighth_and_the_last_ones(length: int) -> None:
    kept = thinned(chain([0] * length), length)
    newest = range(max(1, length - TAIL), length + 1)
    wanted = {*range(STRIDE, length + 1, STRIDE), *newest}
    assert {frontier.messages for frontier in kept.values()} == wanted


@given(st.lists(st.integers(0, 12), min_size=1, max_size=60))
def test_long_messages_are_kept_by_their_leaves(leaves: list[int]) -> None:
    all_, kept = chain(leaves), list(thinned(chain(leaves), len(leaves)).values())
    for frontier in all_.values():
        behind = [one for one in kept if one.messages <= frontier.messages]
        assert frontier.leaves - (behind[-1].leaves if behind else 0) < LEAVES


@given(lengths, st.integers(0, 40))
def test_what_comes_later_is_thinned_by_the_same_lengths(length: int, known: int) -> None:
    known = min(known, length - 1)
    later = dict(list(chain([0] * length).items())[known:])
    newest = range(length - TAIL, length + 1)
    wanted = {n for n in (*range(STRIDE, length, STRIDE), *newest) if n > known}
    assert {frontier.messages for frontier in thinned(later, length).values()} == wanted


@given(lengths)
def test_the_first_read_asks_for_stored_lengths(length: int) -> None:
    """All but the newest, where the end of an earlier request may be."""
    asked = first_probes(length)
    assert all(one % STRIDE == 0 for one in asked if one <= length - NEWEST)
    assert len(asked) <= 64
    assert asked == sorted(set(asked), reverse=True)
