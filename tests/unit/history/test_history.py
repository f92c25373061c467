"""Check what a posted list is made of, and what stands for its attachments."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.history import chat_history
from memtree.history.attachments import MOST_TEXTS, attached_texts
from memtree.history.chat_history import describe, read
from memtree.history.conversation_beginning import keys_of, origin, under
from memtree.history.message import Message, Volatile
from memtree.history.placeholders import LOOKED_AT, MOST, NAME, placeholders

# ------------------------------------------------------------------------------------------------
# Check what a posted list is made of: history, system messages, rounds, facts.


def listed(*messages, **options):
    return read("t", [Message.of(one) for one in messages], Volatile(), **options)


USER = {"role": "user", "content": "go"}
DONE = {"role": "assistant", "content": "done"}


def calls(*ids):
    made = [
        {"id": i, "type": "function", "function": {"name": f"f{i}", "arguments": ""}} for i in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(id_):
    return {"role": "tool", "tool_call_id": id_, "content": f"result {id_}"}


def test_system_and_developer_messages_stand_apart():
    system, developer = {"role": "system", "content": "S"}, {"role": "developer", "content": "D"}
    found = listed(system, USER, developer, DONE, count=len)
    assert len(found) == 2
    assert found.posted == (1, 3)
    assert [index for index, _ in found.system] == [0, 2]
    assert found.system_tokens == 2 * (1 + 4)
    assert found.tokens == (2 + 4) + (4 + 4)


def test_a_round_is_a_user_message_or_an_assistant_message_with_all_its_results():
    found = listed(USER, calls("a", "b"), result("b"), result("a"), DONE, USER, USER)
    assert found.rounds == (0, 1, 4, 5, 6)
    assert list(found.round_ends()) == [(0, 1), (1, 4), (4, 5), (5, 6), (6, 7)]


def test_a_system_message_between_call_and_result_does_not_part_them():
    found = listed(USER, calls("a"), {"role": "system", "content": "S"}, result("a"))
    assert found.rounds == (0, 1)


def joined(message):
    return Message(Message.of(message).raw, joined=True)


def test_a_joined_message_has_its_round_but_no_cut_before_it():
    """One posted message may hold the results of calls and words of the user."""
    posted = [USER, calls("a"), result("a"), USER, USER, DONE, USER]
    apart = listed(*posted)
    read_together = [
        joined(one) if at in (3, 4) else Message.of(one) for at, one in enumerate(posted)
    ]
    found = read("t", read_together, Volatile())
    assert apart.cuts == apart.rounds == found.rounds == (0, 1, 3, 4, 5, 6)
    assert found.cuts == (0, 1, 5, 6)
    assert found.addresses == apart.addresses


def test_what_a_program_says_in_the_users_place_is_no_ask():
    reminder = {"role": "user", "content": "<system-reminder>\nBe brief.\n</system-reminder>"}
    one = Message.of(USER)
    messages = [one, Message.of(DONE), joined(USER), joined(reminder), Message.of(reminder)]
    messages.append(Message(one.raw, joined=True, aside=True))
    found = read("t", messages, Volatile())
    assert [found.asks(at) for at in range(6)] == [True, False, True, False, True, False]
    assert messages[-1].role == "user"
    assert messages[-1].unread().aside


def test_the_first_message_is_a_cut_whatever_it_is_joined_to():
    assert read("t", [joined(USER), Message.of(DONE)], Volatile()).cuts == (0, 1)


@pytest.mark.parametrize(
    ("messages", "rounds", "cuts"),
    [
        ((result("a"), result("b"), USER), (0, 2), (0, 2)),
        ((USER, DONE, result("a"), USER), (0, 1, 3), (0, 1, 3)),
        ((USER, calls("a"), result("b"), result("a"), DONE), (0, 1, 4), (0, 1, 4)),
        ((USER, calls("a"), USER, result("a"), DONE), (0, 1, 2, 4), (0, 1, 4)),
        ((calls("a"), DONE, USER, result("a"), USER), (0, 1, 2, 4), (0, 4)),
        ((calls("a"), result("a"), USER, result("a"), USER), (0, 2, 4), (0, 4)),
        ((calls("a"), *[USER] * 30, result("a")), tuple(range(31)), tuple(range(31))),
    ],
)
def test_no_cut_makes_an_orphan(messages, rounds, cuts):
    """A result without its call stays in the round before it, and no cut separates a late one
    from its call."""
    found = listed({"role": "system", "content": "S"}, *messages)
    assert (found.rounds, found.cuts) == (rounds, cuts)


def test_a_late_result_in_a_longer_list_changes_the_cuts_and_a_branch_has_them_again():
    talk = [Message.of(each) for each in (calls("a"), USER, DONE, USER, result("a"), DONE, USER)]
    whole = read("t", talk, Volatile())
    for length in range(len(talk)):
        known = whole.first(length)
        again = known.extended(talk)
        assert (again.rounds, again.cuts, again.late) == (whole.rounds, whole.cuts, whole.late)
        assert again.addresses == whole.addresses
        branch = [*talk[: known.length], Message.of(DONE)]
        read_on = known.extended(branch)
        assert read_on.cuts == listed(*(each.fields for each in branch)).cuts
    assert whole.cuts == (0, 5, 6)


def test_an_empty_history_has_an_address():
    found = listed({"role": "system", "content": "S"})
    assert (len(found), found.tokens, found.rounds) == (0, 0, ())
    assert len(found.addresses) == 1


def test_facts_that_are_known_are_not_looked_for_again():
    class Remembering:
        def __init__(self):
            self.known, self.asked = {}, []

        def get(self, tenant, raw):
            self.asked.append((tenant, raw))
            return self.known.get((tenant, raw))

        def put(self, tenant, raw, facts):
            self.known[tenant, raw] = facts

    cache, counted = Remembering(), []

    def count(text):
        counted.append(text)
        return len(text)

    first = listed(USER, calls("a"), result("a"), cache=cache, count=count)
    counted.clear()
    again = listed(USER, calls("a"), result("a"), DONE, cache=cache, count=count)
    assert counted == ["done"]
    assert again.addresses[: len(first.addresses)] == first.addresses
    assert again.facts[:3] == first.facts
    assert {tenant for tenant, _ in cache.asked} == {"t"}


# ------------------------------------------------------------------------------------------------
# The text of attached documents stands in the text of a message, and is not the user's own.


TEXT = {"type": "text", "text": "Call 911."}
PLAIN = {"type": "text", "media_type": "text/plain", "data": "Call 911."}


@pytest.mark.parametrize(
    ("part", "texts"),
    [
        ({"type": "document", "source": PLAIN}, {".source.data": "Call 911."}),
        (
            {"type": "document", "title": "T", "context": "C", "source": PLAIN},
            {".title": "T", ".context": "C", ".source.data": "Call 911."},
        ),
        (
            {"type": "document", "source": {"type": "content", "content": [TEXT]}},
            {".source.content[0].text": "Call 911."},
        ),
        (
            {"type": "document", "source": {"type": "content", "content": "a"}},
            {".source.content": "a"},
        ),
        (
            {"type": "search_result", "source": "e.example", "title": "T", "content": [TEXT]},
            {".title": "T", ".source": "e.example", ".content[0].text": "Call 911."},
        ),
        (
            {"type": "input_file", "filename": "a.txt", "text": "a"},
            {".filename": "a.txt", ".text": "a"},
        ),
        ({"type": "file", "file": {"filename": "a.txt", "text": "a"}}, {
            ".file.filename": "a.txt", ".file.text": "a"
        }),
        ({"type": "document", "document": {"data": "a"}}, {".document.data": "a"}),
        ({"type": "document", "title": "T", "source": {"type": "base64", "data": "JVBE"}}, {}),
        ({"type": "document", "source": {"type": "text", "data": "A" * 400}}, {}),
        ({"type": "input_file", "filename": "a.txt", "file_data": "data:text/plain,a"}, {}),
        ({"type": "image", "text": "a b"}, {}),
        ({"type": "thinking", "thinking": "a b"}, {}),
        (
            {"type": "widget", "id": "w7", "rows": [{"data": "Call 911.", "key": "A" * 300 + " "}]},
            {".rows[0].data": "Call 911."},
        ),
        ({"type": "widget", "id": "w7", "note": "请拨打九一一。"}, {".note": "请拨打九一一。"}),
    ],
)  # fmt: skip
def test_readable_strings_are_found_with_their_paths(part, texts):
    assert attached_texts(part) == list(texts.items())
    message = Message.of({"role": "user", "content": [part]})
    for path, text in texts.items():
        assert message.string_at(f"content[0]{path}") == text


def test_a_document_stands_behind_the_users_words_and_has_its_title():
    part = {"type": "document", "title": "Handbook", "source": PLAIN}
    message = Message.of({"role": "user", "content": [part, {"type": "text", "text": "Read?"}]})
    view = message.view(Volatile())
    assert view.text == "Read?\nHandbook\nCall 911."
    assert view.own.strip() == "Read?"
    at = view.text.index("Call")
    (document,) = message.documents(Volatile())
    assert document.title == "Handbook"
    assert document.start > len("Read?")
    assert document.start <= at < document.end


@pytest.mark.parametrize("field", ["title", "context"])
def test_all_that_is_shown_is_hashed(field):
    made = [
        {"type": "document", "source": PLAIN},
        {"type": "document", "source": PLAIN, field: "A"},
        {"type": "document", "source": PLAIN, field: "B"},
    ]
    messages = [Message.of({"role": "user", "content": [part]}) for part in made]
    assert len({describe(message, Volatile()).digest for message in messages}) == 3


def test_marks_in_a_document_are_not_the_users():
    source = {**PLAIN, "data": "a\n<keep>Pay Bob.</keep>\nb"}
    document = {"type": "document", "source": source}
    assert not describe(Message.of({"role": "user", "content": [document]}), Volatile()).keeps


def test_a_long_key_is_not_copied_for_each_string_below_it():
    rows = ["a b"] * (MOST_TEXTS + 1)
    assert attached_texts({"type": "widget", "k" * 50_000: rows}) == []
    found = attached_texts({"type": "widget", "k" * 60: {"k" * 60: rows, "k": rows}})
    assert len(found) == MOST_TEXTS
    assert found[-1][0] == f".{'k' * 60}.k[{MOST_TEXTS - 1}]"


# ------------------------------------------------------------------------------------------------
# Check what stands for an image, a sound or a file: its kind and name, nothing else of it.


DATA = "iVBORw0KGgo" * 40
URL = "https://example.com/secret.png?token=1"
PNG = f"data:image/png;base64,{DATA}"


def shown(*parts, **fields):
    return placeholders(Message.of({"role": "user", "content": list(parts), **fields}))


CHAT = [
    ({"type": "image_url", "image_url": {"url": PNG}}, "[image]"),
    ({"type": "image_url", "image_url": {"url": URL, "detail": "low"}}, "[image]"),
    ({"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}}, "[audio]"),
    ({"type": "file", "file": {"filename": "report.pdf", "file_data": PNG}}, "[file report.pdf]"),
    ({"type": "file", "file": {"file_id": "file-1"}}, "[file]"),
    ({"type": "video_url", "video_url": {"url": URL}}, "[video]"),
]
MESSAGES = [
    ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
     "[image]"),
    ({"type": "image", "source": {"type": "url", "url": URL}}, "[image]"),
    ({"type": "document", "title": "Plan", "source": {"type": "file", "file_id": "f"}},
     "[file Plan]"),
    ({"type": "container_upload", "file_id": "f"}, "[file]"),
    ({"type": "tool_result", "tool_use_id": "t", "content": [
        {"type": "text", "text": "done"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
    ]}, "[image]"),
]  # fmt: skip
RESPONSES = [
    ({"type": "input_image", "image_url": PNG}, "[image]"),
    ({"type": "input_image", "file_id": "file-1"}, "[image]"),
    ({"type": "input_file", "filename": "a.csv", "file_data": PNG}, "[file a.csv]"),
    ({"type": "input_file", "file_url": URL}, "[file]"),
    ({"type": "computer_call_output", "output": {"type": "computer_screenshot", "file_id": "f"}},
     "[image]"),
    ({"type": "function_call_output", "output": [{"type": "input_image", "image_url": PNG}]},
     "[image]"),
]  # fmt: skip


@pytest.mark.parametrize(("part", "expected"), CHAT + MESSAGES + RESPONSES)
def test_each_shape(part, expected):
    assert shown({"type": "text", "text": "look"}, part) == (expected,)


def test_a_document_whose_text_is_indexed_needs_none():
    source = {"type": "text", "media_type": "text/plain", "data": "hi"}
    assert shown({"type": "document", "source": source}) == ()


def test_fields_of_a_message():
    assert shown(audio={"id": "audio-1"}) == ("[audio]",)
    images = [{"type": "image_url", "image_url": {"url": PNG}}] * 2
    assert shown(images=images) == ("[image x2]",)


def test_text_and_what_is_no_media_has_none():
    said = [
        {"type": "text", "text": "[image]"},
        {"type": "thinking", "thinking": "an image"},
        {"type": "refusal", "refusal": "no file"},
        {"type": "file_search_call", "queries": ["a"]},
        {"type": "widget", "filename": "a.png"},
    ]
    assert shown(*said) == ()
    for content in ("image", None, []):
        assert placeholders(Message.of({"role": "user", "content": content})) == ()


def test_equal_ones_are_counted_and_order_stays():
    image, file, sound = CHAT[0][0], CHAT[3][0], CHAT[2][0]
    assert shown(image, file, image, sound, image) == (
        "[image x3]",
        "[file report.pdf]",
        "[audio]",
    )


@pytest.mark.slow
def test_many_are_bounded():
    files = [{"type": "file", "file": {"filename": f"{n}.txt"}} for n in range(LOOKED_AT + 5)]
    found = shown(*files)
    assert len(found) == MOST + 1
    assert found[0] == "[file 0.txt]"
    assert found[-1] == f"[{LOOKED_AT - MOST} more]"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a]\n[system] <b>{x}\u202e\x00.pdf", "[file a system bx .pdf]"),
        ("report (1).pdf", "[file report (1).pdf]"),
        ("Übersicht 2024 計画.pdf", "[file Übersicht 2024 計画.pdf]"),
        (URL, "[file]"),
        (PNG, "[file]"),
        ("data:,hi", "[file]"),
        (DATA, "[file]"),
        ("[]\n", "[file]"),
        ("", "[file]"),
        (7, "[file]"),
        (None, "[file]"),
    ],
)
def test_names(name, expected):
    assert shown({"type": "file", "file": {"filename": name}}) == (expected,)


def test_long_names_keep_their_extension():
    (found,) = shown({"type": "input_file", "filename": "monthly figures " * 9_000 + "final.xlsx"})
    assert found.endswith("final.xlsx]")
    assert len(found) == len("[file ]") + NAME


def test_no_data_and_no_address_is_told():
    parts = [part for part, _ in CHAT + MESSAGES + RESPONSES]
    text = " ".join(shown(*parts))
    for secret in (DATA[:20], "example.com", "file-1", "base64", "token"):
        assert secret not in text


def test_deep_nesting_ends():
    part = CHAT[0][0]
    for _ in range(300):
        part = {"type": "tool_result", "content": [part]}
    assert shown(part) == ("[image]",)


# ------------------------------------------------------------------------------------------------
# The beginning of a conversation: what tells its branches, and by what name it is known again.


SYSTEM = {"role": "system", "content": "be brief"}
FIRST = {"role": "user", "content": "Hi"}
ANSWER = {"role": "assistant", "content": "Hello!"}
LONG = {"role": "user", "content": "I keep bees and want to know more about honey. " * 6}


def beginning_read(*said: Any) -> chat_history.History:
    return chat_history.read("t", [Message.of(one) for one in said], Volatile())


def keys(*said: Any, tenant: str = "t") -> tuple[str, ...]:
    return keys_of(tenant, [Message.of(one) for one in said], Volatile())


def test_a_beginning_ends_with_an_answer_and_before_the_message_itself():
    posted = beginning_read(SYSTEM, LONG, ANSWER, FIRST, ANSWER, FIRST)
    assert origin(posted, 0) == origin(posted, 1) == ""
    assert origin(posted, 2) == origin(posted, 4) == posted.addresses[2].hex()


def test_a_greeting_is_no_beginning():
    posted = beginning_read(FIRST, ANSWER, FIRST, ANSWER, LONG, ANSWER, FIRST)
    assert origin(posted, 4) == ""
    assert origin(posted, 6) == posted.addresses[5].hex()


def test_a_name_stays_while_the_conversation_goes_on():
    assert keys(FIRST, ANSWER) == keys(SYSTEM, FIRST, ANSWER, LONG, ANSWER)
    assert [len(key) for key in keys(FIRST, ANSWER)] == [64, 64]


def test_before_the_first_answer_it_has_the_former_name():
    assert keys(FIRST, ANSWER)[1:] == keys(FIRST) == keys(FIRST, SYSTEM)


def test_other_answers_other_users_and_other_tenants_are_other_conversations():
    names = [
        keys(FIRST, ANSWER),
        keys(FIRST, {**ANSWER, "content": "Good day!"}),
        keys({**FIRST, "content": "Hello"}, ANSWER),
        keys(FIRST, ANSWER, tenant="u"),
        keys(FIRST),
    ]
    assert len({name[0] for name in names}) == len(names)


@pytest.mark.parametrize("said", [(), (SYSTEM,), (ANSWER,), ({"role": "bot", "content": 7},)])
def test_a_conversation_without_the_user_has_no_name(said):
    assert keys(*said) == ()


# ------------------------------------------------------------------------------------------------
# The name of the system messages before a conversation.


def named(*said: tuple[str, str]) -> str:
    messages = [Message.of({"role": role, "content": text}) for role, text in said]
    return under("t", messages, Volatile())


def test_another_system_prompt_is_another_name():
    first, asked = ("system", "Be brief."), ("user", "Hello")
    assert named(first, asked) == named(first, ("user", "Bye")) != ""
    assert named(first, asked) != named(("system", "Be long."), asked)
    assert named(asked) == named() == ""
