"""Define the resources that an MCP client can read beside calling tools: the caller's
conversations.

memtree://conversations              the newest conversations: titles, sizes, tokens saved; no text
memtree://conversations/{address}    the tree of one conversation: summaries and their positions
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec

from memtree.errors import NotFound
from memtree.text.own_lines import in_values, one_line
from memtree_proxy.wire.context_bodies import ShownStoredTree
from memtree_proxy.wire.conversation_bodies import ShownConversation

ROOT = "memtree://conversations"
TEMPLATE = f"{ROOT}/{{address}}"
MEDIA_TYPE = "application/json"
NEWEST = 50  # conversations listed
_ONE = re.compile(re.escape(ROOT) + "/([0-9a-fA-F]{64})")


class Conversations(Protocol):
    """Reads a tenant's conversations."""

    async def newest(self, tenant: str, limit: int) -> Sequence[ShownConversation]:
        """Return rows with `address` and `title`, the most recently used conversation first."""
        ...

    async def tree(self, tenant: str, address: str) -> ShownStoredTree:
        """Return the tree of a conversation. `address`: 64 hexadecimal digits. Raises
        `NotFound`."""
        ...


class ListedResource(NamedTuple):
    uri: str
    name: str
    title: str


async def listed(conversations: Conversations, tenant: str) -> list[ListedResource]:
    """List one resource for the list of conversations, and one for each of the newest."""
    rows = await conversations.newest(tenant, NEWEST)
    each = [
        ListedResource(f"{ROOT}/{row.address}", row.address[:12], one_line(row.title) or "Untitled")
        for row in rows
    ]
    return [ListedResource(ROOT, "conversations", "Conversations"), *each]


async def read(conversations: Conversations, tenant: str, uri: str) -> str:
    """Return the JSON of a resource. Raises `NotFound`."""
    if uri == ROOT:
        rows = await conversations.newest(tenant, NEWEST)
        return _json({"conversations": rows})
    match = _ONE.fullmatch(uri)
    if match is None:
        raise NotFound(f"There is no resource {uri[:100]!a}; {ROOT} lists those that there are.")
    return _json(await conversations.tree(tenant, match[1]))


def _json(answer: object) -> str:
    return msgspec.json.encode(in_values(msgspec.to_builtins(answer))).decode()
