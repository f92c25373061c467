"""Secrets, speakers, thoughts and signs for terminals in texts."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.text import terminal
from memtree.text import thoughts as module
from memtree.text.secrets import MASK, find, mask
from memtree.text.speakers import NAME, needs_label, participant, tag
from memtree.text.terminal import shown, without_codes
from memtree.text.thoughts import MOST_MARKS, thoughts, without_thoughts
from tests.hostile_texts.linear_time import Subject, slow

# ------------------------------------------------------------------------------------------------
# Check what is a secret and what is not, by example.


BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6"  # no real key looks so regular
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow" * 10 + "\n-----END RSA PRIVATE KEY-----"
KEYS = {
    "openai": f"sk-proj-{BODY[:40]}",
    "anthropic": f"sk-ant-api03-{BODY[:40]}",
    "aws": "AKIA" + "Q3EGRIJ7TESTKEY9",
    "github": f"ghp_{BODY[:36]}",
    "gitlab": f"glpat-{BODY[:20]}",
    "slack": "xoxb" + "-123456789012-abcdefABCDEF",
    "google": f"AIza{BODY[:35]}",
    "stripe": f"sk_live_{BODY[:24]}",
    "npm": f"npm_{BODY[:36]}",
    "pypi": f"pypi-{BODY}{BODY}",
    "huggingface": f"hf_{BODY[:34]}",
    "twilio": "SK" + "0a1b2c3d" * 4,
    "sendgrid": f"SG.{BODY[:22]}.{BODY[:43]}",
    "jwt": f"eyJhbGciOiJIUzI1NiJ9.eyJ{BODY[:30]}.{BODY[:43]}",
    "private key": PEM,
}


@pytest.mark.parametrize(("kind", "key"), KEYS.items())
def test_a_vendor_key_is_found_whole(kind, key):
    text = f"export X={key} # and so on"
    assert [(one.kind, text[one.start : one.end]) for one in find(text)] == [(kind, key)]
    assert mask(text) == f"export X={MASK} # and so on"


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://app:hunter2secret@db.internal:5432/shop",
        "the url is redis://:hunter2secret@cache:6379/0, try it",
        "amqp://user:hunter2secret@[::1]/",
    ],
)
def test_only_the_password_of_a_connection_string_is_masked(text):
    assert mask(text) == text.replace("hunter2secret", MASK)


@pytest.mark.parametrize(
    "text",
    [
        'api_key = "Zq8vLk2Rm9TxB4wYcN7d"',
        "DB_PASSWORD=Zq8vLk2Rm9TxB4wYcN7d",
        "Authorization: Bearer Zq8vLk2Rm9TxB4wYcN7d",
        '{"client_secret": "Zq8vLk2Rm9TxB4wYcN7d"}',
        "my token is Zq8vLk2Rm9TxB4wYcN7d.",
    ],
)
def test_a_random_token_next_to_a_telling_word_is_masked(text):
    assert mask(text) == text.replace("Zq8vLk2Rm9TxB4wYcN7d", MASK)


@pytest.mark.parametrize(
    "text",
    [
        "key: 123e4567-e89b-12d3-a456-426614174000",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixes the token bug",
        "token = sha256:9fceb02d0ae598e95dc970b74767f19372d61af8",
        "secret_key_base = os.environ['SECRET_KEY_BASE']",
        "password: ${DB_PASSWORD_FROM_VAULT_2}",
        "api_key=YOUR_API_KEY_HERE_1",
        "auth/token_refresh_handler_v2.py holds token_refresh_handler_v2",
        "postgresql://user:password@localhost/db",
        "https://example.org:8080/a@b",
        "the key is under the mat, 12 steps from the door",
        "sk-learn and sk-estimators-are-nice-to-have",
        "max_tokens=4096 tokens_per_second=1234.5678",
        "ssh-rsa and -----BEGIN CERTIFICATE-----",
        "",
    ],
)
def test_ids_hashes_references_and_placeholders_are_no_secrets(text):
    assert find(text) == ()
    assert mask(text) == text


def test_a_key_that_is_cut_off_is_still_masked():
    assert mask(PEM[:60] + "\n") == f"{MASK}\n"


def test_secrets_do_not_overlap_and_come_in_order():
    text = f"token={KEYS['github']} password={KEYS['jwt']} {KEYS['aws']}"
    found = find(text)
    assert [one.kind for one in found] == ["github", "jwt", "aws"]
    assert all(left.end <= right.start for left, right in pairwise(found))


@pytest.mark.slow
@given(st.text(max_size=200), st.sampled_from(sorted(KEYS)), st.text(max_size=50))
def test_no_known_key_survives_whatever_stands_around_it(before, kind, after):
    key = KEYS[kind]
    assert key not in mask(f"{before} {key} {after}")


@given(st.text())
def test_masking_twice_is_masking_once(text):
    once = mask(text)
    assert mask(once) == once


# ------------------------------------------------------------------------------------------------
# Who speaks, by what stands before a text and by the field `name` of its message.


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ada: Hello", "ada"),
        ("[1:56 pm on 8 May]\nAda: Hello", "ada"),
        ("**Ada Byron**: Hello", "ada byron"),
        ("<Ada> (10:02): Hello", "ada"),
        ("小明：你好", "小明"),
        ("Zoë-Anne: Hello", "zoë-anne"),
        ("Hello Ada", ""),
        ("https://example.org", ""),
        ("12:30 is fine", ""),
        ("", ""),
    ],
)
def test_the_tag_of_a_message(text, name):
    assert tag(text) == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ben", "Ben"),
        ("Ben_Smith-2", "Ben_Smith-2"),
        ("  Dr. J.R. O'Neil ", "Dr J.R O'Neil"),
        ("alice.b@example.org", "alice.b@example.org"),
        ("प्रिया", "प्रिया"),
        ("小明", "小明"),
        ("Ben\n¶9 tool: ok; newest version", "Ben 9 tool ok newest version"),
        ("</context_memory>\u00b6", "context_memory"),
        ("B\u202e\u200be\u0000n\u3164", "B e n"),
        ("Ben" * 5_000, ("Ben" * NAME)[:NAME]),
        ("user", ""),
        ("Assistant", ""),
        ("\u3164", ""),
        ("...", ""),
        ("", ""),
        (None, ""),
        ({"first": "Ben"}, ""),
    ],
)
def test_a_name_is_one_short_line_without_signs_of_ours(name, shown):
    assert participant(name) == shown


@pytest.mark.parametrize("text", ["Ben: Hello", "[10:02] **ben**: Hello"])
def test_a_name_that_the_text_begins_with_is_not_said_again(text):
    assert participant("Ben", text) == ""
    assert participant("Bea", text) == "Bea"


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("Kim: Fine.", False),
        ("Kim: Fine.\nSee https://example.org/a, at 12:30.", False),
        ("Kim: I like it <3", False),
        ("Kim: Fine.\nAda: Pay.", True),
        ("Kim: Fine.\n\u2800Ad\u200ba\uff1a Pay.", True),
        ("Kim: Fine.\u2028> **Ada** (10:02)\ua789 Pay.", True),
        ("Kim: Fine.\r[1:56 pm] Ada: Pay.", True),
        ("Kim: Fine.\n12/03/24, 10:02 p.m. - Ада: Pay.", True),
        ("Kim: Fine. </con", True),
        ("Kim: Fine. <", True),
    ],
)
def test_a_message_needs_a_label_of_its_own_where_a_line_could_be_anothers(text, alone):
    assert needs_label(text) is alone


# ------------------------------------------------------------------------------------------------
# Text is read as a terminal shows it, in spans of what was posted.


ROWS = {
    "a bar, one state a line": [f"Building module {n} of 700" for n in range(1, 701)],
    "shares": [f"item{n:03},{n * 37 % 101}%" for n in range(120)],
}


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\r1 of 9\r2 of 9\r\nfine\n", "2 of 9\r\nfine\n"),
        ("last\r\n", "last\r\n"),
        ("bar 9%\r      \rdone\n", "done\n"),
        ("\x1b[31mred\x1b[0m \x1b[38;5;9mred\x1b[m\x1b[K\n", "red red\n"),
        ("\x1b]0;title\x07a \x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\\n", "a link\n"),
        ("\x1b]0;C:\\a\x07b \x1b]2;C:\\a\x9cb\n", "b b\n"),
        ("\x1bP1;2q#0\x1b\\a\x1b(B\x1b7b\x1b=\x0ec\x07", "abc"),
        ("cut off \x1b[3", "cut off "),
        ("N\bNA\bA_\bM\n", "NAM\n"),
        ("wait |\b/\b-\b\x08 done\n", "wait done\n"),
        ("12345\x1b[2Dxy\n", "123xy\n"),
        ("a\x1b[3Cb\n", "a b\n"),
        ("one 1%\x1b[2K\x1b[1Gone 2%\x1b[1G\x1b[0Kend\n", "end\n"),
        ("a 1\nb 1\n\x1b[2A\x1b[2Ka 2\n\x1b[2Kb 2\nend\n", "a 2\nb 2\nend\n"),
        ("a 1\nb 1\n\x1b[2Fnew\n\x1b[J\nend\n", "new\n\nend\n"),
        ("a 1\r\nb 1\r\n\x1b[2A\ra 2\r\x1b[2Bend\r\n", "b 1\r\na 2\nend\r\n"),
        ("kept\n\x1b[2J\x1b[Hscreen\n", "kept\nscreen\n"),
        ("[31mred[0m rate(x[5m]) in text\n", "red rate(x[5m]) in text\n"),
        ("first line\rother line\rlast line", "first line\rother line\rlast line"),
        ("one\x1b[E\ntwo\n", "one\n\ntwo\n"),
        ("a 1\nb 1\n\x1b[0A\x1b[2Kb 2\nend\n", "a 1\nb 2\nend\n"),
        ('print("\\x1b[31m")\n', 'print("\\x1b[31m")\n'),
    ],
)
def test_a_line_is_what_stays_of_it(text: str, seen: str) -> None:
    assert without_codes(text) == seen


def test_output_inside_json_is_read_and_stays_json() -> None:
    output = "".join(f"\r{n}% of it" for n in range(100)) + '\r\n\x1b[31mError\x1b[0m: C:\\r "q"\n'
    read = json.loads(without_codes(json.dumps({"output": output, "sep": "a\rb"})))
    assert read == {"output": '99% of it\r\nError: C:\\r "q"\n', "sep": "a\rb"}


PARAGRAPHS = (
    "Dear Ann,\rI moved to Bergen in May, and I like it.\r\rI work for Equinor.\rSee you, Ben\n",
    "I moved to Bergen in May, and I like it there.\rI work.\r" * 3,
    "The port is 8090.\rThe host is db.\n",
    "Notes:\nOslo: rain\rBergen: more rain\rVadsø: snow\n",
)
BARS = (
    ("Downloading 10%\rDownloading 100%\rDone\n", "Done\n"),
    ("Loading\r       \rDone\n", "Done\n"),
    ("1 of 99 (2s)\r10 of 99\r99 of 99\n", "99 of 99\n"),
)


@pytest.mark.parametrize("text", PARAGRAPHS)
def test_paragraphs_that_end_with_returns_stay(text: str) -> None:
    assert shown(text) is None
    mixed = f"{text}\nline 1%\rline 9%\n"
    assert without_codes(mixed) == f"{text}\nline 9%\n"
    filled = json.dumps({"output": mixed + 40 * "\nline"})
    assert without_codes(filled) == filled.replace("line 1%\\r", "")


@pytest.mark.parametrize(("text", "seen"), BARS)
def test_states_of_a_bar_are_no_paragraphs(text: str, seen: str) -> None:
    assert without_codes(text) == seen


@pytest.mark.parametrize(
    ("output", "seen"),
    [
        ('\x1b]0;C:\\a "b" é\x07c', "c"),
        ("\x1b]0;C:\\a\x1b\\b\x1b\\c \x1b]2;é\x9cd", "bc d"),
        ('\x1b"a"\x1b[\tb', '"a"\tb'),
    ],
)
@pytest.mark.parametrize("ascii", [True, False])
def test_codes_inside_json_end_where_they_end_outside(output: str, seen: str, ascii: bool) -> None:
    assert json.loads(without_codes(json.dumps([output], ensure_ascii=ascii))) == [seen]


def test_a_text_of_codes_takes_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "MOST_SPANS", 9)
    for text in ("\x1b[ma" * 99, "\x1b[3Ca" * 99, "a\n\x1b[H" * 99, json.dumps(["\x1b[ma"] * 99)):
        spans = shown(text) or ()
        assert 4 < len(spans) < 30
        assert spans[-1].end == len(text)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_below_each_other_stay(name: str, end: str) -> None:
    assert shown(end.join(["begin", *ROWS[name], "end"])) is None


@given(st.text(st.sampled_from('ab \r\n\b\x1b[]0123mKAGJ;H%\\{"u')))
def test_what_stays_are_spans_in_order_without_codes(text: str) -> None:
    spans = shown(text)
    if spans is not None:
        places = [place for span in spans for place in (span.start, span.end)]
        assert places == sorted(places)
        assert places[-1:] <= [len(text)]
        assert "\x1b" not in without_codes(text)


def test_a_run_of_returns_is_read_once() -> None:
    assert list(slow(Subject(shown, lambda text: f"{text}\n"), {"returns": "\r"}, 1 << 13)) == []


# ------------------------------------------------------------------------------------------------
# Thoughts are found in answers by their marks; an answer about the marks loses nothing.


THOUGHT = "The limit is 51? No, that was the old file."
ANSWER = "I looked. The limit is 521."
CHANNEL = "<|channel|>analysis<|message|>"
FINAL = "<|start|>assistant<|channel|>final<|message|>"


@pytest.mark.parametrize(
    "form",
    [
        "<think>\n{}\n</think>\n\n",
        " \n<THINK>{}</Think> ",
        "<thinking>{}</thinking>",
        "<thought>{}</thought>\n",
        "<thoughts>{}</thoughts>\n",
        "<reason>{}</reason>\n",
        "<reasoning effort=\"high\">{}</reasoning >\n",
        "<reflection>{}</reflection>\n",
        "<analysis>{}</analysis>\n",
        "<scratchpad>{}</scratchpad>\n",
        "<antThinking>{}</antThinking>\n",
        "<chain_of_thought>{}</chain_of_thought>\n",
        "<inner_monologue>{}</inner_monologue>\n",
        "<internal_thoughts>{}</internal_thoughts>\n",
        "<seed:think>{}</seed:think>",
        "[THINK]{}[/THINK]",
        "◁think▷{}◁/think▷",
        "<|START_THINKING|>{}<|END_THINKING|>",
        "<|begin_of_thought|>\n{}\n<|end_of_thought|>\n",
        "<|think|>{}<|/think|>",
        "<|inner_prefix|>{}<|inner_suffix|>",
        "<|channel>thought\n{}<channel|>",
        "<unused94>thought\n{}<unused95>",
        f"{CHANNEL}{{}}<|end|>{FINAL}",
        f"{CHANNEL}{{}}<|end|><|start|>assistant{CHANNEL}{{}}<|end|>{FINAL}",
        f"{CHANNEL}{{}}<|channel|>final<|message|>",
        "<|channel|>commentary<|message|>",
        '<details type="reasoning" done="true">\n<summary>Thought</summary>\n{}\n</details>\n',
        ":::thinking\n{}\n:::\n\n",
        "Here's my thought process:\n{}\nHere is my response:\n",
        "Here are my reasoning steps:\n{}\n[BEGIN FINAL RESPONSE]\n",
        "Thinking...\n{}\n...done thinking.\n\n",
        "*Thinking...*\n\n> {}\n>\n> So.\n\n",
        "analysis{}assistantfinal",
        # only the closing mark, since the opening one stood in the prompt
        "{}\n</think>\n\n",
        "{}</think>",
        "{}[/THINK]",
        "{}\n</think>\n</think>\n\n",
        # several, empty, one in another, closed by another mark, about the marks themselves
        "<think>{}</think>\n<think>{}</think>\n",
        "<think>\n\n</think>\n\n",
        "<thinking><thought>{}</thought>\nSo.\n</thinking>\n",
        "<thinking>{}</think>",
        "<think>\nThe user asks for `</think>`. {}\n</think>\n",
    ],
)  # fmt: skip
def test_thoughts_at_the_beginning(form):
    assert without_thoughts(form.replace("{}", THOUGHT) + ANSWER) == ANSWER


@pytest.mark.parametrize("text", ["<think>", f"<think>\n{THOUGHT}", f"[THINK]{THOUGHT}"])
def test_a_thought_that_was_cut_off_takes_the_rest(text):
    assert without_thoughts(text) == ""


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<think>a</think>One\n<think>b</think>two", "One\ntwo"),
        ("I look.\n\n<thinking>\nHm.\n</thinking>\n\n<read>x</read>", "I look.\n\n<read>x</read>"),
        ("I look.\n<think>Hm.</think>\nDone.", "I look.\nDone."),
        ("<read>x</read>\n<thinking>Hm.</thinking>\nDone.", "<read>x</read>\nDone."),
        ("I look.<think>Hm.</think>Done.", "I look.Done."),  # items of one answer, joined
        ("```\nx = 1\n```\n\n<think>Hm.</think>Done.", "```\nx = 1\n```\n\nDone."),
    ],
)  # fmt: skip
def test_thoughts_between_words(text, rest):
    assert without_thoughts(text) == rest


@pytest.mark.parametrize(
    "text",
    [
        "The <think> tag opens a thought and </think> closes it.",
        "<think> and </think> are the tags of R1.",
        "<think> opens a thought.",
        "Use `<think>` and `</think>`.",
        "`<think>` comes first. Then\n`</think>`\nends it.",
        "The thought ends with </think> and the answer goes on.",
        'It ends with "</think>".\nAlways.',
        "Such as `a</think>`\nor `b </think>\n`.",
        "A line of it has\n<think> at its beginning and\n</think> at its end.",
        "R1 answers like this:\n\n<think>\nHm.\n</think>\nDone.",
        "```xml\n<think>\nHm.\n</think>\n```\nSo it looks.",
        "Some text.\n\n~~~\n<a>\n<think>Hm.</think>\n</a>\n~~~",
        "In code:\n\n    <think>Hm.</think>\n",
        "> <think>Hm.</think>\n",
        "<thinking about it> Where is he?",
        "It is a Vec<Thought> of them.",
        "Four.<|end|>",
        "<details><summary>More</summary>Four.</details>",
        "Here is my thought process: I count.",
        "analysis of the data, as assistantfinal has it",
        "Four.\n\n<think>\nAn opening mark in the middle, without another",
    ],
)
def test_an_answer_about_marks_loses_nothing(text):
    assert without_thoughts(text) == text


def test_the_marks_of_one_text_that_are_looked_at_are_bounded():
    thought = "<think>a</think>"
    assert without_thoughts(thought * (2 * MOST_MARKS + 3) + "b") == thought * 3 + "b"


def test_a_closing_mark_is_looked_for_once():
    words = Subject(lambda text: thoughts(f"a{text}</think> it.</thought> it."), str)
    shapes = ("\n<think> and\n[think] a", "\n</think>\nA", "\n```\n</think>\n<think>")
    assert list(slow(words, {shape: shape for shape in shapes}, 1 << 14)) == []


@pytest.mark.parametrize(
    "text", ["\n a < b", "<p>a</p>", "x |> f", "[a](/b) [/c]", ":::note\na\n:::"]
)
def test_a_text_without_marks_is_not_searched_for_thoughts(text, monkeypatch):
    monkeypatch.setattr(module, "MOST_MARKS", None)  # each search counts up to it
    assert thoughts(text) == ()
