"""The settings of user memories: `/memories/settings`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.errors import BadRequest, Forbidden
from memtree.memories.users.user_book import UserBook
from memtree.memories.users.user_memories import MOST_TOP_K, SettingsChange
from memtree.wire.json_body import Body
from memtree_proxy.http import content_encoding
from memtree_proxy.http.own_headers import USER_HEADER
from memtree_proxy.memories.answers import answer
from memtree_proxy.memories.requests import UserRequests
from memtree_proxy.memories.user.fields import number
from memtree_proxy.memories.user.rendering import settings_json
from memtree_proxy.request import fields
from memtree_proxy.wire.operation import KNOWN, READING, operation

TAG = "User memories"


class SettingsRoutes:
    def __init__(self, users: UserBook, requests: UserRequests) -> None:
        self._users = users
        self._requests = requests

    @operation(
        "GET /memories/settings",
        "showMemorySettings",
        TAG,
        "Show the settings",
        "Both switches are off until they are switched on.",
        answers={200: ("What holds.", "MemorySettings")},
        errors=(400, *KNOWN),
        parameters=(USER_HEADER,),
    )
    @operation(
        "PATCH /memories/settings",
        "updateMemorySettings",
        TAG,
        "Change the settings",
        "Under the plan `free` the switches cannot be switched on (403).",
        answers={200: ("What holds.", "MemorySettings")},
        errors=READING,
        parameters=(USER_HEADER, content_encoding.HEADER),
        body="MemorySettingsEdit",
    )
    async def settings(self, request: Request) -> Response:
        """Answer the settings that hold, changed first where the method says so."""
        scope = await self._requests.scope(request)
        if request.method == "PATCH":
            change = await self._requests.read(request, _change)
            settings = await self._users.change_settings(scope, change)
        else:
            settings = await self._users.effective(scope)
        return answer(settings_json(settings, await self._users.plan(scope.tenant)))


def _change(body: Body) -> SettingsChange:
    if body.value("plan") is not None:
        raise Forbidden("only the operator can set plan", param="plan")
    save, history = "memories_save_enabled", "memories_chat_history_enabled"
    change = SettingsChange(
        fields.boolean(body.value(save), save),
        fields.boolean(body.value(history), history),
        fields.integer(body.value("top_k"), "top_k", 1, MOST_TOP_K),
        number(body.value("score_threshold"), "score_threshold", 0.0, 1.0),
    )
    if change == SettingsChange():
        raise BadRequest(f"{save}, {history}, top_k or score_threshold is required", param=save)
    return change
