"""Declares the ports of stores: conversations, trees, plans, claims, tallies, retention and keys.

A *conversation* is an address that no other stored address continues: a growing chat is one, two
branches of a chat are two. Plans are those of epochs; keys give access.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from memtree.budget.epoch import Epoch, EpochTurn
from memtree.ports.request_log import RequestLog
from memtree.tree.node import Frontier, Node, Summary


@dataclass(frozen=True, slots=True)
class HistoryEnd:
    """Facts about a history at its end, besides its frontier, which may end earlier.

    `used`: unix seconds of the last request for it. `messages`, `tokens`: of all of it, 0 if
    unknown. `first`: how many messages were posted before its first one; they are system messages.
    `whole`: False if further messages were posted that are not indexed yet. `title`, `client`,
    `project`: of at most 60 characters, empty if unknown; an empty one leaves the stored value
    unchanged.
    """

    used: float = 0.0
    messages: int = 0
    tokens: int = 0
    first: int = 0
    whole: bool = True
    title: str = ""
    client: str = ""
    project: str = ""


NOT_TOLD = HistoryEnd()


class ConversationPlace(NamedTuple):
    """Position of a conversation in a list, newest first."""

    used: float
    address: bytes


class StoredConversation(NamedTuple):
    """`turn`: the newest one at the address, None if there is none. `own_title`: the one that a
    person typed, else empty. `ordinal`: number among the tenant's conversations with the same
    `end.title`, from 1; 0 without a title. `pins`: as they were stored, "" for none. `saved`: what
    memory has saved on its requests, by the log."""

    address: bytes
    end: HistoryEnd
    frontier: Frontier
    turn: EpochTurn | None
    own_title: str = ""
    ordinal: int = 0
    pins: str = ""
    saved: int = 0

    @property
    def place(self) -> ConversationPlace:
        return ConversationPlace(self.end.used, self.address)


class ConversationStore(Protocol):
    """Lists conversations. Raises as `TreeStore` does. Those that expired before `now` (unix
    seconds) are treated as absent."""

    async def conversations(
        self, tenant: str, now: float, limit: int, before: ConversationPlace | None = None
    ) -> list[StoredConversation]:
        """Return conversations, newest first; `before`: only those after this position. Reads one
        index, however many conversations there are."""
        ...

    async def conversation(
        self, tenant: str, address: bytes, now: float
    ) -> StoredConversation | None:
        """Return one known address, even if others continue it: for such an address only its
        frontier and its turn are known."""
        ...

    async def rename(self, tenant: str, address: bytes, title: str, now: float) -> int:
        """Give the conversations that end at an address or continue it a title of their own, and
        return how many there are. The title stays while a conversation grows, and is deleted with
        it."""
        ...

    async def put_pins(self, tenant: str, address: bytes, pins: str, now: float) -> int:
        """Replace the pins of these conversations, which are chosen as in `rename`. `pins`: opaque,
        without text."""
        ...

    async def pins(self, tenant: str, addresses: Sequence[bytes]) -> list[str]:
        """Return the pins of the conversations that end at these addresses."""
        ...


def newest_turn(turns: Sequence[EpochTurn]) -> EpochTurn | None:
    """Return the newest of the turns at one address, which may have several keys."""
    return max(turns, key=lambda turn: (turn.used, turn.epoch), default=None)


@dataclass(frozen=True, slots=True)
class IndexBatch:
    """Rows of one commit: nodes, and for each address the frontier of its prefix.

    The addresses are in the order of their chain; `previous` is the known address before the first
    of them (empty: there is none). `end`: facts of the history at the last of them.
    """

    nodes: tuple[Node, ...] = ()
    frontiers: Mapping[bytes, Frontier] = field(default_factory=dict)
    expires: float = 0.0  # unix seconds after which the addresses may be forgotten
    previous: bytes = b""
    end: HistoryEnd = NOT_TOLD


class IndexedPrefix(NamedTuple):
    """Entry of one address in the store."""

    frontier: Frontier
    expires: float


@dataclass(frozen=True, slots=True)
class ContinuedTurn:
    """The turn that a request continues: its address, its epoch, and all turns of that epoch that
    have a recall block, by address (those of other branches as well)."""

    address: bytes
    turn: EpochTurn
    epoch: Epoch
    blocks: Mapping[bytes, EpochTurn]


class Receipt(NamedTuple):
    """Number of rows that a deletion removed; `turns` are those of epochs. `jobs`: removed from the
    queue."""

    addresses: int = 0
    nodes: int = 0
    vectors: int = 0
    summaries: int = 0
    epochs: int = 0
    turns: int = 0
    jobs: int = 0


@dataclass(frozen=True, slots=True)
class StoreSchema:
    """Number of a store's schema. `since`: the oldest version that opens the store; older ones
    refuse."""

    version: int
    since: str

    def __str__(self) -> str:
        return f"schema {self.version}; MemTree {self.since} and later open it"


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Counts over the whole store; `bytes` is its size on disk, 0 if that has no meaning."""

    nodes: int
    leaves: int
    addresses: int
    vectors: int
    bytes: int
    schema: StoreSchema


