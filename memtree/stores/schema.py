"""The schema of a store: its number, the tables of today, and the column types of each database.

A store records the number of its schema when its tables are created. A program opens a store of its
own number and refuses every other. The first change of the tables after 1.0.0 raises `VERSION` and
brings the first migration: statements that lead from the number before to this one, run in the
transaction that records the new number, and never edited once they are released. It also brings the
test that a migrated store has the tables of a new one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from memtree.errors import StoreUnavailable

# Ids, encoded values and vectors are bytes: nothing in a database decodes them. Tables with large
# rows are rowid tables in SQLite, in the order of writing, with a separate index: without rowids
# the file of a million tokens is 9.0 MB instead of 4.6 and takes 3.5 times as long to write.
_CONTEXT: Final = (
    "CREATE TABLE tenants (number {tenant_number}, name {text} NOT NULL UNIQUE)",
    "CREATE TABLE nodes (tenant {small} NOT NULL, level {small} NOT NULL, id {blob} NOT NULL,"
    " children {blob} NOT NULL, data {blob} NOT NULL, PRIMARY KEY (tenant, id)){inline}",
    "CREATE TABLE frontiers (tenant {small} NOT NULL, key {blob} NOT NULL, data {blob} NOT NULL,"
    " PRIMARY KEY (tenant, key))",
    "CREATE TABLE addresses (tenant {small} NOT NULL, address {blob} NOT NULL,"
    " frontier {blob} NOT NULL, expires {real} NOT NULL, previous {blob} NOT NULL,"
    " PRIMARY KEY (tenant, address)){clustered}",
    "CREATE INDEX expiring_addresses ON addresses (expires)",
    # Finds the conversation that continues an address.
    "CREATE INDEX later_addresses ON addresses (tenant, previous)",
    "CREATE TABLE vectors (tenant {small} NOT NULL, recipe {text} NOT NULL, id {blob} NOT NULL,"
    " data {blob} NOT NULL, PRIMARY KEY (tenant, recipe, id)){inline}",
    "CREATE TABLE summaries (tenant {small} NOT NULL, version {small} NOT NULL, id {blob} NOT NULL,"
    " data {blob} NOT NULL, PRIMARY KEY (tenant, id, version))",
    "CREATE TABLE epochs (tenant {small} NOT NULL, id {blob} NOT NULL, data {blob} NOT NULL,"
    " expires {real} NOT NULL, PRIMARY KEY (tenant, id))",
    "CREATE INDEX expiring_epochs ON epochs (expires)",
    "CREATE TABLE turns (tenant {small} NOT NULL, key {blob} NOT NULL, address {blob} NOT NULL,"
    " epoch {blob} NOT NULL, data {blob} NOT NULL, PRIMARY KEY ({turn_key}))",
    "CREATE INDEX turns_of_epochs ON turns (tenant, epoch)",
    # A row marks a deletion whose bytes may still be in the database (`Database.scrub`).
    "CREATE TABLE deletions (number {counter})",
    # Nodes that a process summarises now.
    "CREATE TABLE claims (tenant {small} NOT NULL, id {blob} NOT NULL, owner {text} NOT NULL,"
    " until {real} NOT NULL, PRIMARY KEY (tenant, id)){clustered}",
    # Tallies name the tenant itself: they outlive its row in `tenants`.
    "CREATE TABLE tallies (tenant {text} NOT NULL, day {small} NOT NULL, name {text} NOT NULL,"
    " amount {int} NOT NULL, PRIMARY KEY (tenant, day, name)){clustered}",
    # `day`: the last day on which a sweep counted; `idle`: days since a process used it.
    "CREATE TABLE recipes (recipe {text} PRIMARY KEY, day {small} NOT NULL, idle {small} NOT NULL)"
    "{clustered}",
    "CREATE TABLE keys (id {text} PRIMARY KEY, label {text} NOT NULL, tenant {text} NOT NULL,"
    " created {real} NOT NULL){clustered}",
    "CREATE TABLE key_values (hash {text} PRIMARY KEY, key {text} NOT NULL){clustered}",
    # Bare credentials that authenticate as another tenant than the one they name.
    "CREATE TABLE tenant_aliases (name {text} PRIMARY KEY, tenant {text} NOT NULL){clustered}",
    # Addresses at which conversations end. `ordinal`: number among those with the same title;
    # `own_title`: the title that a person typed; `pins`: places that must stay whole, without their
    # text.
    "CREATE TABLE conversations (tenant {small} NOT NULL, address {blob} NOT NULL,"
    " used {real} NOT NULL, messages {int} NOT NULL, tokens {int} NOT NULL, first {int} NOT NULL,"
    " whole {small} NOT NULL, title {text} NOT NULL, client {text} NOT NULL,"
    " project {text} NOT NULL, ordinal {small} NOT NULL, own_title {text} NOT NULL,"
    " pins {text} NOT NULL, PRIMARY KEY (tenant, address)){clustered}",
    "CREATE INDEX newest_conversations ON conversations ({ends})",
    "CREATE INDEX titled_conversations ON conversations (tenant, title, ordinal)",
    "CREATE TABLE requests (tenant {int} NOT NULL, number {int} PRIMARY KEY,"
    " id {text} NOT NULL, time {real} NOT NULL, client {text} NOT NULL, dialect {text} NOT NULL,"
    " model {text} NOT NULL, address {blob} NOT NULL, conversation {blob} NOT NULL,"
    " state {text} NOT NULL, reason {text} NOT NULL, epoch {blob} NOT NULL, turn {int} NOT NULL,"
    " posted_tokens {int} NOT NULL, sent_tokens {int} NOT NULL, cached_tokens {int} NOT NULL,"
    " written_tokens {int} NOT NULL, output_tokens {int} NOT NULL, saved_tokens {int} NOT NULL,"
    " saved_before {int} NOT NULL, first_token_ms {int} NOT NULL, total_ms {int} NOT NULL,"
    " memories {int} NOT NULL, recalled {int} NOT NULL, retries {int} NOT NULL,"
    " wrap_run {text} NOT NULL, status {int} NOT NULL, error_type {text} NOT NULL)",
    "CREATE INDEX newest_requests ON requests (tenant, time, number)",
    "CREATE INDEX requests_at ON requests (tenant, address) WHERE length(address) > 0",
)

# Queries use the columns; the memory itself is encoded in `data`, as nodes are. No column is NULL:
# "" stands for no text and 0.0 for no time, so that a partial index holds just the rows that have
# a value and a copy between databases needs no types. Scopes and tenants are named here, not
# referred to by the numbers of `tenants`: forgetting a tenant's trees forgets no memory. A new
# table also needs a line in `copies`, or copies of a store lack its rows.
# `counted`: neither deleted nor superseded nor a duplicate. Expiry is not part of it, since it
# depends on the clock.
_MEMORIES: Final = (
    # `last`: the newest number that a memory of the tenant has. `counted`: over all its scopes.
    "CREATE TABLE memory_tenants (tenant {text} PRIMARY KEY, last {int} NOT NULL,"
    " counted {int} NOT NULL){clustered}",
    # `changed`: the change counter. `purges`: how often rows were erased.
    "CREATE TABLE memory_scopes (number {identity}, tenant {text} NOT NULL, kind {text} NOT NULL,"
    " owner {text} NOT NULL, subject {text} NOT NULL, changed {int} NOT NULL,"
    " counted {int} NOT NULL, purges {int} NOT NULL, UNIQUE (tenant, kind, owner, subject))",
    # `changed`: the count of the last change; `event`: of the last one that watchers receive; new
    # vectors are none. `vectors`: under how many recipes it has one. `replaced`: when it was
    # superseded or became a duplicate. `unique_key`: hash of the kind and of the values that only
    # one counted memory of the scope may have; a memory that no longer counts keeps its key, in
    # case it is restored.
    "CREATE TABLE memories (scope {int} NOT NULL, number {int} NOT NULL, id {text} NOT NULL,"
    " version {int} NOT NULL, changed {int} NOT NULL, event {int} NOT NULL,"
    " counted {int} NOT NULL, vectors {int} NOT NULL, created {real} NOT NULL,"
    " updated {real} NOT NULL, expires {real} NOT NULL, deleted {real} NOT NULL,"
    " replaced {real} NOT NULL, tainted {int} NOT NULL, standing {int} NOT NULL,"
    " superseded_by {text} NOT NULL, duplicate_of {text} NOT NULL, kind {text} NOT NULL,"
    " category {text} NOT NULL, source_type {text} NOT NULL, session_id {text} NOT NULL,"
    " thread_id {text} NOT NULL, tags {text} NOT NULL, unique_key {text} NOT NULL,"
    " text_hash {blob} NOT NULL, terms {blob} NOT NULL, data {blob} NOT NULL,"
    " UNIQUE (scope, number), UNIQUE (scope, id)){inline}",
    "CREATE INDEX memory_changes ON memories (scope, changed)",
    "CREATE INDEX memory_events ON memories (scope, event)",
    "CREATE INDEX memory_texts ON memories (scope, text_hash)",
    "CREATE INDEX memories_to_embed ON memories (scope, number) WHERE counted = 1 AND vectors = 0",
    "CREATE INDEX expiring_memories ON memories (scope, expires) WHERE expires > 0",
    "CREATE INDEX ended_memories ON memories (expires) WHERE expires > 0",
    "CREATE INDEX deleted_memories ON memories (deleted) WHERE deleted > 0",
    "CREATE INDEX superseded_memories ON memories (scope, superseded_by) WHERE superseded_by <> ''",
    "CREATE INDEX duplicate_memories ON memories (scope, duplicate_of) WHERE duplicate_of <> ''",
    "CREATE INDEX counted_memories ON memories (scope, number{filters}) WHERE counted = 1",
    "CREATE INDEX memory_threads ON memories (scope, thread_id{threads})"
    " WHERE counted = 1 AND thread_id <> ''",
    "CREATE UNIQUE INDEX unique_memories ON memories (scope, unique_key)"
    " WHERE counted = 1 AND unique_key <> ''",
    # An id is looked for in all scopes of a tenant at once.
    "CREATE INDEX memory_ids ON memories (id, scope)",
    "CREATE INDEX standing_memories ON memories (scope, number) WHERE counted = 1 AND standing = 1",
    # `other`: the number of the older memory that the one with `number` may replace.
    "CREATE TABLE memory_conflicts (scope {int} NOT NULL, number {int} NOT NULL,"
    " other {int} NOT NULL, place {int} NOT NULL, differs {text} NOT NULL,"
    " PRIMARY KEY (scope, number, other)){clustered}",
    "CREATE INDEX conflicts_of_memories ON memory_conflicts (scope, other)",
    # Versions of a memory before each of its changes.
    "CREATE TABLE memory_history (scope {int} NOT NULL, number {int} NOT NULL,"
    " version {int} NOT NULL, data {blob} NOT NULL, UNIQUE (scope, number, version))",
    "CREATE TABLE memory_tombstones (scope {int} NOT NULL, number {int} NOT NULL,"
    " at {real} NOT NULL, data {blob} NOT NULL, UNIQUE (scope, number))",
    "CREATE INDEX newest_tombstones ON memory_tombstones (scope, at, number)",
    # Live memories that were erased at once: kept so that watchers of changes are notified.
    "CREATE TABLE erased_memories (scope {int} NOT NULL, number {int} NOT NULL, id {text} NOT NULL,"
    " version {int} NOT NULL, event {int} NOT NULL, at {real} NOT NULL,"
    " PRIMARY KEY (scope, event, number)){clustered}",
    "CREATE TABLE memory_vectors (scope {int} NOT NULL, recipe {text} NOT NULL,"
    " number {int} NOT NULL, data {blob} NOT NULL, UNIQUE (scope, number, recipe)){inline}",
    # How many counted memories have a vector, so that complete recipes need no search.
    "CREATE TABLE memory_recipes (scope {int} NOT NULL, recipe {text} NOT NULL,"
    " counted {int} NOT NULL, PRIMARY KEY (scope, recipe)){clustered}",
    "CREATE TABLE memory_segments (scope {int} NOT NULL, recipe {text} NOT NULL,"
    " changed {int} NOT NULL, purges {int} NOT NULL, data {blob} NOT NULL, UNIQUE (scope, recipe))",
    # `conversation`: hashed. `hit`: when it last fitted a message.
    "CREATE TABLE shown_memories (scope {int} NOT NULL, conversation {blob} NOT NULL,"
    " number {int} NOT NULL, version {int} NOT NULL, hit {real} NOT NULL, expires {real} NOT NULL,"
    " PRIMARY KEY (scope, conversation, number)){clustered}",
    "CREATE INDEX conversations_of_memories ON shown_memories (scope, number)",
    "CREATE INDEX expiring_shown ON shown_memories (expires)",
    "CREATE TABLE memory_groups (scope {int} NOT NULL, id {text} NOT NULL, name {text} NOT NULL,"
    " created {real} NOT NULL, updated {real} NOT NULL, data {blob} NOT NULL,"
    " PRIMARY KEY (scope, id)){clustered}",
    "CREATE TABLE memory_group_members (scope {int} NOT NULL, group_id {text} NOT NULL,"
    " number {int} NOT NULL, added {real} NOT NULL, PRIMARY KEY (scope, group_id, number))"
    "{clustered}",
    "CREATE INDEX groups_of_memories ON memory_group_members (scope, number)",
    # Settings of a user: the switches, top_k, score_threshold and plan, encoded.
    "CREATE TABLE memory_settings (scope {int} PRIMARY KEY, data {blob} NOT NULL)",
    # `unique_on`: names of fields, as a JSON array.
    "CREATE TABLE memory_schemas (tenant {text} NOT NULL, kind {text} NOT NULL,"
    " unique_on {text} NOT NULL, created {real} NOT NULL, updated {real} NOT NULL,"
    " data {blob} NOT NULL, PRIMARY KEY (tenant, kind)){clustered}",
    # Grants are not stored, they come with each request; `digest`: sha256 of the signed text.
    "CREATE TABLE grant_revocations (digest {blob} PRIMARY KEY, grantor {text} NOT NULL,"
    " tenant {text} NOT NULL, at {real} NOT NULL, expires {real} NOT NULL){clustered}",
    "CREATE TABLE wallets (address {text} PRIMARY KEY, tenant {text} NOT NULL,"
    " bound {real} NOT NULL){clustered}",
    # `digest`: sha256 of the signed text of a used proof; kept until the proof expires.
    "CREATE TABLE wallet_proofs (digest {blob} PRIMARY KEY, tenant {text} NOT NULL,"
    " expires {real} NOT NULL){clustered}",
    "CREATE INDEX expiring_proofs ON wallet_proofs (expires)",
    # Sources of memories. `key`: hash of a message, with `number` 0; or of a snapshot, which is the
    # memory with that number. The row stays when the memory is deleted.
    "CREATE TABLE extracted_messages (scope {int} NOT NULL, key {text} NOT NULL,"
    " number {int} NOT NULL, at {real} NOT NULL, PRIMARY KEY (scope, key)){clustered}",
    "CREATE TABLE tenant_plans (tenant {text} PRIMARY KEY, plan {text} NOT NULL){clustered}",
    # `digest`: sha256 of a tenant and the id of an object that it created at the provider.
    "CREATE TABLE provider_objects (digest {blob} PRIMARY KEY, expires {real} NOT NULL){clustered}",
    "CREATE INDEX expiring_objects ON provider_objects (expires)",
)

VERSION = 11  # release candidates counted their steps, of which the last was 10
SINCE = "1.0.0rc2"  # the first version with this schema

# Name of the row with the number: the first release candidate looks it up, and so refuses the store
# as one of a newer version.
PART = "tree"

SQLITE = {
    "small": "INTEGER",
    "int": "INTEGER",
    "real": "REAL",
    "text": "TEXT",
    "blob": "BLOB",
    "tenant_number": "INTEGER PRIMARY KEY",
    "identity": "INTEGER PRIMARY KEY",
    # A number is never used again, so a scrub cannot strike out a deletion made after it began.
    "counter": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "clustered": " WITHOUT ROWID",
    "inline": "",
    "turn_key": "tenant, key, address",
    "ends": "tenant, used, address",
    # A filter over 100,000 memories reads the index alone: 84 ms without these columns, 18 ms with
    # them.
    "filters": ", counted, expires, kind, category, source_type, session_id, thread_id, tags,"
    " created, updated, tainted",
    "threads": ", number, expires, category, created, updated",
}
POSTGRES = {
    "small": "integer",
    "int": "bigint",
    "real": "double precision",
    "text": "text",
    "blob": "bytea",
    "tenant_number": "integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "identity": "bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
    "counter": "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "clustered": "",
    # Rows of 2 kB and more would be moved into a TOAST table, which costs a second look-up: with
    # this target they stay in place.
    "inline": " WITH (toast_tuple_target = 8160)",
    "turn_key": "tenant, address, key",
    # Without the address, or the planner would use this index to look addresses up.
    "ends": "tenant, used",
    "filters": "",  # a long text would not fit into its index
    "threads": ", number",
}

_STATEMENTS = (*_CONTEXT, *_MEMORIES)
COLUMNS = {
    each.split()[2]: tuple(re.findall(r"[(,] ?(\w+) \{", each))
    for each in _STATEMENTS
    if each.startswith("CREATE TABLE")
}
TABLES = tuple(COLUMNS)


def insert_into(table: str, conflict: str = "") -> str:
    """Return the statement that inserts a row; its values are named as the columns are. `conflict`:
    what becomes of a row whose key is there already.

    >>> insert_into("wallets", "DO NOTHING")
    'INSERT INTO wallets (address, tenant, bound) VALUES (:address, :tenant, :bound)\
 ON CONFLICT DO NOTHING'
    """
    columns = COLUMNS[table]
    statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES (:{', :'.join(columns)})"
    return f"{statement} ON CONFLICT {conflict}" if conflict else statement


def upsert_into(table: str, key: str, *changing: str) -> str:
    """Return the statement that inserts a row, or changes these columns of the one with its key."""
    new = ", ".join(f"{name} = excluded.{name}" for name in changing)
    return insert_into(table, f"({key}) DO UPDATE SET {new}")


def insert_rows(table: str, columns: str, conflict: str = "DO NOTHING") -> str:
    """Return the statement that inserts rows of the tenant with this `:number`: see `Sql.put`."""
    return (
        f"INSERT INTO {table} (tenant, {columns}) SELECT :number, {columns}"
        f" FROM :rows({columns}) WHERE true ON CONFLICT {conflict}"
    )


def statements(types: Mapping[str, str]) -> tuple[str, ...]:
    """Return the statements that create all tables and indexes in a database.

    >>> next(each for each in statements(SQLITE) if " tenants " in each)
    'CREATE TABLE tenants (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)'
    """
    return tuple(each.format(**types) for each in _STATEMENTS)


def check_version(version: int) -> None:
    """Raise `StoreUnavailable` if the store has another schema than this program's."""
    if version > VERSION:
        raise StoreUnavailable(
            f"its schema is version {version}, this program knows {VERSION}: "
            "a newer MemTree wrote it; update this one or name another store"
        )
    if version < VERSION:
        raise StoreUnavailable(
            f"its schema is version {version}, this program knows {VERSION}: an older MemTree "
            "wrote it. Export its memories with MemTree 1.0.0rc1, `memtree memories export -o "
            "FILE`, and import them into a new store, `memtree memories import --keep-ids FILE`; "
            "summaries are made again when a history is posted"
        )
