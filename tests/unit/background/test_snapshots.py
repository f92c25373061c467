from __future__ import annotations

from typing import Any

import pytest

from memtree.background.snapshots import MOST_TOKENS, snapshot_text, windows
from memtree.conversation import history
from memtree.conversation.history import History
from memtree.conversation.message import Message, Volatile
from memtree.text import memory_lines, tokens
from tests.made.shown_lines import lines_of

KEY = "sk-" + "Zx8Qw3Lm9Tn4Vb7Rk2Pd6Hs1Jf5Gc0Ya"
COMPACTION = (
    "Summarize our conversation so far. Another agent will continue from your summary. "
    "Reply with the summary only."
)


def read(*messages: dict[str, Any]) -> History:
    return history.read("t", [Message.of(message) for message in messages], Volatile())


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str = "Sure, done.") -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def tool_round(result: str) -> list[dict[str, Any]]:
    call = {"id": "c", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": result},
    ]


def talk(count: int) -> list[dict[str, Any]]:
    texts = (f"My sister Ana moved to town number {at} this week." for at in range(count))
    return [message for text in texts for message in (user(text), answer())]


def spans(told: History) -> list[tuple[int, int, bool]]:
    return [(window.start, window.end, window.answered) for window in windows(told)]


def test_every_fifth_message_of_the_user_ends_a_window():
    assert windows(read(*talk(4))) == []
    assert spans(read(*talk(5)[:-1])) == [(0, 9, False)]
    assert spans(read(*talk(5))) == [(0, 10, True)]
    assert spans(read(*talk(9))) == [(0, 10, True)]
    assert spans(read(*talk(11))) == [(0, 10, True), (10, 20, True)]


def test_the_key_is_the_same_before_and_behind_the_answer_and_on_branches():
    asked, answered = read(*talk(5)[:-1]), read(*talk(5))
    branch = read(*talk(5)[:-1], answer("Something else."), user("And now?"))
    keys = {windows(told)[0].key for told in (asked, answered, branch)}
    assert keys == {asked.addresses[9]}
    other = talk(5)
    other[2] = user("My brother moved to town.")
    assert windows(read(*other))[0].key not in keys


def test_a_window_is_open_while_tools_are_at_work():
    begun = [*talk(5)[:-1], *tool_round("ok")]
    assert spans(read(*begun)) == [(0, 11, False)]
    assert spans(read(*begun, answer())) == [(0, 12, True)]
    assert spans(read(*begun, answer(), user("Thanks"))) == [(0, 12, True)]


@pytest.mark.parametrize(
    "text",
    [
        COMPACTION,
        "<system-reminder>It is Monday.</system-reminder>",
        "[read_file for 'a.py'] Result:\nI am a file",
        " ",
    ],
)
def test_what_no_person_said_is_not_counted(text):
    told = [*talk(4), user(text), answer(), user("I like tea."), answer()]
    assert spans(read(*told)) == [(0, 12, True)]
    assert spans(read(*told[:-2])) == []


def test_results_of_tools_are_no_messages_of_the_user():
    told = [*talk(4), *(message for _ in range(9) for message in tool_round("ok"))]
    assert windows(read(*told)) == []


def test_a_snapshot_tells_what_was_said_in_its_window_and_nothing_else():
    told = read(
        user("I want to move our shop from Leeds to York in spring."),
        answer("The lease in York begins on 1 March."),
        user("We decided to keep Ana Petrova as the manager."),
        answer(),
        user("Another matter is the Oslo branch."),
    )
    text = snapshot_text(told, 0, 4)
    assert "York" in text
    assert "Ana Petrova" in text
    assert "Oslo" not in text
    assert "\n" not in text


def test_a_snapshot_has_at_most_200_tokens_and_no_code():
    long = "The harbour of Bergen has number {} in our list of visited places, said Ana Petrova. "
    code = "```python\nfor value in values:\n    print(value_of_this_line)\n```\n"
    many = [user(code + "".join(long.format(at * 7 + i) for i in range(40))) for at in range(30)]
    text = snapshot_text(read(*many), 0, 30)
    assert 20 < tokens.count(text) <= MOST_TOKENS
    assert "print(" not in text


def test_secrets_and_what_this_server_put_in_do_not_get_into_a_snapshot():
    said = f"The key of our deployment is {KEY} and it is called Falcon."
    ours = memory_lines.block(lines_of(["Ana lives in Reykjavik (fact)"]))
    for filler in ("", "Nothing happened in the harbour. " * 181):  # over the end of what is read
        text = snapshot_text(read(user(f"{ours}\n\n{filler}{said}"), answer()), 0, 2)
        assert text
        assert KEY[:12] not in text
        assert "Reykjavik" not in text


def test_nothing_said_gives_nothing():
    assert snapshot_text(read(user("hi"), answer()), 1, 1) == ""
    assert snapshot_text(read(user(" ")), 0, 1) == ""
