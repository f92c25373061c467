"""Copy one store into another, of any kind: page by page, out of one state of the source."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

from memtree.errors import BadRequest, StoreUnavailable
from memtree.stores.dump import Dump


async def copy(source: Dump, target: Dump, written: Callable[[int], None]) -> dict[str, int]:
    """Make `target` equal to `source` and return the number of rows of each table. `written` is
    called with the row count of each page that was written.

    A copy that was stopped can be resumed: rows that are there stay. So a target may hold part of
    the source, and nothing else: raises `BadRequest` if it does, before anything is written. Raises
    `StoreUnavailable` if the target has other rows at the end, because somebody wrote meanwhile.
    """
    await _refuse_other(source, target)
    rows: dict[str, int] = dict.fromkeys(await source.counts(), 0)
    async with aclosing(source.pages()) as pages:
        async for page in pages:
            await target.load(page)
            rows[page.table.name] += len(page.rows)
            written(len(page.rows))
    there = await target.counts()
    if uneven := [name for name in rows if there[name] != rows[name]]:
        raise StoreUnavailable(
            f"The copy has other rows than the source ({', '.join(uneven)}): another process "
            "writes to it. Stop that, and copy into an empty store."
        )
    return rows


async def _refuse_other(source: Dump, target: Dump) -> None:
    if not any((await target.counts()).values()):
        return
    async with aclosing(target.pages()) as pages:
        async for page in pages:
            if strange := await source.missing(page):
                raise BadRequest(
                    f"The target has other data ({strange} or more of its "
                    f"{page.table.name} are not in the source): the two would be mixed. "
                    "Name an empty store.",
                    param="to",
                )
