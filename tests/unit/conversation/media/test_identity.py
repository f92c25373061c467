"""One picture, sound or file has one identity, however it is wrapped."""

import base64

import pytest

from memtree.conversation.address_chain import digest
from memtree.conversation.message import Message, Volatile

BYTES = bytes(range(256)) * 9
DATA = base64.b64encode(BYTES).decode()
URL = "https://example.com/a.png"


def name(part):
    return digest(Message.of({"role": "user", "content": [part]}), Volatile())


PICTURE = [
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}},
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}", "detail": "low"}},
    {"type": "input_image", "image_url": f"data:image/png;base64,{DATA}"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
    {"type": "image", "source": {"type": "base64", "media_type": "image/PNG", "data": DATA},
     "cache_control": {"type": "ephemeral"}},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png",
     "data": DATA.replace("+", "-").replace("/", "_")}},
]  # fmt: skip
FILE = [
    {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{DATA}"}},
    {"type": "input_file", "file_data": f"data:application/pdf;base64,{DATA}"},
    {"type": "document",
     "source": {"type": "base64", "media_type": "application/pdf", "data": DATA}},
]  # fmt: skip
LINK = [
    {"type": "image_url", "image_url": {"url": URL}},
    {"type": "input_image", "image_url": URL},
    {"type": "image", "source": {"type": "url", "url": URL}},
]


@pytest.mark.parametrize("parts", [PICTURE, FILE, LINK], ids=["picture", "file", "link"])
def test_wrappings_do_not_count(parts):
    assert len({name(part) for part in parts}) == 1


def test_content_type_and_address_count():
    other = base64.b64encode(BYTES[:-1] + b"!").decode()
    parts = [
        PICTURE[0],
        {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{DATA}"}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{other}"}},
        LINK[0],
        {"type": "image_url", "image_url": {"url": URL + "?"}},
        FILE[0],
        {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{DATA}",
                                  "filename": "plan.pdf"}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "file", "file": {"file_id": "file-2"}},
        {"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}},
        {"type": "input_audio", "input_audio": {"data": DATA, "format": "mp3"}},
    ]  # fmt: skip
    assert len({name(part) for part in parts}) == len(parts)


def test_unknown_parts_are_hashed_whole():
    parts = [
        {"type": "widget", "id": "w", "state": 1},
        {"type": "widget", "id": "w", "state": 2},
        {"type": "widget", "url": "u", "state": 1},
    ]
    assert len({name(part) for part in parts}) == 3
    assert name(parts[0]) == name({"state": 1, "id": "w", "type": "widget"})


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,???"}},
        {"type": "image_url", "image_url": {"url": "data:,"}},
        {"type": "image_url", "image_url": None},
        {"type": "image", "source": {"type": "base64", "data": "é" * 50}},
        {"type": "input_audio", "input_audio": {"data": 7, "format": []}},
        {"type": "file", "file": {"file_data": "data:;base64,"}},
    ],
)
def test_what_cannot_be_read_still_has_a_name(part):
    assert name(part) == name(part)
    assert name(part) != name({**part, "type": f"other {part['type']}"})
