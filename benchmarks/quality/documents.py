"""Texts of others, pasted into a message behind a question: is a quotation from their middle named?

Two sources: texts written for this measure, each with words that have to stand in its name, and
what comes with the packages of the environment, read when the measure runs: licences (the truth is
their packages' metadata), READMEs, source code and data. The latter were not looked at one by one
when the names were made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.text.pasted_texts import LEAST, documents

QUESTION = "What does it say, and what follows from it?\n\n"
NAMED_GOAL, RIGHT_GOAL = 90.0, 90.0
MOST_CHARS, OF_A_KIND = 200_000, 60  # of a file; files of one ending
ENDINGS = (".py", ".js", ".json", ".md", ".rst", ".csv", ".toml", ".css", ".html", ".sql", ".sh")
_SPDX = ("MIT", "Apache-2.0", "BSD-3-Clause", "BSD-2-Clause", "MPL-2.0", "ISC", "PSF-2.0")
_PROSE = (
    "The committee met twice that winter and could not agree on who should pay for the new roof. "
    "The carpenter had offered to wait, the mason had not, and the letters went to and fro. "
)


class Document(NamedTuple):
    """`words`: have to stand in its name, in any case; empty where any name will do."""

    kind: str
    text: str
    words: str = ""


def written() -> Iterator[Document]:
    """Yield texts of the kinds that no package brings along."""
    long = _PROSE * 12
    yield Document(
        "mail",
        f"From: Ida Holm <ida@example.net>\nTo: board\nSubject: Roof\n\n{long}",
        "ida holm roof",
    )
    yield Document(
        "mail", f"Von: Ida Holm\nGesendet: Montag\nBetreff: WG: Dach\n\n{long}", "ida holm dach"
    )
    yield Document("mail", f"De: Ida Holm\nÀ: comité\nObjet: Toiture\n\n{long}", "ida holm toiture")
    yield Document(
        "mail",
        "---------- Forwarded message ---------\nFrom: Ida Holm\nDate: Mon\n"
        f"Subject: Fwd: Gutters\n\n{long}",
        "ida holm gutters",
    )
    yield Document(
        "letter", f"Dear Mr Okafor,\n\n{long}\n\nYours sincerely,\nIda Holm", "mr okafor"
    )
    yield Document("letter", f"Sehr geehrte Frau Lindqvist,\n\n{long}", "frau lindqvist")
    for number, (stamp, level) in enumerate(_STAMPS):
        lines = [f"{stamp.format(at % 60)} {level} worker {at} done" for at in range(70)]
        lines[40] = f"{stamp.format(40)} ERROR queue {number} is full"
        yield Document("log", "\n".join(lines), f"log 70 lines 1 error queue {number} is full")
    frames = "\n".join(
        f'  File "app/step_{at}.py", line {at}, in run\n    go()' for at in range(12)
    )
    yield Document(
        "traceback",
        f"Traceback (most recent call last):\n{frames}\nValueError: no roof",
        "valueerror: no roof",
    )
    rows = "\n".join(f"{at},2026-01-{at % 28 + 1:02},{at * 7}.50,roof" for at in range(60))
    yield Document("csv", f"id,date,amount,purpose\n{rows}", "csv 60 rows date amount")
    yield Document(
        "csv",
        f"id;date;amount\n{rows.replace(',', ';').replace(';roof', '')}",
        "csv 60 rows amount",
    )
    yield Document(
        "csv", f"id\tdate\tamount\tpurpose\n{rows.replace(',', chr(9))}", "tsv 60 rows amount"
    )
    yield Document("table", "| part | price |\n|---|---|\n" + "| slate | 9 |\n" * 40, "part price")
    yield Document(
        "diff",
        "diff --git a/roof/slate.py b/roof/slate.py\n"
        "--- a/roof/slate.py\n+++ b/roof/slate.py\n@@ -1,40 +1,40 @@\n"
        + "-old = 1\n+new = 2\n"
        * 30,
        "diff roof/slate.py",
    )
    yield Document(
        "diff",
        "--- roof/slate.py\t2026\n+++ roof/slate.py\t2026\n@@ -1,40 +1,40 @@\n"
        + "-old = 1\n+new = 2\n" * 30,
        "diff roof/slate.py",
    )
    yield Document(
        "web page",
        f"<!DOCTYPE html>\n<html><head>\n<title>Roofs of slate</title></head><body><p>{long}</p>",
        "roofs of slate",
    )
    yield Document(
        "web page",
        f"Title: Roofs of slate\nURL Source: https://roofs.example.org/slate\n\n{long}",
        "roofs of slate",
    )
    yield Document(
        "article",
        f"Who pays for the roof?\nBy Ida Holm\n\n{long}\n\n{long}",
        "who pays for the roof",
    )
    yield Document("article", f"A winter of letters\n\n{long}\n\n{long}", "winter of letters")
    yield Document(
        "article", f"# A winter of letters\n\n{long}\n\n## Spring\n\n{long}", "winter of letters"
    )
    yield Document("file", f"// src/roof/slate.ts\n{_CODE * 9}", "src/roof/slate.ts")
    yield Document("file", f"File: src/roof/slate.ts\n{_CODE * 9}", "src/roof/slate.ts")
    yield Document("file", f"src/roof/slate.ts\n```ts\n{_CODE * 9}```\n", "src/roof/slate.ts")
    yield Document(
        "file", f'<document path="src/roof/slate.ts">\n{_CODE * 9}</document>', "src/roof/slate.ts"
    )
    yield Document(
        "json",
        '{"name": "slate", "parts": [' + '{"id": 1, "price": 2},' * 40 + '{"id": 2}]}',
        "json slate parts",
    )
    yield Document("json", '{"id": 1, "price": 2}\n' * 40, "json 40 id price")


_CODE = "export interface Slate { width: number }\nexport const lay = (rows: number) => rows * 2;\n"
_STAMPS = (
    ("2026-03-01 10:00:{:02}", "INFO"),
    ("[2026-03-01T10:00:{:02}Z]", "INFO"),
    ("Mar  1 10:00:{:02} host app[12]:", "INFO"),
    ("10:00:{:02}.123 [main]", "DEBUG"),
)  # fmt: skip


def of_packages() -> Iterator[Document]:
    """Yield what the packages of this environment bring along."""
    seen: dict[str, int] = {}
    for distribution in metadata.distributions():
        head, _, readme = (distribution.read_text("METADATA") or "").partition("\n\n")
        expression = re.search(r"^License-Expression: (\S+)$", head, re.MULTILINE)
        told = expression[1] if expression else ""
        if re.search(r"^#{1,2} \S|^\S.*\n[=-]{4,}$", readme, re.M):
            yield Document("readme", readme[:MOST_CHARS])
        for file in distribution.files or ():
            licence = re.match(r"(?:LICEN[CS]E|COPYING)", file.name) is not None
            kind = "licence" if licence else file.suffix
            if not licence and (kind not in ENDINGS or seen.get(kind, 0) >= OF_A_KIND):
                continue
            if (text := _read(file.locate())) is None:
                continue
            seen[kind] = seen.get(kind, 0) + 1
            yield Document(kind, text, told if licence and told in _SPDX else "")


def _read(path: object) -> str | None:
    try:
        text = Path(str(path)).read_text("utf-8")[:MOST_CHARS]
    except (OSError, UnicodeDecodeError):
        return None
    return text if len(text) > 2 * LEAST else None


def named(document: Document) -> str:
    """Return what a place in the middle of the document is called; empty where it has no name."""
    text = QUESTION + document.text
    at = len(QUESTION) + len(document.text) // 2
    holding = (each for each in documents(text) if each.start <= at < each.end)
    found = next(holding, None)
    return found.place(text, at) if found else ""


async def run(_: Bench) -> tuple[list[Row], list[str]]:
    """Print the texts that were written with their names, and return the shares of all."""
    own, others = list(written()), list(of_packages())
    for document in own:
        print(f"{document.kind:<10} {named(document) or '(none)'}")
    truths = [document for document in others if document.words]
    rows = [
        Row("documents written for this", len(own)),
        Row("of these named as they have to be", _right(own), "%", RIGHT_GOAL),
        Row("documents of packages", len(others)),
        Row("of these named", _share([bool(named(each)) for each in others]), "%", NAMED_GOAL),
        Row("licences named as the metadata says", _right(truths), "%", RIGHT_GOAL),
    ]
    return rows, []


def _right(listed: list[Document]) -> float:
    return _share([_is_right(document) for document in listed])


def _is_right(document: Document) -> bool:
    name = named(document).lower()
    return all(word in name for word in document.words.lower().split())


def _share(good: list[bool]) -> float:
    return 100 * sum(good) / max(1, len(good))
