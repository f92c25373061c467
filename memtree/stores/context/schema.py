"""Tables of context memory that both databases share, with the column types of each.

A step that was released is never edited; see the migrations of each database.
"""

from __future__ import annotations

from collections.abc import Mapping

_REQUESTS = (
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
    # Finds the conversation that continues an address.
    "CREATE INDEX later_addresses ON addresses (tenant, previous)",
)


def requests_step(types: Mapping[str, str]) -> tuple[str, ...]:
    """Return the statements of the request log. `types`: the database's column types, as its
    memories use them."""
    return tuple(statement.format(**types) for statement in _REQUESTS)
