"""`/context_memory/conversations` over HTTP, on a real memory: what is told, and to whom."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import httpx
import pytest

from memtree_proxy.server.web_pages import demo_file
from tests.http.served.fakes import edge, real_memory
from tests.programs.sessions import chat

ROOT = "/v1/context_memory/conversations"
SYSTEM = {"role": "system", "content": "be brief"}
LONG = [SYSTEM, *chat(120, words=120)]
OTHER = chat(101, seed=2, words=120)


async def fold(client: httpx.AsyncClient, messages: list[Any], **fields: Any) -> dict[str, Any]:
    body = {"messages": messages, "target_tokens": 4_000, **fields}
    answer = await client.post("/v1/context_memory", json=body)
    assert answer.status_code in (200, 202), answer.text
    return answer.json()


async def listed(client: httpx.AsyncClient, **query: Any) -> list[dict[str, Any]]:
    answer = await client.get(ROOT, params=query)
    assert answer.status_code == 200
    return answer.json()["conversations"]


async def test_a_conversation_that_grew_is_listed_once_and_branches_each():
    begun = datetime.now(UTC)
    async with edge(None, real_memory()) as client:
        assert await listed(client) == []
        for end in (101, 103, 105):
            told = await fold(client, LONG[:end])
        branch = [*LONG[:103], {"role": "user", "content": "Something else, " * 30}]
        other = await fold(client, branch, index_only=True)
        rows = await listed(client)
    assert [row["address"] for row in rows] == [other["memory"]["address"],
                                                told["memory"]["address"]]  # fmt: skip
    grown = rows[1]
    assert grown["title"]
    assert grown["messages"] == 104
    assert grown["state"] == "packed"
    assert rows[0]["state"] == "indexed"
    assert grown["saved_tokens"] == rows[0]["saved_tokens"] == 0  # there is no log
    assert grown["tokens"] > told["memory"]["indexed_tokens"] > 10_000
    used = datetime.fromisoformat(grown["last_used"])
    assert begun - timedelta(seconds=2) < used <= datetime.now(UTC)


CODING = {
    "role": "system",
    "content": "You are an agent.\n<env>\n  Working directory: /home/ann/tea-shop\n</env>",
}


async def test_a_row_tells_title_client_and_project():
    asked = {"role": "user", "content": "Please rename the tea counter to tea bar. " + "Now. " * 9}
    messages = [CODING, asked, *chat(100, words=120)[1:]]
    async with edge(None, real_memory()) as client:
        headers = {"user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.23"}
        body = {"messages": messages, "index_only": True}
        await client.post("/v1/context_memory", json=body, headers=headers)
        (row,) = await listed(client)
        assert row["title"] == "Please rename the tea counter to tea bar. Now. Now. Now."
        assert (row["client"], row["project"]) == ("opencode", "tea-shop")
        # A program of no name goes on with it, from another folder.
        more = [*messages, *chat(40, seed=5, words=120)]
        await fold(client, more, index_only=True)
        (row,) = await listed(client)
        assert (row["client"], row["project"]) == ("opencode", "tea-shop")
        await fold(client, OTHER, index_only=True)
        other, _ = await listed(client)
        assert (other["client"], other["project"]) == ("other", "")


async def test_a_conversation_is_renamed_and_keeps_its_title_while_it_grows():
    async with edge(None, real_memory()) as client:
        told = await fold(client, LONG[:101], index_only=True)
        at = f"{ROOT}/{told['memory']['address']}"
        for path in (at, at.removeprefix("/v1"), at.replace("/v1", "/api/v1")):
            answer = await client.patch(path, json={"title": "  Port & pier  "})
            assert answer.status_code == 200
        assert answer.json() == {"address": told["memory"]["address"], "title": "Port & pier"}
        await fold(client, LONG, index_only=True)
        (row,) = await listed(client)
        assert row["title"] == "Port & pier"
        assert row["address"] != told["memory"]["address"]
        foreign = await client.patch(at, json={"title": "x"}, headers={"x-api-key": "another"})
        unknown = await client.patch(f"{ROOT}/{'0' * 64}", json={"title": "x"})
        assert (foreign.status_code, unknown.status_code) == (404, 404)
        # The address that it had before stands for it as well.
        assert (await client.patch(at, json={"title": "Pier"})).status_code == 200
        assert [row["title"] for row in await listed(client)] == ["Pier"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "title"),
        ({"title": ""}, "title"),
        ({"title": " \n "}, "title"),
        ({"title": "x" * 61}, "title"),
        ({"title": "two\nlines"}, "title"),
        ({"title": "turned \u202e round"}, "title"),
        ({"title": 7}, "title"),
        ({"title": None}, "title"),
        ({"title": "x", "name": "y"}, "name"),
    ],
)
async def test_what_is_no_title(body: dict[str, Any], field: str):
    async with edge(None, real_memory()) as client:
        answer = await client.patch(f"{ROOT}/{'0' * 64}", json=body)
        bad = await client.patch(f"{ROOT}/none", json={"title": "x"})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, field)
    assert (bad.status_code, bad.json()["error"]["param"]) == (400, "address")


async def test_pages():
    async with edge(None, real_memory()) as client:
        for seed in range(5):
            await fold(client, chat(101, seed=seed, words=120), index_only=True)
        whole = await listed(client)
        paged, cursor = [], None
        while True:
            query = {"limit": 2, **({"cursor": cursor} if cursor else {})}
            answer = (await client.get(ROOT, params=query)).json()
            paged += answer["conversations"]
            cursor = answer["next_cursor"]
            if cursor is None:
                break
        refused = [await client.get(ROOT, params={"limit": limit}) for limit in (0, 101)]
    assert len(whole) == 5
    assert paged == whole
    assert [answer.json()["error"]["param"] for answer in refused] == ["limit", "limit"]


@pytest.mark.parametrize("cursor", ["", "x", "A" * 53, "A" * 54 + "=", "_" * 54, "é", "7FF8" * 20])
async def test_a_cursor_that_is_none_of_ours(cursor: str):
    async with edge(None, real_memory()) as client:
        answer = await client.get(ROOT, params={"cursor": cursor})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "cursor")


async def test_the_tree_is_the_posted_one_but_for_what_is_not_final():
    async with edge(None, real_memory()) as client:
        told = await fold(client, LONG)
        stored = await client.get(f"{ROOT}/{told['memory']['address']}/tree")
        posted = (await client.post("/v1/context_memory/tree", json={"messages": LONG})).json()
    assert stored.status_code == 200
    tree = stored.json()
    assert [*tree, "state"] == list(posted)
    final = {node["id"]: node for node in posted["nodes"] if node["sealed"]}
    kept = {node["id"]: node for node in tree["nodes"] if node["sealed"]}
    assert kept == final
    assert len(tree["roots"]) == 1
    assert min(node["messages"][0] for node in tree["nodes"]) == 1  # behind the system message
    assert tree["rules"] == []


async def test_each_leaf_begins_where_the_one_before_it_ends():
    async with edge(None, real_memory()) as client:
        posted = (await client.post("/v1/context_memory/tree", json={"messages": LONG})).json()
    leaves = [node for node in posted["nodes"] if "chars" in node]
    assert {node["level"] for node in leaves} == {0}
    assert {node["level"] for node in posted["nodes"] if "chars" not in node} & {0} == set()
    leaves.sort(key=lambda node: (node["messages"][0], node["chars"][0]))
    assert leaves[0]["chars"][0] == 0
    for before, after in pairwise(leaves):
        end = before["messages"][1], before["chars"][1]
        assert (after["messages"][0], after["chars"][0]) == (
            (end[0] + 1, 0) if end[1] is None else end
        )


async def test_the_places_of_standing_rules():
    rule = {"role": "user", "content": "From now on always answer in French, please."}
    async with edge(None, real_memory()) as client:
        told = await fold(client, [SYSTEM, rule, *OTHER[1:]])
        tree = (await client.get(f"{ROOT}/{told['memory']['address']}/tree")).json()
        plan = (await client.get(f"{ROOT}/{told['memory']['address']}/plan")).json()
    (place,) = tree["rules"]
    assert place["message"] == 1
    assert rule["content"][place["start"] : place["end"]].startswith("From now on")
    (shown,) = plan["rules"]
    assert (shown["message"], shown["start"], shown["end"]) == tuple(place.values())


async def test_the_plan_says_what_explain_says():
    async with edge(None, real_memory()) as client:
        told = await fold(client, LONG, explain=True)
        answer = await client.get(f"{ROOT}/{told['memory']['address']}/plan")
    assert answer.status_code == 200
    plan, explained = answer.json(), told["explain"]
    assert plan["address"] == told["memory"]["address"]
    assert plan["epoch"]["id"] == told["memory"]["epoch"]
    assert plan["epoch"]["messages"] == len(LONG)
    texts = {(one["message"], one["start"], one["end"]) for one in explained["excerpts"]}
    blocks = [one for block in plan["recall"] for one in block["excerpts"]]
    quoted = [*plan["excerpts"], *plan["rules"], *blocks]
    assert {(one["message"], one["start"], one["end"]) for one in quoted} == texts
    sizes = {(o["message"], o["start"], o["end"]): o["tokens"] for o in explained["excerpts"]}
    for one in quoted:
        near = sizes[one["message"], one["start"], one["end"]]
        assert abs(one["tokens"] - near) <= max(3, 0.2 * near)
    shown = {node["id"]: node for node in explained["nodes"]}
    assert {node["id"]: node for node in plan["nodes"]}.items() <= shown.items()
    assert all(one["message"] < plan["cut"] for one in quoted)


async def test_the_plan_names_the_places_of_the_work_that_explain_names():
    messages = json.loads(demo_file().content)["messages"][:400]
    async with edge(None, real_memory()) as client:
        told = await fold(client, messages, explain=True)
        plan = (await client.get(f"{ROOT}/{told['memory']['address']}/plan")).json()
    named = [(one["message"], one["kind"], one["outcome"]) for one in plan["log"]]
    explained = told["explain"]["log"]
    assert named == [(one["message"], one["kind"], one["outcome"]) for one in explained]
    assert any(one["kind"] == "edited" for one in explained)
    assert all(one["start"] < one["end"] for one in plan["log"])


async def test_a_conversation_that_was_never_folded_has_an_empty_plan():
    async with edge(None, real_memory()) as client:
        told = await fold(client, LONG, index_only=True)
        address = told["memory"]["address"]
        plan = (await client.get(f"{ROOT}/{address}/plan")).json()
    assert plan == {"address": address, "epoch": None, "cut": 0, "nodes": [], "excerpts": [],
                    "rules": [], "recall": [], "log": []}  # fmt: skip


@pytest.mark.parametrize("what", ["tree", "plan"])
async def test_addresses_that_are_not_known_or_none(what: str):
    async with edge(None, real_memory()) as client:
        unknown = await client.get(f"{ROOT}/{'ab' * 32}/{what}")
        bad = await client.get(f"{ROOT}/xyz/{what}")
        posted = await client.post(f"{ROOT}/{'ab' * 32}/{what}")
    assert (unknown.status_code, unknown.json()["error"]["param"]) == (404, "address")
    assert (bad.status_code, bad.json()["error"]["param"]) == (400, "address")
    assert posted.status_code == 405


@pytest.mark.parametrize("scope", ["history", "address", "all"])
async def test_what_was_forgotten_is_not_told(scope: str):
    async with edge(None, real_memory()) as client:
        told = await fold(client, LONG)
        address = told["memory"]["address"]
        body = {"history": {"messages": LONG}, "address": {"address": address},
                "all": {"all": True}}[scope]  # fmt: skip
        assert (await client.post("/v1/context_memory/delete", json=body)).status_code == 200
        assert await listed(client) == []
        for what in ("tree", "plan"):
            assert (await client.get(f"{ROOT}/{address}/{what}")).status_code == 404


async def test_nobody_sees_anothers():
    async with edge(None, real_memory()) as client:
        client.headers["authorization"] = "Bearer a"
        told = await fold(client, LONG)
        mine = await listed(client)
        client.headers["authorization"] = "Bearer b"
        assert await listed(client) == []
        for what in ("tree", "plan"):
            answer = await client.get(f"{ROOT}/{told['memory']['address']}/{what}")
            assert answer.status_code == 404
        await fold(client, OTHER, index_only=True)
        assert len(await listed(client)) == 1
        client.headers["authorization"] = "Bearer a"
        assert await listed(client) == mine


async def test_no_text_beyond_summaries():
    """A sentence that no summary quotes is in no answer."""
    async with edge(None, real_memory()) as client:
        told = await fold(client, LONG)
        address = told["memory"]["address"]
        answers = [
            (await client.get(path)).text
            for path in (ROOT, f"{ROOT}/{address}/tree", f"{ROOT}/{address}/plan")
        ]
        tree = json.loads(answers[1])
    summaries = " ".join(node["headline"] + " " + node["body"] for node in tree["nodes"])
    hidden = [
        message["content"] for message in LONG[1:] if message["content"][:60] not in summaries
    ]
    assert len(hidden) > 60
    assert not any(text[:60] in answer for text in hidden for answer in answers)


async def test_nobody_keeps_the_answers():
    async with edge(None, real_memory()) as client:
        answer = await client.get(ROOT)
    assert answer.headers["cache-control"] == "no-store"