class TreeStore(Protocol):
    """Nodes, frontiers and vectors, each under its tenant; a tenant never sees another's rows.
    Every method raises `StoreUnavailable` (locked, full, read-only, gone) or `StoreCorrupt`, and
    then nothing is half-written. Writing existing rows again changes nothing.
    """

    async def frontiers(
        self, tenant: str, addresses: Sequence[bytes]
    ) -> dict[bytes, IndexedPrefix]:
        """Return the known ones of those addresses: one query, up to some hundred addresses."""
        ...

    async def nodes(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        """Return the known ones of those nodes: any number of ids."""
        ...

    async def descendants(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        """Return the nodes with these ids and all below them, in one read."""
        ...

    async def commit(self, tenant: str, batch: IndexBatch) -> None:
        """Add a batch, all or nothing. A known node or address stays unchanged, except that an
        address takes the later `expires`. Raises `NodesGone` if a frontier or a node names a node
        that is neither stored nor in the batch."""
        ...

    async def renew(
        self, tenant: str, addresses: Sequence[bytes], expires: float, used: float = 0.0
    ) -> None:
        """Extend the expiry of the known ones of those addresses at least to `expires`. `used`:
        time of use of their conversations, unix seconds."""
        ...

    async def vectors(self, tenant: str, recipe: str, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the packed passage vectors of those leaves that have some under this recipe."""
        ...

    async def put_vectors(self, tenant: str, recipe: str, rows: Mapping[bytes, bytes]) -> None:
        """Store vectors of those leaves that are (still) stored; others are left out."""
        ...

    async def newest_summaries(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Summary]:
        """Return for those nodes that have another version of their summary the newest one: a
        model's (1 and up) before a renewed extraction (below 0). Quick if the tenant has none at
        all."""
        ...

    async def summaries(
        self, tenant: str, wanted: Sequence[tuple[bytes, int]]
    ) -> dict[tuple[bytes, int], Summary]:
        """Return the known ones of these (node, version); version 0 is in the node itself, not
        here."""
        ...

    async def put_summaries(self, tenant: str, rows: Mapping[bytes, Summary]) -> None:
        """Store other versions of stored nodes' summaries; a known (node, version) stays, and nodes
        that are not stored are left out. Raises `BadRequest` for version 0."""
        ...

    async def complete(self, tenant: str, nodes: Sequence[Node]) -> None:
        """Give stored nodes that have a sketch the version 0 of their summary; nodes that are not
        stored are left out. A sketch with words remains as another version, for plans that show
        it."""
        ...

    async def check(self) -> list[str]:
        """Return the problems of the whole store, one line each; empty if it is sound."""
        ...

    async def stats(self) -> StoreStats: ...

    async def close(self) -> None: ...


class PlanStore(Protocol):
    """Epochs and their turns. Raises as `TreeStore` does."""

    async def latest(
        self, tenant: str, key: bytes, addresses: Sequence[bytes]
    ) -> ContinuedTurn | None:
        """Return the turn under `key` at the first of these addresses that has one whose epoch is
        stored; up to some thousand addresses, newest first. One read."""
        ...

    async def newest_turn(self, tenant: str, addresses: Sequence[bytes]) -> ContinuedTurn | None:
        """Look the address up under any key; if several match, the most recently used."""
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
        """Store a turn if there is none, and return the one that is stored afterwards.

        A turn of the epoch `instead_of` is replaced; any other stays, takes the later `used`, as
        does the conversation at this address, and is returned. `epoch`: stored only together with
        the turn (a losing epoch leaves no row), together with `nodes`, which its plan names and
        which may be in no batch. The turn's epoch takes the later `expires`. Raises `NodesGone`,
        and writes nothing, if the epoch's plan names a node or a summary version (over 0) that is
        not stored, or if `epoch` is None and the turn's epoch is not stored.
        """
        ...


class Retention(Protocol):
    """Deletion. Nodes, vectors and summary versions are deleted when no address and no epoch needs
    them; an epoch keeps everything that its plan names. Raises as `TreeStore` does."""

    async def chain(self, tenant: str, address: bytes, most: int | None = None) -> list[bytes]:
        """Return this address and the stored ones before it on its chain, newest first; empty if it
        is unknown. `most`: limit of their number."""
        ...

    async def forget(
        self, tenant: str, addresses: Sequence[bytes] | None, *, dry_run: bool = False
    ) -> Receipt:
        """Delete these addresses and the turns at them (None: everything of the tenant except
        access keys), epochs that have no turn left, and all rows that nothing needs any more.
        Afterwards no byte of them is in the store's files. `dry_run`: delete nothing, and count the
        same."""
        ...

    async def sweep(self, now: float) -> Receipt:
        """Delete for all tenants the addresses and epochs that expired before `now`; keep of each
        node only the newest summary and those that a plan names; keep no vectors of recipes that
        were unused for `RECIPE_DAYS` days. Cheap if there is nothing to do."""
        ...

    async def keep_recipe(self, recipe: str, now: float) -> None:
        """Record that vectors of this recipe are in use; called by a process at its start and
        before a `sweep`. Unused days are counted only on days (UTC) with a sweep: no jump of a
        clock deletes vectors in use, and a store that was not opened for a year loses nothing. For
        unknown recipes the first sweep begins the count."""
        ...


# A user who tries another model, and returns to the first within a month, finds its vectors again.
# They are some 5 MB for a million tokens of history and 384 dimensions.
RECIPE_DAYS = 30


class ContextStore(TreeStore, PlanStore, ConversationStore, Retention, Protocol):
    """All that context memory stores."""


class Credentials(Protocol):
    """Maps credentials to tenants. Only hashes of credentials are stored. Raises as `TreeStore`
    does."""

    async def tenant_of(self, credential: str) -> str | None:
        """Return the tenant that a key with this value authenticates as; None if no key has it."""
        ...

    async def has_keys(self) -> bool: ...

    async def aliases(self) -> dict[str, str]:
        """For servers without keys: return the tenant that a bare credential authenticates as, if
        it differs from the tenant named by the credential itself. Few: each is the result of a
        `move_tenant`."""
        ...


class KeyStore(Credentials, Protocol):
    """Read and change keys; each change is atomic.

    Addresses are seeded with the tenant's name and texts are not kept, so rows cannot be renamed
    from one tenant to another: they would never be found again. Instead, it can be changed which
    keys and which bare credentials (`aliases`) authenticate as the tenant that has the rows.
    """

    async def add_key(self, label: str, values: Sequence[str], tenant: str | None = None) -> str:
        """Add a key whose `values` authenticate as `tenant` (None: a new one); returns the key's
        id. Raises `BadRequest` for a label or a value that another key has."""
        ...

    async def add_values(self, key_id: str, values: Sequence[str], *, only: bool = False) -> None:
        """Add values to a key; `only`: remove its other values. Raises `BadRequest` for an unknown
        key and for a value that another key has."""
        ...

    async def remove_value(self, key_id: str, value: str) -> None:
        """Remove a value. Raises `BadRequest` for a value that the key does not have, and for its
        last one."""
        ...

    async def list_keys(self) -> list[KeyRow]:
        """Return the keys in the order of their creation."""
        ...

    async def revoke_key(self, key_id: str) -> bool:
        """Delete a key; False if there is no such key. The data of its tenant stays until it
        expires."""
        ...

    async def tenants(self) -> list[TenantRow]:
        """Return the tenants that have nodes or addresses, by name."""
        ...

    async def move_tenant(self, source: str, target: str, *, share: bool = False) -> None:
        """Exchange the keys and bare credentials of two tenants: those of `target` authenticate as
        `source` from now on, and the other way round, so that nobody else sees what `source` has.
        `share`: those of `source` stay."""
        ...


@dataclass(frozen=True, slots=True)
class KeyRow:
    """`values`: number of values; `created`: unix seconds."""

    id: str
    label: str
    tenant: str
    values: int
    created: float


class TenantRow(NamedTuple):
    """`expires`: unix seconds when its last address expires, 0 if it has none."""

    name: str
    addresses: int
    nodes: int
    expires: float


class Claims(Protocol):
    """Claims of workers on nodes to summarise, so that two workers never pay for one node. Raises
    as `TreeStore` does."""

    async def claim(
        self, tenant: str, ids: Sequence[bytes], owner: str, now: float, until: float
    ) -> set[bytes]:
        """Claim these nodes for `owner` until `until` (unix seconds), in one step; returns those
        that it holds now. Left out: nodes that are not stored, that another owner holds beyond
        `now`, and that have a model's summary (version 1 and up) already. The owner's own claims
        are extended."""
        ...

    async def release(self, tenant: str, ids: Sequence[bytes], owner: str) -> None:
        """Release the claims of `owner` on these nodes; others' claims stay."""
        ...


class Tallies(Protocol):
    """Daily totals, by tenant, day (days since 1970, UTC) and name, such as `summary.input_tokens`.
    They do not count as memory: a tenant's deletion leaves them (a limit must not be reset by it),
    `sweep` deletes those older than `TALLY_DAYS`. Raises as `TreeStore` does."""

    async def add(
        self,
        tenant: str,
        day: int,
        amounts: Mapping[str, int],
        limits: Mapping[str, int] | None = None,
    ) -> bool:
        """Add to that day's totals (negative amounts subtract), all or nothing. `limits`: returns
        False, and adds nothing, if a total would exceed its limit."""
        ...

    async def tallies(self, tenant: str, first: int, last: int) -> dict[str, int]:
        """Return the sums of a tenant's totals over the days from `first` to `last`, both
        included."""
        ...

    async def daily(
        self, tenant: str, first: int, last: int, prefix: str
    ) -> dict[int, dict[str, int]]:
        """Return a tenant's totals for each day that has some, in order: those whose names begin
        with `prefix`."""
        ...


TALLY_DAYS = 400


class ProviderObjects(Protocol):
    """Remembers which tenant created an object at the provider: a file, answer, container. It
    stores digests of tenant and id together, and neither of the two. Raises as `TreeStore` does.
    Like access keys they outlive a deletion of memories: the objects still exist at the provider.
    """

    async def put_objects(self, digests: Collection[bytes], expires: float) -> None:
        """Keep these digests (32 bytes) until `expires` (unix seconds), or longer if they are kept
        longer already."""
        ...

    async def known_objects(self, digests: Collection[bytes]) -> set[bytes]:
        """Return the digests that are kept and have not expired."""
        ...


class Store(ContextStore, Claims, Tallies, RequestLog, KeyStore, Protocol):
    """All ports of a store that `stores.open_store` opens: trees, plans, claims, tallies, the log
    of requests and keys."""
