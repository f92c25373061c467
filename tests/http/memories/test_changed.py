"""One memory of each kind: shown, changed, deleted, brought back, confirmed, and its past."""

from __future__ import annotations

import asyncio
from typing import Any

from memtree.memories.draft import MemoryDraft
from memtree_proxy.wire.curation_bodies import MAX_IDS
from tests.fakes import HashingEmbedder
from tests.http.owned.kinds import (
    LATER,
    TYPESCRIPT,
    Agents,
    Asking,
    Chats,
    Filing,
    Users,
    each,
    error,
    serving,
    users,
    wrong,
)

EVERY, STORED = each(Users, Chats, Agents, Filing), each(Users, Chats, Agents)
PEOPLE = each(Users, Chats)
RUST, LEEDS = "User prefers Rust for new projects", "User lives in Leeds"
BORN, NEXT, LAST = (f"1970-01-12T13:{minute}:40.000Z" for minute in (46, 47, 48))
# What a deletion answers.
GONE: dict[type[Asking], Any] = {
    Users: {"success": True, "deleted_from_groups": 0, "deleted": 1},
    Chats: None,
    Agents: {"success": True, "deleted_from_groups": 0, "deleted": 1},
    Filing: {"deleted_passages": 1},
}


async def deleted(of: Asking, id_: str, **query: str) -> Any:
    status = 204 if isinstance(of, Chats) else 200
    return await of.got("DELETE", f"{of.LIST}/{id_}", status=status, params=query)


@PEOPLE
async def test_a_memory_is_changed_field_by_field(kind: type[Asking]):
    async with serving(kind, HashingEmbedder()) as of:
        row = await of.saved()
        at = f"{of.LIST}/{row['id']}"
        of.opened.clock.time += 60
        category = "My tools" if kind is Users else "instruction"
        for number, posted in enumerate(
            ({of.TEXT: RUST}, {"category": category}, {"tags": ["Languages"], of.TEXT: None})
        ):
            answer = await of.ask("PATCH", at, json=posted)
            assert (answer.status_code, answer.headers["etag"]) == (200, f'"{number + 2}"')
        changed = {
            of.TEXT: RUST, "category": category, "tags": ["languages"], "version": 4,
            "updated_at": NEXT, "last_confirmed_at": NEXT,
        }  # fmt: skip
        assert await of.got("GET", at) == answer.json() == row | changed
        assert [hit["id"] for hit in await of.found("Rust")] == [row["id"]]
        assert await of.found("TypeScript") == []
        assert (await of.got("PATCH", at, json={"tags": []}))["tags"] == []


async def test_when_a_memory_ends_is_changed():
    async with users() as of:
        row = await of.saved(expires_at="2030-01-01")
        assert row["expires_at"] == "2030-01-01T00:00:00.000Z"
        at = f"/{row['id']}"
        for posted, ends in (
            ("2031-01-01T12:00:00+02:00", "2031-01-01T10:00:00.000Z"),
            (None,) * 2,
        ):
            assert (await of.got("PATCH", at, json={"expires_at": posted}))["expires_at"] == ends


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "TEXT"), ({"TEXT": None, "category": None}, "TEXT"), ({"other": 1}, "other"),
    ({"TEXT": ""}, "TEXT"), ({"TEXT": 1}, "TEXT"), ({"TEXT": " "}, "TEXT"),
    ({"TEXT": "x" * 16_001}, "TEXT"), ({"TEXT": "a", "category": 3}, "category"),
    ({"category": []}, "category"), ({"tags": "x"}, "tags"), ({"tags": {}}, "tags"),
]  # fmt: skip
OF_EACH: dict[type[Asking], list[tuple[dict[str, Any], str]]] = {
    Users: [
        *WRONG, ({"category": "a;b"}, "category"), ({"expires_at": 4e9}, "expires_at"),
        ({"expires_at": "1970-01-01"}, "expires_at"), ({"text": "a", "agentId": "b"}, "agentId"),
        ({"expiresAt": 5}, "expiresAt"),
        ({"expiresAt": LATER, "expires_at": "2031-01-01"}, "expiresAt"),
    ],
    Chats: [*WRONG, ({"category": "x"}, "category")],
    Agents: [
        ({}, "tags"), ({"tags": None}, "tags"), ({"tags": "a"}, "tags"),
        ({"tags": ["a" * 33]}, "tags[0]"), ({"tags": [5]}, "tags[0]"),
        ({"expiresAt": "never"}, "expiresAt"), ({"expiresAt": 1_924_992_000}, "expiresAt"),
        ({"expiresAt": 99_999_999_999}, "expiresAt"), ({"expiresAt": 17 * 10**11}, "expiresAt"),
        ({"tags": ["a"], "data": {"text": "b"}}, "data"), ({"tags": ["a"], "kind": "b"}, "kind"),
        ({"ttl": "1h"}, "ttl"), ({"text": "b"}, "text"), ({"tags": ["a"], "tag": ["x"]}, "tag"),
    ],
}  # fmt: skip


