"""Unpack a posted file, which other programs often export as zip or gzip.

Only one file of a zip is read, the file that holds memories. Nothing is written to disk, and the
output is limited to the size of a body.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence

from memtree.errors import BadRequest
from memtree_proxy.http import request_body

# File names, the most informative first. OpenMemory's export holds both of the first two.
NAMES = (
    "memories.jsonl.gz",
    "memories.json",
    "memories.jsonl",
    "memory.jsonl",
    "conversations.json",
)
MOST_FILES = 100_000  # in a zip
_GZIP, _ZIP, _ENTRY = b"\x1f\x8b", b"PK\x03\x04", b"PK\x01\x02"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_TEXTS = (".json", ".jsonl", ".ndjson", ".txt", ".md", ".gz")


def unpacked(raw: bytes, limit: int) -> bytes:
    """Unpack a file that may be zipped or gzipped. `limit`: bytes of output. Raises
    `RequestTooLarge`, and `BadRequest` if the file is broken or holds no file of memories."""
    if raw.startswith(_ZIP):
        raw = _of_zip(raw, limit)
    if raw.startswith(_GZIP):
        raw = request_body.decoded(raw, "gzip", limit)
    return raw


def _of_zip(raw: bytes, limit: int) -> bytes:
    if raw.count(_ENTRY) > MOST_FILES:
        raise BadRequest(f"the zip has more than {MOST_FILES:,} files")
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            chosen = _chosen(archive.infolist())
            if chosen.compress_type not in _METHODS or chosen.flag_bits & 1:
                raise BadRequest("the zip is encrypted or packed in a way that is not read here")
            with archive.open(chosen) as file:
                content = file.read(limit + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise BadRequest("the zip is broken") from error
    if len(content) > limit:
        raise request_body.too_large(limit)
    return content


def _chosen(files: Sequence[zipfile.ZipInfo]) -> zipfile.ZipInfo:
    by_name = {file.filename.rsplit("/", 1)[-1]: file for file in reversed(files)}
    for name in NAMES:
        if name in by_name:
            return by_name[name]
    texts = [file for file in files if file.filename.endswith(_TEXTS)]
    if len(texts) != 1:
        raise BadRequest(
            f"the zip has no file of the name {', '.join(NAMES[:-1])} or {NAMES[-1]}; unpack it, "
            "and import the file that holds the memories"
        )
    return texts[0]
