"""Content-encodings as clients make them."""

from __future__ import annotations

import gzip
import sys
import zlib

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def raw_deflate(data: bytes) -> bytes:
    work = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return work.compress(data) + work.flush()


ENCODERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstd.compress,
}


def encoded(data: bytes, encoding: str, encoders=ENCODERS) -> bytes:
    """`encoding` as in the header."""
    for name in encoding.split(","):
        if name.strip() != "identity":
            data = encoders[name.strip()](data)
    return data
