"""Name source code and settings without a path by language and definitions."""

from __future__ import annotations

import re
from itertools import islice

from memtree.language.word_file import WordFile, lazily

_DATA = WordFile("all", "source_code")

_MOST = 3  # definitions in a name
_READ = 60  # lines searched for signs of a language
_DEFINING = 40_000  # characters searched for definitions


def _key(name: str) -> str:
    return name.lower().replace(" ", "_")


def _sign_lines(name: str) -> re.Pattern[str]:
    return _DATA.pattern(f"{_key(name)}_signs", re.MULTILINE, shaped=r"^[ \t]*(?:{})".format)


_LANGUAGES = tuple(
    (name, _sign_lines(name), _DATA.pattern(f"{_key(name)}_names", re.MULTILINE))
    for name in (
        "Python",
        "TypeScript",
        "JavaScript",
        "Rust",
        "Go",
        "Java",
        "C",
        "SQL",
        "shell script",
        "CSS",
    )
)
_SECTION = lazily(r"^\[{1,2}([\w.\" -]{1,60})\]{1,2}\s*$", re.MULTILINE)
_ASSIGNED = lazily(r"^[\w.\"-]{1,60}\s?=\s?\S", re.MULTILINE)
_YAML = lazily(r"^([A-Za-z_][\w.-]{0,40}):(?:\s*$|\s+\S)", re.MULTILINE)
_NESTED = lazily(r"^\s{1,8}(?:- )?[\w.\"'/-]{1,60}:(?:\s|$)|^\s*- \S", re.MULTILINE)


def source_name(text: str, head: str) -> str:
    """Return the language and first definitions of code, or the sections or keys of settings; ""
    for other text."""
    lines = [line for line in head.split("\n")[:_READ] if line.strip()]
    beginning = "\n".join(lines)
    if settings := _settings(beginning, len(lines)):
        return settings
    counts = [len(signs.findall(beginning)) for _, signs, _ in _LANGUAGES]
    most = max(counts)
    if most < (2 if len(lines) > 4 else 1) or most < 0.08 * len(lines):
        return ""
    name, _, defined = _LANGUAGES[counts.index(most)]
    defined_names = (match[match.lastindex or 0] for match in defined.finditer(text[:_DEFINING]))
    names = list(dict.fromkeys(islice(defined_names, 4 * _MOST)))[:_MOST]
    kind = name if name == "shell script" else f"{name} code"
    return f"{kind}: {', '.join(names)}" if names else kind


def _settings(beginning: str, lines: int) -> str:
    sections = list(dict.fromkeys(_SECTION.findall(beginning)))
    if sections and len(_ASSIGNED.findall(beginning)) >= 0.4 * lines:
        return f"settings: {', '.join(sections[:_MOST])}"
    keys = list(dict.fromkeys(_YAML.findall(beginning)))
    listed = len(keys) + len(_NESTED.findall(beginning))
    if keys and listed > 2 and listed >= 0.6 * lines:
        return f"YAML: {', '.join(keys[: 2 * _MOST])}"
    return ""
