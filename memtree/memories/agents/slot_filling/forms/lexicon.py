"""Words that tell what a value is: countries, languages, professions, and what is no name."""

from __future__ import annotations

from memtree.language.word_file import WordFile

_DATA = WordFile("en", "memory_known_words")

COUNTRIES = _DATA.words("countries")
LANGUAGES = _DATA.words("languages")
# "I'm German" is no name.
NO_NAMES = _DATA.words("languages", "no_names")
PROFESSIONS = _DATA.words("professions")
CONDITIONS = _DATA.words("conditions")
INSTRUMENTS = _DATA.words("instruments")
DIETS = _DATA.words("diets")
MARITAL = _DATA.words("marital")
