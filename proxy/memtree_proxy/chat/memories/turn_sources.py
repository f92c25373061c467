"""Who spoke in the present turn besides the user: what a model saves then may be another's idea.

A turn begins with the newest message of the user. A tool speaks in it by a message of its role, or
by one of the user's role with a result in it, as clients send them that describe tools in the
prompt. What is joined to another message stands within a turn: words behind the results of tools,
in one posted message, begin none. A web page speaks where the provider was asked to search the web.

What a user attaches or pastes counts as the user's own words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtree.conversation.message import RESULT_ROLES, Message, Volatile
from memtree.errors import BadRequest
from memtree.ranking import query_text
from memtree.wire.json_body import Body


def user_query(messages: Sequence[Message], volatile: Volatile) -> str:
    """Return what the newest message of the user asks, as a query for memories: its own words,
    without what clients put between them, and of a long one the ends. "" where there are none.
    The history may be one that nobody has checked: context memory can be off."""
    try:
        for message in reversed(messages):
            if message.role != "user" or message.aside:
                continue
            said = volatile.strip(_words(message.content))
            if (
                said.strip() or not message.joined
            ):  # a reminder behind the results of tools asks nothing
                return query_text.ends(said)
    except BadRequest:
        pass
    return ""


def _words(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


_RESULT_PARTS = frozenset({"tool_result", "function_call_output"})
_RESULT = re.compile(r"\s{0,20}\[[A-Za-z_][\w.-]{0,80}(?: for '[^\n]{0,1000}')?\] Result:")
_ONLINE = ":online"  # OpenRouter's suffix for a model that searches the web
_WEB_FIELDS = ("web_search_options", "plugins", "mcp_servers")
# Beginnings of the types of tools that the provider runs itself, and that read what others wrote
_READING_TOOLS = ("web_search", "web_fetch", "file_search", "mcp")


def others_spoke(messages: Sequence[Message], body: Body, model: str) -> bool:
    """Return True if a tool or a web page spoke since the user asked. What cannot be read counts as
    such. Reads no further back than the turn."""
    try:
        if _ONLINE in model or any(body.value(name) is not None for name in _WEB_FIELDS):
            return True
        if _reads_for_itself(body):
            return True
        for message in reversed(messages):
            if message.role in RESULT_ROLES:
                return True
            if message.role == "user" and not message.joined:
                return _holds_result(message)
    except BadRequest:
        return True
    return False


def _reads_for_itself(body: Body) -> bool:
    """Return True if the provider may read pages or files within its answer."""
    fragment = body.fragment("tools") or b""
    if not any(name.encode() in fragment for name in _READING_TOOLS):
        return False
    tools = body.value("tools")
    listed = tools if isinstance(tools, list) else []
    types = [tool.get("type") for tool in listed if isinstance(tool, dict)]
    return any(isinstance(type_, str) and type_.startswith(_READING_TOOLS) for type_ in types)


def _holds_result(message: Message) -> bool:
    content = message.content
    if isinstance(content, str):
        return _RESULT.match(content) is not None
    parts = (
        [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    )
    return any(
        part.get("type") in _RESULT_PARTS or _RESULT.match(str(part.get("text") or ""))
        for part in parts
    )
