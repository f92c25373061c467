"""What users have switched on, as of a moment ago: asked for with every chat request, so it costs
those who have no memories next to nothing."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from memtree.bounded import remember
from memtree.errors import Unavailable
from memtree.memories.scope import Scope
from memtree.memories.user_memories import UserSettings
from memtree.ports.clock import Clock

log = logging.getLogger("memtree")

MOMENT = 2.0  # seconds
PATIENCE = 0.5  # seconds that a chat waits for the store
MOST = 4_096  # users


class _Known(NamedTuple):
    settings: UserSettings
    until: float  # monotonic seconds


class RecentSettings:
    """`effective`: asks the store, which has `patience` seconds."""

    def __init__(
        self,
        effective: Callable[[Scope], Awaitable[UserSettings]],
        clock: Clock,
        most: int = MOST,
        *,
        patience: float = PATIENCE,
    ) -> None:
        self._effective, self._clock, self._most = effective, clock, most
        self._patience = patience
        self._known: OrderedDict[Scope, _Known] = OrderedDict()

    async def of(self, scope: Scope) -> UserSettings:
        """As they were at most two seconds ago; while the store fails as they were last, and for
        who was never met as they are at first: all is off."""
        known = self._known.get(scope)
        if known is not None and self._clock.monotonic() < known.until:
            return known.settings
        try:
            async with asyncio.timeout(self._patience):
                settings = await self._effective(scope)
        except (Unavailable, TimeoutError) as error:
            log.warning("memories.settings_unknown code=%s", getattr(error, "code", "timeout"))
            settings = known.settings if known else UserSettings()
        until = self._clock.monotonic() + MOMENT
        remember(self._known, scope, _Known(settings, until), self._most)
        return settings

    def forget(self, scope: Scope) -> None:
        """They were changed here: the next request asks the store."""
        self._known.pop(scope, None)
