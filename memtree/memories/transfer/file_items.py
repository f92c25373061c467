"""Items of a file of memories, whoever wrote it, one after the other.

A reader gives items in the order of the file and never raises for one of them: what it cannot read
is a `LineResult` that says why, and the rest of the file is read all the same.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple

from memtree.memories.agents.schemas.memory_schema import MemorySchema
from memtree.memories.memory import MemoryFields, Tombstone
from memtree.memories.ports import MemoryRecord
from memtree.memories.user_memories import MemoryGroup, SettingsChange

MEMTREE, MEM0, OPENMEMORY = "memtree", "mem0", "openmemory"
SERVER_MEMORY, CHATGPT, TEXT = "server-memory", "chatgpt", "text"
FORMATS = (MEMTREE, MEM0, OPENMEMORY, SERVER_MEMORY, CHATGPT, TEXT)
AUTO = "auto"  # told from the content
CUT_OFF, BROKEN = ENDS = ("cut_off", "broken")  # reasons why nothing follows that can be read


class LineStatus(enum.StrEnum):
    """`SKIPPED`: it can be read and is not wanted, as what was deleted where it comes from."""

    IMPORTED = "imported"
    DUPLICATE = "duplicate"
    SKIPPED = "skipped"
    REFUSED = "refused"
    INVALID = "invalid"


class LineResult(NamedTuple):
    """Result of one line. `line`: of a file of lines; of a JSON document the place in its list,
    from 1. `reason`: a word; `message`: the sentence for people, without the line's text. `id`: of
    the memory that it became, or that was there."""

    line: int
    status: LineStatus
    reason: str = ""
    message: str = ""
    id: str | None = None
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class FileMemory(MemoryFields):
    """A memory of a file. `created`: when it was first said or saved, None where the file does not
    tell. `groups`: ids of groups of the same file. `record`: all that our own export holds of it,
    for a scope that is to become what it was. `user`: whose it was where it comes from."""

    line: int
    text: str
    created: float | None = None
    groups: tuple[str, ...] = ()
    record: MemoryRecord | None = None
    user: str = ""


class FileHeader(NamedTuple):
    """The first line of an export."""

    line: int


class FileGroup(NamedTuple):
    line: int
    group: MemoryGroup


class FileSettings(NamedTuple):
    line: int
    settings: SettingsChange


class FileSchema(NamedTuple):
    """A schema of structured memories, which is not known to be one yet."""

    line: int
    schema: MemorySchema


class FileTombstone(NamedTuple):
    line: int
    tombstone: Tombstone


class FileEnd(NamedTuple):
    """The last line of an export: `memories` is how many it holds."""

    line: int
    memories: int


FileItem = (
    FileHeader
    | FileMemory
    | FileGroup
    | FileSchema
    | FileSettings
    | FileTombstone
    | FileEnd
    | LineResult
)
