"""Serve the settings of user memories: `/memories/settings`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.memories.users.user_book import UserBook
from memtree_proxy.memories.answers import answer
from memtree_proxy.memories.requests import UserRequests
from memtree_proxy.wire.routes import route
from memtree_proxy.wire.user_memories import MemorySettings, MemorySettingsEdit


class SettingsRoutes:
    def __init__(self, users: UserBook, requests: UserRequests) -> None:
        self._users = users
        self._requests = requests

    @route("GET /memories/settings")
    @route("PATCH /memories/settings")
    async def settings(self, request: Request) -> Response:
        """Return the current settings, after changing them if the method is not GET."""
        scope = await self._requests.scope(request)
        if request.method == "PATCH":
            posted = await self._requests.posted(request, MemorySettingsEdit)
            settings = await self._users.change_settings(scope, posted.change())
        else:
            settings = await self._users.effective(scope)
        plan = await self._users.plan(scope.tenant)
        return answer(MemorySettings.of(settings, plan))
