"""Parse, strictly, what a request pins in each memory message besides what its user marked.

>>> keep_options(["src/*.py", "port 8443"], ["read_plan"]).globs
['src/*.py']
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memtree.errors import BadRequest

PATTERNS, TOOLS = "keep_patterns", "protected_tools"
MOST = 20  # of each kind
LONGEST = 200  # characters of each
_GLOB_SIGNS = re.compile(r"[*?/]")
_FILE_NAME = re.compile(r"[^\s.]\S{0,200}\.[A-Za-z][A-Za-z0-9]{0,7}|\.[^\s.]\S{0,200}")


@dataclass(frozen=True, slots=True)
class KeepOptions:
    """Texts that a request pins in each memory message. `patterns`: globs over paths of files, and
    parts of lines. `tools`: names of tools whose results are kept."""

    patterns: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    @property
    def globs(self) -> list[str]:
        return [pattern for pattern in self.patterns if is_glob(pattern)]

    @property
    def line_parts(self) -> list[str]:
        return [pattern for pattern in self.patterns if not is_glob(pattern)]


MARKS_ALONE = KeepOptions()


def is_glob(pattern: str) -> bool:
    """Return True if a pattern is meant for paths of files: it has `*`, `?` or `/`, or is the name
    of a file with an extension.

    >>> [is_glob(pattern) for pattern in ("src/*.py", "CLAUDE.md", ".env", "FAILED", "port 8443.")]
    [True, True, True, False, False]
    """
    return bool(_GLOB_SIGNS.search(pattern) or _FILE_NAME.fullmatch(pattern))


def keep_options(patterns: object, tools: object) -> KeepOptions:
    """Parse the values of both settings. Raises `BadRequest` that names the setting."""
    return KeepOptions(kept_texts(patterns, PATTERNS), kept_texts(tools, TOOLS))


def kept_texts(value: object, name: str) -> tuple[str, ...]:
    """Parse one of the fields. Raises `BadRequest` that names it as `name`."""
    if not isinstance(value, list | tuple):
        raise BadRequest(f"{name} must be an array of strings", param=name)
    if len(value) > MOST:
        raise BadRequest(f"{name} must have at most {MOST} entries", param=name)
    for index, each in enumerate(value):
        if not isinstance(each, str) or not each.strip() or len(each) > LONGEST or "\n" in each:
            where = f"{name}[{index}]"
            raise BadRequest(
                f"{where} must be a string of one line, of 1 to {LONGEST} characters", param=where
            )
    return tuple(dict.fromkeys(value))
