"""Kinds of agents' actions, and an action with its places in a message."""

from __future__ import annotations

from dataclasses import dataclass

from memtree.digests.tool_calls.fields import Span

CREATED, WRITTEN, EDITED, DELETED, READ, UNDONE, COMMITTED, RAN = range(8)
CHANGES = (CREATED, WRITTEN, EDITED, DELETED, UNDONE)
TEST, BUILD, INSTALL, RUN, CHANGE = range(1, 6)  # purposes of commands, the most informative first


@dataclass(frozen=True, slots=True)
class Action:
    """Action that a message requests or reports.

    `name`: place of its path, command or commit, the `text`; None for an edit whose file only its
    result names. `new`: a line of the new text, or of the removed text. `command`: a command's
    purpose, 0 for other actions. `piped`: output goes through a pager, whose exit code is reported.
    `confirmed`: the text itself says that it was done. `folder`: absolute folder to which a command
    changes first. `shell`: it is part of a command line, which may do other things too.
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


def clean_path(text: str) -> str:
    """Return a path without quotes and without `./` before it.

    >>> clean_path(" `./src/app.py`"), clean_path("src/")
    ('src/app.py', 'src')
    """
    return text.strip().strip("'\"`").replace("\\", "/").removeprefix("./").rstrip("/")
