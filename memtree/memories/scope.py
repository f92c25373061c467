"""Define whose a memory is. Every read and every write of a store names exactly one scope."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from memtree.errors import BadRequest

_ID = re.compile(r"[A-Za-z0-9._~:@-]{1,200}")
PLACEHOLDER = "is a placeholder, not an id"
_TEMPLATE = re.compile(r"\$?\{.*\}|<.*>|\[object \w+\]|\$[A-Z_]+|%\w", re.DOTALL)
_NAMED = "agent chat client conversation group namespace session subject tenant thread user".split()
_OF_A_FIELD = frozenset({"id", "key", "name", "here", *_NAMED, *(f"{each}id" for each in _NAMED)})
_NOTHING = frozenset("undefined null none NaN your placeholder".split())


class ScopeKind(enum.StrEnum):
    CHAT = "chat"
    USER = "user"
    AGENT = "agent"
    NAMESPACE = "namespace"


@dataclass(frozen=True, slots=True)
class Scope:
    """`owner`: the chat, the user ("" is the tenant itself), the agent, or the namespace of
    documents. `subject`: whom an agent remembers something of, "" for none. "None" is a scope of
    its own and never means all."""

    tenant: str
    kind: ScopeKind
    owner: str
    subject: str = ""

    @classmethod
    def of_chat(cls, tenant: str, chat_id: str) -> Scope:
        return cls(tenant, ScopeKind.CHAT, chat_id)

    @classmethod
    def of_user(cls, tenant: str, user_id: str = "") -> Scope:
        return cls(tenant, ScopeKind.USER, user_id)

    @classmethod
    def of_agent(cls, tenant: str, agent_id: str, subject_id: str = "") -> Scope:
        return cls(tenant, ScopeKind.AGENT, agent_id, subject_id)

    @classmethod
    def of_namespace(cls, tenant: str, namespace: str) -> Scope:
        """Return the scope of a namespace of documents. It belongs to the tenant, whichever of its
        users asks."""
        return cls(tenant, ScopeKind.NAMESPACE, namespace)


def is_placeholder(text: str) -> bool:
    """Return True for text that programs send where they have no id: a template that nobody filled
    in, the name of its field, or their language's word for nothing, unless people are called so, as
    Nil and Nan. All who send it would share one memory.

    >>> [text for text in ("undefined", "user:null", "YOUR_USER_ID", "{id}", "NaN", "nan", "user")
    ...  if is_placeholder(text)]
    ['undefined', 'user:null', 'YOUR_USER_ID', '{id}', 'NaN']
    """
    split = re.split("[^A-Za-z0-9]+", text)
    words = {word if word in _NOTHING else word.lower() for word in split if word}
    rest = words - _OF_A_FIELD
    empty = rest <= _NOTHING and (bool(rest) or any(word.endswith("id") for word in words))
    return (empty and words != {"your"}) or bool(_TEMPLATE.fullmatch(text))


def checked_id(value: object, name: str) -> str:
    """Check an id that a caller chose, and return it. Raises `BadRequest` naming the field.

    >>> checked_id("550e8400-e29b", "chatId")
    '550e8400-e29b'
    """
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise BadRequest(
            f"{name} must be 1 to 200 of the characters A-Z a-z 0-9 . _ ~ : @ -", param=name
        )
    if is_placeholder(value):
        raise BadRequest(f"{name} {PLACEHOLDER}", param=name)
    return value
