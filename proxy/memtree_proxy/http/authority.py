"""`host:port`, as in the Host header and in URLs.

>>> Authority.parse("Memory.Example.com:8787")
Authority(host='memory.example.com', port=8787)
>>> Authority.parse("user@localhost") is None
True
"""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_LENGTH = 1_000  # of a text that is parsed; a name has at most 253 characters
_AUTHORITY = re.compile(
    r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?)(?::(?P<port>[0-9]{0,5}))?"
)


class Authority(NamedTuple):
    """A host in lower case (an IPv6 address without brackets), and its port if there is one."""

    host: str
    port: int | None

    @classmethod
    def parse(cls, text: str) -> Authority | None:
        """Parse `host` or `host:port`; None for anything else."""
        match = _AUTHORITY.fullmatch(text.lower()) if len(text) <= MAX_LENGTH else None
        if match is None:
            return None
        host, port = match["host"], int(match["port"]) if match["port"] else None
        if host.startswith("["):
            try:
                host = ipaddress.IPv6Address(host[1:-1]).compressed
            except ValueError:
                return None
        return None if port is not None and port > 65535 else cls(host, port)

    @property
    def is_address(self) -> bool:
        try:
            ipaddress.ip_address(self.host)
        except ValueError:
            return False
        return True

    def with_port(self, scheme: str) -> Authority:
        """Return this authority with the default port of `scheme`, if it has none."""
        return self if self.port is not None else Authority(self.host, DEFAULT_PORTS.get(scheme))
