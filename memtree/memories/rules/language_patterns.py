"""Reads the patterns of a rule that are kept by language, a table of a TOML file each: whole words
in languages that set spaces between them, parts of words in the others.

    >>> bool(pattern("changing", ("de",)).search("der nutzer plant einen umzug"))
    True
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files

from memtree.memories.background.sentences import LATIN

SPACED = (*LATIN, "ru")


@lru_cache(maxsize=128)
def pattern(
    file: str, languages: tuple[str, ...], *names: str, also: str = "(?!)"
) -> re.Pattern[str]:
    """Compile what `file` has in any of these languages under these names (none: under all).
    `also`: what counts in every language."""
    table = tomllib.loads((files(__package__) / f"{file}.toml").read_text("utf-8"))
    found = [also]
    for language in languages:
        kept = [table[language].get(name, "") for name in names or table[language]]
        words = "|".join(filter(None, kept)).replace("\n", "")
        if not words:
            continue
        found.append(rf"\b(?:{words})\b" if language in SPACED else words)
    return re.compile("|".join(found))
