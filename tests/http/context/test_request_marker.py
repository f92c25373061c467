"""No byte of what clients, models and providers write reaches the log, but for a model's name."""

from __future__ import annotations

import asyncio
import dataclasses
import random
from pathlib import Path
from typing import Any

import pytest

from memtree.stores import SqliteStore
from tests.http.served.fakes import client_of, services
from tests.http.served.upstream import JSON, FakeUpstream

MARKER = "xqzvMARKERwkj"
PATHS = ("/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/context_memory")
NAMES = ("user-agent", "x-title", "originator", "x-request-id", "x-chat-id", "x-polychat-memory",
         "x-user-id", "referer", "cookie", "x-memtree-mode", "content-encoding")  # fmt: skip
ERROR = (
    b'{"error": {"message": "no %s", "type": "%s", "code": "%s", "param": "%s"},'
    b' "usage": {"prompt_tokens": 3, "%s": "%s"}, "model": "%s"}'
)


def request(chance: random.Random, on: bool) -> tuple[str, dict[str, str], Any]:
    said = f"{MARKER} {chance.random()}"
    path = chance.choice(PATHS)
    headers = {name: said for name in NAMES if chance.random() < 0.2}
    if on and chance.random() < 0.8:
        headers["x-polychat-memory"] = "on"
    headers["authorization"] = f"Bearer {MARKER}-{chance.randrange(3)}"
    body: dict[str, Any] = {
        "model": chance.choice(("gpt-5", f"name-{said}", f"name-{said}" * 40, 7, None)),
        chance.choice(("messages", "input", said)): chance.choice(
            ([{"role": "user", "content": said}], [{"role": said, "content": said}], said, [said])
        ),
        chance.choice(("metadata", "stream", "user", "mode", said)): chance.choice((said, True)),
    }
    return f"{path}{chance.choice(('', f'?q={MARKER}', f'/{MARKER}'))}", headers, body


def places(file: Path) -> list[bytes]:
    """Return what stands before each marker in the files of a store."""
    found = []
    for path in (file, file.with_name(file.name + "-wal")):
        raw = path.read_bytes() if path.exists() else b""
        at = raw.find(MARKER.encode())
        while at >= 0:
            found.append(raw[max(0, at - 5) : at])
            at = raw.find(MARKER.encode(), at + 1)
    return found


async def post_all(
    base: str, upstream: FakeUpstream, store: SqliteStore, count: int, *, on: bool
) -> None:
    chance = random.Random(count)
    words = tuple(f"{MARKER} {n}".encode() for n in range(7))
    upstream.mode, upstream.answer_headers = "bytes", JSON
    upstream.answer_status, upstream.answer_body = 429, ERROR % words
    built = dataclasses.replace(services(base), requests=store, tallies=store, log_pace=0.2)
    async with client_of(built, lives=True) as client:

        async def some(number: int) -> None:
            for _ in range(number):
                path, headers, body = request(chance, on)
                await client.post(path, headers=headers, json=body)

        await asyncio.gather(*(some(count // 8) for _ in range(8)))


@pytest.mark.slow
@pytest.mark.parametrize("on", [False, True], ids=["off", "on"])
async def test_the_marker_stands_in_names_of_models_alone(
    on: bool, base: str, upstream: FakeUpstream, tmp_path: Path
) -> None:
    """The model's name is the only free text: it begins with `name-`."""
    await marked(base, upstream, tmp_path, 800, on=on)


@pytest.mark.long
@pytest.mark.parametrize("on", [False, True], ids=["off", "on"])
async def test_ten_thousand_requests(
    on: bool, base: str, upstream: FakeUpstream, tmp_path: Path
) -> None:
    await marked(base, upstream, tmp_path, 10_000, on=on)


async def marked(base: str, upstream: FakeUpstream, folder: Path, count: int, *, on: bool) -> None:
    file = folder / "m.db"
    store = SqliteStore(file)
    await post_all(base, upstream, store, count, on=on)
    rows = [row for tenant in await store.logged_tenants()
            for row in await store.requests(tenant, count)]  # fmt: skip
    assert len(rows) > count // 4
    assert any(MARKER in row.model for row in rows)
    assert all(MARKER not in repr(row._replace(model="")) for row in rows)
    assert all(len(row.model) <= 100 for row in rows)
    named = sum(row.model.count(MARKER) for row in rows)
    before = places(file)
    await store.close()
    found = places(file)
    for each in (*before, *found):
        # The second one of a name that was repeated stands behind the number of the first.
        assert each == b"name-", each
    assert len(found) >= named > 0
