"""This machine's user on a server without access keys: the tenant `local`, authenticated by the
secret in the server's state file, which nobody else may read.

The secret itself is never sent. `memtree ui` derives a code from it, which a page exchanges once
and within a minute for a key that only this process knows; and a server proves with it that it
wrote the file, since another program may listen on its port by now.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

from memtree.errors import Unauthorized

PREFIX = "mt-local-"  # of its keys: an unknown credential with this prefix never becomes a tenant
CODE_SECONDS = 60
EARLY_SECONDS = 5  # by which the clock of the code's maker may be ahead
LONGEST_CODE = 200


class LocalUser:
    """`secret`: in the state file of this process."""

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        self._secret = secret
        self._clock = clock
        self._key = PREFIX + _signed(secret, "key")
        self._used: dict[str, float] = {}  # used codes, and when they would expire

    def redeem(self, code: str) -> str:
        """Exchange a code for the key of this machine's user. Raises `Unauthorized`."""
        now = self._clock()
        made = _time_of(code)
        right = _with_mark(self._secret, code.rpartition(".")[0])
        known = hmac.compare_digest(right, code.encode())
        if not known or not -EARLY_SECONDS <= now - made <= CODE_SECONDS or code in self._used:
            raise Unauthorized(
                f"This address was used already, or is older than {CODE_SECONDS} seconds, or "
                "is from another start of the server. Run `memtree ui` again."
            )
        self._used = {each: end for each, end in self._used.items() if end >= now}
        self._used[code] = made + CODE_SECONDS
        return self._key

    def check(self, key: str) -> None:
        """Raise `Unauthorized` for a key made by an earlier start of the server."""
        if not hmac.compare_digest(key.encode(), self._key.encode()):
            raise Unauthorized(
                "This key belongs to an earlier start of the server. Run `memtree ui` again."
            )

    def proof(self, nonce: str) -> str:
        return server_proof(self._secret, nonce)


def new_secret() -> str:
    return secrets.token_urlsafe(32)


def new_code(secret: str, now: float | None = None) -> str:
    """Make a code for a single use: `TIME.NONCE.SIGNATURE`."""
    made = int(time.time() if now is None else now)
    return _with_mark(secret, f"{made}.{secrets.token_urlsafe(9)}").decode()


def server_proof(secret: str, nonce: str) -> str:
    """Return the answer to this nonce that only the server that wrote the state file can give."""
    return _signed(secret, f"server {nonce}")


def _with_mark(secret: str, content: str) -> bytes:
    return f"{content}.{_signed(secret, f'code {content}')}".encode()


def _signed(secret: str, text: str) -> str:
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()


def _time_of(code: str) -> float:
    """Return when a code was made; 0 for an invalid one."""
    first = code.partition(".")[0][:LONGEST_CODE]
    return float(first) if first.isascii() and first.isdigit() else 0.0
