"""Check what is indexed of a history: projects, prefixes, tasks behind answers, renewals."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.context import growth_commits
from memtree.context import summary_renewal as renewal
from memtree.context.context_memory import ContextMemory
from memtree.context.growth_commits import Generations
from memtree.context.index_lookup import (
    LEAVES,
    NEWEST,
    STRIDE,
    TAIL,
    first_probes,
    thinned,
    with_summary,
)
from memtree.context.indexing import BackgroundTasks
from memtree.context.summary_renewal import newest_version
from memtree.context.turn_request import CompressRequest
from memtree.digests.summarize import VERSION
from memtree.digests.titles import project_of
from memtree.errors import StoreUnavailable
from memtree.history.chat_history import History, read
from memtree.history.message import Message, Volatile
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import SystemClock
from memtree.ports.context_store import IndexBatch
from memtree.stores import open_store
from memtree.tree import growth
from memtree.tree.growth import MessageTexts
from memtree.tree.node import Frontier, Node, NodePlace, Summary, decode_node, encode
from tests.hostile_texts import hostile
from tests.programs.sessions import chat
from tests.properties.process import World

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
# Summaries of an older extraction are made anew when their history is posted.


EXPIRES = 2_000_000.0
POSTED = chat(240, seed=3)


def messages(posted: list[dict[str, Any]]) -> tuple[Message, ...]:
    return tuple(map(Message.of, posted))


def history(posted: list[dict[str, Any]]) -> History:
    return read("t", messages(posted), Volatile())


def older(node: Node) -> Node:
    """Return the node as a program stored it whose summaries had no version of extraction."""
    summary = Summary(f"old {node.id.hex()[:6]}", "old body", ())
    return msgspec.structs.replace(node, summary=summary)


async def grown(posted: list[dict[str, Any]]) -> tuple[dict[bytes, Any], dict[bytes, Node]]:
    """Frontiers and nodes as today's program makes them."""
    world = World()
    await world.used.index(CompressRequest("t", messages(posted)))
    found = await world.store.frontiers("t", history(posted).addresses[1:])
    frontiers = {address: prefix.frontier for address, prefix in found.items()}
    tops = [id_ for frontier in frontiers.values() for id_ in frontier.nodes]
    return frontiers, await world.store.descendants("t", tops)


async def stored_by_an_older_program(world: World) -> dict[bytes, Node]:
    """The nodes as they ought to be."""
    frontiers, nodes = await grown(POSTED)
    await world.store.commit("t", IndexBatch(tuple(map(older, nodes.values())), frontiers, EXPIRES))
    return nodes


async def posted_again(world: World, posted: list[dict[str, Any]] = POSTED) -> None:
    memory = world.memory()
    await memory.index(CompressRequest("t", messages(posted)))
    await memory.close()


def texts(summary: Summary) -> tuple[Any, ...]:
    return summary.headline, summary.body, summary.anchors, summary.extraction


@pytest.mark.slow
async def test_each_summary_is_as_extraction_makes_it_today():
    world = World()
    nodes = await stored_by_an_older_program(world)
    assert len({node.level for node in nodes.values()}) > 1
    await posted_again(world)
    stored = await world.store.newest_summaries("t", list(nodes))
    assert {id_: texts(each) for id_, each in stored.items()} == {
        id_: texts(node.summary) for id_, node in nodes.items()
    }
    assert {each.version for each in stored.values()} == {newest_version()}
    assert (await world.store.nodes("t", list(nodes)))[next(iter(nodes))].summary.version == 0


@pytest.mark.slow
async def test_answers_show_the_new_ones_and_plans_under_way_the_old_ones():
    world = World()
    await stored_by_an_older_program(world)
    before = await world.ask(POSTED)
    assert b" old " in b"".join(before.messages)
    await world.used.close()
    assert world.rows["summaries"]
    again = await world.ask(POSTED, world.memory())
    assert again.messages == before.messages, "a live plan keeps the versions that it names"
    fresh = await world.ask(POSTED, world.memory(), mode="fresh")
    assert b" old " not in b"".join(fresh.messages)


@pytest.mark.slow
async def test_once_is_enough_and_nothing_is_embedded_again():
    world = World(embedding=True)
    await stored_by_an_older_program(world)
    await posted_again(world)
    world.store.calls.clear()
    await posted_again(world)
    assert "put_summaries" not in world.store.calls
    assert "put_vectors" not in world.store.calls
    assert world.embedder is not None
    assert not world.embedder.embedded


@pytest.mark.slow
async def test_a_warm_request_asks_for_nothing_more():
    world = World()
    await stored_by_an_older_program(world)
    await world.used.index(CompressRequest("t", messages(POSTED)))
    await world.used.close()
    world.store.calls.clear()
    await world.used.index(CompressRequest("t", messages(POSTED)))
    await world.used.close()
    assert "newest_summaries" not in world.store.calls


@pytest.mark.slow
async def test_what_was_left_by_a_run_that_ended_is_done_by_the_next():
    world = World()
    nodes = await stored_by_an_older_program(world)
    await posted_again(world)
    store = world.store.store
    held = store.database.connection
    keys = held.execute("SELECT id, version FROM summaries ORDER BY id, version").fetchall()
    held.executemany("DELETE FROM summaries WHERE id = ? AND version = ?", keys[::2])
    await posted_again(world)
    assert len(await world.store.newest_summaries("t", list(nodes))) == len(nodes)


