"""HTTP header fields: which are relayed, and which are not."""

from __future__ import annotations

from collections.abc import Iterable

from memtree_proxy.http.own_headers import is_own

Headers = list[tuple[bytes, bytes]]


# RFC 9110 section 7.6.1: "Intermediaries ... MUST remove" fields of a single connection.
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
_ENDS_HERE = frozenset({b"host", b"content-length", b"expect"})
# With these a request may override the method or path that was checked.
_OVERRIDES = frozenset(
    {
        b"x-http-method",
        b"x-http-method-override",
        b"x-method-override",
        b"x-original-url",
        b"x-rewrite-url",
    }
)


def end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the headers without those of a single connection, and without those that `Connection`
    names."""
    headers = list(headers)
    dropped = set(HOP_BY_HOP)
    for name, value in headers:
        if name.lower() == b"connection":
            dropped.update(token.strip().lower() for token in value.split(b","))
    return [(name, value) for name, value in headers if name.lower() not in dropped]


def value_of(headers: Headers, name: bytes) -> str:
    """Return the value of a header (`name` in lower case), stripped and in lower case; "" without
    one."""
    values = (value for key, value in headers if key.lower() == name)
    return next(values, b"").decode("latin-1").strip().lower()


def takes_server_key(
    posted: Iterable[tuple[bytes, bytes]], *, keyed: bool, api_key: str | None
) -> bool:
    """Return True if the configured key of the upstream is sent with a request, since its client
    sent none of its own. `keyed`: the credential was one of our keys."""
    sent = {name.lower() for name, _ in end_to_end(posted)} - {b"cookie"}
    return bool(api_key) and (keyed or sent.isdisjoint(CREDENTIALS))


def request_headers(
    posted: Iterable[tuple[bytes, bytes]],
    *,
    keyed: bool,
    api_key: str | None,
    key_header: bytes = AUTHORIZATION,
    without: frozenset[bytes] = frozenset(),
) -> Headers:
    """Return the client's headers that are sent to the upstream. `keyed`: the credential was one of
    our keys and is removed. Otherwise the client's own is sent, and the configured key, in the
    header `key_header`, only if the client sent none.
    """
    posted = end_to_end(posted)
    ours = takes_server_key(posted, keyed=keyed, api_key=api_key)
    dropped = _ENDS_HERE | without | (CREDENTIALS if keyed else frozenset())
    dropped |= _OVERRIDES if ours else frozenset()
    lowered = ((name.lower(), (name, value)) for name, value in posted)
    kept = [field for name, field in lowered if name not in dropped and not is_own(name)]
    if ours and api_key:
        scheme = b"Bearer " if key_header == AUTHORIZATION else b""
        kept.append((key_header, scheme + api_key.encode()))
    return kept
