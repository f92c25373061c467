"""The addresses of a posted history, for what depends on where a memory was said. Read once, and
only where somebody asks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from memtree.context.context_memory import ContextMemory
from memtree.context.request import CompressRequest
from memtree.conversation.message import Message
from memtree.errors import BadRequest


class PostedAddresses:
    """`rule`: the setting `memories_branches`."""

    def __init__(
        self, memory: ContextMemory, tenant: str, messages: Sequence[Message], rule: str
    ) -> None:
        self._memory, self._ask = memory, CompressRequest(tenant, messages)
        self._lock = asyncio.Lock()
        self._addresses: frozenset[str] | None = None
        self.rule = rule

    async def addresses(self) -> frozenset[str]:
        """Hex, of all prefixes; none of a history that cannot be read."""
        async with self._lock:
            if self._addresses is None:
                self._addresses = await self._read()
            return self._addresses

    async def _read(self) -> frozenset[str]:
        try:
            posted = await self._memory.read(self._ask)
        except BadRequest:
            return frozenset()
        return frozenset(address.hex() for address in posted.addresses)