@pytest.mark.slow
async def test_a_summary_by_a_model_stays():
    world = World()
    nodes = await stored_by_an_older_program(world)
    model = Summary("by a model", "b", (), 1, "recipe", (9, 9))
    some = next(iter(nodes))
    await world.store.put_summaries("t", {some: model})
    await posted_again(world)
    stored = await world.store.newest_summaries("t", list(nodes))
    assert stored[some] == model
    assert len(stored) == len(nodes)
    assert len(world.rows["summaries"]) == len(nodes)


@pytest.mark.slow
async def test_parents_made_after_an_upgrade_read_the_new_summaries():
    world = World()
    await stored_by_an_older_program(world)
    await posted_again(world)
    longer = chat(340, seed=3)
    assert longer[:240] == POSTED
    await posted_again(world, longer)
    _, nodes = await grown(longer)
    stored = await world.store.nodes("t", list(nodes))
    newest = await world.store.newest_summaries("t", list(nodes))
    assert {id_: texts(newest.get(id_, node.summary)) for id_, node in stored.items()} == {
        id_: texts(node.summary) for id_, node in nodes.items()
    }
    assert {node.summary.extraction for node in stored.values()} == {0, VERSION}


@pytest.mark.slow
async def test_nothing_is_written_for_a_tenant_that_was_forgotten():
    world = World()
    await stored_by_an_older_program(world)
    began, go = world.store.hold("newest_summaries")
    await world.used.index(CompressRequest("t", messages(POSTED)))
    await began.wait()
    await world.used.forget_tenant("t")
    go.set()
    await world.used.close()
    assert not world.rows["summaries"]


@pytest.mark.slow
async def test_a_store_that_fails_ends_the_renewal_and_no_answer():
    world = World()
    await stored_by_an_older_program(world)
    world.store.broken["put_summaries"] = StoreUnavailable("locked")
    answer = await world.ask(POSTED)
    await world.used.close()
    assert answer.messages
    assert not world.rows["summaries"]


# -- Which summaries are old, and in which order they are made anew.


def grown_tree():
    texts = [
        hostile.fields("user" if n % 2 else "assistant", f"Part {n} of Oslo. " * 90)
        for n in range(70)
    ]
    tail = hostile.tail(texts)
    return tail, growth.grow(tail)


@pytest.mark.slow
def test_a_summary_of_today_is_current_and_one_without_a_version_is_not():
    _, tree = grown_tree()
    assert renewal.outdated(tree.nodes) == []
    assert renewal.is_outdated(Summary("h", "b"))
    assert not renewal.is_outdated(Summary("h", "b", extraction=VERSION))
    assert not renewal.is_outdated(Summary("h", "b", (), 1, "model"))


@pytest.mark.slow
def test_a_node_that_was_stored_before_is_read_as_outdated():
    _, tree = grown_tree()
    stored = msgspec.msgpack.decode(encode(tree.nodes[0]))
    stored[5] = stored[5][:8]  # the fields of a summary as they were
    assert renewal.outdated([decode_node(msgspec.msgpack.encode(stored))]) == [tree.nodes[0].id]


def test_a_parent_is_as_old_as_its_oldest_child():
    new, old = Summary("h", "b", ("a",), extraction=VERSION), Summary("h", "b", ("a",))
    assert growth.summarise([new, old], 1).extraction == 0
    assert growth.summarise([new, new], 1).extraction == VERSION


@pytest.mark.slow
def test_pieces_hold_children_before_parents_and_give_what_growth_gives():
    tail, tree = grown_tree()
    nodes = {node.id: node for node in tree.nodes}
    views = [hostile.view(raw) for raw in tail.messages]
    known = {}
    levels = []
    for piece in renewal.in_pieces(tree.frontier, nodes, set(nodes), 7):
        assert len(piece) <= 7
        levels += [node.level for node, _ in piece]
        known |= renewal.renewed(piece, nodes, known, MessageTexts(views.__getitem__))
    assert levels == sorted(levels)
    assert levels[-1] > 0
    assert {id_: each.headline for id_, each in known.items()} == {
        id_: node.summary.headline for id_, node in nodes.items()
    }
    assert {each.version for each in known.values()} == {renewal.newest_version()}


def test_the_rules_of_a_leaf_are_found_anew_as_well():
    said = "Never use emojis."
    raw = hostile.fields("user", f"{said} Right? {'The boats were out. ' * 600}")
    leaf = growth.grow(hostile.tail([raw])).nodes[0]
    assert leaf.rules == ((0, 0, len(said)),)
    stored = msgspec.structs.replace(leaf, rules=())
    piece = [(stored, NodePlace(0, 0, 0, 0))]
    summary = renewal.renewed(piece, {}, {}, MessageTexts([hostile.view(raw)].__getitem__))[leaf.id]
    assert with_summary(stored, summary).rules == leaf.rules
    assert with_summary(stored, Summary("h", "b")).rules == ()


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
