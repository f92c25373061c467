"""Reads the patterns of a rule that are kept by language: whole words in languages that set spaces
between them, parts of words in the others.

    >>> bool(pattern("memory_changing", ("de",)).search("der nutzer plant einen umzug"))
    True
"""

from __future__ import annotations

import re
from functools import lru_cache

from memtree.language.everyday_sentences import LATIN
from memtree.language.word_file import WordFile

SPACED = (*LATIN, "ru")


@lru_cache(maxsize=128)
def pattern(
    file: str, languages: tuple[str, ...], *names: str, also: str = "(?!)"
) -> re.Pattern[str]:
    """Compile what `file` has in any of these languages in these sections (none: in all). `also`:
    what counts in every language."""
    alternatives = [also]
    for language in languages:
        data = WordFile(language, file)
        known = data.names()
        words = "|".join(data.part(name) for name in names or known if name in known)
        if words:
            alternatives.append(rf"\b(?:{words})\b" if language in SPACED else words)
    return re.compile("|".join(alternatives))
