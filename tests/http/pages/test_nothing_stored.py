"""Nothing is stored for who did not switch it on: proven by the rows of all tables."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.http.owned.injecting import SYSTEM, Notebook, assistant, chatting, user
from tests.http.served.upstream import FakeUpstream

SAID = [
    "I live in Rome.",
    "I have two cats.",
    "I work as a baker.",
    "I prefer short answers.",
    "My dentist appointment is on 3 May 2031.",
    "I'm allergic to nuts.",
]
OFF: list[tuple[str, dict[str, bool], dict[str, Any], dict[str, Any]]] = [
    ("both switches are off", {}, {}, {}),
    (
        "this request says so",
        {"save": True, "history": True},
        {"memory_options": {"enabled": False}},
        {},
    ),
    ("the server says so", {"save": True, "history": True}, {}, {"memories_extraction": "off"}),
    ("injection alone is asked for", {}, {"memory_options": {"enabled": True}}, {}),
]


def talk() -> list[dict[str, Any]]:
    rows = [SYSTEM]
    for text in SAID:
        rows += [user(text), assistant("Noted, that is a fine thing.")]
    return rows[:-1]


def counted(file: Path) -> dict[str, int]:
    """Rows of every table."""
    with closing(sqlite3.connect(file)) as db:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        return {
            name: int(db.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]) for name in names
        }


async def posted(
    base: str,
    upstream: FakeUpstream,
    file: Path,
    switches: dict[str, bool],
    fields: dict[str, Any],
    settings: dict[str, Any],
    *,
    plan: str = "pro",
) -> tuple[dict[str, int], dict[str, int]]:
    """Rows before and after a conversation went through the chat routes, with the switches as they
    are said."""
    notebook = Notebook(f"sqlite:///{file}")
    if switches:
        await notebook.switch(notebook.user(), **switches)
    await notebook.memories.set_plan(notebook.tenant, plan)
    before = counted(file)
    async with chatting(base, upstream, notebook, **settings) as chat:
        chat.services.start()
        for _ in range(2):
            answer = await chat.post(talk(), None, fields)
            assert answer.status_code == 200
            await chat.services.extraction.join()
        await chat.services.close()
    after = counted(file)
    await notebook.store.close()
    return before, after


@pytest.mark.parametrize(("switches", "fields", "settings"), [row[1:] for row in OFF],
                         ids=[row[0] for row in OFF])  # fmt: skip
async def test_no_table_has_another_row(
    base: str,
    upstream: FakeUpstream,
    tmp_path: Path,
    switches: dict[str, bool],
    fields: dict[str, Any],
    settings: dict[str, Any],
) -> None:
    before, after = await posted(base, upstream, tmp_path / "store.db", switches, fields, settings)
    assert after == before
    assert len(before) > 10


async def test_nor_under_the_free_plan(base: str, upstream: FakeUpstream, tmp_path: Path) -> None:
    on = {"save": True, "history": True}
    before, after = await posted(base, upstream, tmp_path / "store.db", on, {}, {}, plan="free")
    assert after == before


async def test_where_it_is_switched_on_there_are_rows(
    base: str, upstream: FakeUpstream, tmp_path: Path
) -> None:
    on = {"save": True, "history": True}
    before, after = await posted(base, upstream, tmp_path / "store.db", on, {}, {})
    new = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    # and the snapshot's, and that older memories were read again
    assert new["extracted_messages"] == len(SAID) + 2
    assert new["memories"] > 3
