"""An import and an export over a store in RAM."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import msgspec

from memtree.agents.schema_book import SchemaBook
from memtree.memories.book import MemoryRules
from memtree.memories.draft import DedupPolicy, MemoryDraft
from memtree.memories.memory import Memory
from memtree.memories.scope import Scope
from memtree.ports.models import Embedder
from memtree.transfer.file_import import ImportOptions, ImportParts
from memtree.transfer.file_items import ImportReport
from memtree.transfer.memory_transfer import MemoryTransfer
from tests.unit.memories.books import Opened, opened

ADA, BEN = Scope.of_user("tenant", "ada"), Scope.of_user("tenant", "ben")


class Transfer:
    def __init__(self, opened: Opened, **limits: Any) -> None:
        self.opened, self.store, self.book, self.clock = (
            opened, opened.store, opened.book, opened.clock
        )  # fmt: skip
        groups = count(1)
        self.transfer = MemoryTransfer(
            ImportParts(
                opened.store,
                SchemaBook(opened.store, opened.clock),
                opened.book.saving,
                opened.clock,
                lambda: f"mem_{next(opened.ids):024x}",
                lambda: f"grp_{next(groups):024x}",
                **{"max_text_chars": 1_000, "most": 0, **limits},
            )
        )

    async def imported(
        self, raw: bytes | str | Sequence[Any], scope: Scope = ADA, **options: Any
    ) -> ImportReport:
        """`raw`: a file, or the objects of its lines."""
        if not isinstance(raw, bytes | str):
            raw = b"".join(msgspec.json.encode(line) + b"\n" for line in raw)
        raw = raw.encode() if isinstance(raw, str) else raw
        return await self.transfer.import_file(scope, raw, ImportOptions(**options))

    async def exported(self, scope: Scope = ADA) -> bytes:
        return b"".join([piece async for piece in self.transfer.export(scope)])

    async def saved(self, text: str, scope: Scope = ADA, **fields: Any) -> Memory:
        return (await self.book.save(scope, MemoryDraft(text, **fields), DedupPolicy.INSERT)).memory

    async def memories(self, scope: Scope = ADA) -> list[Memory]:
        """Oldest first."""
        return list(reversed((await self.store.page(scope, limit=1_000)).memories))

    async def texts(self, scope: Scope = ADA) -> list[str]:
        return [memory.text for memory in await self.memories(scope)]


@asynccontextmanager
async def transferring(
    embedder: Embedder | None = None, beside: Transfer | None = None, **limits: Any
) -> AsyncIterator[Transfer]:
    async with opened(embedder, MemoryRules(), beside.opened if beside else None) as whole:
        yield Transfer(whole, **limits)
