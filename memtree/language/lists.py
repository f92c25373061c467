"""Reads the word lists of `data/<language>/<file>.txt`; `all` holds what belongs to no language.

A file begins with comments: what belongs there and what tests it. Then come sections, a
name in brackets each, with one entry a line. `{name}` stands for the entries of the section `name`
of the same file: alone in a line they are entries here, too; in a pattern they are alternatives.
Files are read at first use and kept, as they are part of the package.

    # Names of colours. Tested by tests/unit/test_colours.py.
    [light]
    white
    yellow
    [all]
    {light}
    (?:dark )?brown
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

_HEADING = re.compile(r"\[([a-z][a-z0-9_]*)\]")
_REFERENCE = re.compile(r"\{([a-z][a-z0-9_]*)\}")

Sections = Mapping[str, tuple[str, ...]]


@cache
def sections(language: str, file: str) -> Sections:
    """Return the entries of each section of a file. Raises `FileNotFoundError` if the language has
    no such file, and `ValueError` if the file is damaged."""
    path = files(__package__).joinpath("data", language, f"{file}.txt")
    return parsed(path.read_text("utf-8"))


def parsed(text: str) -> Sections:
    """Read a file's text. A reference to a section that the file does not have, or that stands
    further down, is left as it is: a caller may fill it in. Raises `ValueError` if an entry stands
    before the first section, or if a section comes twice.

    >>> dict(parsed("[pets]\\ncat\\ndog\\n[owner]\\nmy (?:{pets})"))
    {'pets': ('cat', 'dog'), 'owner': ('my (?:cat|dog)',)}
    """
    entries: dict[str, list[str]] = {}
    section: list[str] | None = None
    for line in text.splitlines():
        entry = line.strip()
        heading = _HEADING.fullmatch(entry)
        if heading:
            if heading[1] in entries:
                raise ValueError(f"the section [{heading[1]}] comes twice")
            section = entries[heading[1]] = []
        elif entry and not entry.startswith("#"):
            if section is None:
                raise ValueError(f"no section stands before the entry {entry!r}")
            section += _expanded(entry, entries)
    return MappingProxyType({name: tuple(kept) for name, kept in entries.items()})


def _expanded(entry: str, entries: Mapping[str, list[str]]) -> list[str]:
    whole = _REFERENCE.fullmatch(entry)
    if whole and whole[1] in entries:
        return entries[whole[1]]
    return [
        _REFERENCE.sub(
            lambda match: "|".join(entries[match[1]]) if match[1] in entries else match[0], entry
        )
    ]


def alternation(words: Iterable[str]) -> str:
    """Join words to a pattern that matches the longest of them: the order in the file is free.

    >>> alternation(["no", "nobody", "no one"])
    'no one|nobody|no'
    """
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


def in_order(patterns: Iterable[str]) -> str:
    """Join patterns in their order: the first that matches counts."""
    return "|".join(patterns)
