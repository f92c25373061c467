"""Names of pasted texts, and which `<keep>` marks count."""

from __future__ import annotations

from itertools import pairwise

import pytest

from memtree.text.document_names import LONGEST, document_name
from memtree.text.own_words import MOST, kept_marks
from memtree.text.pasted_texts import documents
from tests.hostile_texts import hostile

# ------------------------------------------------------------------------------------------------
# Names of texts that were pasted, by their shape, and of the places in them.


PROSE = "The pier was rebuilt in three summers, and each of them brought a storm of its own. " * 4
LOG = "\n".join(
    f"2026-11-26 10:00:{at % 60:02} {'ERROR disk is full' if at in (7, 30) else 'INFO served'} {at}"
    for at in range(80)
)
LICENCE = f"""                  Apache License
            Version 2.0, January 2004

   1. Definitions.

   "Licensor" shall mean the copyright owner. {PROSE}

   3. Grant of Patent License. Subject to the terms each Contributor grants you a licence,
   without warranties. {PROSE}
"""


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (LICENCE, "Apache-2.0 licence"),
        (
            "MIT License\n\nCopyright (c) 2026 Ann\n\nPermission is hereby granted, "
            "free of charge, to "
            "any person obtaining a copy",
            "MIT licence",
        ),
        (
            "Copyright (c) 2026, Ann\n\nRedistribution and use in source and binary forms, with or "
            "without modification. Neither the name may endorse or promote products. NO WARRANTIES",
            "BSD-3-Clause licence",
        ),
        (
            "From: Max Berger <max@example.org>\nTo: Ann\nSubject: Re: Rent\n\nHello,",
            "mail from Max Berger: Rent",
        ),
        (
            "Von: Max Berger\nBetreff: AW: Miete für Mai\n\nGuten Tag,",
            "mail from Max Berger: Miete für Mai",
        ),
        ("Dear Mrs Novak,\n\nthe lift is out of order.", "letter to Mrs Novak"),
        (LOG, "log, 80 lines, 2 errors: disk is full 7"),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nKeyError: 'port'",
            "traceback: KeyError: 'port'",
        ),
        (
            '{"name": "tea-shop", "version": "1.2", "scripts": {}}',
            "JSON of tea-shop: name, version, scripts",
        ),
        ('[{"id": 1, "city": "Graz"}, {"id": 2, "city": "Wien"}]', "JSON, 2 records: id, city"),
        ('{"id": 1, "a": 2}\n{"id": 2, "a": 3}\n{"id": 3, "a": 4}', "JSON lines, 3 records: id, a"),
        (
            "id,city,inhabitants\n1,Graz,300000\n2,Wien,2000000\n3,Linz,200000",
            "CSV, 3 rows: id, city, inhabitants",
        ),
        (
            "diff --git a/src/pier.py b/src/pier.py\n--- a/src/pier.py\n+++ b/src/pier.py\n"
            "@@ -1 +1 @@\n-a\n+b\n"
            "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n",
            "diff of src/pier.py and 1 more",
        ),
        ("# src/pier.py\n\nHIGH = 3", "src/pier.py"),
        ("// lib/tide.ts\nexport const high = 3;", "lib/tide.ts"),
        ("[File: /repo/src/pier.py (12 lines total)]\n1:HIGH = 3", "/repo/src/pier.py"),
        ('<document index="1" path="notes/tides.md">\nHigh water at six.', "notes/tides.md"),
        (
            "class Pier:\n    pass\n\n\ndef build(length):\n    return Pier()\n",
            "Python code: Pier, build",
        ),
        (
            "/* Copyright 2026 Ann. SPDX-License-Identifier: MIT */\n#include <tide.h>\n"
            "#define HIGH 3\n"
            "int main(void) {\n",
            "C code: HIGH, main",
        ),
        (
            "<!doctype html>\n<html><head><title>Tides of Graz</title></head>",
            "web page: Tides of Graz",
        ),
        (
            "title: How piers are built\nurl: https://www.example.org/piers\n\nText",
            "How piers are built (example.org)",
        ),
        ("![badge](x.svg)\n\n# Pier kit\n\nBuild piers.", "Pier kit"),
        ("Pier kit\n========\n\nBuild piers.", "Pier kit"),
        (f"How the pier was rebuilt\n\n{PROSE}\n\n{PROSE}", "How the pier was rebuilt"),
        (
            "services:\n  web:\n    image: tea\n  db:\n    image: pg\nvolumes:\n  data:\n",
            "YAML: services, volumes",
        ),
        (
            "[tool.ruff]\nline-length = 100\n[tool.mypy]\nstrict = true\n",
            "settings: tool.ruff, tool.mypy",
        ),
    ],
)
def test_names(text: str, title: str) -> None:
    name = document_name(text)
    assert name is not None
    assert name.certain
    assert name.title == title


