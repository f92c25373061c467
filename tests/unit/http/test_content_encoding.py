"""Nothing that could be decoded waits for more of an encoded body."""

from __future__ import annotations

import gzip
import zlib

from memtree_proxy.http.request_body import PIECE, Decoder


def test_all_is_decoded_that_has_come():
    """Also where a full piece leaves output behind, with all input looked at."""
    packed = gzip.compress(b"x" * (5 * PIECE))
    for end in range(20, len(packed)):
        shown = b"".join(Decoder("gzip").pieces(packed[:end]))
        assert shown == zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(packed[:end]), end
