"""Find who contributed to the present turn besides the user: the model may then save somebody
else's idea.

A turn begins with the newest message of the user. A tool contributes by a message of its role, or
by one of the user's role with a result in it, as sent by clients that describe tools in the prompt.
A message joined to another one does not begin a turn: for example words after tool results in one
posted message. A web page contributes if the provider was asked to search the web. What a user
attaches or pastes counts as the user's own words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtree.conversation.message import RESULT_ROLES, Message, Volatile
from memtree.errors import BadRequest
from memtree.ranking.query import ends
from memtree.wire.json_body import Body


def user_query(messages: Sequence[Message], volatile: Volatile) -> str:
    """Return the text of the user's newest message as a query for memories: its own words, without
    blocks that clients insert, and only the ends of a long one. "" if there are none. The history
    may be unvalidated, since context memory can be off."""
    try:
        for message in reversed(messages):
            if message.role != "user" or message.aside:
                continue
            said = volatile.strip(_words(message.content))
            if said.strip() or not message.joined:  # a reminder after tool results asks nothing
                return ends(said)
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
# Prefixes of types of tools that the provider runs itself, and that read texts of others
_READING_TOOLS = ("web_search", "web_fetch", "file_search", "mcp")


def others_spoke(messages: Sequence[Message], body: Body, model: str) -> bool:
    """Return True if a tool or a web page contributed since the user's message. Unreadable messages
    count as such. Reads no further back than the turn."""
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
    """Return True if the provider may read pages or files for its answer."""
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