def test_what_somebody_says_is_no_document() -> None:
    for said in (PROSE, f"I live in Graz.\n\n{PROSE}", "Why is it slow?\n\nIt was fast.\n" * 9,
                 "See https://example.org/a.html, please: " + PROSE):  # fmt: skip
        assert documents(said) == ()
    name = document_name(PROSE)
    assert name is not None
    assert not name.certain


def place(text: str, words: str) -> str:
    at = text.index(words)
    found = [each for each in documents(text) if each.start <= at < each.end]
    return found[0].place(text, at) if found else ""


def test_places_in_documents() -> None:
    asked = f"What does it say of patents?\n\n{LICENCE}"
    assert place(asked, "Subject to the terms") == "Apache-2.0 licence, section 3"
    assert place(asked, "What does") == ""
    dump = f"Why does it fail?\n\n{LOG}"
    assert place(dump, "disk is full 30") == "log, 80 lines, 2 errors: disk is full 7, line 31"
    guide = f"Read this:\n\n# Pier kit\n\n{PROSE}\n\n## Before the storm\n\nNail it down. {PROSE}"
    assert place(guide, "Nail it down") == "Pier kit, “Before the storm”"


def test_files_between_fences_and_behind_their_paths() -> None:
    body = "high = 3\n" * 60
    fenced = (
        f"Compare them.\n\nsrc/a.py\n```python\n{body}```\nand\n```src/b.py\n{body}low = 1\n```\n"
    )
    assert [each.title for each in documents(fenced)] == ["src/a.py", "src/b.py"]
    assert place(fenced, "low = 1") == "src/b.py, line 61"
    listed = f"File: src/a.py\n{body}\nFile: src/b.py\n{body}"
    assert [each.title for each in documents(listed)] == ["src/a.py", "src/b.py"]


def test_no_document_overlaps_another_whatever_is_posted() -> None:
    for unit in hostile.shapes().values():
        text = (unit * 3_000)[:3_000]
        found = documents(text)
        assert all(a.end <= b.start for a, b in pairwise(found)), unit
        assert all(0 <= each.start < each.end <= len(text) for each in found), unit
        assert all(0 < len(each.title) <= LONGEST for each in found), unit


def test_a_file_is_named_by_the_line_that_hands_it_over():
    text = "Here's the result of running `cat -n` on /srv/lib/expr/match.c:\n" + "".join(
        f"{n}\tstatic int value{n}() {{\n" for n in range(40)
    )
    assert document_name(text).title == "/srv/lib/expr/match.c"


def test_a_prompt_before_each_line_is_no_heading():
    text = "#### /clear\n#### \n#### Unhandled exception in the event loop\n" + (
        '####   File "/srv/app.py", line 9, in run\n' * 9
    )
    assert document_name(text).title.startswith("traceback")
    asked = "#### # Fix any errors below.\n#### \n#### ## Running: lint.sh\n" + "#### a\n" * 90
    name = document_name(asked)
    assert name is None or "Fix any errors" not in name.title or not name.certain


# ------------------------------------------------------------------------------------------------
# Check which `<keep>` marks of a user's message count: those in the user's own words.


