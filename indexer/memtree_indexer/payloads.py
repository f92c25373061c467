"""Payloads of jobs in Redis: the posted messages that the work reads, compressed.

They contain no nodes, which the worker reads from the store by their ids, and no messages that the
work does not need, so a turn that adds little to a long history sends little. Payloads are the only
text in Redis, and are deleted with their jobs.
The store tells which part of a job's work is unfinished; nodes that are gone from it count as
finished, since their history was forgotten.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

import msgspec

from memtree.history.chat_history import History, MessageInfo
from memtree.history.message import Message, Volatile
from memtree.history.message_list import NumberedMessages
from memtree.ports.context_store import TreeStore
from memtree.tree.node import LeafWork, Node, NodePlace, NodeWork


async def unembedded(
    store: TreeStore, tenant: str, recipe: str, ids: Sequence[bytes]
) -> Mapping[bytes, Node]:
    """Return those of these leaves, by id, that have no vectors under the recipe."""
    nodes = await store.nodes(tenant, ids)
    embedded = await store.vectors(tenant, recipe, list(nodes))
    return {id_: node for id_, node in nodes.items() if id_ not in embedded}


async def unsummarised(store: TreeStore, tenant: str, ids: Sequence[bytes]) -> Mapping[bytes, Node]:
    """Return those of these nodes, by id, that have no model's summary."""
    newest = await store.newest_summaries(tenant, ids)
    summarised = {id_ for id_, summary in newest.items() if summary.version > 0}
    return await store.nodes(tenant, [id_ for id_ in ids if id_ not in summarised])


# ---------------------------------------------------------------- what is sent

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL = 3  # zstd: 300 MB a second here, to half of a JSON history's size or less
SHORT = 8  # bytes of a work item's id that suffice to check if one job contains another's work
SHOWN = 16  # bytes of hashes in names

Item = tuple[bytes, int, int, int, int]  # a work item's id and its place


class PayloadMessage(msgspec.Struct, array_like=True, gc=False):
    """A message that the work needs: its index in the history and in the posted list, and its
    bytes."""

    index: int
    posted: int
    role: str
    raw: bytes


class Payload(msgspec.Struct, array_like=True):
    tenant: str
    start: bytes
    end: bytes
    tags: tuple[str, ...]
    said: list[PayloadMessage]
    work: list[Item]

    def history(self) -> History:
        """Return the part of the history that the work reads; messages that are not needed are
        empty."""
        size = 1 + max((message.index for message in self.said), default=-1)
        messages, facts, posted = [_NOTHING] * size, [_NO_FACTS] * size, [0] * size
        for message in self.said:
            messages[message.index] = Message(message.raw)
            facts[message.index] = MessageInfo(message.role, b"", 0, (), None)
            posted[message.index] = message.posted
        return History(
            tenant=self.tenant,
            messages=tuple(messages),
            facts=tuple(facts),
            posted=tuple(posted),
            rounds=(),
            cuts=(),
            addresses=(self.start, self.end),
            totals=(0,) * (size + 1),
            system=NumberedMessages((), ()),
            volatile=Volatile(self.tags),
        )

    @property
    def ids(self) -> list[bytes]:
        return [item[0] for item in self.work]

    def leaves(self, nodes: Mapping[bytes, Node]) -> list[LeafWork]:
        """Return the work on leaves that the store still has."""
        return [LeafWork(nodes[id_], first) for id_, first, *_ in self.work if id_ in nodes]

    def nodes(self, nodes: Mapping[bytes, Node]) -> list[NodeWork]:
        """Return the work on nodes that the store still has."""
        return [NodeWork(nodes[id_], NodePlace(*at)) for id_, *at in self.work if id_ in nodes]


_NOTHING = Message(b'{"role":"user","content":""}')
_NO_FACTS = MessageInfo("user", b"", 0, (), None)


def pack(payload: Payload) -> bytes:
    return zstd.compress(msgspec.msgpack.encode(payload), LEVEL)


def unpack(data: bytes) -> Payload:
    """Decode a payload. Raises `ValueError` if `pack` did not make it."""
    try:
        return msgspec.msgpack.decode(zstd.decompress(data), type=Payload)
    except (zstd.ZstdError, msgspec.MsgspecError) as error:
        raise ValueError(f"not a payload: {type(error).__name__}") from error


def payload_of(history: History, start: bytes, work: Iterable[LeafWork | NodeWork]) -> Payload:
    """Make the payload of a job. Takes milliseconds for a long history, so it runs in a thread."""
    items = [(item, _place(item)) for item in work]
    needed = sorted({index for _, place in items for index in range(place.first, place.last + 1)})
    last = len(history.messages)
    return Payload(
        history.tenant,
        start,
        history.addresses[-1],
        history.volatile.tags,
        [_said(history, index) for index in needed if index < last],
        [(item.id, *place) for item, place in items],
    )


def job_id(tenant: str, stage: str, start: bytes) -> str:
    """Return the name of a job, which is the same for the same conversation and place."""
    data = b"\0".join((tenant.encode(), stage.encode(), start))
    return blake2b(data, digest_size=SHOWN).hexdigest()


def tenant_name(tenant: str) -> str:
    """Return the name of a tenant in Redis."""
    return blake2b(tenant.encode(), digest_size=SHOWN).hexdigest()


def shorts(ids: Sequence[bytes]) -> bytes:
    """Return the beginnings of these ids, concatenated."""
    return b"".join(id_[:SHORT] for id_ in ids)


def contains(more: bytes, less: bytes) -> bool:
    """Return True if all ids of `less` are in `more` (both from `shorts`)."""
    return _cut(less) <= _cut(more)


def _cut(data: bytes) -> set[bytes]:
    return {data[at : at + SHORT] for at in range(0, len(data), SHORT)}


def _place(work: LeafWork | NodeWork) -> NodePlace:
    if isinstance(work, NodeWork):
        return work.place
    end = work.first + work.leaf.messages
    return NodePlace(work.first, 0, end, work.leaf.tail)


def _said(history: History, index: int) -> PayloadMessage:
    return PayloadMessage(
        index, history.posted[index], history.facts[index].role, history.messages[index].raw
    )
