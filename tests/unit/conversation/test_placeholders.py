"""Check what stands for an image, a sound or a file: its kind and name, nothing else of it."""

import pytest

from memtree.conversation.message import Message
from memtree.conversation.placeholders import LOOKED_AT, MOST, NAME, placeholders

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
