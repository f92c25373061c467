"""Standing context of the first user message: what is carried when that message is folded."""

from dataclasses import replace

import pytest

from memtree.conversation.history import read
from memtree.conversation.message import Message, Volatile
from memtree.conversation.preamble import NONE, preamble
from memtree.text import tokens

RULES = "<system-reminder>\nAlways use tabs.\n</system-reminder>"
STATUS = "<system-reminder>On branch main</system-reminder>"
AGENTS = "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nUse tabs\n</INSTRUCTIONS>"
CODEX = "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>"
DETAILS = "<environment_details>12:00</environment_details>"


def history(*contents, first="user"):
    roles = [first] + ["user"] * len(contents)
    posted = [Message.of({"role": "system", "content": "S"})]
    posted += [Message.of({"role": r, "content": c}) for r, c in zip(roles, contents, strict=False)]
    posted.append(Message.of({"role": "assistant", "content": "Well."}))
    return read("t", posted, Volatile())


def tagged(posted, *tags):
    return replace(posted, volatile=Volatile(carried=tags))


def text(value):
    return {"type": "text", "text": value}


@pytest.mark.parametrize(
    ("content", "carried"),
    [
        (f"{RULES}\nDo it.", RULES),
        (f"{RULES}\n{STATUS}\n\nDo it.", f"{RULES}\n\n{STATUS}"),
        (f"  {AGENTS}\n{CODEX} Go.", f"{AGENTS}\n\n{CODEX}"),
        (f"{DETAILS}{RULES}Do it.{STATUS}", RULES),
        (f"Do it.\n{RULES}", ""),
        ("<system-reminder>never closed. Do it.", ""),
        ("<INSTRUCTIONS>mine</INSTRUCTIONS> Do it.", ""),
        (DETAILS, ""),
        ("", ""),
        (None, ""),
    ],
)
def test_blocks_before_the_first_other_text_of_a_string(content, carried):
    found = preamble(history(content))
    assert (found.text, found.parts) == (carried, ())
    assert found.tokens == tokens.count(carried)
    assert bool(found) == bool(carried)


def test_parts_that_hold_nothing_else():
    image = {"type": "image_url", "image_url": {}}
    parts = [RULES, "Do it.", f"{STATUS}\n", DETAILS, f"{STATUS} now"]
    found = preamble(history([*map(text, parts), image]))
    assert found.parts == ((1, 0), (1, 2))
    assert found.text == ""


def test_messages_that_hold_nothing_but_blocks_are_passed_over():
    assert preamble(history([text(AGENTS), text(CODEX)], [text(RULES), text("Go.")], [text(STATUS)])
                    ).parts == ((1, 0), (1, 1), (2, 0))  # fmt: skip
    assert preamble(history(AGENTS, f"{CODEX}\nGo.", RULES)).text == f"{AGENTS}\n\n{CODEX}"
    assert preamble(history(AGENTS, [text(CODEX)])).text == AGENTS


def test_the_first_message_of_the_user_may_come_later():
    assert preamble(history("Hello!", f"{RULES} Go.", first="assistant")).text == RULES


def test_only_folded_messages_are_read():
    posted = history(AGENTS, f"{CODEX}\nGo.")
    assert preamble(posted, end=1).text == AGENTS
    assert preamble(posted, end=0) == NONE
    assert preamble(posted, start=1).text == CODEX


def test_tags_are_a_setting():
    posted = history(f"{RULES}{CODEX}{DETAILS}Go.")
    assert preamble(tagged(posted, "environment_details")).text == DETAILS
    assert preamble(tagged(posted)) == NONE


def test_a_changed_block_changes_no_address():
    assert history(f"{RULES} Go.").addresses == history(f"{STATUS} Go.").addresses
    assert history(f"{AGENTS} Go.").addresses == history(" Go.").addresses


def test_a_history_without_a_user():
    posted = [Message.of({"role": "assistant", "content": RULES})]
    assert preamble(read("t", posted, Volatile())) == NONE
