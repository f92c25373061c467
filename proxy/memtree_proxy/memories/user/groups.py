"""The routes of groups: `/memories/groups` and what lies below."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.errors import BadRequest
from memtree.memories.users.user_book import GroupDraft, UserBook
from memtree.memories.users.user_memories import GroupChange
from memtree.wire.json_body import Body
from memtree_proxy.http import content_encoding
from memtree_proxy.http.own_headers import USER_HEADER
from memtree_proxy.memories.answers import answer, counted
from memtree_proxy.memories.fields import ids, required_text
from memtree_proxy.memories.requests import GROUP, MEMORY, UserRequests, naming, path_id, unknown
from memtree_proxy.memories.user.rendering import group_json
from memtree_proxy.request import fields
from memtree_proxy.request.delete_options import DRY_RUN
from memtree_proxy.wire.operation import KNOWN, READING, operation

TAG = "User memories"
_ONE = (USER_HEADER, "group_id")
_POSTED = (*_ONE, content_encoding.HEADER)


class GroupRoutes:
    def __init__(self, users: UserBook, requests: UserRequests) -> None:
        self._users = users
        self._requests = requests

    @operation(
        "POST /memories/groups",
        "createMemoryGroup",
        TAG,
        "Create a group",
        "A group to organize memories.",
        answers={201: ("It is made.", "MemoryGroup")},
        errors=(409, 422, *READING),
        parameters=(USER_HEADER, content_encoding.HEADER),
        body="NewMemoryGroup",
    )
    async def _create(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        draft = await self._requests.read(request, _new_group)
        return answer(group_json(await self._users.add_group(scope, draft)), 201)

    @operation(
        "GET /memories/groups",
        "listMemoryGroups",
        TAG,
        "List groups",
        "The oldest first.",
        answers={200: ("The groups.", "MemoryGroups")},
        errors=(400, *KNOWN),
        parameters=(USER_HEADER,),
    )
    async def _list(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        groups = await self._users.groups(scope)
        return answer({"groups": [group_json(group) for group in groups]})

    @operation(
        "GET /memories/groups/{group_id}",
        "showMemoryGroup",
        TAG,
        "Show a group",
        "One group.",
        answers={200: ("The group.", "MemoryGroup")},
        errors=(400, 404, *KNOWN),
        parameters=_ONE,
    )
    async def _show(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, GROUP)
        with naming(GROUP):
            return answer(group_json(await self._users.group(scope, id_)))

    @operation(
        "PATCH /memories/groups/{group_id}",
        "updateMemoryGroup",
        TAG,
        "Change a group",
        "Null takes what it is away.",
        answers={200: ("The group as it is now.", "MemoryGroup")},
        errors=(404, 422, *READING),
        parameters=_POSTED,
        body="MemoryGroupEdit",
    )
    async def _change(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, GROUP)
        change = await self._requests.read(request, _change)
        with naming(GROUP):
            return answer(group_json(await self._users.change_group(scope, id_, change)))

    @operation(
        "DELETE /memories/groups/{group_id}",
        "deleteMemoryGroup",
        TAG,
        "Delete a group",
        "Its memories stay.",
        answers={200: ("It is gone.", "Done")},
        errors=(400, 404, *KNOWN),
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

    @operation(
        "POST /memories/groups/{group_id}/memories",
        "addMemoriesToGroup",
        TAG,
        "Add memories to a group",
        "Existing memories; one may be in several groups.",
        answers={200: ("They are in it.", "GroupMembersAdded")},
        errors=(404, *READING),
        parameters=_POSTED,
        body="GroupMembers",
    )
    async def add(self, request: Request) -> Response:
        """Put memories into a group. Those that are not there are named."""
        scope, id_ = await self._requests.scope(request), path_id(request, GROUP)
        memory_ids = await self._requests.read(request, lambda body: ids(body, "memory_ids"))
        with naming(GROUP):
            added = await self._users.add_members(scope, id_, memory_ids)
        return answer({"success": True, "added_count": added.added, "unknown": added.unknown})

    @operation(
        "DELETE /memories/groups/{group_id}/memories/{memory_id}",
        "removeMemoryFromGroup",
        TAG,
        "Take a memory out of a group",
        "The memory stays.",
        answers={200: ("It is out of it.", "Done")},
        errors=(400, 404, *KNOWN),
        parameters=(*_ONE, "memory_id"),
        deletes=(DRY_RUN,),
    )
    async def remove(self, request: Request) -> Response:
        """Take a memory out of a group; the memory stays."""
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


def _new_group(body: Body) -> GroupDraft:
    return GroupDraft(
        required_text(body, "title"),
        fields.text(body.value("description"), "description") or "",
        fields.text(body.value("category"), "category"),
    )


def _change(body: Body) -> GroupChange:
    """Null takes description and category away."""
    given = {name: body.fragment(name) for name in ("title", "description", "category")}
    if given["title"] in (None, b"null") and not (given["description"] or given["category"]):
        raise BadRequest("title, description or category is required", param="title")

    def optional(name: str) -> str | None:
        return "" if given[name] == b"null" else fields.text(body.value(name), name)

    return GroupChange(
        fields.text(body.value("title"), "title"), optional("description"), optional("category")
    )
