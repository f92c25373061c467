"""Only what the user says of their own accord is read: table by kinds of what messages bring."""

from __future__ import annotations

import pytest

from memtree.text import memory_lines
from memtree.text.own_words import DOCUMENT, LONGEST, own_words
from memtree.text.pasted_texts import OPEN_ENDED
from tests.made.shown_lines import lines_of
from tests.work_counts import counting

LOOKS = ("prose_runs.py:kind",)
FENCED = "Fix this\n```py\n# I love spam\n```\nI'm on Windows."
LOG = """Why does it fail?

2026-01-01 10:00:00 INFO I am ready
Traceback (most recent call last):
  File "a.py", line 3, in <module>
    main()
ValueError: I am bad

I use Fedora."""
MAIL = """I am vegetarian. What should I reply?

From: Bob <bob@example.org>
To: me
Subject: dinner

Hi, I live in Rome now.

I love steak.

Bob"""
FORWARDED = """I live in Graz.

---------- Forwarded message ---------
I live in Rome now."""
REPLIED = """I live in Graz.

On Tue, 3 Mar 2026 at 10:00, Bob <bob@example.org> wrote:
I live in Rome now."""
ESSAY = """Here is my essay:

I was born in 1900. I fought.

I love war.

Can you summarize it in two lines? I like short ones."""
LETTER = "Dear hiring manager,\n\nI am a nurse with ten years of experience.\n\nBest\nAnn"
TALK = "Who is right?\n\nAnn: I live in Rome\nBob: I live in Oslo\nAnn: no\n\nI think Bob."
MODEL_TALK = "User: I live in Rome\nAssistant: Nice!\n\nI live in Graz."
WHATSAPP = """[12/03/2026, 10:15] Ann: hello I am here
[12/03/2026, 10:16] Bob: I am too
[12/03/2026, 10:16] Ann: ok"""
JSON = 'Config:\n{\n  "name": "I am Bob",\n  "x": [1, 2]\n}\nI use this at work.'
CODE = """def f(x):
    # I love x
    return x + 1

class A:
    pass

I wrote this as a student in Leeds."""
CSV = "name,age,city\nI am Bob,3,Rome\nAnn,4,Oslo\n\nI need the mean."
DIFF = """diff --git a/x b/x
--- a/x
+++ b/x
@@ -1 +1 @@
-I like a
+I like b
 I like c

My editor is vim."""
TERMINAL = "$ whoami\nI am root\nada@box:~$ ls -la\n\nI use zsh."
TABLE = "| name | job |\n|---|---|\n| I am Bob | cook |\n\nI am a cook."
WRAPPED = "I live in a rather small town in the south of Austria\nand work as a nurse."
LISTED = "Facts about me:\n- I'm vegetarian\n1. My cat is Tom\n* [ ] I live in Graz"
OURS = memory_lines.block(lines_of(["I live in Rome (fact)", "I own a boat (fact)"]))
OUR_LIST = memory_lines.section(lines_of(["I live in Rome (fact)", "I own a boat (instruction)"]))
CLINE = """<task>
I prefer tabs.
</task>
<environment_details>
I am no user
</environment_details>"""
MARKDOWN = "# Title\n\nI built this.\n\n## A\n\n## B\n\n## C\n\n" + "I know about it. " * 100
CARD = (
    "You are Mira, a dry-witted smuggler. Stay in character. Never speak for {{user}}. I am Mira."
)

