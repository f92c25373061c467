from __future__ import annotations

import pytest

from memtree.errors import BadRequest
from memtree.memories.transfer.file_items import FORMATS
from memtree.memories.transfer.memory_file import PART_END, read_memory_file

MEM0 = '{"results": [{"memory": "Likes té"}]}'
OWN = '{"type":"export","format":"memtree-memories","version":1}\n{"text":"Likes té"}\n'
KNOWN = {
    "mem0": MEM0,
    "memtree": OWN,
    "openmemory": '{"content": "Likes té", "state": "active"}\n{"content": "Likes té"}',
    "server-memory": '{"type":"entity","name":"A","entityType":"b","observations":["Likes té"]}',
    "chatgpt": '[{"mapping": {"n": {"message": {"author": {"role": "assistant"}, '
    '"recipient": "bio", "content": {"parts": ["Likes té"]}}}}}]',
    "claude-ai": '[{"conversations_memory": "Likes té", "project_memories": {}}]',
    "text": "Likes té",
}


def texts(raw: bytes, format_: str = "auto") -> list[str]:
    found = [getattr(item, "text", "") for item in read_memory_file(raw, format_).items]
    return [text for text in found if text]


def test_every_format_has_an_example():
    assert set(KNOWN) == set(FORMATS)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("format_", KNOWN)
def test_a_format_is_told_from_the_content_in_any_encoding(format_: str, encoding: str):
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    raw = mark + KNOWN[format_].encode(encoding)
    assert read_memory_file(raw).format == format_
    assert [text[-8:] for text in texts(raw)] == ["Likes té"] * len(texts(raw))
    assert texts(raw)
    assert texts(raw, format_) == texts(raw)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "empty"),
        (b" \r\n\t", "empty"),
        (b"\xef\xbb\xbf\n", "empty"),
        (b"\xff\xfea", "UTF-16"),
        ('{"a": 1}'.encode("utf-16-le"), "no memories"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' * 100_000, "nested too deeply"),
        (b'{"messages": [{"role": "user", "content": "a"}]}', "no memories"),
        (b"[]", "no memories"),
        (b"[1, 2", "cut"),
        (b'[{"memory": "\xff"}]', "byte 13"),
        (b'{"results": [nonsense]}', "not valid JSON"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_a_reason(raw: bytes, why: str):
    if why == "cut":  # neither JSON nor a list: a line of text
        assert texts(raw) == ["[1, 2"]
        return
    with pytest.raises(BadRequest, match=why) as caught:
        read_memory_file(raw)
    assert caught.value.message.startswith("the file ")


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (b'[{"memory": "Likes', "cut_off"),
        (b"[nonsense]", "broken"),
        (b'[{"memory": "\xff"}]', "encoding"),
        (b"nonsense", "json"),
    ],
)
def test_a_broken_part_costs_itself(part: bytes, reason: str):
    file = read_memory_file(PART_END.join([part, MEM0.encode(), part, MEM0.encode()]))
    told = [(item.line, getattr(item, "reason", "")) for item in file.items]
    assert told == [(1, reason), (2, ""), (3, reason), (4, "")]


def test_latin_1_costs_its_lines_alone():
    file = read_memory_file("Likes tea\nLikes té\nLikes cake".encode("latin-1"))
    told = [getattr(item, "text", "") or getattr(item, "reason", "") for item in file.items]
    assert told == ["Likes tea", "encoding", "Likes cake"]


@pytest.mark.parametrize("format_", ["mem0", "openmemory", "memtree", "server-memory"])
def test_a_format_of_json_is_not_read_from_text(format_: str):
    with pytest.raises(BadRequest, match=format_):
        read_memory_file(b"Likes tea", format_)


def test_an_unknown_format_is_named():
    with pytest.raises(BadRequest) as caught:
        read_memory_file(b"Likes tea", "zep")
    assert caught.value.param == "format"


def test_lines_are_lines_where_the_first_of_them_is_broken():
    raw = b'{"type": "entity", "name"\n' + KNOWN["server-memory"].encode()
    found = read_memory_file(raw)
    assert (found.format, len(list(found.items))) == ("server-memory", 2)


@pytest.mark.parametrize("first", ["{\n", "{", '{"version": 1,\n'])
def test_a_document_over_many_lines_is_none_of_lines(first: str):
    entity = KNOWN["server-memory"]
    raw = f'{first} "entities": [\n {entity},\n {entity}\n ],\n "relations": [\n ]\n}}\n'
    assert read_memory_file(raw.encode()).format == "server-memory"
    assert texts(raw.encode()) == 2 * ["A: Likes té"]


def test_a_list_of_texts_is_text():
    assert texts(b'["- Likes tea", 5, "Likes cake"]') == ["Likes tea", "Likes cake"]


def test_an_export_of_a_later_version_is_not_guessed_at():
    with pytest.raises(BadRequest, match="version 1"):
        list(read_memory_file(OWN.replace('"version":1', '"version":2').encode()).items)


def test_a_long_line_is_a_line():
    long = b'{"text": "' + b"x" * 5_000_000 + b'"}\n{"text": "Likes tea"}\n'
    file = read_memory_file(b'{"text": "first"}\n' + long)
    assert [len(getattr(item, "text", "")) for item in file.items] == [5, 5_000_000, 9]


@pytest.mark.parametrize("name", ["memtree", "openmemory", "mem0", "chatgpt", "server-memory"])
def test_json_whose_beginning_is_lost_is_no_list(name):
    damaged = KNOWN[name].encode()[2:]
    with pytest.raises(BadRequest, match="line 2 does not begin any") as caught:
        read_memory_file(b"\n" + damaged)
    assert caught.value.param == "format"
    assert texts(damaged, "text")


def test_a_list_may_speak_of_json():
    raw = b'Likes tea\nThe header is {"alg": "none"}\nLikes cake'
    assert len(texts(raw)) == 3
