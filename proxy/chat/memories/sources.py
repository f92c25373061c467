"""Whose memories a chat request gets beside it: its chat's, its user's."""

from __future__ import annotations

from dataclasses import dataclass

from memtree.memories.injection.options import CHAT_OPTIONS, InjectionOptions, threshold_of
from memtree.memories.scope import Scope
from memtree.memories.user_memories import UserSettings
from proxy.request.memory_options import MemoryOptions


@dataclass(frozen=True, slots=True)
class ChatUser:
    """Whose request it is, and what they have switched on."""

    scope: Scope
    settings: UserSettings


@dataclass(frozen=True, slots=True)
class WantedSource:
    """Memories of one scope that may stand beside a request."""

    scope: Scope
    options: InjectionOptions


@dataclass(frozen=True, slots=True)
class WantedMemories:
    """`chat`: the chat's scope, None where its memory is off. `sources`: in the order in which they
    stand. `extracted`: memories are made of what this user says, as these settings say."""

    chat: Scope | None = None
    sources: tuple[WantedSource, ...] = ()
    extracted: ChatUser | None = None

    @property
    def any(self) -> bool:
        """Whether the messages have to be read for them."""
        return bool(self.sources) or self.extracted is not None


NONE = WantedMemories()


def wanted(chat: Scope | None, user: ChatUser | None, options: MemoryOptions) -> WantedMemories:
    """What a request asks for by its headers, its fields and the settings of its user."""
    sources = [] if chat is None else [WantedSource(chat, CHAT_OPTIONS)]
    if user is None or options.enabled is False:
        return WantedMemories(chat, tuple(sources))
    switched = user.settings
    if switched.save or options.enabled:
        sources.append(WantedSource(user.scope, _injection(switched, options)))
    extracted = user if switched.save or switched.history else None
    return WantedMemories(chat, tuple(sources), extracted)


def _injection(switched: UserSettings, options: MemoryOptions) -> InjectionOptions:
    threshold = switched.threshold if options.threshold is None else options.threshold
    return InjectionOptions(options.top_k or switched.top_k, threshold_of(threshold))
