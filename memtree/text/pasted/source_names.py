"""Source code and settings without a path, named by language and by what they define."""

from __future__ import annotations

import re
from itertools import islice

from memtree.language.lazy_patterns import lazily

_MOST = 3  # definitions in a name
_READ = 60  # lines that are looked at for signs
_DEFINING = 40_000  # characters in which definitions are looked for

# Lines that show a language, and where a name is defined.
_SHAPES = (
    (
        "Python",
        r"(?:async )?def \w+\(|class \w+[(:]|from [\w.]+ import |import [\w.]+(?: as \w+)?$"
        r"|if __name__ ==|@\w+(?:\.\w+)*(?:\(|$)|cp?def (?:class )?\w",
        r"^(?:class|(?:async )?def|cp?def(?: class)?) (\w+)",
    ),
    (
        "TypeScript",
        r"(?:export )?(?:interface|type|enum) \w+|import .{1,200} from ['\"]"
        r"|(?:export )?(?:const|let) \w+\s?: |(?:export )?(?:async )?function \w+\([^)]*: ",
        r"^\s{0,2}(?:export )?(?:default )?(?:abstract )?"
        r"(?:class|interface|enum|function|const) (\w+)",
    ),
    (
        "JavaScript",
        r"(?:const|let|var) \w+ ?=|(?:async )?function \w*\(|module\.exports"
        r"|export (?:default|const|function|class)|import .{1,200} from ['\"]"
        r"|class \w+ (?:extends|\{)|.{0,300}\bfunction\(|.{0,300}=>\{",
        r"^(?:export )?(?:default )?(?:class|(?:async )?function|const|let|var) (\w+)",
    ),
    (
        "Rust",
        r"(?:pub )?(?:fn \w+|use [\w:]+|impl\b|struct \w+|mod \w+;|#\[derive)",
        r"^\s{0,4}(?:pub(?:\([^)]*\))? )?(?:fn|struct|enum|trait) (\w+)",
    ),
    (
        "Go",
        r"package \w+$|func (?:\(|\w+\()|import \(|type \w+ (?:struct|interface)|\w+ := ",
        r"^(?:func (?:\([^)]*\) )?|type )(\w+)",
    ),
    (
        "Java",
        r"package [\w.]+;|import [\w.]+;|(?:public|private|protected) (?:static |final )*"
        r"(?:class|interface|enum|void|\w+(?:<[^>]*>)?) \w+",
        r"\b(?:class|interface|enum|record) (\w+)",
    ),
    (
        "C",
        r"#(?:include|define|ifdef|ifndef|if|endif)\b|typedef |struct \w+ ?\{|namespace \w+"
        r"|(?:static |extern )*(?:int|void|char|bool|double|float|size_t)\b[ *]+\w+\s?\([^;]*$",
        r"^(?:(?:static |extern |inline |const )*[\w:<>]+[ *&]+)?"
        r"(?!if\b|for\b|while\b|switch\b|return\b|defined\b)(\w{3,40})\([^;\n]*$"
        r"|^(?:typedef )?(?:struct|class|enum) (\w{3,40})|^#\s?define (\w{3,40})",
    ),
    (
        "SQL",
        r"CREATE (?:OR REPLACE )?(?:TABLE|INDEX|VIEW|FUNCTION|TYPE|OPERATOR|EXTENSION)|-- "
        r"|INSERT INTO|SELECT .|ALTER TABLE|DROP TABLE|UPDATE \w+ SET",
        r"(?:TABLE|INTO|VIEW|FUNCTION|TYPE|FROM)(?: IF NOT EXISTS)? [\"`]?(\w+)",
    ),
    (
        "shell script",
        r"#!/\S*sh\b|if \[|fi$|done$|export \w+=|echo |set -\w|\w+\(\) \{|for \w+ in ",
        r"^(?:function )?(\w+)\(\) ?\{",
    ),
    (
        "CSS",
        r"[\w-]+:\s[^;\n{}]{1,80};$|[.@:*\w][^{};()\n]{0,80}\{$|[.#:@][\w-]+[^{}\n]{0,80}\{[\w-]+:",
        r"^([.#:@][\w-]+)",
    ),
)
_LANGUAGES = tuple(
    (name, lazily(rf"^[ \t]*(?:{signs})", re.MULTILINE), lazily(defined, re.MULTILINE))
    for name, signs, defined in _SHAPES
)
_SECTION = lazily(r"^\[{1,2}([\w.\" -]{1,60})\]{1,2}\s*$", re.MULTILINE)
_ASSIGNED = lazily(r"^[\w.\"-]{1,60}\s?=\s?\S", re.MULTILINE)
_YAML = lazily(r"^([A-Za-z_][\w.-]{0,40}):(?:\s*$|\s+\S)", re.MULTILINE)
_NESTED = lazily(r"^\s{1,8}(?:- )?[\w.\"'/-]{1,60}:(?:\s|$)|^\s*- \S", re.MULTILINE)


def source_name(text: str, head: str) -> str:
    """The language and the first definitions of code; sections or keys of settings. Empty where it
    is neither."""
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
