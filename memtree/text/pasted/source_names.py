"""Source code and settings without a path, named by language and by what they define."""

from __future__ import annotations

import re
from itertools import islice

_MOST = 3  # definitions in a name
_READ = 60  # lines that are looked at for signs

_LANGUAGES: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (name, re.compile(signs, re.MULTILINE), re.compile(defined, re.MULTILINE))
    for name, signs, defined in (
        (
            "Python",
            r"^\s*(?:def \w+\(|class \w+[(:]|from [\w.]+ import |import [\w.]+(?: as \w+)?$"
            r"|async def |if __name__ ==|@\w+(?:\.\w+)*(?:\(|$))",
            r"^(?:class|(?:async )?def) (\w+)",
        ),
        (
            "TypeScript",
            r"^\s*(?:(?:export )?(?:interface|type|enum) \w+|import .{1,200} from ['\"]|(?:export )?"
            r"(?:const|let) \w+\s?: |(?:export )?(?:async )?function \w+\([^)]*: )",
            r"^\s{0,2}(?:export )?(?:default )?(?:abstract )?(?:class|interface|enum|function|const) (\w+)",
        ),
        (
            "JavaScript",
            r"^\s*(?:const \w+ ?=|let \w+ ?=|var \w+ ?=|(?:async )?function \w*\(|module\.exports"
            r"|export (?:default|const|function|class)|import .{1,200} from ['\"]|class \w+ (?:extends|\{))",
            r"^(?:export )?(?:default )?(?:class|(?:async )?function|const|let|var) (\w+)",
        ),
        (
            "Rust",
            r"^\s*(?:pub )?(?:fn \w+|use [\w:]+|impl\b|struct \w+|mod \w+;|#\[derive)",
            r"^\s{0,4}(?:pub(?:\([^)]*\))? )?(?:fn|struct|enum|trait) (\w+)",
        ),
        (
            "Go",
            r"^\s*(?:package \w+$|func (?:\(|\w+\()|import \(|type \w+ (?:struct|interface)|\w+ := )",
            r"^(?:func (?:\([^)]*\) )?|type )(\w+)",
        ),
        (
            "Java",
            r"^\s*(?:package [\w.]+;|import [\w.]+;|(?:public|private|protected) (?:static |final )*"
            r"(?:class|interface|enum|void|\w+(?:<[^>]*>)?) \w+)",
            r"\b(?:class|interface|enum|record) (\w+)",
        ),
        (
            "C",
            r"^\s*(?:#include\s*[<\"]|#define \w+|typedef |struct \w+ ?\{|(?:static |extern )?"
            r"(?:int|void|char|bool|double|float|size_t|auto)\b[ *]+\w+\s?\([^;]*$|namespace \w+)",
            r"^(?:static |extern |inline )*(?:[\w:<>]+[ *&]+)(\w+)\([^;\n]*$",
        ),
        (
            "SQL",
            r"^\s*(?:CREATE (?:TABLE|INDEX|VIEW)|INSERT INTO|SELECT .|ALTER TABLE|DROP TABLE|UPDATE \w+ SET)",
            r"(?:TABLE|INTO|VIEW|FROM)(?: IF NOT EXISTS)? [\"`]?(\w+)",
        ),
        (
            "shell script",
            r"^\s*(?:#!/\S*sh\b|if \[|fi$|done$|export \w+=|echo |set -\w|\w+\(\) \{|for \w+ in )",
            r"^(?:function )?(\w+)\(\) ?\{",
        ),
        (
            "CSS",
            r"^\s*(?:[.#]?[\w-]+[^{}\n]{0,80}\{|[\w-]+: [^;\n]{1,80};|@media)",
            r"^([.#][\w-]+)",
        ),
    )
)
_SECTION = re.compile(r"^\[{1,2}([\w.\" -]{1,60})\]{1,2}\s*$", re.MULTILINE)
_ASSIGNED = re.compile(r"^[\w.\"-]{1,60}\s?=\s?\S", re.MULTILINE)
_YAML = re.compile(r"^([A-Za-z_][\w.-]{0,40}):(?:\s*$|\s+\S)", re.MULTILINE)
_NESTED = re.compile(r"^\s{1,8}(?:- )?[\w.\"'/-]{1,60}:(?:\s|$)|^\s*- \S", re.MULTILINE)


def source_name(text: str, head: str) -> str:
    """The language and the first definitions of code; sections or keys of settings. Empty where it
    is neither."""
    lines = [line for line in head.split("\n")[:_READ] if line.strip()]
    beginning = "\n".join(lines)
    scored = [(len(signs.findall(beginning)), name) for name, signs, _ in _LANGUAGES]
    most = max(count for count, _ in scored)
    if most >= 2 and most >= 0.06 * len(lines):
        name = next(name for count, name in scored if count == most)
        defined = next(each for each in _LANGUAGES if each[0] == name)[2]
        names = list(dict.fromkeys(islice((m[1] for m in defined.finditer(text[:40_000])), 40)))
        kind = name if name == "shell script" else f"{name} code"
        return f"{kind}: {', '.join(names[:_MOST])}" if names else kind
    return _settings(beginning, len(lines))


def _settings(beginning: str, lines: int) -> str:
    sections = list(dict.fromkeys(_SECTION.findall(beginning)))
    if sections and len(_ASSIGNED.findall(beginning)) >= 0.4 * lines:
        return f"settings: {', '.join(sections[:_MOST])}"
    keys = _YAML.findall(beginning)
    if len(keys) > 1 and len(keys) + len(_NESTED.findall(beginning)) >= 0.8 * lines:
        return f"YAML: {', '.join(dict.fromkeys(keys[: 2 * _MOST]))}"
    return ""
