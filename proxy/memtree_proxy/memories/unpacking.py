"""Unpack a posted file, which other programs often export as zip or gzip.

Of a zip only the files that hold memories are read, as one: an export may come in numbered parts.
Nothing is written to disk, and the output is limited to the size of a body.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Sequence

from memtree.errors import BadRequest
from memtree.text.json_lines import as_utf8
from memtree_proxy.http import request_body

# Kinds of files, the most informative first. OpenMemory's export holds both of the first two.
KINDS = (
    ("memories.jsonl.gz", r"memories\.jsonl\.gz"),
    ("memories.json", r"memories\.json|memories/[^/]+\.json"),
    ("memories.jsonl", r"memories\.jsonl"),
    ("memory.jsonl", r"memory\.jsonl"),
    ("conversations.json", r"conversations[^/]*\.json"),
)
MOST_FILES, MOST_PARTS = 100_000, 1_000  # in a zip, and of these to read
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
    parts: list[bytes] = []
    room = limit
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            for info in map(archive.getinfo, chosen(archive.namelist())):
                if info.compress_type not in _METHODS or info.flag_bits & 1:
                    raise BadRequest(
                        "the zip is encrypted or packed in a way that is not read here"
                    )
                with archive.open(info) as file:
                    part = file.read(room + 1)
                room -= len(part)
                if room < 0:
                    raise request_body.too_large(limit)
                parts.append(as_utf8(part))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise BadRequest("the zip is broken") from error
    return b"\n".join(parts)


def chosen(names: Sequence[str]) -> list[str]:
    """Return the files of the most informative kind, or else the only text, in their order.
    `names`: of the files in a zip or a folder. Raises `BadRequest` if none fits, or too many."""
    own = [name for name in names if not name.rsplit("/", 1)[-1].startswith("._")]
    for _, pattern in KINDS:
        kind = re.compile(f"(?:.*/)?(?:{pattern})", re.DOTALL)
        if parts := [name for name in own if kind.fullmatch(name)]:
            if len(parts) > MOST_PARTS:
                raise BadRequest(f"there are more than {MOST_PARTS:,} files of memories in it")
            return sorted(parts)
    texts = [name for name in own if name.endswith(_TEXTS)]
    if len(texts) != 1:
        kinds = [name for name, _ in KINDS]
        raise BadRequest(
            f"it holds no file of the name {', '.join(kinds[:-1])} or {kinds[-1]}; import the file "
            "that holds the memories"
        )
    return texts
