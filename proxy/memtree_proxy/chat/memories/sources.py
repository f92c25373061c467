"""Gather the memories for a chat request: its chat's, its user's, and passages of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from memtree.errors import BadRequest
from memtree.memories.injection import passages
from memtree.memories.injection.options import CHAT_OPTIONS, InjectionOptions, threshold_of
from memtree.memories.scope import Scope
from memtree.memories.users.user_memories import UserSettings
from memtree_proxy.request.options import MemoryOptions, RagOptions

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
            sources.append(WantedSource(user.scope, _injection(switched, options)))
        extracted = user if switched.save or switched.history else None
    if rag is not None:
        namespace = Scope.of_namespace(tenant, rag.namespace)
        form = "metadata" if rag.metadata else ""
        reader = user.scope.owner if user.scope else _NOBODY
        sources.append(WantedSource(namespace, _passages(rag), reader, form))
    return WantedMemories(chat, tuple(sources), extracted)


def _injection(switched: UserSettings, options: MemoryOptions) -> InjectionOptions:
    threshold = switched.threshold if options.threshold is None else options.threshold
    return InjectionOptions(options.top_k or switched.top_k, threshold_of(threshold))


def _passages(rag: RagOptions) -> InjectionOptions:
    line = partial(passages.line, metadata=rag.metadata)
    return InjectionOptions(rag.top_k, threshold_of(rag.threshold), rag.type or None, line)
