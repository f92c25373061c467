"""Stores: trees, plans of epochs, claims, tallies, retention and access keys."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from memtree.budget.epoch import Epoch, EpochTurn
from memtree.ports.conversations import NOT_TOLD, ConversationStore, HistoryEnd
from memtree.ports.request_log import RequestLog
from memtree.tree.node import Frontier, Node, Summary


@dataclass(frozen=True, slots=True)
class IndexBatch:
    """What one commit adds: nodes, and for each address the frontier of its prefix.

    The addresses stand in the order of their chain; `previous` is the known address before the
    first of them (empty: there is none). `end`: of the history at the last of them.
    """

    nodes: tuple[Node, ...] = ()
    frontiers: Mapping[bytes, Frontier] = field(default_factory=dict)
    expires: float = 0.0  # unix seconds after which the addresses may be forgotten
    previous: bytes = b""
    end: HistoryEnd = NOT_TOLD


class IndexedPrefix(NamedTuple):
    """What the store knows of one address."""

    frontier: Frontier
    expires: float


@dataclass(frozen=True, slots=True)
class ContinuedTurn:
    """The turn that a request continues: its address, its epoch, and all turns of that epoch
    that have a recall block, by address (those of other branches as well)."""

    address: bytes
    turn: EpochTurn
    epoch: Epoch
    blocks: Mapping[bytes, EpochTurn]


class Receipt(NamedTuple):
    """How many rows a deletion took away; `turns` are those of epochs. `jobs` left the queue."""

    addresses: int = 0
    nodes: int = 0
    vectors: int = 0
    summaries: int = 0
    epochs: int = 0
    turns: int = 0
    jobs: int = 0


@dataclass(frozen=True, slots=True)
class StoreSchema:
    """How many steps of the schema's parts a store has. `since`: the oldest version that knows all
    of them, and so opens the store; older ones refuse to."""

    steps: Mapping[str, int]
    since: str

    def __str__(self) -> str:
        parts = ", ".join(f"{part} {count}" for part, count in sorted(self.steps.items()))
        return f"schema {parts}; MemTree {self.since} and later open it"


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Counts over the whole store; `bytes` is its size on disk, 0 where that has no meaning."""

    nodes: int
    leaves: int
    addresses: int
    vectors: int
    bytes: int
    schema: StoreSchema