def kept(text: str) -> list[str]:
    return [text[start:end] for start, end in kept_marks(text)]


@pytest.mark.parametrize(
    ("text", "passages"),
    [
        ("<keep>Port 8443 is taken.</keep>", ["Port 8443 is taken."]),
        ("First <keep>a</keep>, then <keep> b </keep>.", ["a", "b"]),
        ("Set <keep>PORT=8443</keep> please", ["PORT=8443"]),
        ("<keep>x = foo(1);</keep>\nThat line stays.", ["x = foo(1);"]),
        ("Notes:\n\n<keep>\none\n\n```py\nx = 1\n```\n</keep>\n", ["one\n\n```py\nx = 1\n```"]),
        ("- <keep>a point of a list</keep>", ["a point of a list"]),
        ("1. <keep>the first</keep>\n2. <keep>the second</keep>", ["the first", "the second"]),
        ("**Important:** <keep>no force push</keep>", ["no force push"]),
        ("<user_query>\nGo on. <keep>In an agent's tags.</keep>\n</user_query>",
         ["In an agent's tags."]),
        ("Bitte <keep>nie den Ordner vendor ändern</keep>.", ["nie den Ordner vendor ändern"]),
        ("请记住<keep>端口 8443</keep>", ["端口 8443"]),
        ('<keep>She said "never on Fridays, I am away then"</keep>',
         ['She said "never on Fridays, I am away then"']),
        ("<keep>never closed <keep>the inner one</keep>", ["the inner one"]),
        ("The tag is `<keep>`. <keep>real</keep>", ["real"]),
        ("Use `<keep>` and `</keep>`. <keep>real</keep>", ["real"]),
        ("```\n<keep>in code</keep>\n```\n<keep>behind it</keep>", ["behind it"]),
    ],
)  # fmt: skip
def test_a_closed_mark_in_own_words_counts(text: str, passages: list[str]):
    assert kept(text) == passages


@pytest.mark.parametrize(
    "text",
    [
        "<keep>never closed",
        "never opened</keep>",
        "</keep> the wrong way round <keep>",
        "<keep> \n </keep>",
        "<KEEP>other letters</KEEP>",
        "<keep attr='1'>no such tag</keep>",
        "```py\n# <keep>fenced</keep>\n```",
        "~~~\n<keep>fenced by tildes</keep>",
        "Run `echo '<keep>inline</keep>'` now.",
        "`<keep>inline</keep>`",
        "    <keep>indented code</keep>",
        "// <keep>a comment</keep>",
        "# <keep>a comment</keep>\nx = 1",
        "x = '<keep>a string</keep>'",
        "import os\n# <keep>no</keep>\nprint(os)",
        "for i in range(3):  # <keep>no</keep>",
        "> <keep>a quoted line</keep>",
        'He wrote "<keep>this is what I want</keep>" to me.',
        "| a | <keep>a cell</keep> |",
        "2024-01-01 10:00:00 <keep>a line of a log</keep>",
        "ERROR: <keep>a line of a log</keep>",
        "<config><keep>30</keep></config>",
        "<system-reminder><keep>of a client</keep></system-reminder>",
        "<file_content>\n<keep>a file</keep>\n</file_content>",
        "<recalled_context>\n<keep>of ours</keep>\n</recalled_context>",
        "[run_tests] Result:\n<keep>a program speaks</keep>",
        "This session is being continued from a previous conversation. <keep>x</keep>",
        "User: hi there\nAssistant: hello\nUser: <keep>a transcript</keep>\nAssistant: yes\n",
    ],
)
def test_a_mark_that_is_not_the_users_or_not_closed_counts_nothing(text: str):
    assert kept(text) == []


def test_of_many_marks_the_last_ones_count():
    text = "".join(f"<keep>n{number}</keep> and " for number in range(MOST + 5)) + "so on, ok?"
    assert kept(text)[0] == "n5"
    assert len(kept(text)) == MOST
