"""Tables of context memory that are made alike in both databases, with the types of each.

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
    # What finds the conversation that an address goes on to.
    "CREATE INDEX later_addresses ON addresses (tenant, previous)",
)


def requests_step(types: Mapping[str, str]) -> tuple[str, ...]:
    """The log of requests. `types`: those of a database, as its memories have them."""
    return tuple(statement.format(**types) for statement in _REQUESTS)
