"""Serve all that is kept of one user: `/memories/user` counts it, and erases it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.jobs.memory_services import MemoryServices
from memtree_proxy.api.memory_requests import UserRequests
from memtree_proxy.wire.answers import answer, counted
from memtree_proxy.wire.delete_options import DRY_RUN
from memtree_proxy.wire.routes import route
from memtree_proxy.wire.user_memory_bodies import UserErased, UserKept
from memtree_proxy.wire.values import DryRun


class WholeUserRoutes:
    def __init__(self, services: MemoryServices, requests: UserRequests) -> None:
        self._whole, self._users, self._requests = services.whole_user, services.users, requests

    @route("GET /memories/user")
    async def _show(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        kept = await self._whole.overview(scope)
        return answer(UserKept.of(scope, kept, await self._users.plan(scope.tenant)))

    @route("DELETE /memories/user", DryRun)
    async def _delete(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        if (await self._requests.delete_options(request, DRY_RUN)).dry_run:
            kept = await self._whole.overview(scope)
            return counted(sum(kept.memories.values()) + kept.groups + kept.agents)
        return answer(UserErased.of(await self._whole.erase(scope)))