class TreeStore(Protocol):
    """Nodes, frontiers and vectors, each under its tenant; a tenant never meets another's rows.

    Every method raises `StoreUnavailable` (locked, full, read-only, gone) or `StoreCorrupt`, and
    then nothing is half-written. Writing what is there already changes nothing.
    """

    async def frontiers(
        self, tenant: str, addresses: Sequence[bytes]
    ) -> dict[bytes, IndexedPrefix]:
        """What is known of those addresses: one query, up to some hundred addresses."""
        ...

    async def nodes(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        """Those nodes that are known: any number of ids."""
        ...

    async def descendants(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        """The nodes with these ids and all below them, in one read."""
        ...

    async def commit(self, tenant: str, batch: IndexBatch) -> None:
        """Add a batch, all or nothing. A known node or address is left as it is, but an address
        takes the later `expires`. `NodesGone` where a frontier or a node names a node that is
        neither stored nor in the batch."""
        ...

    async def renew(
        self, tenant: str, addresses: Sequence[bytes], expires: float, used: float = 0.0
    ) -> None:
        """Let those addresses that are known expire no sooner than that. `used`: of the
        conversations among them, unix seconds."""
        ...

    async def vectors(self, tenant: str, recipe: str, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        """Packed passage vectors of those leaves that have some under this recipe."""
        ...

    async def put_vectors(self, tenant: str, recipe: str, rows: Mapping[bytes, bytes]) -> None:
        """Keep vectors of those leaves that are (still) stored; the others are left out."""
        ...

    async def newest_summaries(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Summary]:
        """The newest other version of the summaries of those nodes that have one: a model's (1 and
        up) before an extraction made anew (below 0). Quick where the tenant has none at all."""
        ...

    async def summaries(
        self, tenant: str, wanted: Sequence[tuple[bytes, int]]
    ) -> dict[tuple[bytes, int], Summary]:
        """Those (node, version) that are known; version 0 is in the node itself, not here."""
        ...

    async def put_summaries(self, tenant: str, rows: Mapping[bytes, Summary]) -> None:
        """Keep other versions of stored nodes' summaries; a known (node, version) stays, and
        nodes that are not stored are left out. `BadRequest` for version 0."""
        ...

    async def check(self) -> list[str]:
        """Problems found in the whole store, one line each; empty when it is sound."""
        ...

    async def stats(self) -> StoreStats: ...

    async def close(self) -> None: ...


class PlanStore(Protocol):
    """Epochs and their turns. Raises as `TreeStore` does."""

    async def latest(
        self, tenant: str, key: bytes, addresses: Sequence[bytes]
    ) -> ContinuedTurn | None:
        """The turn under `key` at the first of these addresses that has one whose epoch is
        stored; up to some thousand addresses, newest first. One read."""
        ...

    async def newest_turn(self, tenant: str, addresses: Sequence[bytes]) -> ContinuedTurn | None:
        """The same under any key, the last used where an address has several."""
        ...

    async def put_turn(
        self,
        tenant: str,
        key: bytes,
        address: bytes,
        turn: EpochTurn,
        *,
        epoch: Epoch | None = None,
        nodes: Sequence[Node] = (),
        instead_of: bytes = b"",
        expires: float,
    ) -> EpochTurn:
        """Keep a turn where there is none, and return the one that stands there afterwards.

        A turn of the epoch `instead_of` is replaced; any other stays, takes the later `used`, as
        does the conversation at this address, and is returned. `epoch`: stored with the turn if
        the turn is (no row of a losing epoch stays), together with `nodes`, which its plan names
        and which may be in no batch. The turn's epoch takes the later `expires`. `NodesGone`, and
        nothing is written, where the epoch's plan
        names a node or a summary version (over 0) that is not stored, or where `epoch` is None and
        the turn's epoch is not stored.
        """
        ...


class Retention(Protocol):
    """Forgetting. Nodes, vectors and summary versions go when no address and no epoch needs them;
    what an epoch's plan names stays as long as the epoch. Raises as `TreeStore` does."""

    async def chain(self, tenant: str, address: bytes, most: int | None = None) -> list[bytes]:
        """This address and the stored ones before it on its chain, newest first; empty where it
        is not known. `most`: no more of them than that."""
        ...

    async def forget(
        self, tenant: str, addresses: Sequence[bytes] | None, *, dry_run: bool = False
    ) -> Receipt:
        """Delete these addresses and the turns at them (None: all that the tenant has, access keys
        apart), epochs that have no turn left, and whatever nothing needs any more. Afterwards
        no byte of it is in the store's files. `dry_run`: delete nothing, and count the same."""
        ...

    async def sweep(self, now: float) -> Receipt:
        """The same for all addresses and epochs that expired before `now`; and of each node only
        the newest summary and those that a plan names are kept; and no vectors of recipes that
        were not kept on the last `RECIPE_DAYS` days. Cheap where there is nothing to do."""
        ...

    async def keep_recipe(self, recipe: str, now: float) -> None:
        """Vectors of this recipe are in use: said by a process at its start and before a `sweep`.

        Counted are the days (UTC) on which sweeps came by since, not the time: no jump of a clock
        takes what is in use, and a store that lay unused for a year loses nothing. Of recipes that
        are not known the first sweep begins to count."""
        ...


# Who tries another model, and goes back to the first within a month, finds its vectors again. They
# are some 5 MB for a million tokens of history and 384 dimensions.
RECIPE_DAYS = 30


class ContextStore(TreeStore, PlanStore, ConversationStore, Retention, Protocol):
    """All that context memory keeps."""


class Credentials(Protocol):
    """Who is let in as which tenant. Only hashes of credentials are kept. Raises as `TreeStore`
    does."""

    async def tenant_of(self, credential: str) -> str | None:
        """The tenant that a key lets this value in as; None where no key has it."""
        ...

    async def has_keys(self) -> bool: ...

    async def aliases(self) -> dict[str, str]:
        """For servers without keys: the tenant that a bare credential is let in as, where it is
        not the one named by the credential itself. Few: each comes of a `move_tenant`."""
        ...


class KeyStore(Credentials, Protocol):
    """The same, and its changes; each is made whole or not at all.

    Addresses are seeded with the tenant's name and texts are not kept, so rows cannot be renamed
    from one tenant to another: they would never be found again. What can change is who is let in
    as the tenant that has the rows: which keys, and which bare credentials (`aliases`).
    """

    async def add_key(self, label: str, values: Sequence[str], tenant: str | None = None) -> str:
        """Let `values` in as `tenant` (None: as a new one); returns the key's id. `BadRequest` for
        a label or a value that another key has."""
        ...

    async def add_values(self, key_id: str, values: Sequence[str], *, only: bool = False) -> None:
        """Let these in with the key, too; `only`: and its other values no more. `BadRequest` for
        an unknown key and for a value that another key has."""
        ...

    async def remove_value(self, key_id: str, value: str) -> None:
        """`BadRequest` for a value that the key does not have, and for its last one."""
        ...

    async def list_keys(self) -> list[KeyRow]:
        """In the order of their making."""
        ...

    async def revoke_key(self, key_id: str) -> bool:
        """False where there is no such key. What its tenant has stays until it expires."""
        ...

    async def tenants(self) -> list[TenantRow]:
        """Those that have nodes or addresses, by name."""
        ...

    async def move_tenant(self, source: str, target: str, *, share: bool = False) -> None:
        """Let in as `source` whoever was let in as `target`, by key or bare; and the other way
        round, so that nobody else meets what `source` has. `share`: those of `source` stay."""
        ...


@dataclass(frozen=True, slots=True)
class KeyRow:
    """`values`: how many it has; `created`: unix seconds."""

    id: str
    label: str
    tenant: str
    values: int
    created: float


class TenantRow(NamedTuple):
    """`expires`: unix seconds when its last address does, 0 where it has none."""

    name: str
    addresses: int
    nodes: int
    expires: float


class Claims(Protocol):
    """Who summarises which node, so that two workers never pay for one node. Raises as
    `TreeStore` does."""

    async def claim(
        self, tenant: str, ids: Sequence[bytes], owner: str, now: float, until: float
    ) -> set[bytes]:
        """Take these nodes for `owner` until then (unix seconds), in one step; returns those that
        it has now. Left out: nodes that are not stored, that another owner has beyond `now`, and
        that have a model's summary (version 1 and up) already. One's own claim is prolonged."""
        ...

    async def release(self, tenant: str, ids: Sequence[bytes], owner: str) -> None:
        """Give back what `owner` has of these; others' claims stay."""
        ...


class Tallies(Protocol):
    """Numbers that add up, by tenant, day (days since 1970, UTC) and name, such as
    `summary.input_tokens`. They are no memory: a tenant's deletion leaves them (a limit must not
    be reset by it), `sweep` takes those older than `TALLY_DAYS`. Raises as `TreeStore` does."""

    async def add(
        self,
        tenant: str,
        day: int,
        amounts: Mapping[str, int],
        limits: Mapping[str, int] | None = None,
    ) -> bool:
        """Add to that day's numbers (negative ones take away), all or nothing. `limits`: False,
        and nothing is added, where one of these names would be above its limit afterwards."""
        ...

    async def tallies(self, tenant: str, first: int, last: int) -> dict[str, int]:
        """Sums of a tenant's numbers over the days from `first` to `last`, both included."""
        ...

    async def daily(
        self, tenant: str, first: int, last: int, prefix: str
    ) -> dict[int, dict[str, int]]:
        """A tenant's numbers of each day that has some, in order: of those whose names begin so."""
        ...

    async def tallied(self, first: int, last: int) -> dict[str, dict[str, int]]:
        """The same for every tenant that has some."""
        ...


TALLY_DAYS = 400


class ProviderObjects(Protocol):
    """Remembers which tenant made an object that the provider keeps: a file, answer, container.
    It holds digests of tenant and id together, and neither of the two. Raises as `TreeStore` does.

    Like access keys they outlive a deletion of memories: the objects are still at the provider."""

    async def put_objects(self, digests: Collection[bytes], expires: float) -> None:
        """Keep these digests (32 bytes) until then (unix seconds), or longer where they are kept
        longer already."""
        ...

    async def known_objects(self, digests: Collection[bytes]) -> set[bytes]:
        """Those of these digests that are kept and have not expired."""
        ...


class Store(ContextStore, Claims, Tallies, RequestLog, KeyStore, Protocol):
    """What `stores.open_store` opens: one place for trees, plans, claims, tallies, the log of
    requests and keys."""
