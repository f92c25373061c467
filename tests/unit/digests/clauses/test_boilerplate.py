"""Check what recurs in every session is told from what somebody said."""

from __future__ import annotations

import pytest

from memtree.digests.clauses.particular import is_boilerplate, speaker_of, without_stamp


@pytest.mark.parametrize(
    "line",
    [
        "/undo",
        "/add src/app.py",
        "continue",
        "Yes please.",
        "Fix any errors below, if possible.",
        "Tokens: 12,566 sent, 84 received.",
        "Sure, here is the new version:",
        'File "/srv/app.py", line 12, in main',
        "Traceback (most recent call last):",
        "platform linux -- Python 3.12.4",
        "Process exited with code 0",
        "Chunk ID: 48a774",
        "The SEARCH section must exactly match an existing block of lines including all comments",
        "Wall time: 0.0000 seconds",
        "Warning: truncated output (original token count: 10100)",
        "l+…100 tokens truncated…6",
        "続けて",
        "weiter",
    ],
)
def test_commands_prompts_and_banners_say_nothing(line):
    assert is_boilerplate(line)


@pytest.mark.parametrize(
    "line",
    [
        "Undo the last commit, it broke the build",
        "Please use pnpm",
        "The file was updated by Ana in March",
        "Models of the old series were sold",
        "We continue with plan B",
        "The process exited with code 3 after the upgrade",
        "Wall time is what the users see",
    ],
)
def test_what_somebody_said_is_no_boilerplate(line):
    assert not is_boilerplate(line)


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("[1:56 pm on 8 May, 2023] Hey", "Hey"),
        ("[2024-05-01 12:00] Hey", "Hey"),
        ("2024-05-01T12:00:33Z worker failed", "worker failed"),
        ("5/8/23, 1:56 PM - Ann: hello", "Ann: hello"),
        ("[12:30] ", ""),
        ("3.5 times as much", "3.5 times as much"),
        ("[see below] it works", "[see below] it works"),
        ("10:15 the train leaves", "10:15 the train leaves"),
    ],
)
def test_a_time_in_front_is_taken_off(line, rest):
    assert without_stamp(line) == rest


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Ann: hello", "Ann"),
        ("Mary Ann: hi", "Mary Ann"),
        ("田中：こんにちは", "田中"),
        ("so: yes", ""),
    ],
)
def test_a_name_before_what_was_said_is_found(line, name):
    assert speaker_of(line) == name
