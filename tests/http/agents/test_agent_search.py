"""GET /memories/search in the form of agents' memories, and POST /memories/batch/search."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from memtree.jobs import agent_services
from memtree.memories.scope import Scope
from memtree.stores import RamStore
from tests.fakes import HashingEmbedder
from tests.http.owned.kinds import Users, users
from tests.http.served.fakes import AnsweringModel
from tests.http.wire.documented import check_answer
from tests.made.saved_memories import save

EMBEDDER = HashingEmbedder()
CANARY = "The canary sings at 8090 Linden Street"
ROW = {"id", "kind", "quality", "data", "context", "source", "agentId", "subjectId"}


@pytest.fixture
async def served():
    async with users(HashingEmbedder()) as made:
        yield made


async def keep(
    of: Users, text: str, agent: str = "helper", subject: str = "", tenant: str = "", **fields: Any
) -> str:
    scope = Scope.of_agent(tenant or of.tenant, agent, subject)
    given = {"kind": "Note", "data": {"text": text}} | fields
    return (await save(of.opened.store, scope, text, EMBEDDER, **given)).id


async def search(of: Users, status: int = 200, **query: Any) -> Any:
    answer = await of.ask("GET", "/search", params={"query": "canary", **query})
    assert answer.status_code == status, answer.text
    check_answer("/memories/search", "get", answer)
    return answer.json()


async def found(of: Users, **query: Any) -> list[str]:
    return [row["id"] for row in (await search(of, **query))["memories"]]


async def test_a_row_has_the_form_of_the_seed(served):
    id_ = await keep(served, CANARY, tags=("birds",), data={"bird": "canary", "date": "2026-03-07"})
    answer = await search(served, agentId="helper")
    assert answer.keys() == {"success", "memories", "searchedAt"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", answer["searchedAt"])
    (row,) = answer["memories"]
    assert row.keys() == ROW
    assert 0 < row.pop("quality")["relevance"] <= 1
    assert row == {
        "id": id_,
        "kind": "Note",
        "data": {"bird": "canary", "date": "2026-03-07"},
        "context": {
            "when": "2026-03-07T00:00:00.000Z",
            "mentions": [],
            "tags": ["birds"],
            "isLatest": True,
        },
        "source": "own",
        "agentId": "helper",
        "subjectId": None,
    }


async def test_a_row_that_waits_for_a_persons_word_says_so(served):
    await keep(served, CANARY, tainted=True)
    await keep(served, CANARY, agent="other")
    said = {
        row["agentId"]: row["context"].get("tainted")
        for row in (await search(served, agentId="*"))["memories"]
    }
    assert said == {"helper": True, "other": None}


async def test_each_filter_narrows(served):
    plain = await keep(served, CANARY)
    thread = await keep(served, f"{CANARY} t", thread_id="t1")
    kind = await keep(served, f"{CANARY} k", kind="Bird")
    tags = await keep(served, f"{CANARY} g", tags=("family-trip", "x"))
    subject = await keep(served, f"{CANARY} s", subject="s1")
    other = await keep(served, f"{CANARY} o", agent="other")
    assert set(await found(served, agentId="helper")) == {plain, thread, kind, tags}
    assert await found(served, agentId="helper", threadId="t1") == [thread]
    assert await found(served, agentId="helper", kind="Bird") == [kind]
    assert await found(served, agentId="helper", tags="X, Family  Trip") == [tags]
    assert await found(served, agentId="helper", tags="x,y") == []
    assert await found(served, agentId="helper", subjectId="s1") == [subject]
    assert len(await found(served, agentId="helper", subjectId="*")) == 5
    assert len(await found(served, agentId="*")) == 5
    assert await found(served, agentId="*", subjectId="s1") == [subject]
    assert set(await found(served, agentId="*", subjectId="*")) == {
        plain, thread, kind, tags, subject, other,
    }  # fmt: skip


async def test_ten_rows_at_first_and_at_most_a_hundred(served):
    for at in range(105):
        await keep(served, f"{CANARY} {at}", agent=f"a{at % 7}")
    for limit, rows in ((None, 10), ("3", 3), ("1", 1), ("100", 100)):
        query = {} if limit is None else {"limit": limit}
        assert len(await found(served, agentId="*", **query)) == rows


@pytest.mark.parametrize("query", [{"scope": "own"}, {"scope": "all"}, {"mode": "raw"}])
async def test_without_an_agent_the_users_memories_are_found_in_this_form(served, query):
    await keep(served, CANARY)
    saved = await served.saved(CANARY, category="fact", tags=["birds"])
    (row,) = (await search(served, **query))["memories"]
    assert (row["id"], row["kind"], row["source"]) == (saved["id"], "fact", "own")
    assert row["data"] == {"text": CANARY}
    assert row["context"]["tags"] == ["birds"]
    assert await found(served, kind="fact", **query) == [saved["id"]]
    assert await found(served, kind="preference", **query) == []
    assert (await search(served))["memories"][0]["text"] == CANARY  # and in its own form


async def test_what_is_wrong_is_named(served):
    for query, named in (
        ({"mode": "graph"}, "mode must be one of answer, llm, map, raw"),
        ({"scope": "mine"}, "scope must be one of all, own, shared"),
        ({"agentId": "a", "limit": "many"}, "limit"), ({"agentId": "a/b"}, "agentId"),
        ({"subjectId": "s"}, "agentId"), ({"agentId": "a", "threadId": "*"}, "threadId"),
        ({"agentId": "a", "tags": "x" * 33}, "tags[0]"),
        ({"agentId": "a", "include_superseded": "perhaps"}, "include_superseded"),
        ({"agentId": "a", "query": "  "}, "query"), ({"agentId": "a", "kind": ""}, "kind"),
        ({"query": "x" * 8_001}, "query must have at most 8000 characters"),
        ({"agentId": "a", "query": "x" * 8_001}, "query must have at most 8000 characters"),
        ({"agentId": "a", "threshold": "0.5"}, "threshold"), ({"scope": "shared"}, "x-grants"),
    ):  # fmt: skip
        answer = await search(served, 400, **query)
        assert named in answer["error"]["message"]
    for name in ("agentId", "scope", "mode", "kind"):
        path = f"/search?query=x&agentId=a&{name}=own&{name}=a"
        answer = await served.got("GET", path, status=400)
        assert name in answer["error"]["message"]


# ---------------------------------------------------------------- many at once


async def batch(of: Users, queries: Any, status: int = 200, **fields: Any) -> Any:
    answer = await of.ask("POST", "/batch/search", json={"queries": queries, **fields})
    assert answer.status_code == status, answer.text
    check_answer("/memories/batch/search", "post", answer)
    return answer.json()


async def test_a_batch_finds_what_each_search_finds(served):
    for at in range(30):
        await keep(served, f"{CANARY} {at}", agent=f"a{at % 3}", tags=(f"t{at % 2}",))
    await served.saved(CANARY)
    asked = [
        {"query": "canary 7", "filters": {"agentId": "a1"}},
        {"query": "Linden Street 4", "filters": {"agentId": "*", "tags": ["t0"]}, "limit": 4},
        {"query": "who sings?"},
    ]
    answer = await batch(served, asked)
    alone = [
        await search(served, query="canary 7", agentId="a1"),
        await search(served, query="Linden Street 4", agentId="*", tags="t0", limit=4),
        await search(served, query="who sings?", scope="all"),
    ]
    assert answer["success"] is True
    assert [one["memories"] for one in answer["results"]] == [one["memories"] for one in alone]
    assert all(one["memories"] for one in answer["results"])


async def test_one_wrong_search_refuses_the_batch(served):
    for queries, named in (
        ([], "queries"), ({}, "queries"), ([{"query": "x"}] * 11, "at most 10"),
        ([{"query": "x"}, {"query": ""}], "queries[1].query"), ([{"query": "x"}, 7], "queries[1]"),
        ([{"query": "x"}, {"query": "x" * 8_001}], "queries[1].query must have at most 8000"),
        ([{"query": "x", "filters": []}], "queries[0].filters"),
        ([{"query": "x", "filters": {"subjectId": "s"}}], "queries[0].filters.subjectId"),
        ([{"query": "x", "filters": {"agentId": 7}}], "queries[0].filters.agentId"),
        ([{"query": "x", "filters": {"agent": "a"}}], "queries[0].filters"),
        ([{"query": "x", "filters": {"tags": "a,b"}}], "queries[0].filters.tags"),
        ([{"query": "x", "limit": "few"}], "queries[0].limit"),
        ([{"query": "a", "agentId": "b"}], "queries[0].agentId is not a known field"),
    ):  # fmt: skip
        answer = await batch(served, queries, 400)
        assert named in answer["error"]["message"]


async def test_the_longest_query_is_looked_for(served):
    long = "canary" + " " * 7_993 + "!"
    await search(served, query=long, agentId="helper")
    await batch(served, [{"query": long}])


async def test_a_batch_of_ten_is_answered(served):
    id_ = await keep(served, CANARY)
    answer = await batch(served, [{"query": "canary", "filters": {"agentId": "helper"}}] * 10)
    assert [[row["id"] for row in one["memories"]] for one in answer["results"]] == [[id_]] * 10


# ---------------------------------------------------------------- modes


async def test_a_map_has_clusters_with_labels(served):
    for at, (text, agent) in enumerate(
        [("The dog of Grace barks", "a"), ("Grace walks the dog", "b"), ("A dog of Grace", "a"),
         ("The staging port is 8090", "a"), ("The production port is 443", "b")]
    ):  # fmt: skip
        await keep(served, text, agent=agent, data={"note": text}, id=f"mem_{at}")
    answer = await search(served, query="the dog of Grace and the port", agentId="*", mode="map")
    assert answer.keys() == {"success", "clusters", "searchedAt"}
    assert answer["clusters"][0]["label"] == "dog"
    assert [(set(one["memories"]), one["size"]) for one in answer["clusters"]] == [
        ({"mem_0", "mem_1", "mem_2"}, 3),
        ({"mem_3", "mem_4"}, 2),
    ]
    assert (await search(served, query="nothing", agentId="nobody", mode="map"))["clusters"] == []


async def test_a_map_is_of_all_that_is_relevant_unless_a_limit_says_so(served):
    for at in range(30):
        await keep(served, f"{CANARY} {at}", agent=f"a{at % 3}")
    for limit, count in (({}, 30), ({"limit": "7"}, 7)):
        answer = await search(served, agentId="*", mode="map", **limit)
        assert sum(one["size"] for one in answer["clusters"]) == count


async def test_without_a_model_answers_say_what_is_missing(served):
    await keep(served, CANARY)
    answer = await search(served, 503, agentId="helper", mode="answer")
    assert "summary_model" in answer["error"]["message"]


async def test_a_model_answers_from_what_is_found(monkeypatch):
    model = AnsweringModel(json.dumps({"answer": "On Linden Street.", "sources": [1]}))
    monkeypatch.setattr(agent_services, "open_endpoint", lambda *_: model)
    configured: dict[str, Any] = {"summary_model": "m", "summary_base_url": "http://127.0.0.1:1/v1"}
    configured |= {"memories_extraction": "rules", "tallies": RamStore()}
    async with users(HashingEmbedder(), **configured) as served:
        id_ = await keep(served, CANARY, data={"bird": "canary", "street": "Linden Street"})
        await keep(served, f"{CANARY} elsewhere", agent="other", data={"x": "OTHERS"})
        answer = await search(served, agentId="helper", mode="answer", query="where sings it?")
        assert answer.pop("searchedAt")
        assert answer == {"success": True, "answer": "On Linden Street.", "sources": [id_]}
        (asked,) = model.asked
        assert '"street":"Linden Street"' in asked.messages[1]["content"]
        assert "OTHERS" not in asked.messages[1]["content"]
        answer = await search(served, agentId="nobody", mode="answer")
        assert (answer["answer"], answer["sources"]) == ("Nothing is known about this.", [])
        assert len(model.asked) == 1