@STORED
async def test_what_is_wrong_with_a_change_is_named(kind: type[Asking]):
    async with serving(kind) as of:
        if kind is Agents:
            of.opened.clock.time = 1_800_000_000.0
        at = f"{of.LIST}/{await of.id_of()}"
        for posted, param in OF_EACH[kind]:
            change = {name.replace("TEXT", of.TEXT): value for name, value in posted.items()}
            wrong(await of.ask("PATCH", at, json=change), param.replace("TEXT", of.TEXT))
        (row,) = await of.rows()
        assert (of.about(row)["version"], of.text(row)) == (1, TYPESCRIPT)


@STORED
async def test_if_match(kind: type[Asking]):
    async with serving(kind) as of:
        at, version = f"{of.LIST}/{await of.id_of()}", 1
        for match, status in (
            ('"1"', 200), ("2", 200), ('W/"3"', 200), ("*", 200), ('"1"', 409), ("0", 409),
            ('"6"', 409), ('"x"', 400), ('"5", "6"', 400), ("", 400),
        ):  # fmt: skip
            change, headers = {"tags": [f"t{version}"]}, {"if-match": match}
            answer = await of.ask("PATCH", at, json=change, headers=headers)
            if status == 409:
                error(answer, 409, "version_conflict", None)
            elif status == 400:
                wrong(answer, "if-match")
            else:
                version += 1
                assert (answer.status_code, answer.headers["etag"]) == (200, f'"{version}"')
        (row,) = await of.rows()
        assert (of.about(row)["version"], of.about(row)["tags"]) == (5, ["t4"])


@STORED
async def test_two_tabs_do_not_overwrite_each_other(kind: type[Asking]):
    async with serving(kind) as of:
        at, headers = f"{of.LIST}/{await of.id_of()}", {"if-match": '"1"'}
        tabs = (of.ask("PATCH", at, json={"tags": [f"t{n}"]}, headers=headers) for n in range(5))
        answers = await asyncio.gather(*tabs)
        assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]
        (won,) = [answer.json() for answer in answers if answer.status_code == 200]
        assert of.about((await of.rows())[0])["tags"] == of.about(won)["tags"]


@EVERY
async def test_a_deleted_memory_is_in_no_answer(kind: type[Asking]):
    async with serving(kind, HashingEmbedder()) as of:
        gone, other = await of.id_of(), await of.id_of("The office is in Graz")
        await of.book.join()
        assert await deleted(of, gone) == GONE[kind]
        assert await of.ids() == [other]
        found = await of.found("TypeScript for new projects, and the office")
        assert [hit["id"] for hit in found] == [other]
        asks: list[tuple[str, str, Any]] = [("GET", "", None), ("DELETE", "", None)]
        if kind is not Filing:
            asks += [("PATCH", "", {"tags": ["b"]}), ("GET", "/history", None)]
            asks += [("POST", "/confirm", None)]
        for method, below, posted in asks:
            again = await of.ask(method, f"{of.LIST}/{gone}{below}", json=posted)
            error(again, 404, "not_found", of.ID)
        assert (await of.post()).status_code == 201  # nor is it a duplicate's existing one


@STORED
async def test_what_was_deleted_can_be_brought_back(kind: type[Asking]):
    async with serving(kind) as of:
        ids = [await of.id_of(text) for text in (TYPESCRIPT, LEEDS, "The office is in Graz")]
        before = await of.rows()
        for id_ in ids[:2]:
            await deleted(of, id_)
        back = (await of.many("undelete", ids=[ids[0], "mem_unknown", ids[2]]))["memories"]
        assert back == [before[2]]
        assert await of.rows() == [before[0], before[2]]


@EVERY
async def test_what_was_purged_is_gone_for_good(kind: type[Asking]):
    async with serving(kind) as of:
        first, second, third = [await of.id_of(text) for text in (TYPESCRIPT, LEEDS, RUST)]
        for purge in ("perhaps", "", "2"):
            answer = await of.ask("DELETE", f"{of.LIST}/{first}", params={"purge": purge})
            wrong(answer, "purge")
        assert await of.ids() == [third, second, first]
        await deleted(of, first, purge="true")
        if kind is not Filing:
            await deleted(of, second)
            answer = await of.ask("DELETE", f"{of.LIST}/{second}", params={"purge": "1"})
            assert answer.status_code == (200 if kind is Users else 204 if kind is Chats else 404)
            assert await of.many("undelete", ids=[first]) == {"memories": []}
            assert kind is Agents or await of.ids(include="deleted") == [third]
        answer = await of.ask("DELETE", f"{of.LIST}/{first}", params={"purge": "true"})
        error(answer, 404, "not_found", of.ID)


