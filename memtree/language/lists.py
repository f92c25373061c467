"""Read the word lists of `data/<language>/<file>.txt`; `all` holds entries of no single language.

A file begins with comments: what belongs there and what tests it. Then come sections, a
name in brackets each, with one entry a line. `{name}` stands for the entries of the section `name`
of the same file: alone in a line they are entries here, too; in a pattern they are alternatives.
A long pattern may stand in several lines: one that ends with `(?:` begins a group, one that begins
with `)` ends it, and each line between them is an alternative. `␣` is a space at a line's ends.
Files are read at first use and kept, as they are part of the package.

    # Names of colours. Tested by tests/unit/test_colours.py.
    [light]
    white
    yellow
    [all]
    {light}
    (?:dark )?brown
    deep (?:
        blue
        red
    ) or so
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pkgutil import get_data
from types import MappingProxyType

_HEADING = re.compile(r"\[([a-z][a-z0-9_]*)\]")
_REFERENCE = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_OPENING = re.compile(r"\(\?(?:[:=!]|<[=!]|P<\w+>)$")

Sections = Mapping[str, tuple[str, ...]]


def sections(language: str, file: str) -> Sections:
    """Return the entries of each section of a file. Raises `FileNotFoundError` if the language has
    no such file, and `ValueError` if the file is damaged."""
    read = _read(language, file)
    if read is None:
        raise FileNotFoundError(f"{language}/{file}.txt")
    return read


@cache
def _read(language: str, file: str) -> Sections | None:
    try:
        data = get_data(__package__, f"data/{language}/{file}.txt")
    except FileNotFoundError:
        return None
    return parsed(data.decode()) if data is not None else None


@cache
def languages_with(file: str) -> tuple[str, ...]:
    """Return the languages that have a file, in the order in which their entries are joined: `all`,
    where it has one, is last."""
    known = (*sections("all", "languages")["languages"], "all")
    return tuple(language for language in known if _read(language, file) is not None)


def by_language(file: str, section: str) -> dict[str, tuple[str, ...]]:
    """Return the entries of a section by language, of those that have it."""
    read = {language: sections(language, file).get(section) for language in languages_with(file)}
    return {language: entries for language, entries in read.items() if entries}


def parsed(text: str) -> Sections:
    """Read a file's text. A reference to a section that the file does not have, or that stands
    further down, is left as it is: a caller may fill it in. Raises `ValueError` if an entry stands
    before the first section, if a section comes twice, or if a group is not closed.

    >>> dict(parsed("[pets]\\ncat\\ndog\\n[owner]\\nmy (?:\\n{pets}\\n)s?"))
    {'pets': ('cat', 'dog'), 'owner': ('my (?:cat|dog)s?',)}
    """
    entries: dict[str, list[str]] = {}
    groups: list[tuple[str, list[str]]] = []  # each group's beginning and outer alternatives
    kept: list[str] | None = None
    for line in text.splitlines():
        entry = line.strip()
        if not entry or entry[0] == "#":
            continue
        heading = _HEADING.fullmatch(entry) if entry[0] == "[" else None
        if heading:
            if heading[1] in entries or groups:
                raise ValueError(f"the section [{heading[1]}] comes twice, or within a group")
            kept = entries[heading[1]] = []
        elif kept is None:
            raise ValueError(f"no section stands before the entry {entry!r}")
        elif entry.isalpha():  # most are plain words
            kept.append(entry)
        else:
            read = _expanded(entry, entries) if "{" in entry or "␣" in entry else [entry]
            if entry[0] == ")" and groups:
                beginning, around = groups.pop()
                read = [f"{beginning}{'|'.join(kept)}{'|'.join(read)}"]
                kept = around
            if entry[-1] in ":=!>" and _OPENING.search(entry):
                groups.append((read[0], kept))
                kept = []
            else:
                kept += read
    if groups:
        raise ValueError(f"no line closes the group {groups[-1][0]!r}")
    return MappingProxyType({name: tuple(read) for name, read in entries.items()})


def _expanded(entry: str, entries: Mapping[str, list[str]]) -> list[str]:
    whole = _REFERENCE.fullmatch(entry)
    if whole and whole[1] in entries:
        return entries[whole[1]]
    entry = entry.replace("␣", " ")
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
