"""The scenario of the public SDK's own integration tests, against a real server process."""

from __future__ import annotations

import time
from typing import Any

import pytest

from memtree.agents.grant import Chain
from tests.clients.memory_sdk import MemorySdk, SdkError
from tests.made.wallets import Wallet
from tests.programs.server import Server

pytestmark = [pytest.mark.slow, pytest.mark.clients]

AGENT = "sdk-agent"
PREFERENCE = {
    "type": "object",
    "properties": {"topic": {"type": "string"}, "likes": {"type": "boolean"}},
    "required": ["topic", "likes"],
}
PROFILE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
}
HOUR = 3_600_000


@pytest.fixture(
    params=["/v1", *(pytest.param(one, marks=pytest.mark.long) for one in ("", "/api/v1"))]
)
def sdk(request: pytest.FixtureRequest, server: Server) -> MemorySdk:
    key = f"sdk-{request.node.name}"
    return MemorySdk(server.url + request.param, key.replace("[", "-").replace("]", ""))


def found(answer: dict[str, Any]) -> list[Any]:
    assert answer["success"] is True
    return [memory["data"] for memory in answer["memories"]]


def test_memories_from_a_conversation(sdk: MemorySdk):
    said = [
        {"id": "m1", "role": "user", "content": "My name is Alice and I live in Seattle."},
        {"id": "m2", "role": "assistant", "content": "Nice to meet you, Alice."},
    ]
    made = sdk.create_memory(AGENT, conversation=said)
    assert made["success"] is True
    assert made["created"]
    again = sdk.create_memory(AGENT, conversation=said)
    assert (again["created"], again["updated"]) == ([], [])
    hits = sdk.search_memories("Where does Alice live?", agentId=AGENT)["memories"]
    assert any("Seattle" in str(hit["data"]) for hit in hits)


def test_direct_memories_of_a_kind_without_a_schema_are_not_merged(sdk: MemorySdk):
    memory = {"kind": "Note", "data": {"text": "the same"}}
    made = sdk.create_memory(AGENT, memories=[memory, memory], ttl="1h")
    assert len(made["created"]) == 2
    for row in made["created"]:
        assert row["kind"] == "Note"
        assert 0 < row["metadata"]["expiresAt"] - time.time() * 1000 <= HOUR
    batch = sdk.batch_create_memories(AGENT, [memory] * 100, subjectId="s")
    assert len({row["id"] for row in batch["created"]}) == 100
    with pytest.raises(SdkError) as caught:
        sdk.batch_create_memories(AGENT, [memory] * 101)
    assert caught.value.status == 400


def test_schemas_and_unique_values(sdk: MemorySdk):
    made = sdk.register_schema("Preference", "What somebody likes", PREFERENCE, uniqueOn=["topic"])
    assert made["success"] is True
    assert made["schema"]["uniqueOn"] == ["topic"]
    one_only = sdk.register_schema("Profile", "Who it is", PROFILE, uniqueOn=["kind"])
    assert one_only["schema"]["name"] == "Profile"
    names = [schema["name"] for schema in sdk.list_schemas()["schemas"]]
    assert names == ["Preference", "Profile"]
    first = sdk.create_memory(
        AGENT, memories=[{"kind": "Preference", "data": {"topic": "tea", "likes": True}}]
    )
    second = sdk.create_memory(
        AGENT, memories=[{"kind": "Preference", "data": {"topic": "tea", "likes": False}}]
    )
    assert (len(first["created"]), second["created"]) == (1, [])
    (updated,) = second["updated"]
    assert updated["supersedes"] == first["created"][0]["id"]
    assert found(sdk.search_memories("tea", agentId=AGENT, kind="Preference")) == [
        {"topic": "tea", "likes": False}
    ]
    with pytest.raises(SdkError) as caught:
        sdk.create_memory(AGENT, memories=[{"kind": "Profile", "data": {"age": "old"}}])
    assert caught.value.status == 422
    assert sdk.update_schema("Profile", description="Whoever it is")["updated"] is True
    assert sdk.delete_schema("Profile")["success"] is True
    with pytest.raises(SdkError) as caught:
        sdk.delete_schema("Profile")
    assert caught.value.status == 404


