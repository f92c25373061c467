"""Licences by the sentences that they begin with, under the names of the SPDX list."""

from __future__ import annotations

import re

_READ = 2_500  # characters of the beginning
_SHORT = 1_200  # of them in which the title stands

_TITLES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("Apache-2.0", r"apache license,?\s{1,80}version 2\.0"),
        ("AGPL-3.0", r"gnu affero general public license\s{1,80}version 3"),
        ("LGPL-{}", r"gnu (?:lesser|library) general public license\s{1,80}version (\d(?:\.\d)?)"),
        ("GPL-{}", r"gnu general public license\s{1,80}version (\d)"),
        ("MPL-{}", r"mozilla public license,?\s{1,80}(?:version |v\. ?)(\d\.\d)"),
        ("EPL-{}", r"eclipse public license\s{0,5}-?\s{0,5}v(?:ersion)? ?\.?(\d\.\d)"),
        ("BSL-1.0", r"boost software license\s{0,5}-?\s{0,5}version 1\.0"),
        ("OFL-1.1", r"sil open font license"),
        ("CC0-1.0", r"cc0 1\.0 universal"),
        ("CC-BY-{}", r"creative commons attribution (\d\.\d)"),
        (
            "PSF-2.0",
            r"python software foundation license(?: version 2)?|a\. history of the software",
        ),
        ("Unlicense", r"this is free and unencumbered software"),
        ("ISC", r"\bisc license|permission to use, copy, modify, and(?:/or)? distribute this"),
        ("MIT", r"\bmit license|permission is hereby granted, free of charge, to any person"),
        ("BSD", r"redistribution and use in source and binary forms|\bbsd [23]-clause license"),
        ("Zlib", r"this software is provided ['\"]as-is['\"], without any express"),
    )
)
_GENERAL = re.compile(
    r"^[ \t]*(\S[^\n]{2,70}\blicen[cs]e(?: agreement)?(?:,? v[\w. ]{1,14})?)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_FOURTH = "endorse or promote products"


def licence(text: str, head: str) -> str:
    """The name of a licence that a text is; empty where it is none. A text that only speaks of one
    is much longer before its name stands."""
    beginning = re.sub(r"[ \t\n]+", " ", head[:_READ])[:_SHORT]
    first: tuple[int, str] | None = None
    for name, pattern in _TITLES:
        match = pattern.search(beginning)
        if match and (first is None or match.start() < first[0]):
            named = name.format(match[1]) if "{}" in name and match.lastindex else name
            first = (match.start(), named)
    if first and _is_text(text, first[1]):
        name = first[1]
        if name == "BSD":
            name = "BSD-3-Clause" if _FOURTH in text[: 2 * _READ] else "BSD-2-Clause"
        return f"{name} licence"
    general = _GENERAL.search(head[:400])
    return general[1] if general and _is_text(text, "") else ""


def _is_text(text: str, name: str) -> bool:
    """Return True if the words of a licence stand there, and not only its name."""
    beginning = text[:8_000].lower()
    words = ("permission", "warranties", "warranty", "licensor", "copyright", "distribut", "liable")
    return sum(word in beginning for word in words) >= (2 if name else 3)
