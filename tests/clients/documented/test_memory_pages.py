"""The examples of the pages about memories of users, chats and agents, and about documents."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.clients.documented.shown import Shown, as_shown, examples, key_of, page
from tests.http.owned.kinds import TYPESCRIPT, counts
from tests.http.wire.documented import DOCUMENT, METHODS
from tests.made.scripted import Call, Say

pytestmark = [pytest.mark.slow, pytest.mark.clients]

CHAT = "/chat/api/550e8400-e29b-41d4-a716-446655440000"
DEADLINE = "The project deadline is March 15, 2026"
LINE = "1. [ports.md 1/1] # Ports Staging listens on port 8090, production on port 443."
USERS, CHATS = "docs/user-memories.md", "docs/chat-memory.md"
AGENTS, DOCUMENTS = "docs/agent-memories.md", "docs/documents.md"
TIMES = ("id", "created_at", "updated_at", "last_confirmed_at")
API = "/v1/memories"
# By page: the pattern of its table's rows, and which routes of the description it is about.
ROUTES = {
    USERS: (r"(/[^`]*)", lambda path: path.startswith(API[3:]) and "/memories/batch/" not in path),
    AGENTS: (
        r"(/[^`]*)",
        lambda path: (
            path in ("/memories", "/memories/search", "/memories/{memory_id}")
            or (path.startswith("/memories/batch/") and path != "/memories/batch/search")
        ),
    ),
    DOCUMENTS: (r"/v1(/rag[^`]*)", lambda path: path.startswith("/rag")),
}


@pytest.mark.parametrize("name", ROUTES)
def test_every_route_stands_on_the_page(name: str):
    pattern, about = ROUTES[name]
    text = page(name)
    if name == AGENTS:
        text = text.partition("## Routes")[2].partition("\n## ")[0]
    listed = set(re.findall(rf"^\| `(GET|POST|PATCH|DELETE) {pattern}`", text, re.MULTILINE))
    known = {
        (method.upper(), path)
        for path, item in DOCUMENT["paths"].items()
        if about(path)
        for method in METHODS
        if method in item
    }
    assert listed == known


def routes(prefix: str) -> set[tuple[str, str]]:
    """Methods and paths of the API below a prefix, with one name for the id of a memory."""
    return {
        (method, path.removeprefix(prefix).replace("{memoryId}", "{memory_id}"))
        for path, item in DOCUMENT["paths"].items()
        if path.startswith(f"{prefix}/memor")
        for method in METHODS
        if method in item
    }


def test_the_routes_of_chats_are_those_of_users_as_the_page_says():
    chats = routes("/chat/api/{chatId}") - {("post", "/memory")}
    assert len(chats) > 10
    assert chats < routes("")
    for _, path in chats:
        named = f"/{path.rpartition('/')[2]}`".replace("memory_id", "memoryId")
        assert named in page(CHATS), path


# -- users -----------------------------------------------------------------------------------


def rows(shown: Shown, key: str, path: str = API) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = shown.get(path, key)["memories"]
    return rows


def test_curl_of_a_users(shown: Shown):
    made, listed, found, changed, past, gone, back = shown.answers(USERS, "curl")
    assert made["text"] == TYPESCRIPT
    assert [row["id"] for row in listed["memories"]] == [made["id"]]
    assert [hit["id"] for hit in found["memories"]] == [made["id"]]
    assert changed["text"] == "User prefers Rust for new projects"
    assert [one["text"] for one in past["versions"]] == [changed["text"], TYPESCRIPT]
    assert gone == {"success": True, "deleted_from_groups": 0, "deleted": 1}
    assert [row["id"] for row in back["memories"]] == [made["id"]]
    assert len(rows(shown, key_of(USERS, "curl"))) == 1


@pytest.mark.long
def test_an_extraction_says_what_it_found_and_stores_nothing(shown: Shown):
    [answer] = shown.answers("docs/extraction.md", "extract")
    assert [one["text"] for one in answer["stored"]] == ["User is allergic to nuts"]
    assert [one["reason"] for one in answer["skipped"]] == ["question"]
    assert (answer["messages"], answer["snapshots"]) == (1, [])
    assert rows(shown, "extraction-extract") == []


@pytest.mark.long
def test_groups(shown: Shown):
    added, listed = shown.answers(USERS, "groups")
    assert added == {"success": True, "added_count": 1, "unknown": []}
    (row,) = listed["memories"]
    assert row["group_title"] == "Work Projects"


@pytest.mark.long
def test_python(shown: Shown):
    assert shown.python(USERS, "python").splitlines() == [
        "8090 -> 8091",
        "The staging server listens on port 8091",
        "It replaced: The staging server listens on port 8090",
    ]


@pytest.mark.long
def test_delete(shown: Shown):
    made, counted, receipt, everything = shown.answers(USERS, "delete")
    assert made["tags"] == ["errands"]
    assert counted == {"dry_run": True, "count": 1}
    assert counts(receipt) == (1, True)
    assert counts(everything) == (1, True)  # it could have been brought back
    assert rows(shown, key_of(USERS, "delete")) == []


@pytest.mark.long
def test_settings(shown: Shown):
    (settings,) = shown.answers(USERS, "settings")
    assert settings == {
        "memories_save_enabled": True, "memories_chat_history_enabled": False, "top_k": 3,
        "score_threshold": 0.5, "plan": "pro",
    }  # fmt: skip
    named = re.findall(r"^\| `(\w+)` \| `?([\w.]+)`? \|", page(USERS), re.MULTILINE)
    other = shown.get(f"{API}/settings", "other")
    assert dict(named) == {name: json.dumps(value).strip('"') for name, value in other.items()}


@pytest.mark.long
def test_transfer(shown: Shown, tmp_path: Path):
    shown.post(API, {"text": TYPESCRIPT}, key_of(USERS, "transfer"))
    (report,) = shown.answers(USERS, "transfer", tmp_path)
    assert TYPESCRIPT in (tmp_path / "memories.jsonl").read_text()
    assert (report["dry_run"], report["read"], report["reasons"]) == (True, 1, {"duplicate": 1})


# -- chats -----------------------------------------------------------------------------------


def test_one_header_and_the_sdk(shown: Shown):
    save = Call("save_memory", {"content": DEADLINE})
    steps = [Say("", (save,)), Say("Noted."), Say("March 15.")]
    script = shown.upstream.script("minute", steps)
    answer = json.loads(shown.sh(CHATS, "header", "minute"))
    assert answer["choices"][0]["message"]["content"] == "Noted."
    kept = rows(shown, "minute", f"{CHAT}/memories")
    assert [row["content"] for row in kept] == [DEADLINE]
    assert shown.python(CHATS, "sdk", "minute") == "March 15."
    assert DEADLINE in script.seen[2].raw.decode()  # it stands in the prompt


def test_events(shown: Shown):
    made = shown.post(f"{CHAT}/memory", {"messageId": "m", "content": DEADLINE}, "events")
    with subprocess.Popen(
        ["sh", "-ec", f"exec {shown.text(CHATS, 'events')}"],
        env=os.environ | {"OPENAI_API_KEY": "events"}, stdout=subprocess.PIPE, text=True,
    ) as curl:  # fmt: skip
        assert curl.stdout
        data = next(line for line in curl.stdout if line.startswith("data: "))
        curl.kill()  # the stream has no end
    seen = json.loads(data.removeprefix("data: "))
    shape = re.search(r"^data: (\{.*\})$", page(CHATS), re.MULTILINE)
    assert shape
    assert (set(seen), seen["id"]) == (set(json.loads(shape[1])), made["id"])


@pytest.mark.parametrize(
    ("name", "path", "posted"),
    [
        (USERS, API, {"text": TYPESCRIPT}),
        (CHATS, f"{CHAT}/memory", {"messageId": "msg_abc123", "content": DEADLINE}),
    ],
)
def test_the_memory_that_is_shown_has_the_fields_of_one(
    shown: Shown, name: str, path: str, posted: dict[str, Any]
):
    shown.post(path, posted, key_of(name, "fields"))
    (row,) = rows(shown, key_of(name, "fields"), path.replace("/memory", "/memories"))
    (said,) = examples(name, "A memory:")
    as_shown(row, said, *TIMES)
    assert {len(row[one]) - len(said[one]) for one in TIMES} == {0}


# -- agents ----------------------------------------------------------------------------------


@pytest.mark.long
def test_curl_of_an_agents(shown: Shown):
    stored, listed, filtered, changed, one, gone = shown.answers(AGENTS, "curl")
    assert [row["kind"] for row in stored["created"]] == ["SessionContext", "Reminder"]
    assert len(listed["memories"]) == 2
    assert [row["data"] for row in filtered["memories"]] == [{"task": "booking"}]
    assert changed["memory"] == one["memory"]
    assert gone == {"success": True, "deleted": 2}
    (said,) = examples(AGENTS, "A memory as it is shown:")
    assert list(one["memory"]) == list(said)
    as_shown(one["memory"]["metadata"], said["metadata"], "createdAt", "updatedAt")


@pytest.mark.long
def test_what_a_created_row_is(shown: Shown):
    (said,) = examples(AGENTS, "It answers 201 with what became of each:")
    row = said["created"][0]
    posted = {"agentId": "a", "memories": [{"kind": row["kind"], "data": row["metadata"]}]}
    answer = shown.post(API, posted, "row")
    (made,) = answer["created"]
    assert {**answer, "created": [{**made, "id": row["id"]}]} == said


@pytest.mark.long
def test_conversation(shown: Shown):
    (answer,) = shown.answers(AGENTS, "conversation")
    made = [(row["kind"], row["metadata"].get("text")) for row in answer["created"]]
    assert ("fact", "User lives in Seattle") in made
    assert {"text": "What is the weather like?", "reason": "question"} in answer["skipped"]
    (again,) = shown.answers(AGENTS, "conversation")
    assert (again["created"], again["updated"], again["skipped"]) == ([], [], [])


# -- documents -------------------------------------------------------------------------------


@pytest.mark.long
def test_a_minute(shown: Shown):
    script = shown.upstream.script("handbook", [Say("Port 8090.")])
    put = json.loads(shown.sh(DOCUMENTS, "put", "handbook"))
    assert (put["id"], put["status"]) == ("ports.md", "created")
    assert shown.python(DOCUMENTS, "ask", "handbook") == "Port 8090.\n"
    sent = json.dumps(json.loads(script.seen[0].raw), ensure_ascii=False)
    assert LINE in sent
    assert LINE in page(DOCUMENTS)
    assert "rag_options" not in sent


@pytest.mark.long
def test_the_examples_have_the_fields_of_answers(shown: Shown):
    shown.sh(DOCUMENTS, "put", "passages")
    (row,) = shown.get("/v1/rag/handbook/documents", "passages")["documents"]
    as_shown(row, examples(DOCUMENTS, "A document:")[0], "created_at")
    query = "query=Which+port+does+staging+listen+on"
    (hit,) = shown.get(f"/v1/rag/handbook/search?{query}", "passages")["passages"]
    as_shown(hit, examples(DOCUMENTS, "A passage that a search found:")[0], "relevance")
