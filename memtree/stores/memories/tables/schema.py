"""Tables of memories, with placeholders that are filled in for each database (`stores.schema`).

Queries use the columns; the memory itself is encoded in `data`, as nodes are. No column is NULL: ""
stands for no text and 0.0 for no time, so that a partial index holds just the rows that have a
value and a copy between databases needs no types. Scopes and tenants are named here, not referred
to by the numbers of the context store's `tenants`: forgetting a tenant's trees forgets no memory.

A new table also needs a line in `dump`, or copies of a store lack its rows.
"""

from __future__ import annotations

from typing import Final

# `counted`: neither deleted nor superseded nor a duplicate. Expiry is not part of it, since it
# depends on the clock.
STATEMENTS: Final = (
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
