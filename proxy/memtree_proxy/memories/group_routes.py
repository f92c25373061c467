"""Serve groups of memories: `/memories/groups` and its subpaths.

Serve the settings of user memories: `/memories/settings`.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.memories.user_book import UserBook
from memtree.memories.user_memories import MemoryGroup
from memtree_proxy.http.headers import USER_HEADER
from memtree_proxy.memories.answers import answer, counted
from memtree_proxy.memories.requests import GROUP, MEMORY, UserRequests, naming, path_id, unknown
from memtree_proxy.request.delete_options import DRY_RUN
from memtree_proxy.wire.answer import shown, shown_each
from memtree_proxy.wire.operation import memory_operation
from memtree_proxy.wire.user_answers import GROUP as SHOWN_GROUP
from memtree_proxy.wire.user_answers import MEMBERS_ADDED, SETTINGS, ShownSettings
from memtree_proxy.wire.user_memories import (
    GroupMembers,
    MemoryGroupEdit,
    MemorySettingsEdit,
    NewMemoryGroup,
)

TAG = "User memories"
_ONE = (USER_HEADER, "group_id")
route = memory_operation(TAG)


class GroupRoutes:
    def __init__(self, users: UserBook, requests: UserRequests) -> None:
        self._users = users
        self._requests = requests

    @route(
        "POST /memories/groups",
        "createMemoryGroup",
        "Create a group",
        "A group to organize memories.",
        answers={201: ("It is made.", "MemoryGroup")},
        errors=(409, 422),
        parameters=(USER_HEADER,),
        body="NewMemoryGroup",
    )
    async def _create(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        posted = await self._requests.posted(request, NewMemoryGroup)
        return _shown(await self._users.add_group(scope, posted.draft()), 201)

    @route(
        "GET /memories/groups",
        "listMemoryGroups",
        "List groups",
        "The oldest first.",
        answers={200: ("The groups.", "MemoryGroups")},
        parameters=(USER_HEADER,),
    )
    async def _list(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        groups = await self._users.groups(scope)
        return answer({"groups": shown_each(SHOWN_GROUP, groups)})

    @route(
        "GET /memories/groups/{group_id}",
        "showMemoryGroup",
        "Show a group",
        "One group.",
        answers={200: ("The group.", "MemoryGroup")},
        errors=(404,),
        parameters=_ONE,
    )
    async def _show(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, GROUP)
        with naming(GROUP):
            return _shown(await self._users.group(scope, id_))

    @route(
        "PATCH /memories/groups/{group_id}",
        "updateMemoryGroup",
        "Change a group",
        "Null takes what it is away.",
        answers={200: ("The group as it is now.", "MemoryGroup")},
        errors=(404, 422),
        parameters=_ONE,
        body="MemoryGroupEdit",
    )
    async def _change(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, GROUP)
        posted = await self._requests.posted(request, MemoryGroupEdit)
        with naming(GROUP):
            return _shown(await self._users.change_group(scope, id_, posted.change()))

    @route(
        "DELETE /memories/groups/{group_id}",
        "deleteMemoryGroup",
        "Delete a group",
        "Its memories stay.",
        answers={200: ("It is gone.", "Done")},
        errors=(404,),
        parameters=_ONE,
        deletes=(DRY_RUN,),
    )
    async def _delete(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, GROUP)
        if (await self._requests.delete_options(request, DRY_RUN)).dry_run:
            with naming(GROUP):
                await self._users.group(scope, id_)
            return counted(1)
        if not await self._users.delete_group(scope, id_):
            raise unknown(GROUP)
        return answer({"success": True})

    @route(
        "POST /memories/groups/{group_id}/memories",
        "addMemoriesToGroup",
        "Add memories to a group",
        "Existing memories; one may be in several groups.",
        answers={200: ("They are in it.", "GroupMembersAdded")},
        errors=(404,),
        parameters=_ONE,
        body="GroupMembers",
    )
    async def add(self, request: Request) -> Response:
        """Put memories into a group. The answer names ids of memories that do not exist."""
        scope, id_ = await self._requests.scope(request), path_id(request, GROUP)
        posted = await self._requests.posted(request, GroupMembers)
        with naming(GROUP):
            added = await self._users.add_members(scope, id_, posted.memory_ids)
        return answer(shown(MEMBERS_ADDED, added))

    @route(
        "DELETE /memories/groups/{group_id}/memories/{memory_id}",
        "removeMemoryFromGroup",
        "Take a memory out of a group",
        "The memory stays.",
        answers={200: ("It is out of it.", "Done")},
        errors=(404,),
        parameters=(*_ONE, "memory_id"),
        deletes=(DRY_RUN,),
    )
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
        return counted(removed) if dry_run else answer({"success": True})


def _shown(group: MemoryGroup, status: int = 200) -> Response:
    return answer(shown(SHOWN_GROUP, group), status)


class SettingsRoutes:
    def __init__(self, users: UserBook, requests: UserRequests) -> None:
        self._users = users
        self._requests = requests

    @route(
        "GET /memories/settings",
        "showMemorySettings",
        "Show the settings",
        "Both switches are off until they are switched on.",
        answers={200: ("What holds.", "MemorySettings")},
        parameters=(USER_HEADER,),
    )
    @route(
        "PATCH /memories/settings",
        "updateMemorySettings",
        "Change the settings",
        "Under the plan `free` the switches cannot be switched on (403).",
        answers={200: ("What holds.", "MemorySettings")},
        parameters=(USER_HEADER,),
        body="MemorySettingsEdit",
    )
    async def settings(self, request: Request) -> Response:
        """Return the current settings, after changing them if the method is not GET."""
        scope = await self._requests.scope(request)
        if request.method == "PATCH":
            posted = await self._requests.posted(request, MemorySettingsEdit)
            settings = await self._users.change_settings(scope, posted.change())
        else:
            settings = await self._users.effective(scope)
        plan = await self._users.plan(scope.tenant)
        return answer(shown(SETTINGS, ShownSettings(settings, plan)))
