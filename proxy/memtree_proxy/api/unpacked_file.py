"""Unpack a posted file, which other programs often export as zip or gzip.

Of a zip only the files that hold memories are read, as one: an export may come in numbered parts.
Nothing is written to disk, and the output is limited to the size of a body.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence

from memtree.errors import BadRequest
from memtree.text.json_lines import as_utf8
from memtree.transfer.memory_file import MOST_PARTS, PART_END
from memtree_proxy.http import request_body

# Kinds of files, the most informative first. OpenMemory's export holds both of the first two.
KINDS = (
    ("memories.jsonl.gz", r"memories\.jsonl\.gz"),
    ("memories.json", r"memories\.json|memories/[^/]+\.json"),
    ("memories.jsonl", r"memories\.jsonl"),
    ("memory.jsonl", r"memory\.jsonl"),
    ("conversations.json", r"conversations[^/]*\.json"),
)
MOST_FILES = 100_000  # in a zip
_GZIP, _ZIP, _ENTRY = b"\x1f\x8b", b"PK\x03\x04", b"PK\x01\x02"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_TEXTS = (".json", ".jsonl", ".ndjson", ".txt", ".md", ".gz")


def unpacked(raw: bytes, limit: int) -> bytes:
    """Unpack a file that may be zipped or gzipped. `limit`: bytes of output. Raises
    `RequestTooLarge`, and `BadRequest` if the file is broken or holds no file of memories."""
    if raw.startswith(_GZIP):
        return request_body.decoded(raw, "gzip", limit)
    if not raw.startswith(_ZIP):
        return raw
    if raw.count(_ENTRY) > MOST_FILES:
        raise BadRequest(f"the zip has more than {MOST_FILES:,} files")
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:

            def read(name: str, most: int) -> bytes:
                info = archive.getinfo(name)
                if info.compress_type not in _METHODS or info.flag_bits & 1:
                    raise BadRequest(
                        "the zip is encrypted or packed in a way that is not read here"
                    )
                with archive.open(info) as file:
                    return file.read(most)

            return joined(archive.namelist(), read, limit)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise BadRequest("the zip is broken") from error


def joined(names: Sequence[str], read: Callable[[str, int], bytes], limit: int) -> bytes:
    """Return the files of memories among those of a zip or a folder as one file. `read`: returns
    the beginning of a file, as many bytes as it is given. `limit`: bytes of all of them, unpacked.
    Raises as `unpacked`."""
    gzip, room = request_body.Decoder("gzip", limit), limit
    parts: list[bytes] = []
    for name in chosen(names):
        part = read(name, room + 1)
        if len(part) <= room:
            if part.startswith(_GZIP):
                part = gzip.feed(part)
                gzip.finish()
            part = as_utf8(part)
        room -= len(part)
        if room < 0:
            raise request_body.too_large(limit)
        parts.append(part)
    return PART_END.join(filter(None, parts))


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
