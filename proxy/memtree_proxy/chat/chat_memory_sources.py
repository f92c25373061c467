"""Gather the memories for a chat request: its chat's, its user's, and passages of documents.

It is also found who contributed to the present turn besides the user: the model may then save
somebody else's idea. A turn begins with the newest message of the user. A tool contributes by a
message of its role, or by one of the user's role with a result in it, as sent by clients that
describe tools in the prompt. A message joined to another one does not begin a turn: for example
words after tool results in one posted message. A web page contributes if the provider was asked to
search the web. What a user attaches or pastes counts as the user's own words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from memtree.errors import BadRequest
from memtree.history.json_body import Body
from memtree.history.message import SYSTEM_ROLES, Message, Volatile
from memtree.memories import document_passages
from memtree.memories.memory_choice import CHAT_OPTIONS, InjectionOptions, threshold_of
from memtree.memories.scope import Scope
from memtree.memories.user_memories import UserSettings
from memtree.ranking.ranking_query import ends
from memtree.text.own_words import others_words
from memtree_proxy.wire.request_options import MemoryOptions, RagOptions

_NOBODY = "?"  # never the id of a user


@dataclass(frozen=True, slots=True)
class ChatUser:
    """User of a request, and the switches. `scope`: None if the user has a name that cannot be an
    id of ours, as `refused` says: the request then gets no user's memories, and none are extracted
    from it. The header may be meant for the upstream only."""

    scope: Scope | None
    settings: UserSettings
    refused: BadRequest | None = None


@dataclass(frozen=True, slots=True)
class WantedSource:
    """Memories of one scope that may be added to a request. `reader`: the requesting user, if the
    scope is not that user's own: what others were shown does not count then. `form`: of its lines,
    if there are several."""

    scope: Scope
    options: InjectionOptions
    reader: str = ""
    form: str = ""

    @property
    def name(self) -> str:
        """Return a name for the owner and the form: memories sent under another name are not
        continued."""
        return repr((self.scope.kind.value, self.scope.owner, self.scope.subject)) + self.form

    def keys(self, conversation: Sequence[str]) -> list[str]:
        """Return the names under which this scope remembers what a conversation was shown."""
        return [f"{self.reader} {key}" if self.reader else key for key in conversation]


@dataclass(frozen=True, slots=True)
class WantedMemories:
    """Memories that a request may get. `chat`: the chat's scope, None if its memory is off.
    `sources`: in the order of their lines. `extracted`: settings for extracting memories from this
    user's messages."""

    chat: Scope | None = None
    sources: tuple[WantedSource, ...] = ()
    extracted: ChatUser | None = None

    @property
    def any(self) -> bool:
        """Return True if the messages must be read, to choose or to extract memories."""
        return bool(self.sources) or self.extracted is not None


NONE = WantedMemories()


def wanted(
    tenant: str,
    chat: Scope | None,
    user: ChatUser,
    options: MemoryOptions,
    rag: RagOptions | None = None,
) -> WantedMemories:
    """Read the wanted memories from a request's headers and fields and the settings of its user.
    Raises `BadRequest` if it wants memories of an impossible user id."""
    sources = [] if chat is None else [WantedSource(chat, CHAT_OPTIONS)]
    switched, extracted = user.settings, None
    if user.refused is not None and options.enabled:
        raise user.refused
    if user.scope is not None and options.enabled is not False:
        if switched.save or options.enabled:
            least = switched.threshold if options.threshold is None else options.threshold
            choice = InjectionOptions(options.top_k or switched.top_k, threshold_of(least))
            sources.append(WantedSource(user.scope, choice))
        extracted = user if switched.save or switched.history else None
    if rag is not None:
        namespace = Scope.of_namespace(tenant, rag.namespace)
        form = "metadata" if rag.metadata else ""
        reader = user.scope.owner if user.scope else _NOBODY
        line = partial(document_passages.line, metadata=rag.metadata)
        passages = InjectionOptions(
            rag.top_k, threshold_of(rag.threshold), near=False, category=rag.type or None, line=line
        )
        sources.append(WantedSource(namespace, passages, reader, form))
    return WantedMemories(chat, tuple(sources), extracted)


RECENT, RECENT_CHARS = 3, 200  # messages of the user in the second query, and of each so much
READ = 12  # newest messages of the user among which these are looked for


def user_queries(messages: Sequence[Message], volatile: Volatile) -> tuple[str, str]:
    """Return two queries for memories: the text of the user's newest message, and the ends of the
    user's last three, newest first, since an embedder reads only a beginning. Own words, without
    blocks that clients insert, and only the ends of a long message. "" where there are none, the
    second also where the first is all that was said. The history may be unvalidated, since context
    memory can be off."""
    said: list[str] = []
    users = (
        message for message in reversed(messages) if message.role == "user" and not message.aside
    )
    try:
        for message in islice(users, READ):
            words = volatile.strip(_words(message.content))
            if words.strip():
                said.append(ends(words))
            elif not (said or message.joined):  # a reminder after tool results asks nothing
                return "", ""
            if len(said) == RECENT:
                break
    except BadRequest:
        pass
    recent = "\n".join(ends(words, RECENT_CHARS) for words in said)
    return (said[0] if said else "", recent if len(said) > 1 else "")


def _words(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


_SPEAKERS = SYSTEM_ROLES | {"user", "assistant"}
_RESULT_PARTS = frozenset({"tool_result", "function_call_output"})
_RESULT = re.compile(r"\s{0,20}\[[A-Za-z_][\w.-]{0,80}(?: for '[^\n]{0,1000}')?\] Result:")
_ONLINE = ":online"  # OpenRouter's suffix for a model that searches the web
_WEB_FIELDS = ("web_search_options", "plugins", "mcp_servers")
# Prefixes of types of tools that the provider runs itself, and that read texts of others
_READING_TOOLS = ("web_search", "web_fetch", "file_search", "mcp")


def others_spoke(messages: Sequence[Message], body: Body, model: str, volatile: Volatile) -> bool:
    """Return True if a tool or a web page contributed since the user's message, or if that message
    holds text of others: a mail, a page, a quotation. Unreadable messages count as such. Reads no
    further back than the turn."""
    try:
        if _ONLINE in model or any(body.value(name) is not None for name in _WEB_FIELDS):
            return True
        if _reads_for_itself(body):
            return True
        for message in reversed(messages):
            if message.role not in _SPEAKERS:
                return True
            if message.role == "user" and not message.joined:
                said = volatile.strip(_words(message.content))
                return _holds_result(message) or bool(others_words(said))
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
