"""The document of the remember tool, sentence by sentence, and what the contract adds to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtree_proxy.mcp.listed_tools import BY_NAME, REMEMBER
from tests.http.served.mcp_client import NEW, OLD, DeadEmbedder, Mcp, remembering

Check = Callable[[Mcp], Awaitable[None]]
CASES: list[tuple[tuple[str, ...], Check]] = []

FACT = "My son Colby lives in Los Angeles."
NEARLY = "my son  Colby lives in Los Angeles"  # the same but for what does not count
MOVED = "My son Colby lives in New York."
UNLIKE = "The deploy script needs Python 3.12."
SECRETS = (
    "The key is sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA1bC2dE3fG4hJ5k",
    "Send eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0."
    "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U along.",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
)
ACCESS_KEY = "AKIAZ7QK3M5N8P2R4T6V"  # short enough for a tag
PAST, FUTURE = "2020-01-01T00:00:00.000Z", "2099-01-01T00:00:00+02:00"


def says(*sentences: str) -> Callable[[Check], Check]:
    """The check of what these sentences say."""

    def add(check: Check) -> Check:
        CASES.append((sentences, check))
        return check

    return add


async def stored(mcp: Mcp, **given: object) -> dict[str, object]:
    """A fact saved with these fields, as it is listed."""
    number = await mcp.remembered(FACT, **given)
    (row,) = [one for one in await mcp.all() if one["memory_id"] == number]
    return dict(row)


# -- the document: inputs ---------------------------------------------------------------------


@says("Stores a single durable fact.", "text: Required string. The fact to remember.")
async def _(mcp: Mcp) -> None:
    assert (await stored(mcp))["text"] == FACT
    assert "text" in await mcp.refused("remember", "INVALID_INPUT")
    for wrong in (None, 5, True, [FACT], {"text": FACT}, "", " \n "):
        assert "text" in await mcp.refused("remember", "INVALID_INPUT", text=wrong)


@says("Up to MAX_TEXT_CHARS characters (default 16000).")
async def _(mcp: Mcp) -> None:
    longest = "é" * 16_000
    assert (await mcp.ok("remember", text=longest))["message"] == "Ok"
    assert "16000" in await mcp.refused("remember", "INVALID_INPUT", text=longest + "é")
    assert [len(one["text"]) for one in await mcp.all()] == [16_000]
    async with remembering(max_text_chars=20) as small:
        assert "20" in await small.refused("remember", "INVALID_INPUT", text="x" * 21)
        assert "20" in await small.refused("recall", "INVALID_INPUT", query="x" * 21)
        await small.ok("remember", text="x" * 20)


@says(
    "Texts shaped like secrets (API keys, JWTs, PEM private-key markers) are rejected with "
    "SECRET_REJECTED."
)
async def _(mcp: Mcp) -> None:
    for secret in SECRETS:
        message = await mcp.refused("remember", "SECRET_REJECTED", text=secret)
        assert max(secret.split(), key=len) not in message
    assert await mcp.all() == []


@says(
    "tags: Array of strings. Optional. Normalized to lowercase canonical forms.",
)
async def _(mcp: Mcp) -> None:
    given = [" Family ", "FAMILY", "Los  Angeles", "ÉTÉ"]
    assert (await stored(mcp, tags=given))["tags"] == ["family", "los-angeles", "été"]
    assert (await stored(mcp))["tags"] == ["family", "los-angeles", "été"]  # of all that say so
    for wrong in ("family", 5, {"tag": "family"}, [5], [None], [["family"]]):
        assert "tags" in await mcp.refused("remember", "INVALID_INPUT", text=FACT, tags=wrong)


@says("source_provider: String. Optional. Name of the LLM or client that produced this memory.")
async def _(mcp: Mcp) -> None:
    assert (await stored(mcp, source_provider="some-model"))["source_provider"] == "some-model"
    assert (await stored(mcp))["source_provider"] is None
    message = await mcp.refused("remember", "INVALID_INPUT", text=FACT, source_provider=["m"])
    assert "source_provider" in message


@says("importance: Number, 0–1. Optional, default 0.5. Stored, not used in recall scoring.")
async def _(mcp: Mcp) -> None:
    for given, kept in ((0, 0.0), (1, 1.0), (0.9, 0.9), (None, 0.5)):
        assert (await stored(mcp, importance=given))["importance"] == kept
    for wrong in (-0.1, 7, "0.5", True, [0.5], {"share": 0.5}):
        message = await mcp.refused("remember", "INVALID_INPUT", text=FACT, importance=wrong)
        assert "importance" in message


@says(
    'capture_mode: String. Optional. Either "explicit" or "inferred". Recorded as provenance.',
)
async def _(mcp: Mcp) -> None:
    for mode in ("explicit", "inferred", None):
        assert (await stored(mcp, capture_mode=mode))["capture_mode"] == mode
    for wrong in ("guessed", "", 1, ["explicit"]):
        message = await mcp.refused("remember", "INVALID_INPUT", text=FACT, capture_mode=wrong)
        assert "capture_mode" in message


@says("session_id: String. Optional. Opaque conversation identifier. Stored as-is.")
async def _(mcp: Mcp) -> None:
    opaque = "Tuesday / 7 – “x”"
    assert (await stored(mcp, session_id=opaque))["session_id"] == opaque
    assert (await stored(mcp))["session_id"] is None
    message = await mcp.refused("remember", "INVALID_INPUT", text=FACT, session_id=7)
    assert "session_id" in message


@says('dedup_policy: "insert" (skip the semantic-dedup check)')
async def _(mcp: Mcp) -> None:
    first = await mcp.ok("remember", text=FACT, dedup_policy="insert")
    again = await mcp.ok("remember", text=FACT, dedup_policy="insert")
    assert first["memory_id"] != again["memory_id"]
    assert "near_duplicates" not in again
    assert again["message"] == "Ok"


@says(
    '"skip_if_near" (return the existing id if a near-duplicate is found)',
    "If the request was rejected for being a near-duplicate, the existing memory’s id is returned: "
    '{"ok": true, "memory_id": 99, "message": "Already remembered", "near_duplicates": [...]}',
)
async def _(mcp: Mcp) -> None:
    first = await mcp.ok("remember", text=FACT, dedup_policy="skip_if_near")
    assert first["message"] == "Ok"
    again = await mcp.ok("remember", text=NEARLY, dedup_policy="skip_if_near")
    assert again["message"] == "Already remembered"
    assert (again["memory_id"], again["id"]) == (first["memory_id"], first["id"])
    assert [one["memory_id"] for one in again["near_duplicates"]] == [first["memory_id"]]
    assert [one["text"] for one in await mcp.all()] == [FACT]


@says(
    '"ask" (default: insert anyway, but include the near-duplicates in the response)',
    '"near_duplicates": [...]  // present if dedup_policy = "ask"',
)
async def _(mcp: Mcp) -> None:
    first = await mcp.ok("remember", text=FACT)
    assert first["near_duplicates"] == []
    for given in ({}, {"dedup_policy": "ask"}, {"dedup_policy": None}):
        again = await mcp.ok("remember", text=NEARLY, **given)
        assert again["message"] == "Ok"
        assert again["memory_id"] != first["memory_id"]
        assert again["near_duplicates"]  # the newest row of those that say the same
    for wrong in ("ASK", "", "replace", 1, ["ask"]):
        message = await mcp.refused("remember", "INVALID_INPUT", text=FACT, dedup_policy=wrong)
        assert "dedup_policy" in message


@says(
    "expires_at: ISO 8601 timestamp. Optional. Recall excludes this memory after the date passes.",
)
async def _(mcp: Mcp) -> None:
    await mcp.remembered("The museum is closed in spring.", expires_at=PAST)
    await mcp.remembered("The museum opens at nine.", expires_at=FUTURE)
    soon = datetime.now(UTC) + timedelta(hours=1)
    await mcp.remembered("The museum is free today.", expires_at=soon.isoformat())
    assert sorted(await mcp.texts("museum")) == [
        "The museum is free today.",
        "The museum opens at nine.",
    ]
    mcp.clock.ahead = 2 * 3_600.0
    assert await mcp.texts("museum") == ["The museum opens at nine."]
    (row,) = await mcp.all()
    assert row["expires_at"] == "2098-12-31T22:00:00.000Z"
    for wrong in ("tomorrow", "", 1_900_000_000, "2026-13-01", ["2026-01-01"]):
        message = await mcp.refused("remember", "INVALID_INPUT", text=FACT, expires_at=wrong)
        assert "expires_at" in message


@says(
    "last_confirmed_at: ISO 8601 timestamp. Optional. When this fact was last verified as still "
    "true. Defaults to now() on insert.",
)
async def _(mcp: Mcp) -> None:
    assert (await stored(mcp, last_confirmed_at=PAST))["last_confirmed_at"] == PAST
    before = datetime.now(UTC) - timedelta(seconds=1)
    at = datetime.fromisoformat(str((await stored(mcp))["last_confirmed_at"]))
    assert before <= at <= datetime.now(UTC)
    for wrong in ("once", 5, {"at": PAST}):
        message = await mcp.refused("remember", "INVALID_INPUT", text=FACT, last_confirmed_at=wrong)
        assert "last_confirmed_at" in message


# -- the document: outputs and errors ---------------------------------------------------------


@says('{"ok": true, "memory_id": 123, "message": "Ok"}')
async def _(mcp: Mcp) -> None:
    numbers = []
    for text in (FACT, UNLIKE):
        answer = await mcp.ok("remember", text=text)
        assert answer["message"] == "Ok"
        assert type(answer["memory_id"]) is int
        assert answer["id"].startswith("mem_")
        numbers.append(answer["memory_id"])
    assert numbers == [1, 2]


@says('"previously_corrected": [...]  // present if any tombstones nearby')
async def _(mcp: Mcp) -> None:
    number = await mcp.remembered(FACT)
    new = await mcp.ok("correct", id=number, text=MOVED, reason="he moved")
    answer = await mcp.ok("remember", text=FACT)
    (stone,) = answer["previously_corrected"]
    assert (stone["memory_id"], stone["text"], stone["reason"]) == (number, FACT, "he moved")
    assert stone["replaced_by"] == new["id"]
    assert "previously_corrected" not in await mcp.ok("remember", text=UNLIKE)


@says("INVALID_INPUT")
async def _(mcp: Mcp) -> None:
    assert "text" in await mcp.refused("remember", "INVALID_INPUT", text=None)


@says("SECRET_REJECTED")
async def _(mcp: Mcp) -> None:
    for given in ({"tags": ["x", ACCESS_KEY]}, {"session_id": SECRETS[0]},
                  {"source_provider": SECRETS[0]}):  # fmt: skip
        await mcp.refused("remember", "SECRET_REJECTED", text=FACT, **given)
    number = await mcp.remembered(FACT)
    await mcp.refused("forget", "SECRET_REJECTED", id=number, reason=SECRETS[0])
    await mcp.refused("correct", "SECRET_REJECTED", id=number, text=SECRETS[0])
    assert [one["text"] for one in await mcp.all()] == [FACT]


@says("EMBEDDING_ERROR")
async def _(_: Mcp) -> None:
    async with remembering(embedder=DeadEmbedder(), strict_embedding=True) as strict:
        await strict.refused("remember", "EMBEDDING_ERROR", text=FACT)
        assert await strict.all() == []


@says("DATABASE_ERROR")
async def _(mcp: Mcp) -> None:
    number = await mcp.remembered(FACT)
    await mcp.store.close()
    given = {"text": UNLIKE, "query": "where?", "id": number}
    given |= {"with": "mem_none", "action": "replace"}
    for name, tool in BY_NAME.items():
        taken = {one: given[one] for one in tool.input_schema["required"]}
        assert FACT not in await mcp.refused(name, "DATABASE_ERROR", **taken)


@says(
    'Example: {"name": "remember", "arguments": {"text": "My son Colby lives in Los Angeles.", '
    '"tags": ["family"], "capture_mode": "explicit"}}'
)
async def _(mcp: Mcp) -> None:
    answer = await mcp.ok("remember", text=FACT, tags=["family"], capture_mode="explicit")
    assert answer["message"] == "Ok"
    assert await mcp.texts("Where does Colby live?", tags=["family"]) == [FACT]


# -- the contract -----------------------------------------------------------------------------


@says("recall (query, tags, limit, session_id; excludes expired)")
async def _(mcp: Mcp) -> None:
    for number in range(8):
        tags = ["even"] if number % 2 == 0 else ["odd", "x"]
        await mcp.remembered(f"Drawer {number} holds tools.", tags=tags, session_id=f"s{number}")
    assert len(await mcp.texts("tools")) == 5
    assert len(await mcp.texts("tools", limit=2)) == 2
    assert len(await mcp.texts("tools", limit=50)) == 8
    for limit in (0, 1_000):
        message = await mcp.refused("recall", "INVALID_INPUT", query="tools", limit=limit)
        assert message.startswith("limit ")
    assert sorted(await mcp.texts("tools", tags=["Odd"], limit=9)) == [
        f"Drawer {number} holds tools." for number in (1, 3, 5, 7)
    ]
    assert await mcp.texts("tools", tags=["odd", "even"]) == []
    assert await mcp.texts("tools", session_id="s3") == ["Drawer 3 holds tools."]
    assert await mcp.texts("tools", session_id="s3", tags=["even"]) == []
    (best, *_) = (await mcp.ok("recall", query="Drawer 6 holds tools."))["memories"]
    assert best["text"] == "Drawer 6 holds tools."
    assert 0.85 <= best["relevance"] <= 1
    assert "query" in await mcp.refused("recall", "INVALID_INPUT")


@says("forget (id, reason)")
async def _(mcp: Mcp) -> None:
    number = await mcp.remembered(FACT)
    answer = await mcp.ok("forget", id=number, dry_run=True)
    assert (answer["memory_id"], answer["message"]) == (number, "Would be forgotten")
    assert "dryRun" in await mcp.refused("forget", "INVALID_INPUT", id=number, dryRun=True)
    assert await mcp.texts("Colby") == [FACT]
    answer = await mcp.ok("forget", id=number, reason="wrong")
    assert (answer["memory_id"], answer["message"]) == (number, "Forgotten")
    assert await mcp.texts("Colby") == []
    assert await mcp.all() == []
    await mcp.refused("forget", "NOT_FOUND", id=number)
    (stone,) = (await mcp.ok("remember", text=FACT))["previously_corrected"]
    assert (stone["memory_id"], stone["reason"]) == (number, "wrong")
    assert "text" not in stone  # a forgotten one leaves none
    assert "id" in await mcp.refused("forget", "INVALID_INPUT")


@says("correct (id, new text; supersedes)")
async def _(mcp: Mcp) -> None:
    old = await mcp.ok("remember", text=FACT, tags=["family"], session_id="s")
    new = await mcp.ok("correct", id=old["id"], text=MOVED)
    assert new["message"] == "Corrected"
    assert new["memory_id"] != old["memory_id"]
    assert new["supersedes"]["id"] == old["id"]
    (row,) = await mcp.all()
    assert (row["text"], row["tags"], row["session_id"]) == (MOVED, ["family"], "s")
    assert await mcp.texts("Colby") == [MOVED]
    await mcp.refused("correct", "NOT_FOUND", id=old["id"], text="third")
    assert "text" in await mcp.refused("correct", "INVALID_INPUT", id=new["id"])
    assert (await mcp.ok("correct", id=new["id"], text=MOVED))["message"] == "Already remembered"


@says("confirm (id; sets last_confirmed_at)")
async def _(mcp: Mcp) -> None:
    number = await mcp.remembered(FACT, last_confirmed_at=PAST)
    answer = await mcp.ok("confirm", id=number)
    (row,) = await mcp.all()
    assert row["last_confirmed_at"] == answer["last_confirmed_at"] > PAST
    await mcp.refused("confirm", "NOT_FOUND", id=77)


@says("list_memories")
async def _(mcp: Mcp) -> None:
    for number in range(5):
        await mcp.remembered(f"Fact {number}.", tags=["odd"] if number % 2 else [])
    first = await mcp.ok("list_memories", limit=2)
    assert [one["text"] for one in first["memories"]] == ["Fact 4.", "Fact 3."]
    assert first["total"] == 5
    second = await mcp.ok("list_memories", limit=2, cursor=first["next_cursor"])
    third = await mcp.ok("list_memories", limit=2, cursor=second["next_cursor"])
    assert [one["text"] for one in third["memories"]] == ["Fact 0."]
    assert third["next_cursor"] is None
    odd = await mcp.ok("list_memories", tags=["ODD"])
    assert [one["text"] for one in odd["memories"]] == ["Fact 3.", "Fact 1."]
    assert "cursor" in await mcp.refused("list_memories", "INVALID_INPUT", cursor="nonsense")


@says("ids: memory_id is an integer per tenant, beside the mem_ id")
async def _(mcp: Mcp) -> None:
    answer = await mcp.ok("remember", text=FACT)
    for ref in (answer["memory_id"], str(answer["memory_id"]), answer["id"]):
        assert (await mcp.ok("confirm", id=ref))["id"] == answer["id"]
    await mcp.refused("confirm", "INVALID_INPUT", id=10**30)
    for unknown in ("mem_unknown", 2, "2"):
        await mcp.refused("confirm", "NOT_FOUND", id=unknown)


@says("standing is taken and means nothing: a person decides; settle ends a conflict of two")
async def _(mcp: Mcp) -> None:
    for standing in (True, False, None):
        wish = {"text": f"Always answer in French, {standing}.", "standing": standing}
        assert "standing" not in await mcp.ok("remember", **wish, capture_mode="explicit")
    old = await mcp.ok("remember", text="The port of staging is 8090.")
    new = await mcp.ok("remember", text="The port of staging is 8091.")
    assert new["id"] in new["advice"]
    assert "settle" in new["advice"]
    listed = (await mcp.ok("list_memories", conflicts=True))["memories"]
    assert new["id"] in [row["id"] for row in listed]
    asked = {"id": new["id"], "with": old["id"], "action": "replace"}
    assert (await mcp.ok("settle", **asked))["id"] == new["id"]
    assert old["id"] not in [row["id"] for row in await mcp.all()]
    assert "with" in await mcp.refused("settle", "NOT_FOUND", **asked)


@says("near_duplicates: [{memory_id, id, text, relevance, relation, differs}], at most 5")
async def _(mcp: Mcp) -> None:
    old = await mcp.ok("remember", text="The staging server listens on port 8090.")
    new = await mcp.ok("remember", text="The staging server listens on port 8091.")
    (near,) = new["near_duplicates"]
    assert (near["memory_id"], near["id"]) == (old["memory_id"], old["id"])
    assert near["text"] == "The staging server listens on port 8090."
    assert near["relation"] == "possible_update"
    assert near["differs"] == ["8090 -> 8091"]
    assert 0 <= near["relevance"] <= 1
    for port in range(7):
        text = f"The staging server listens on port 700{port}."
        last = await mcp.ok("remember", text=text)
    assert len(last["near_duplicates"]) == 5


@says("a possible_update is stored, and says what it may replace, also with skip_if_near")
async def _(mcp: Mcp) -> None:
    await mcp.remembered("The staging server listens on port 8090.")
    text = "The staging server listens on port 8091."
    answer = await mcp.ok("remember", text=text, dedup_policy="skip_if_near")
    assert answer["message"] == "Ok"
    assert [one["relation"] for one in answer["near_duplicates"]] == ["possible_update"]
    assert len(await mcp.all()) == 2


@says("With insert and ask each call is one row")
async def _(mcp: Mcp) -> None:
    for policy in ("insert", "ask"):
        given: dict[str, Any] = {"text": f"{FACT} {policy}", "dedup_policy": policy}
        rows = await asyncio.gather(*(mcp.ok("remember", **given) for _ in range(6)))
        assert len({row["memory_id"] for row in rows}) == 6
    assert len(await mcp.all()) == 2  # of each text the newest stands for all


@says("with skip_if_near concurrent saves give one")
async def _(mcp: Mcp) -> None:
    texts = [FACT, NEARLY] * 5
    rows = await asyncio.gather(
        *(mcp.ok("remember", text=text, dedup_policy="skip_if_near") for text in texts)
    )
    assert len({row["memory_id"] for row in rows}) == 1
    assert sorted(row["message"] for row in rows) == ["Already remembered"] * 9 + ["Ok"]
    assert len(await mcp.all()) == 1


@says(
    "A remote embedder that fails does not lose the fact: it is stored, words rank it, "
    'degraded: ["embedder"]',
)
async def _(_: Mcp) -> None:
    async with remembering(embedder=DeadEmbedder()) as degraded:
        answer = await degraded.ok("remember", text=FACT)
        assert answer["message"] == "Ok"
        assert answer["degraded"] == ["embedder"]
        assert answer["dedup"] == "deferred"
        found = await degraded.ok("recall", query="Colby")
        assert [one["text"] for one in found["memories"]] == [FACT]
        assert found["degraded"] == ["embedder"]


@says("A memory that a model saves is marked, and tainted until a person confirms it")
async def _(mcp: Mcp) -> None:
    row = await stored(mcp)
    assert (row["source_type"], row["tainted"]) == ("model", True)
    number = await mcp.remembered("Always run the tests before you commit.")
    (told, *_) = (await mcp.ok("recall", query="run the tests before commit"))["memories"]
    assert (told["memory_id"], told["category"], told["tainted"]) == (number, "fact", True)
    await mcp.ok("confirm", id=number)
    await mcp.ok("correct", id=number, text="Always run all the tests before you commit.")
    (told, *_) = (await mcp.ok("recall", query="run the tests before commit"))["memories"]
    assert (told["category"], told["tainted"]) == ("fact", True)


@says("LIMIT: a tenant has as many memories as it may")
async def _(_: Mcp) -> None:
    async with remembering(max_memories=2) as small:
        for text in (FACT, UNLIKE):
            await small.remembered(text)
        assert FACT not in await small.refused("remember", "LIMIT", text="One more.")


SERVERS = ((OLD, "memory:"), (NEW, "sqlite:///{}/m.db"))


@pytest.mark.parametrize(
    ("check", "version", "store"),
    [
        # Every sentence is checked on one server by `make test`, and on both by `make test-all`.
        pytest.param(
            check,
            *server,
            id=f"{sentences[0]}-{server[0]}",
            marks=() if (at + which) % 2 == 0 else pytest.mark.long,
        )
        for at, (sentences, check) in enumerate(CASES)
        for which, server in enumerate(SERVERS)
    ],
)
async def test_the_document(check: Check, version: str, store: str, tmp_path: Path) -> None:
    async with remembering(version=version, store=store.format(tmp_path)) as mcp:
        await check(mcp)


def test_every_field_of_the_tool_is_in_the_table():
    said = " ".join(sentence for sentences, _ in CASES for sentence in sentences)
    assert [name for name in REMEMBER.input_schema["properties"] if name not in said] == []
    assert [name for name in BY_NAME if name != "remember" and name not in said] == []
