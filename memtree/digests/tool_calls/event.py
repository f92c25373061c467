"""Kinds of what an agent did, and one such event with its places in a message."""

from __future__ import annotations

from dataclasses import dataclass

from memtree.digests.tool_calls.fields import Span

CREATED, WRITTEN, EDITED, DELETED, READ, UNDONE, COMMITTED, RAN = range(8)
CHANGES = (CREATED, WRITTEN, EDITED, DELETED, UNDONE)
TEST, BUILD, INSTALL, RUN, CHANGE = range(1, 6)  # what a command does, the most telling first


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a message asks for or tells.

    `name`: its path, command or commit, as `text` says it; None of an edit whose file only its
    result names. `new`: a line of the new text, or of what is removed. `command`: what a command
    does, 0 of all others. `piped`: its output goes through a pager, whose exit code is told.
    `confirmed`: the text itself says that it was done. `folder`: the absolute one that a command
    changes to before it. `shell`: a command line does it, beside what else it may do.
    """

    kind: int
    text: str
    name: Span | None
    new: Span | None = None
    removes: bool = False
    command: int = 0
    piped: bool = False
    confirmed: bool = False
    folder: str = ""
    shell: bool = False
