"""Serve `POST /memories/extract`: extract memories from a posted conversation, and report them.

The same extraction runs in the background for users who enabled it for their chats. This route is
an explicit request, so it ignores those switches.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from memtree.background.memory_services import MemoryServices
from memtree.config import Settings
from memtree.conversation.message import Message, check_message
from memtree.wire.json_body import Body
from memtree_proxy.http.decoding import decode
from memtree_proxy.memories.answers import answer
from memtree_proxy.memories.requests import UserRequests
from memtree_proxy.memories.user.rows import rows
from memtree_proxy.wire.routes import route
from memtree_proxy.wire.user_memories import ConversationToExtract, extracted


class ExtractionRoute:
    def __init__(
        self, services: MemoryServices, requests: UserRequests, settings: Settings
    ) -> None:
        self._conversations = services.extracting.conversations
        self._users = services.users
        self._requests = requests
        self._max_messages, self._room = settings.max_messages, settings.extraction_chars

    @route("POST /memories/extract")
    async def extract(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        with self._requests.costly(scope.tenant):
            messages, dry_run = await self._requests.read(request, self._posted)
            report, snapshots = await self._conversations.extract(
                scope, messages, dry_run=dry_run, room=self._room
            )
        stored = await rows(self._users, scope, report.stored)
        shown = await rows(self._users, scope, snapshots)
        return answer(extracted(report, stored, shown, dry_run=dry_run))

    def _posted(self, body: Body) -> tuple[Sequence[Message], bool]:
        """Read the messages and `dry_run`. Raises `BadRequest` naming the message or the field."""
        messages = body.messages(self._max_messages)
        for index, message in enumerate(messages):
            check_message(message, f"messages[{index}]")
        return messages, decode(ConversationToExtract, body).dry_run
