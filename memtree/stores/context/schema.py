"""Tables of context memory, with placeholders that are filled in for each database (`schema`).

Ids, encoded values and vectors are bytes: nothing in a database decodes them.

Tables with large rows are rowid tables in SQLite, in the order of writing, with a separate index:
without rowids the file of a million tokens is 9.0 MB instead of 4.6 and takes 3.5 times as long to
write.
"""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = (
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
    # A row marks a deletion whose bytes may still be in the database (`retention.scrub`).
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
    " model {text} NOT NULL, address {blob} NOT NULL, state {text} NOT NULL,"
    " reason {text} NOT NULL, epoch {blob} NOT NULL, turn {int} NOT NULL,"
    " posted_tokens {int} NOT NULL, sent_tokens {int} NOT NULL, cached_tokens {int} NOT NULL,"
    " written_tokens {int} NOT NULL, output_tokens {int} NOT NULL, saved_tokens {int} NOT NULL,"
    " saved_before {int} NOT NULL, first_token_ms {int} NOT NULL, total_ms {int} NOT NULL,"
    " memories {int} NOT NULL, recalled {int} NOT NULL, retries {int} NOT NULL,"
    " wrap_run {text} NOT NULL, status {int} NOT NULL, error_type {text} NOT NULL)",
    "CREATE INDEX newest_requests ON requests (tenant, time, number)",
    "CREATE INDEX requests_at ON requests (tenant, address) WHERE length(address) > 0",
)
