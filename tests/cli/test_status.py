"""`memtree status` outside of `memtree wrap`: the newest request of this machine's user."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtree.clock import DAY
from memtree.data_folder import STORE_FILE
from memtree.stores import open_store
from memtree.tenant_names import LOCAL
from memtree_proxy.cli.status import OFF, newest_line
from tests.made.request_rows import row

NOW = 20_000 * DAY + 50_000.0


async def logged(folder: Path) -> None:
    rows = [
        row("r1", time=NOW - DAY, posted_tokens=9_000, sent_tokens=900, saved_tokens=5_000_000),
        row("r2", time=NOW - 60, posted_tokens=412_300, sent_tokens=18_200, saved_tokens=2_140_000),
        row("r3", time=NOW - 30),  # nothing was posted that memory knows the size of
    ]
    others = [row("r4", time=NOW, posted_tokens=7, sent_tokens=7)]
    store = open_store(f"sqlite:///{folder / STORE_FILE}")
    try:
        await store.add_requests({LOCAL: rows, "another": others})
    finally:
        await store.close()


async def test_the_newest_request_of_this_machines_user(tmp_path: Path) -> None:
    await logged(tmp_path)
    told = "memtree, newest session: 412k -> 18k, saved 2.1M today; this one does not go through it"
    assert newest_line(tmp_path, NOW) == told
    assert "saved" not in newest_line(tmp_path, NOW + DAY)


@pytest.mark.parametrize("content", [None, b"", b"no database", b"SQLite format 3\0" * 99])
def test_without_any_it_says_how_memory_would_be_used(
    tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / STORE_FILE).write_bytes(content)
    assert newest_line(tmp_path, NOW) == OFF
    assert newest_line(None, NOW) == OFF


async def test_a_user_without_requests(tmp_path: Path) -> None:
    await open_store(f"sqlite:///{tmp_path / STORE_FILE}").close()
    assert newest_line(tmp_path, NOW) == OFF