KEPT = {
    "prose": ("I live in Graz. I like tea.", ["I live in Graz. I like tea."]),
    "wrapped prose": (WRAPPED, [WRAPPED]),
    "points of a list": (
        LISTED,
        ["Facts about me:", "I'm vegetarian", "My cat is Tom", "I live in Graz"],
    ),
    "fenced code": (FENCED, ["Fix this", "I'm on Windows."]),
    "a fence that is not closed": ("Fix this\n~~~\nI = 1\n\nI am it.", ["Fix this"]),
    "triple quotes": ('Read """I live in Rome""" now.', ["Read", "now."]),
    "inline code": ("I run `I am = 1` daily.", ["I run", "daily."]),
    "a name in backticks": ("I prefer `pnpm` to npm.", ["I prefer `pnpm` to npm."]),
    "a statement in quotation marks": ('Bob said "I live in Rome" today.', ["Bob said"]),
    "in single ones": ("Bob said 'I live in Rome' today.", ["Bob said"]),
    "in German ones": ("Er sagte „Ich wohne in Rom“ dazu.", ["Er sagte"]),
    "in French ones": ("Il dit « je vis à Rome » et part.", ["Il dit"]),
    "a name in quotation marks": ('My dog is called "Rex".', ['My dog is called "Rex".']),
    "a title": ('My favourite is "My Fair Lady".', ['My favourite is "My Fair Lady".']),
    "apostrophes": ("I don't like Bob's dogs' toys.", ["I don't like Bob's dogs' toys."]),
    "inches": ('My screen is 27" wide. I am 6\'2".', ['My screen is 27" wide. I am 6\'2".']),
    "a quoted paragraph": ('"I live in Rome and\nlove it\n\nI am here.', ["I am here."]),
    "block quotes": ("> I live in Rome\n> really\nNo, I live in Graz.", ["No, I live in Graz."]),
    "a log and a trace": (LOG, ["Why does it fail?", "I use Fedora."]),
    "mail": (MAIL, ["I am vegetarian. What should I reply?"]),
    "forwarded mail": (FORWARDED, ["I live in Graz."]),
    "answered mail": (REPLIED, []),
    "a draft": (ESSAY, ["Can you summarize it in two lines? I like short ones."]),
    "a letter": (LETTER, []),
    "to the assistant": ("Dear assistant,\nI am Ann.", []),
    "what is to be translated": ("Translate to German: I live in Rome.", ["Translate to German:"]),
    "on the next line": ("Please translate this\n\nI live in Rome.", []),
    "in German": ("Übersetze bitte: Ich heiße Bob.", ["Übersetze bitte:"]),
    "in Spanish": ("Traduce este texto:\nVivo en Roma.", []),
    "in French": ("Corrige ce texte :\nJe vis à Rome.", []),
    "above": ("I was king. " * 30 + "\n\nSummarize the above.", []),
    "a description": ("The description is:\nmy name is katy", []),
    "a talk": (TALK, ["Who is right?", "I think Bob."]),
    "a talk with a model": (MODEL_TALK, []),
    "a chat": (WHATSAPP, []),
    "fields": ("Name: Ada\nCity: Graz", []),
    "JSON": (JSON, ["Config:", "I use this at work."]),
    "code": (CODE, ["I wrote this as a student in Leeds."]),
    "CSV": (CSV, ["I need the mean."]),
    "a diff": (DIFF, ["My editor is vim."]),
    "a terminal": (TERMINAL, ["I use zsh."]),
    "a table": (TABLE, ["I am a cook."]),
    "an element": ("<div>I live in Rome</div> I live in Graz.", ["I live in Graz."]),
    "several lines of one": ("<a>\nI\n\n<b>am</b>\n</a>\nI live in Graz.", ["I live in Graz."]),
    "a comparison": ("I am < 30 and > 20.", ["I am < 30 and > 20."]),
    "an address": ("https://example.org/i-am\nI made it.", ["I made it."]),
    "an image": ("![I am](https://example.org/a.png) I made it.", ["I made it."]),
    "letters without spaces": ("aGVsbG8gd29ybGQ" * 9 + "\nI made it.", ["I made it."]),
    "headings": ("# About I am\nI live in Graz.", []),
    "a document": (MARKDOWN, []),
    "a persona": (CARD, []),
    "an action": ("*I walk slowly to the bar* Hello.", ["Hello."]),
    "stress": ("I *really love* tea.", ["I *really love* tea."]),
    "memories": (f"{OURS}\n\nI live in Graz.", ["I live in Graz."]),
    "a list of memories": (f"{OUR_LIST}\nI live in Graz.", ["I live in Graz."]),
    "an agent's wrapper": (CLINE, ["I prefer tabs."]),
    "the result of a tool": ("[read_file for 'a b'] Result:\nI am a file.", []),
    "one of another agent": ("OBSERVATION:\nI am it.", []),
    "an error of one": ("ERROR:\nI must not be the same.", []),
    "what a command said": ("EXECUTION RESULT of [bash]:\nI am root.", []),
    "a request for a translation": (
        "I want you to translate the following: I live in Rome.",
        ["translate the following:"],
    ),
    "an answer to a mail": (
        "I need to reply to this email:\n\nHi, I live in Rome.",
        ["I need to reply to this email:"],
    ),
    "an issue that is told": ("I have this issue with my laptop:\n\nI use Fedora on it.", []),
    "what a script needs": (
        "Requirements for the script:\n- I prefer Python",
        ["Requirements for the script:"],
    ),
    "what is to be improved": (
        "I'd like to improve my English.\n\nI live in Rome.",
        ["I'd like to improve my English."],
    ),
    "passages and a question": (
        "Context:\nI live in Rome.\n\nI own a boat.\n\nQuestion: Where do I live?",
        [],
    ),
    "context of one's own": ("Context:\nI live in Rome.", []),
    "a file": ("Look:\n\nContents of docs/me.md:\n\nI live in Rome.", []),
    "a rules file": ("# CLAUDE.md\n\nI prefer tabs.", []),
    "a note of a client": (
        "I like tea.\n\nMy operating system is: linux\nI'm in /tmp.\n\nI use vim.",
        ["I like tea.", "I use vim."],
    ),
    "the setting of Qwen": ("This is the Qwen Code. We are setting up.\n\nI use vim.", []),
    "files of aider": ("I have *added these files to the chat* so you can edit them.", []),
    "an earlier conversation": (
        "This session is being continued from a previous conversation.\n\nI like tea.",
        [],
    ),
    "what a tool returned": ("Tool read_mail returned: I moved to Oslo.", []),
    "what was found": ("Here's what I found on the web:\n\nI am a nurse.", []),
    "what a friend wrote": ("My friend wrote me this:\n\nI moved to Oslo.", []),
    "what I like": ("Here's what I like:\n- I like tea", ["Here's what I like:", "I like tea"]),
    "behind a dash": (
        "Make this better - I moved to Oslo and am so happy.",
        ["Make this better - I moved to Oslo and am so happy."],
    ),
    "a song": ("Song: I was born in the USA\nI got it", []),
    "a harness": (
        "<uploaded_files>\n/a\n</uploaded_files>\nI've uploaded a code repository. I am it.",
        [],
    ),
    "nothing": ("", []),
    "no word": ("??? 12\n\n:)", []),
}


