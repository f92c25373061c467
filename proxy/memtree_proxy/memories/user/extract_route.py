"""`POST /memories/extract`: read a posted conversation for memories now, and say what came of it.

In the background the same is done with conversations that pass through the chat routes, of users
who switched that on. Here a person or a program asks for it, so the switches are not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from memtree.background.memory_services import MemoryServices
from memtree.config import Settings
from memtree.conversation.message import Message, check_message
from memtree.errors import BadRequest
from memtree.wire.json_body import Body
from memtree_proxy.http import content_encoding
from memtree_proxy.http.own_headers import USER_HEADER
from memtree_proxy.memories.answers import answer
from memtree_proxy.memories.requests import UserRequests
from memtree_proxy.memories.user.rendering import Json
from memtree_proxy.memories.user.rows import rows
from memtree_proxy.wire.operation import READING, operation


class ExtractionAsked(NamedTuple):
    messages: Sequence[Message]
    dry_run: bool


class ExtractionRoute:
    def __init__(
        self, services: MemoryServices, requests: UserRequests, settings: Settings
    ) -> None:
        self._conversations = services.extracting.conversations
        self._users = services.users
        self._requests = requests
        self._max_messages, self._room = settings.max_messages, settings.extraction_chars

    @operation(
        "POST /memories/extract",
        "extractMemories",
        "User memories",
        "Read a conversation for memories",
        "At once, and whatever the settings of the user say. Only what the user wrote is "
        "read, outside of code, quotations and pasted text. Each message is read once: "
        "what was read before, in this or another conversation, is not read again. With "
        "`dry_run` nothing is stored, and the messages count as not read.",
        answers={200: ("What came of it.", "Extracted")},
        errors=READING,
        parameters=(USER_HEADER, content_encoding.HEADER),
        body="ConversationToExtract",
    )
    async def extract(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        with self._requests.costly(scope.tenant):
            extraction = await self._requests.read(request, self._asked)
            report, snapshots = await self._conversations.extract(
                scope, extraction.messages, dry_run=extraction.dry_run, room=self._room
            )
        stored = await rows(self._users, scope, report.stored)
        return answer(
            {
                "dry_run": extraction.dry_run,
                "messages": report.messages,
                "stored": [_planned(row) for row in stored] if extraction.dry_run else stored,
                "skipped": [
                    {"text": skip.text, "reason": str(skip.reason)} for skip in report.skipped
                ],
                "snapshots": await rows(self._users, scope, snapshots),
            }
        )

    def _asked(self, body: Body) -> ExtractionAsked:
        """Raises `BadRequest` naming the place in the messages, or the field."""
        messages = body.messages(self._max_messages)
        for index, message in enumerate(messages):
            check_message(message, f"messages[{index}]")
        dry_run = body.value("dry_run")
        if not isinstance(dry_run, bool | None):
            raise BadRequest("dry_run must be true or false", param="dry_run")
        return ExtractionAsked(messages, bool(dry_run))


def _planned(row: Json) -> Json:
    """Render a memory that is not stored: it has no id yet."""
    return {**row, "id": None, "number": None}
