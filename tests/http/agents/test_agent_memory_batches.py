"""Batches of memories over HTTP: their limits, whose memories they mean, all or nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.http.owned.kinds import AGENT, LATER, Agents, agents, wrong

NOTE = {"kind": "Note", "data": {"text": "Call"}}
UPDATE = {"tags": ["archived"], "expiresAt": LATER}


async def deleted(of: Agents, **posted: Any) -> int:
    answer = await of.got("POST", "/batch/delete", json=posted)
    assert answer["success"] is True
    count: int = answer["deleted"]
    return count


async def updated(of: Agents, ids: list[str], **headers: str) -> int:
    posted = {"ids": ids, "update": UPDATE}
    answer = await of.got("POST", "/batch/update", json=posted, headers=headers)
    assert answer["success"] is True
    count: int = answer["updated"]
    return count


async def mine(of: Agents, text: str = "I like tea", **headers: str) -> str:
    """A memory of the user."""
    made = await of.got("POST", "", status=201, json={"text": text}, headers=headers)
    id_: str = made["id"]
    return id_


@pytest.fixture
async def of() -> AsyncIterator[Agents]:
    async with agents() as made:
        yield made


async def test_many_memories_are_stored_as_they_are(of: Agents):
    posted = {"agentId": AGENT, "subjectId": "s", "memories": [NOTE] * 100, "ttl": "1h"}
    answer = await of.got("POST", "/batch/create", status=201, json=posted)
    assert (len(answer["created"]), answer["updated"]) == (100, [])
    assert {"id", "kind"} <= set(answer["created"][0])
    assert len(await of.data(subjectId="s", limit=200)) == 100
    for slip, param in (
        ({**posted, "memories": [NOTE] * 101}, "memories"),
        ({**posted, "memories": []}, "memories"),
        ({"memories": [NOTE]}, "agentId"),
        (
            {"agentId": AGENT, "conversation": [{"role": "user", "content": "a"}]},
            "conversation",
        ),
        ({**posted, "conversation": [{"role": "user", "content": "a"}]}, "conversation"),
    ):
        answer = await of.ask("POST", "/batch/create", json=slip)
        wrong(answer, param)
    assert len(await of.data(subjectId="*", limit=200)) == 100


async def test_many_are_deleted_by_their_ids(of: Agents):
    ids = [await of.noted(), await of.noted(subjectId="s"), await of.noted(agent="other"),
           await mine(of)]  # fmt: skip
    left = await of.noted("Write")
    unknown = ["mem_none", "no id at all", "\0", "a" * 300]
    assert await deleted(of, ids=[*ids, ids[0], *unknown]) == 4
    assert await deleted(of, ids=ids) == 0
    assert [row["id"] for row in await of.rows("*", subjectId="*")] == [left]
    assert (await of.got("GET"))["memories"] == []
    assert len(await of.book.undelete(of.scope(), ids)) == 1


async def test_many_are_erased(of: Agents):
    ids = [await of.noted(), await of.noted()]
    assert await deleted(of, ids=ids, purge=True) == 2
    assert await of.book.undelete(of.scope(), ids) == []


async def test_many_are_changed_alike(of: Agents):
    ids = [await of.noted(), await of.noted(subjectId="s"), await mine(of)]
    left = await of.noted()
    assert await updated(of, [*ids, ids[1], "mem_none"]) == 3
    for id_ in ids[:2]:
        metadata = (await of.one(id_))["metadata"]
        assert (metadata["tags"], metadata["expiresAt"]) == (["archived"], LATER)
        assert metadata["version"] == 2
    row = await of.got("GET", f"/{ids[2]}")
    assert (row["tags"], row["expires_at"]) == (["archived"], "2031-01-01T00:00:00.000Z")
    assert (await of.one(left))["metadata"]["version"] == 1


async def test_foreign_ids_look_like_unknown_ones(of: Agents):
    agents_id = await of.noted()
    users_id = await mine(of, **{"x-user-id": "u1"})
    other = {"authorization": "Bearer other"}
    for headers in (other, {**other, "x-user-id": "u1"}, {"x-user-id": "u2"}):
        ids = [users_id] if "authorization" not in headers else [users_id, agents_id]
        for path, posted in (
            ("/batch/delete", {"ids": ids}),
            ("/batch/delete", {"ids": ids, "purge": True}),
            ("/batch/update", {"ids": ids, "update": UPDATE}),
        ):
            answer = await of.got("POST", path, json=posted, headers=headers)
            assert [value for value in answer.values() if value is not True] == [0]
    assert await deleted(of, filters={"agentId": AGENT}) == 1
    assert (await of.ask("GET", f"/{users_id}", headers={"x-user-id": "u1"})).status_code == 200


async def test_filters_delete_what_they_mean(of: Agents):

    async def filled() -> None:
        await of.got("POST", "/batch/delete", json={"filters": {"agentId": "*", "kind": "Note",
                                                                "subjectId": "*"}})  # fmt: skip
        await of.noted("1", threadId="t")
        await of.noted("2", subjectId="s")
        await of.noted("3", agent="other")
        await of.stored({**NOTE, "data": {"text": "4"}, "tags": ["old", "done"]})

    async def left() -> list[str]:
        return [row["text"] for row in await of.data("*", subjectId="*")][::-1]

    await mine(of)
    for filters, rest in (
        ({"agentId": AGENT}, ["2", "3"]),
        ({"agentId": AGENT, "subjectId": "s"}, ["1", "3", "4"]),
        ({"agentId": AGENT, "subjectId": "*"}, ["3"]),
        ({"agentId": "*", "subjectId": "s"}, ["1", "3", "4"]),
        ({"agentId": AGENT, "threadId": "t"}, ["2", "3", "4"]),
        ({"agentId": "*", "tags": ["Old"]}, ["1", "2", "3"]),
        ({"agentId": "*", "subjectId": "*", "kind": "Note"}, []),
        ({"agentId": AGENT, "tags": ["old", "new"]}, ["1", "2", "3", "4"]),
        ({"agentId": AGENT, "kind": "Other"}, ["1", "2", "3", "4"]),
    ):
        await filled()
        assert await deleted(of, filters=filters) == 4 - len(rest), filters
        assert await left() == rest, filters
    assert len((await of.got("GET"))["memories"]) == 1


async def test_a_deletion_that_is_not_clear_deletes_nothing():
    filters: list[tuple[Any, str]] = [
        ([], ""), ({}, ".agentId"), ({"kind": "Note"}, ".agentId"),
        ({"subjectId": "s"}, ".agentId"), ({"agentId": "*"}, ""),
        ({"agentId": "*", "subjectId": "*"}, ""), ({"agentId": "*", "tags": []}, ".tags"),
        ({"agentId": AGENT, "tags": []}, ".tags"), ({"agentId": AGENT, "tags": [" "]}, ".tags"),
        ({"agentId": AGENT, "tags": None}, ".tags"), ({"agentId": AGENT, "tags": "old"}, ".tags"),
        ({"agentId": AGENT, "threadId": None}, ".threadId"),
        ({"agentId": AGENT, "threadId": 5}, ".threadId"),
        ({"agentId": AGENT, "kind": None}, ".kind"), ({"agentId": AGENT, "kind": ""}, ".kind"),
        ({"agentId": AGENT, "subjectId": None}, ".subjectId"),
        ({"agentId": None, "kind": "Note"}, ".agentId"), ({"agentId": "a b"}, ".agentId"),
        ({"agentId": AGENT, "threadid": "t"}, ".threadid"),
    ]  # fmt: skip
    async with agents() as of:
        id_ = await of.noted()
        await of.noted(subjectId="s")
        for posted, param in (
            ({}, "ids"), ({"ids": None, "filters": None}, "ids"), ({"ids": []}, "ids"),
            ({"ids": id_}, "ids"), ({"ids": [5]}, "ids[0]"), ({"ids": [id_] * 101}, "ids"),
            ({"ids": [id_], "filters": {"agentId": AGENT}}, "ids"),
            ({"ids": [id_], "purge": "yes"}, "purge"),
            *(({"filters": given}, f"filters{below}") for given, below in filters),
        ):  # fmt: skip
            wrong(await of.ask("POST", "/batch/delete", json=posted), param)
        assert len(await of.data(subjectId="*")) == 2


async def test_a_change_that_is_not_clear_changes_nothing(of: Agents):
    id_ = await of.noted()
    for posted, param in (
        ({"update": UPDATE}, "ids"), ({"ids": [], "update": UPDATE}, "ids"),
        ({"ids": [id_] * 101, "update": UPDATE}, "ids"), ({"ids": [id_]}, "update"),
        ({"ids": [id_], "update": []}, "update"), ({"ids": [id_], "update": {}}, "update.tags"),
        ({"ids": [id_], "update": {"tags": 5}}, "update.tags"),
        ({"ids": [id_], "update": {"expiresAt": 5}}, "update.expiresAt"),
        ({"ids": [id_], "update": {"tags": ["a"], "data": {}}}, "update.data"),
        ({"ids": [id_], "update": {"tags": ["a"], "tag": ["x"]}}, "update.tag"),
    ):  # fmt: skip
        wrong(await of.ask("POST", "/batch/update", json=posted), param)
    assert (await of.one(id_))["metadata"]["version"] == 1


async def test_a_hundred_ids_are_taken(of: Agents):
    made = await of.stored(*([NOTE] * 100))
    ids = [row["id"] for row in made["created"]]
    assert await updated(of, ids) == 100
    assert await deleted(of, ids=ids) == 100


async def test_listeners_are_told_of_a_batch(of: Agents):
    id_ = await of.noted()
    before = await of.book.state(of.scope())
    await updated(of, [id_])
    await deleted(of, ids=[id_])
    kinds = [event.type for event in await of.book.changes(of.scope(), before.changed)]
    assert kinds == ["deleted"]