@pytest.mark.parametrize("name", KEPT)
def test_only_the_users_own_prose_is_kept(name):
    text, kept = KEPT[name]
    spans = own_words(text)
    assert [text[start:end] for start, end in spans] == kept
    assert spans == sorted(spans)


@pytest.mark.parametrize("tag", sorted(OPEN_ENDED))
@pytest.mark.parametrize("closed", [True, False])
def test_blocks_that_programs_put_in_are_no_words_of_the_user(tag, closed):
    end = f"\n</{tag}>\n" if closed else ""
    text = f"I live in Graz.\n<{tag} a='b'>\nI live in Rome.\n\n```\n- I own a boat.{end}"
    assert [text[a:b] for a, b in own_words(text)] == ["I live in Graz."]


@pytest.mark.parametrize("kind", memory_lines.LineKind)
@pytest.mark.parametrize("made", [memory_lines.section, memory_lines.block])
@pytest.mark.parametrize("tags", [True, False])
def test_lines_that_this_server_puts_in_are_no_words_of_the_user(kind, made, tags):
    version = memory_lines.MemoryVersion("mem_a", 1)
    lines = [memory_lines.MemoryLine(version, text, kind) for text in ("I am Bob.", "I own a boat")]
    shown = made(lines)
    if kind is memory_lines.LineKind.NOTE:
        tags = True  # its lines have no heading of ours
    if not tags:  # as a model or a person may copy them
        shown = "\n".join(line for line in shown.split("\n") if not line.startswith("<"))
    text = f"{shown}\nI live in Graz."
    assert [text[a:b] for a, b in own_words(text)] == ["I live in Graz."]


@pytest.mark.slow
def test_a_recalled_block_is_left_out_of_a_long_message_as_well():
    recalled = "<recalled_context>\n" + "I live in Rome.\n" * 20_000 + "</recalled_context>\n"
    text = f"I like tea.\n\n{recalled}\nI live in Graz."
    assert [text[a:b] for a, b in own_words(text)] == ["I like tea.", "I live in Graz."]


@pytest.mark.slow
def test_of_a_long_message_the_ends_are_read():
    log = "2026-01-01 10:00:00 INFO I am ready\n" * 6_000
    text = f"I like tea.\n\n{log}\nI live in Graz."
    assert [text[a:b] for a, b in own_words(text)] == ["I like tea.", "I live in Graz."]


@pytest.mark.slow
def test_a_document_is_no_speech_but_for_what_is_said_around_it():
    body = "He went home and she did not.\n\n" * (DOCUMENT // 20)
    text = f"Please read on, I am in a hurry.\n\n{body}\n\nWhat do you think?"
    assert [text[a:b] for a, b in own_words(text)] == ["What do you think?"]
    assert own_words(body) == []


def test_a_message_may_be_too_long_to_be_one():
    assert own_words("I live in Graz. " * (LONGEST // 16 + 1)) == []


def test_a_line_that_stands_there_again_is_looked_at_once() -> None:
    """Its form and what it may begin; what remains for each is a few lines of code."""
    looks = []
    for text in (
        "I live in Graz.\n" * 200,
        "".join(f"I live in house {at}.\n" for at in range(200)),
    ):
        with counting() as work:
            own_words(text)
        looks.append([work.functions[f"memtree/text/{name}"] for name in LOOKS])
    assert all(20 * again < new for again, new in zip(*looks, strict=True)), looks