@STORED
async def test_wrong_ids_are_named(kind: type[Asking]):
    async with serving(kind) as of:
        asks = [(f"{of.LIST}/undelete", "ids")]
        if isinstance(of, Users):
            asks.append((f"/groups/{(await of.group())['id']}/memories", "memory_ids"))
        for path, name in asks:
            values: list[Any] = [None, [], "mem_1", ["x"] * (MAX_IDS + 1), {}]
            for ids in values:
                wrong(await of.ask("POST", path, json={name: ids, **of.named("")}), name)


@EVERY
async def test_an_unknown_memory(kind: type[Asking]):
    async with serving(kind) as of:
        await of.saved()
        asks: list[tuple[str, str, Any]] = [("GET", "", None), ("DELETE", "", None)]
        if kind is not Filing:
            asks += [("PATCH", "", {"tags": ["a"]}), ("POST", "/confirm", None)]
            asks.append(("GET", "/history", None))
        for id_ in ("mem_unknown", "1", "a%20b", "a%22b", "%00", "%0a", "x" * 201, "ä", "..%2f"):
            for method, below, posted in asks:
                answer = await of.ask(method, f"{of.LIST}/{id_}{below}", json=posted)
                if "%2f" in id_:
                    assert answer.status_code in (400, 404, 405)
                else:
                    error(answer, 404, "not_found", of.ID)
        assert len(await of.rows()) == 1


@STORED
async def test_a_person_confirms_what_a_model_saved(kind: type[Asking]):
    async with serving(kind) as of:
        draft = MemoryDraft("Always run the linter", category="instruction", source_type="model")
        id_ = (await of.book.save(of.scope(), draft)).memory.id
        assert [of.about(row)["tainted"] for row in await of.rows()] == [True]
        of.opened.clock.time += 60
        row = of.about(await of.got("POST", f"{of.LIST}/{id_}/confirm"))
        assert (row["tainted"], row["version"]) == (False, 2)
        assert kind is Agents or row["last_confirmed_at"] == NEXT
        assert [of.about(row)["tainted"] for row in await of.rows()] == [False]


# -- the past --------------------------------------------------------------------------------


@PEOPLE
async def test_all_versions_of_a_memory(kind: type[Asking]):
    async with serving(kind) as of:
        id_ = await of.id_of(LEEDS)
        for change in ({of.TEXT: "User lives in York"}, {"tags": ["home"]}):
            of.opened.clock.time += 60
            await of.got("PATCH", f"{of.LIST}/{id_}", json=change)
        past = await of.got("GET", f"{of.LIST}/{id_}/history")
        assert (past["id"], past["replaced"]) == (id_, [])
        same = {"category": "fact", "expires_at": None, "tainted": False}
        assert past["versions"] == [
            {**same, "version": version, "at": at, of.TEXT: text, "tags": tags}
            for version, at, text, tags in (
                (3, LAST, "User lives in York", ["home"]),
                (2, NEXT, "User lives in York", []),
                (1, BORN, LEEDS, []),
            )
        ]


@PEOPLE
async def test_what_a_correction_replaced_is_in_the_history(kind: type[Asking]):
    ports = [f"The staging port is {number}" for number in (8090, 8091, 8092)]
    async with serving(kind) as of:
        old = await of.id_of(ports[0])
        for port in ports[1:]:
            newest = (await of.ids())[0]
            await of.book.correct(of.scope(), newest, MemoryDraft(port), "moved")
        (id_,) = await of.ids()
        replaced = (await of.got("GET", f"{of.LIST}/{id_}/history"))["replaced"]
        assert [of.text(one["versions"][0]) for one in replaced] == ports[1::-1]
        assert [one["reason"] for one in replaced] == ["moved", "moved"]
        assert (replaced[0]["replaced_by"], replaced[1]["id"]) == (id_, old)
        stones = (await of.got("GET", f"{of.LIST}/tombstones"))["tombstones"]
        assert [of.text(stone) for stone in stones] == ports[1::-1]
        assert stones[0]["replaced_by"] == id_


@PEOPLE
async def test_of_what_was_forgotten_no_text_is_told(kind: type[Asking]):
    async with serving(kind) as of:
        id_ = await of.id_of()
        await of.book.forget(of.scope(), id_, "asked to")
        stones = await of.got("GET", f"{of.LIST}/tombstones", params={"limit": "1"})
        (stone,) = stones["tombstones"]
        assert (stone["id"], stone[of.TEXT], stone["reason"]) == (id_, None, "asked to")
