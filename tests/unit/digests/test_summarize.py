"""Check what summaries keep, drop and promise, on small texts of every kind."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest
import toktok
from hypothesis import event, given
from hypothesis import strategies as st

from memtree.digests.clause import SourcePassage
from memtree.digests.summarize import (
    READ_AT_ALL,
    READ_WHOLE,
    Extract,
    anchors,
    leaf_summary,
    node_summary,
)
from memtree.text.rule_sentences import standing_rules

BODY_CAPS = {0: 75, 1: 120, 2: 160, 3: 200, 4: 300}


def tokens(text):
    return toktok.batch_count([text], "o200k_base", 1)[0]


def user(text):
    return SourcePassage("user", text, "text")


def assistant(text):
    return SourcePassage("assistant", text, "text")


def test_a_summary_says_who_of_several_people_speaks():
    rows = [("user", "I cannot do October, since my daughter is born in Lisbon then.", "Ben"),
            ("assistant", "The hotel Miramar has 40 rooms from 12 November.", "Guide"),
            ("user", "Please hold them, I will pay the deposit of 250 euros.", "Anna"),
            ("assistant", "I hold them until Friday 14 November.", "")]  # fmt: skip
    leaves = [
        leaf_summary([SourcePassage(role, text, "text", name=name) for role, text, name in part])
        for part in (rows, rows[:1], rows[2:3])
    ]
    for body in (leaves[0].body, node_summary(leaves[:1], 1).body):
        assert "user (Ben): I cannot do October" in body
        assert "assistant (Guide): The hotel Miramar" in body
        assert "user (Anna): Please hold them" in body
        assert "assistant: I hold them" in body
    assert leaves[0].headline.startswith(("Ben: ", "Anna: "))
    assert ": " not in leaves[1].headline + leaves[2].headline  # one alone needs no name


def whole(extract):
    return " ".join((extract.headline, extract.body, *extract.anchors))


def check(extract, level=0):
    """The promises that hold for every summary."""
    assert extract.headline.strip()
    assert tokens(extract.headline) <= 18
    assert tokens(extract.body) <= BODY_CAPS[level]
    assert len(extract.anchors) <= (12, 16, 20, 24, 24)[level]
    assert len(set(extract.anchors)) == len(extract.anchors)
    assert not set("\n\r\x0b\x0c\x85\u2028\u2029") & set(extract.headline + extract.body)
    return extract


CODING = [
    user("Please make the importer skip rows without a price. Here is what I have so far."),
    assistant(
        "Certainly! Let me look at the file first.\n\nI'll read `shop/importer.py` and its test."
    ),
    SourcePassage("assistant", '\nread_file {"path": "shop/importer.py"}', "call"),
    SourcePassage(
        "tool", "def parse_row(row):\n    return Row(row[0], Decimal(row[1]))\n" * 9, "result"
    ),
    assistant(
        "We decided to skip such rows instead of raising, because the feed of Acme is dirty."
    ),
    SourcePassage("assistant", '\nbash {"command": "pytest tests/test_importer.py"}', "call"),
    SourcePassage(
        "tool",
        "collected 14 items\n"
        + "tests/test_importer.py ....\n" * 5
        + "E   decimal.InvalidOperation\n"
        "shop/importer.py:41: InvalidOperationError: price of row 217 is empty\n"
        "1 failed, 13 passed",
        "result",
    ),
]


def test_a_coding_leaf_keeps_ask_decision_error_and_files():
    found = check(leaf_summary(CODING))
    assert found.headline.startswith("make the importer skip rows without a price")
    assert "user: " in found.body
    assert "skip such rows instead of raising" in found.body
    assert "InvalidOperationError" in whole(found)
    assert "shop/importer.py" in found.anchors
    assert "Certainly" not in whole(found)


def test_a_call_is_told_with_its_result():
    found = check(leaf_summary(CODING[5:]))
    assert "`pytest tests/test_importer.py`: failed (1 failed, 13 passed)" in found.body
    assert "InvalidOperationError" in found.body


def test_parallel_calls_meet_their_own_results():
    found = leaf_summary(
        [
            SourcePassage("assistant", '\nrun {"command": "make a"}', "call"),
            SourcePassage("assistant", '\nrun {"command": "make b"}', "call"),
            SourcePassage("tool", "alpha beta gamma delta", "result"),
            SourcePassage("tool", "make: *** [b] Error 2", "result"),
        ]
    )
    assert "`make a`: ran: `alpha beta gamma delta`" in found.body
    assert "`make b`: failed" in found.body


def test_a_standing_rule_is_kept_word_for_word():
    rule = "Always answer in British English when I ask about spelling or style."
    found = check(leaf_summary([user(f"Hi! {rule} Thanks."), *CODING]))
    assert rule in found.body
    parent = check(node_summary([found, leaf_summary(CODING), leaf_summary(CODING)], 1), 1)
    assert rule in parent.body


def test_repeated_log_lines_become_one():
    log = "".join(f"12:00:{s:02} worker {s} failed to connect to 10.0.0.{s}\n" for s in range(40))
    found = check(leaf_summary([SourcePassage("tool", log, "result")]))
    assert found.body.count("failed to connect") == 1
    assert "x24" in found.body or "x40" in found.body


def test_a_chat_keeps_facts_about_people():
    found = check(
        leaf_summary(
            [
                user("Hey Ana! How are you? Long time no see!"),
                assistant(
                    "Hi Tom! I'm great. My sister Lucia got married in Lisbon last Saturday."
                ),
                user("Wow, that's amazing! Congrats to her!"),
                assistant("Thanks! How about you?"),
                user("I adopted a dog named Biscuit two weeks ago and joined Nordwind as a baker."),
            ]
        )
    )
    for fact in ("Lucia", "Lisbon", "Biscuit", "Nordwind"):
        assert fact in whole(found)
    assert "Long time no see" not in found.body


def test_fiction_keeps_names_and_numbers():
    found = check(
        leaf_summary(
            [
                user("Write the next scene: Captain Ilse Marlow finds the 12 missing letters."),
                assistant(
                    "The rain had not stopped. In the cellar of the Grey Heron inn, Captain Marlow "
                    "counted 12 letters, each sealed by Duke Orsino. She thought of the harbour. "
                    '"Burn them," said Orsino\'s steward, but Marlow refused because her brother '
                    "had signed the last one."
                ),
            ]
        )
    )
    for fact in ("Marlow", "12", "Orsino"):
        assert fact in whole(found)


def test_json_and_code_do_not_drown_the_words():
    found = check(
        leaf_summary(
            [
                SourcePassage(
                    "tool", '{"id": 1, "items": [' + '{"a": 1, "b": [2, 3]},' * 80 + "]}", "result"
                ),
                SourcePassage(
                    "assistant", "```python\ndef total(items):\n    return sum(items)\n```", "code"
                ),
                user("The total must be rounded to cents."),
            ]
        )
    )
    assert "The total must be rounded to cents" in found.body
    assert "def total" in found.body


def test_the_path_before_a_block_goes_with_it():
    found = leaf_summary(
        [
            assistant("I moved the spinner.\n\nweb/spinner.ts\n"),
            SourcePassage("assistant", "```ts\nexport class Spinner {}\n```", "code"),
        ]
    )
    assert "web/spinner.ts: class Spinner" in found.body


def test_languages_without_spaces_and_other_scripts():
    chinese = (
        "我们决定把数据库从MySQL改为PostgreSQL，因为需要支持JSON查询。" * 8
        + "截止日期是2024年5月3日。"
    )
    found = check(leaf_summary([user(chinese)]))
    assert "PostgreSQL" in whole(found)
    assert "2024年5月3日" in found.anchors
    japanese = (
        "明日の会議は午後三時に変更になりました。田中さんはプロジェクトを辞めることに決めました。"
        * 6
    )
    assert "変更" in check(leaf_summary([assistant(japanese)])).body
    russian = "Мы решили перенести запуск на 12 июня, потому что Ирина заболела. Привет! " * 4
    assert "решили перенести запуск" in check(leaf_summary([user(russian)])).body


def test_markdown_noise_is_gone():
    found = leaf_summary(
        [assistant("## **Result**\n\n- **Cache**: we `fixed` the [bug](http://x.y) in v2.1")]
    )
    assert not set("*`#[]") & set(found.headline + found.body)


@pytest.mark.parametrize(
    ("sources", "headline"),
    [
        ([], "messages without text"),
        ([user("")], "user message without text"),
        ([user(" \n\t ")], "user message without text"),
        ([SourcePassage("tool", "", "result")], "tool result without text"),
        ([user(""), assistant("")], "messages without text"),
        ([SourcePassage("tool", "--- ...\n---", "result")], "signs alone: --- ... ---"),
    ],
)
def test_what_has_no_words_is_told_as_it_is(sources, headline):
    found = leaf_summary(sources)
    assert found == Extract(headline, "", ())
    assert node_summary([found], 2) == found


def test_a_node_without_children_has_a_headline():
    assert node_summary([], 1) == Extract("messages without text", "", ())


def test_secrets_are_masked_everywhere():
    key = "ghp_" + "a1B2c3" * 6
    found = leaf_summary(
        [
            user(f"Deploy with {key} because the old token expired."),
            SourcePassage("tool", f"error: {key} was denied", "result"),
            SourcePassage("assistant", f'\nbash {{"command": "login {key}"}}', "call"),
        ]
    )
    assert key not in whole(found)
    assert "[secret]" in found.body


def test_a_node_speaks_for_all_its_children():
    topics = ("parser", "cache", "login", "billing", "search", "export")
    children = [
        leaf_summary(
            [user(f"Please fix the {topic} bug in {topic}.py"), assistant(f"Fixed {topic}.py.")]
        )
        for topic in topics
    ]
    found = check(node_summary(children, 1), 1)
    for topic in topics:
        assert f"{topic}.py" in found.anchors
        assert topic in found.body


def test_summaries_are_deterministic():
    assert leaf_summary(CODING) == leaf_summary(list(CODING))
    children = [leaf_summary(CODING)] * 3
    assert node_summary(children, 2) == node_summary(list(children), 2)


def test_anchors_name_errors_paths_dates_and_identifiers():
    text = (
        "On March 5, 2024 `fetch_all` in src/net/client.py raised TimeoutError after 30 seconds; "
        "OrderService v2.3.1 lost $4,200 (12%) for Maria Lopez. Use --retry-max, see PROJ-481."
    )
    found = anchors(text, 20)
    for word in (
        "March 5, 2024", "fetch_all", "src/net/client.py", "TimeoutError", "30 seconds",
        "OrderService", "$4,200", "12%", "Maria Lopez", "--retry-max", "PROJ-481",
    ):  # fmt: skip
        assert word in found
    assert found[0] == "TimeoutError"


def test_plain_prose_has_no_anchors():
    assert anchors("There was nothing to see and so we went home again. It was late.") == ()


pieces = st.one_of(
    st.text(max_size=300),
    st.text(alphabet="abc XYZ.,\n`#-_/:;(){}\"'0123456789", max_size=400),
    st.lists(
        st.sampled_from(
            [
                "user: ",
                "assistant: ",
                "; ",
                " -> ",
                "Error: no such file a/b.py",
                "always",
                "决定。",
                "\u2028",
                "Always use tabs.",
                "x" * 300,
                "```",
                "\n",
                '{"command": "ls"}',
                "🧠" * 40,
                "3.5%",
                "Traceback (most recent call last):",
                "password=Zq8vLk2Rm9TxB4wYcN7d ",
            ]
        ),
        max_size=12,
    ).map("".join),
)
sources = st.builds(
    SourcePassage,
    st.sampled_from(["user", "assistant", "tool", "function"]),
    pieces,
    st.sampled_from(["text", "code", "call", "result"]),
)


@pytest.mark.slow
@given(st.lists(sources, max_size=6))
def test_any_leaf_keeps_the_caps(given_sources):
    found = check(leaf_summary(given_sources))
    event("summary" if found.body else "nothing")
    text = "\n".join(one.text for one in given_sources)
    assert "Zq8vLk2Rm9TxB4wYcN7d" not in whole(found) or "password=Zq8v" not in text
    assert all(word in text for word in found.anchors)


@pytest.mark.slow
@given(st.lists(st.lists(sources, max_size=3), max_size=12), st.integers(1, 6))
def test_any_node_keeps_the_caps_and_invents_nothing(leaves, level):
    children = [leaf_summary(one) for one in leaves]
    found = check(node_summary(children, level), min(level, 4))
    assert set(found.anchors) <= {word for child in children for word in child.anchors}


@given(pieces)
def test_anchors_and_rules_lie_in_the_text(text):
    assert all(word in text for word in anchors(text))
    for start, end in standing_rules(text):
        assert 0 <= start < end <= len(text)
        assert text[start:end].strip() == text[start:end]


@pytest.mark.slow
def test_scores_are_the_same_in_every_process():
    """Words are looked up in sets, whose order depends on the process; sums must not."""
    script = (
        "import random; from memtree.digests.clauses import _weights, merit;"
        "words = list(_weights());"
        "texts = [' '.join(random.Random(n).sample(words, 7)) for n in range(2000)];"
        "print([merit(text) for text in texts])"
    )
    run = [sys.executable, "-c", script]
    one, other = (
        subprocess.run(
            run, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    )
    assert one == other


def test_far_into_a_message_a_leaf_is_read_by_its_beginning():
    key = "ghp_" + "a1B2c3" * 6
    text = (
        f"The deploy of harbor failed with E4711. {'Nothing. ' * 20} The key is {key}, see E4712."
    )
    text += "\n" + "We decided to move the ledger service to Lisbon, see E4713."
    near = SourcePassage("user", text, "text", start=READ_WHOLE - 1)
    far = replace(near, start=READ_WHOLE)
    assert {"E4711", "E4713"} <= set(leaf_summary([near]).anchors)
    made = leaf_summary([far, replace(far, text="See E4714.", start=far.start + len(text))])
    assert "E4711" in made.body
    assert not {"E4713", "E4714"} & set(made.anchors)
    assert key[:9] not in whole(made)
    assert leaf_summary([near, far]) == leaf_summary([near])
    beyond = replace(near, start=READ_AT_ALL)
    assert leaf_summary([beyond]) == Extract("user message, further text", "", ())
    asked = SourcePassage("user", "See E4714.", "text")
    assert "E4714" in leaf_summary([beyond, asked]).body  # the next message