def test_searching_changing_and_deleting(sdk: MemorySdk):
    facts = [{"kind": "Fact", "data": {"text": text}} for text in
             ("The port of the server is 8090", "The deploy script needs Python")]  # fmt: skip
    made = sdk.create_memory(AGENT, memories=facts, threadId="th-1", subjectId="s")
    port, script = [row["id"] for row in made["created"]]
    (hit, *_) = sdk.search_memories(
        "Which port does the server have?", agentId=AGENT, subjectId="s", threadId="th-1"
    )["memories"]
    assert hit["id"] == port
    assert set(hit) >= {"id", "kind", "quality", "data", "context", "source"}
    assert set(hit["quality"]) == {"relevance", "confidence"}
    assert (hit["source"], hit["context"]["isLatest"]) == ("own", True)
    shown = sdk.get_memory(port)
    assert shown["memory"]["data"] == facts[0]["data"]
    later = int(time.time() * 1000) + HOUR
    changed = sdk.update_memory(port, tags=["net work"], expiresAt=later)
    assert changed["memory"]["metadata"]["expiresAt"] == later
    assert sdk.update_memory(port, expiresAt=None)["memory"]["metadata"]["expiresAt"] is None
    tagged = sdk.search_memories("port", agentId=AGENT, subjectId="s", tags=["net-work"])
    assert [one["id"] for one in tagged["memories"]] == [port]
    filters = {"agentId": AGENT, "subjectId": "s"}
    queries = [{"query": query, "filters": filters} for query in ("port", "deploy script")]
    results = sdk.batch_search(queries)["results"]
    assert [one["memories"][0]["id"] for one in results] == [port, script]
    assert sdk.batch_update([port, script, script, "mem_none"], tags=["old"])["updated"] == 2
    assert sdk.batch_delete([port, port, "mem_none"])["deleted"] == 1
    with pytest.raises(SdkError) as caught:
        sdk.get_memory(port)
    assert caught.value.status == 404
    assert sdk.batch_delete(agentId=AGENT, subjectId="s", tags=["old"])["deleted"] == 1
    last = sdk.create_memory(AGENT, memories=facts[:1])["created"][0]["id"]
    assert sdk.delete_memory(last)["success"] is True


@pytest.mark.parametrize("chain", list(Chain))
@pytest.mark.parametrize("prefix", ["/v1", pytest.param("", marks=pytest.mark.long)])
def test_wallets_share_memories_without_any_key(server: Server, chain: Chain, prefix: str):
    """A wallet is a tenant of its own; what it grants another may search, and no more."""
    name = f"{chain} {prefix}"
    ada = MemorySdk(server.url + prefix, wallet=Wallet(f"Ada {name}", chain))
    ben = MemorySdk(server.url + prefix, wallet=Wallet(f"Ben {name}", chain))
    eve = MemorySdk(server.url + prefix, wallet=Wallet(f"Eve {name}", chain))
    text = "Findings: the quokka of Zürich smiles"
    ada.create_memory("researcher", memories=[{"kind": "Finding", "data": {"text": text}}])
    ada.create_memory("diary", memories=[{"kind": "Finding", "data": {"text": "quokka secret"}}])
    ben.create_memory("reader", memories=[{"kind": "Finding", "data": {"text": "quokka of Ben"}}])
    grant, code = ada.create_grant(Wallet(f"Ben {name}", chain).address, agent="researcher")
    ben.add_grant(code)
    assert ben.grants == [grant]
    both = ben.search_memories("quokka smiles?", agentId="*", subjectId="*")["memories"]
    assert {(hit["data"]["text"], hit["source"]) for hit in both} == {
        (text, "shared:researcher"), ("quokka of Ben", "own"),
    }  # fmt: skip
    shared = ben.search_memories("quokka", scope="shared")["memories"]
    assert [hit["data"]["text"] for hit in shared] == [text]
    own = ben.search_memories("quokka", scope="own", agentId="reader")
    assert found(own) == [{"text": "quokka of Ben"}]
    (result,) = ben.batch_search([{"query": "quokka", "filters": {"agentId": "researcher"}}])[
        "results"
    ]
    assert [hit["data"]["text"] for hit in result["memories"]] == [text]
    # A search opens nothing else: not by its id, not to another, not after it was revoked.
    for wrong in (lambda: ben.get_memory(shared[0]["id"]), lambda: eve.get_memory("mem_none")):
        with pytest.raises(SdkError) as caught:
            wrong()
        assert caught.value.status == 404
    assert ben.batch_delete([shared[0]["id"]])["deleted"] == 0
    eve.add_grant(code)
    with pytest.raises(SdkError) as caught:
        eve.search_memories("quokka", scope="shared")
    assert caught.value.status == 403
    assert ada.send("POST", "/grants/revoke", {"grant": grant})["success"] is True
    with pytest.raises(SdkError) as caught:
        ben.search_memories("quokka", scope="shared")
    assert caught.value.status == 403
    left = ben.search_memories("quokka", agentId="*", subjectId="*")
    assert found(left) == [{"text": "quokka of Ben"}]
    assert left["warnings"]
