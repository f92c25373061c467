"""Read words and patterns of a data file, each at first use: few requests need most of them.

    >>> people = WordFile("en", "memory_people")
    >>> people.pattern("pet").fullmatch("guinea pig") is not None
    True
    >>> "pet" in WordFile("en", "memory_value_grounding").words("profile")
    False

An entry may name a section of another file: `{memory_people.kin}` of its own language,
`{en/memory_people.kin}` of any.

Regular expressions are compiled when they are first used, too: a long one takes a millisecond, and
most commands and many servers never use it. Compiling all of them at start took a quarter of the
server's start-up time.

    >>> _DIGITS = lazily(r"[0-9]+")
    >>> _DIGITS.findall("3 of 12")
    ['3', '12']

The files are `data/<language>/<file>.txt`; `all` holds entries of no single language. Comments say
what belongs there and what tests it: in English where there is such a file, else in German, and
elsewhere only what differs. Sections follow, a name in brackets each, with one entry a line.
`{name}` stands for the entries of the section `name` of the same file: alone in a line they are
entries here, too; in a pattern they are alternatives. A long pattern may stand in several lines:
one that ends with `(?:` begins a group, one that begins with `)` ends it, and each line between
them is an alternative. `␣` is a space at a line's ends. Files are read at first use and kept, as
they are part of the package.

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache, cached_property
from pkgutil import get_data
from types import MappingProxyType
from typing import Any, cast

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


_METHODS = ("search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")


class LazyPattern:
    """Stand-in with the attributes of the compiled pattern; errors in it appear at first use."""

    def __init__(self, source: str | Callable[[], str], flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        """Compile at first use; later uses find the compiled pattern's own methods."""
        source = self._source if isinstance(self._source, str) else self._source()
        compiled = re.compile(source, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazily(source: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern as `re.compile` does, at its first use. `source` may be a function that
    reads the words of the pattern: it is called then, too."""
    return cast("re.Pattern[str]", LazyPattern(source, flags))


_PREFIXES = (r"\b", "^", "{start}")
# An alternative of a pattern: groups are nested as deeply as in the phrases.
_GROUP = r"\((?:[^()\\\[]|\\.|\[(?:\\.|[^\]\\])*\])*\)"
for _ in range(7):
    _GROUP = rf"\((?:[^()\\\[]|\\.|\[(?:\\.|[^\]\\])*\]|{_GROUP})*\)"
_ALTERNATIVE = lazily(rf"(?:[^()\\\[|]|\\.|\[(?:\\.|[^\]\\])*\]|{_GROUP})+")


def grouped(source: str, *beginnings: str) -> str:
    """Group the alternatives of a pattern by their beginnings: the test for the beginning of a word
    or clause, most of a search's time, is then made once for all. `beginnings`: more of them.

    >>> grouped(r"\\ba|^b|\\bc|(?:d|e)")
    '\\\\b(?:a|c)|^(?:b)|(?:d|e)'
    """
    groups: dict[str, list[str]] = {}
    for each in _ALTERNATIVE.findall(source):
        prefix = next(filter(each.startswith, (*beginnings, *_PREFIXES)), "")
        groups.setdefault(prefix, []).append(each[len(prefix) :])
    return "|".join(
        f"{prefix}(?:{'|'.join(rest)})" if prefix else "|".join(rest)
        for prefix, rest in groups.items()
    )


_ELSEWHERE = re.compile(r"\{(?:([a-z]{2,3})/)?([a-z][a-z0-9_]*)\.([a-z][a-z0-9_]*)\}")


class _Sections:
    """Base of `WordFile` and `WordFiles`: turns sections into patterns, sets and tables."""

    __slots__ = ()

    def entries(self, section: str) -> tuple[str, ...]:
        """Return a section's entries in their order."""
        raise NotImplementedError

    def part(self, section: str) -> str:
        """Return a section's entries as alternatives of a pattern."""
        return in_order(self.entries(section))

    def pattern(
        self, section: str, flags: int = 0, shaped: Callable[[str], str] | None = None
    ) -> re.Pattern[str]:
        """Compile a section's entries as alternatives, at the first use. `shaped` makes the
        pattern's text from them."""

        def text() -> str:
            return shaped(self.part(section)) if shaped else self.part(section)

        return lazily(text, flags)

    def words(self, *names: str) -> Set[str]:
        """Return the words of all these sections, read at the first use."""
        return _Words(lambda: frozenset(word for name in names for word in self.entries(name)))

    def table(self, *names: str) -> Mapping[str, str]:
        """Return the lines `word = value` of all these sections, read at the first use."""
        return _Table(lambda: dict(_pair(line) for name in names for line in self.entries(name)))

    def by_word(self, section: str) -> Mapping[str, str]:
        """Return the value of each word of lines `value = words`, read at the first use."""

        def read() -> dict[str, str]:
            lines = map(_pair, self.entries(section))
            return {word: value for value, words in lines for word in words.split()}

        return _Table(read)


@dataclass(frozen=True, slots=True)
class WordFile(_Sections):
    """The file `name` of a language. Raises `KeyError` for a section that it does not have."""

    language: str
    name: str

    def entries(self, section: str) -> tuple[str, ...]:
        return _entries(self, section)

    def names(self) -> tuple[str, ...]:
        """Return the names of the sections."""
        return tuple(sections(self.language, self.name))

    def filled(self, entry: str) -> str:
        """Put the entries of other files into an entry that names them."""
        if "." not in entry or "{" not in entry:
            return entry
        return _ELSEWHERE.sub(
            lambda match: WordFile(match[1] or self.language, match[2]).part(match[3]), entry
        )


@cache
def _entries(file: WordFile, section: str) -> tuple[str, ...]:
    return tuple(map(file.filled, sections(file.language, file.name)[section]))


@dataclass(frozen=True, slots=True)
class WordFiles(_Sections):
    """The files `name` of several languages, read as one: by default all languages that have the
    file, except those in `without`. A file may lack a section."""

    name: str
    languages: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def entries(self, section: str) -> tuple[str, ...]:
        return _joined(self, section)

    def word_set(self, section: str) -> frozenset[str]:
        """Return a section's entries as a set, read immediately."""
        return _word_set(self, section)


@cache
def _joined(files: WordFiles, section: str) -> tuple[str, ...]:
    read = by_language(files.name, section)
    kept = (each for each in files.languages or read if each in read and each not in files.without)
    return tuple(entry for each in kept for entry in WordFile(each, files.name).entries(section))


@cache
def _word_set(files: WordFiles, section: str) -> frozenset[str]:
    return frozenset(_joined(files, section))


def at_first_use(
    module: dict[str, Any], readers: Mapping[str, Callable[[], Any]]
) -> Callable[[str], Any]:
    """Return a module `__getattr__` that reads each name at its first use. Later uses find plain
    sets and tables, since some are looked up hundreds of times a text."""

    def read(name: str) -> Any:
        if name not in readers:
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        module[name] = readers[name]()
        return module[name]

    return read


def _pair(line: str) -> tuple[str, str]:
    word, _, value = line.partition(" = ")
    return word, value


class _Words(Set[str]):
    def __init__(self, read: Callable[[], frozenset[str]]) -> None:
        self._read = read

    @cached_property
    def _kept(self) -> frozenset[str]:
        return self._read()

    def __contains__(self, word: object) -> bool:
        return word in self._kept

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def __and__(self, words: Iterable[Any]) -> frozenset[str]:
        return self._kept.intersection(words)

    __rand__ = __and__

    @classmethod
    def _from_iterable(cls, words: Any) -> frozenset[Any]:
        return frozenset(words)


class _Table(Mapping[str, str]):
    def __init__(self, read: Callable[[], dict[str, str]]) -> None:
        self._read = read

    @cached_property
    def _kept(self) -> dict[str, str]:
        return self._read()

    def __getitem__(self, word: str) -> str:
        return self._kept[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)
