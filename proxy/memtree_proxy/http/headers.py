"""HTTP header fields: which of them travel on, and which end here."""

from __future__ import annotations

from collections.abc import Iterable

Headers = list[tuple[bytes, bytes]]


# RFC 9110 section 7.6.1: "Intermediaries ... MUST remove" what belongs to one connection.
HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)


AUTHORIZATION, X_API_KEY = b"authorization", b"x-api-key"
CREDENTIALS = frozenset({AUTHORIZATION, X_API_KEY, b"api-key", b"cookie"})
# The credential for us alone, of a client whose own one is for the upstream, or changes.
TENANT_KEY = b"x-memtree-key"


_OWN_TO_US = frozenset({b"host", b"content-length", b"expect", TENANT_KEY})


def end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Headers without those of one connection, and those that `Connection` names."""
    headers = list(headers)
    dropped = set(HOP_BY_HOP)
    for name, value in headers:
        if name.lower() == b"connection":
            dropped.update(token.strip().lower() for token in value.split(b","))
    return [(name, value) for name, value in headers if name.lower() not in dropped]


def request_headers(
    posted: Iterable[tuple[bytes, bytes]],
    *,
    keyed: bool,
    api_key: str | None,
    key_header: bytes = AUTHORIZATION,
    without: frozenset[bytes] = frozenset(),
) -> Headers:
    """What of a client's headers goes upstream.

    `keyed`: the credential was one of our keys and stays here. Otherwise the client's own passes,
    and the configured key steps in, in the header `key_header`, only where the client sent none.
    """
    dropped = _OWN_TO_US | without | (CREDENTIALS if keyed else frozenset())
    kept = [(name, value) for name, value in end_to_end(posted) if name.lower() not in dropped]
    if api_key and not any(name.lower() in CREDENTIALS - {b"cookie"} for name, _ in kept):
        scheme = b"Bearer " if key_header == AUTHORIZATION else b""
        kept.append((key_header, scheme + api_key.encode()))
    return kept
