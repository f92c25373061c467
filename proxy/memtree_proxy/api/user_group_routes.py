"""Serves groups of a user's memories, the user's settings, and all that is kept of one user.

Groups are at `/memories/groups` and its subpaths. `/memories/user` counts what is kept of one user,
and erases it.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.jobs.memory_services import MemoryServices
from memtree.memories.user_book import UserBook
from memtree.memories.user_memories import MemoryGroup
from memtree_proxy.api.memory_requests import GROUP, MEMORY, UserRequests, naming, path_id, unknown
from memtree_proxy.wire.request_options import DRY_RUN
from memtree_proxy.wire.routes import answer, counted, done, route
from memtree_proxy.wire.user_memory_bodies import (
    GroupMembers,
    GroupMembersAdded,
    MemoryGroupEdit,
    MemoryGroups,
    MemorySettings,
    MemorySettingsEdit,
    NewMemoryGroup,
    ShownGroup,
    UserErased,
    UserKept,
)
from memtree_proxy.wire.values import DryRun


class GroupRoutes:
    def __init__(self, users: UserBook, requests: UserRequests) -> None:
        self._users = users
        self._requests = requests

    @route("POST /memories/groups")
    async def _create(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        posted = await self._requests.posted(request, NewMemoryGroup)
        return _shown(await self._users.add_group(scope, posted.draft()), 201)

    @route("GET /memories/groups")
    async def _list(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        groups = await self._users.groups(scope)
        return answer(MemoryGroups(groups=[ShownGroup.of(group) for group in groups]))

    @route("GET /memories/groups/{group_id}")
    async def _show(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, GROUP)
        with naming(GROUP):
            return _shown(await self._users.group(scope, id_))

    @route("PATCH /memories/groups/{group_id}")
    async def _change(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, GROUP)
        posted = await self._requests.posted(request, MemoryGroupEdit)
        with naming(GROUP):
            return _shown(await self._users.change_group(scope, id_, posted.change()))

    @route("DELETE /memories/groups/{group_id}", DryRun)
    async def _delete(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, GROUP)
        if (await self._requests.delete_options(request, DRY_RUN)).dry_run:
            with naming(GROUP):
                await self._users.group(scope, id_)
            return counted(1)
        if not await self._users.delete_group(scope, id_):
            raise unknown(GROUP)
        return done()

    @route("POST /memories/groups/{group_id}/memories")
    async def add(self, request: Request) -> Response:
        """Put memories into a group. The answer names ids of memories that do not exist."""
        scope, id_ = await self._requests.scope(request), path_id(request, GROUP)
        posted = await self._requests.posted(request, GroupMembers)
        with naming(GROUP):
            added = await self._users.add_members(scope, id_, posted.memory_ids)
        return answer(GroupMembersAdded.of(added))

    @route("DELETE /memories/groups/{group_id}/memories/{memory_id}", DryRun)
    async def remove(self, request: Request) -> Response:
        """Remove a memory from a group; the memory stays."""
        scope = await self._requests.scope(request)
        id_, memory_id = path_id(request, GROUP), path_id(request, MEMORY)
        dry_run = (await self._requests.delete_options(request, DRY_RUN)).dry_run
        with naming(GROUP):
            if dry_run:
                await self._users.group(scope, id_)
                members = await self._users.groups_of(scope, [memory_id])
                removed = int(id_ in members.get(memory_id, ()))
            else:
                removed = await self._users.remove_members(scope, id_, [memory_id])
        if not removed:
            raise unknown(MEMORY)
        return counted(removed) if dry_run else done()


def _shown(group: MemoryGroup, status: int = 200) -> Response:
    return answer(ShownGroup.of(group), status)


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
