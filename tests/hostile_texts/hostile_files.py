"""Files of memories of hostile shapes, and what reads them; `test_linear_time.py` measures it."""

from __future__ import annotations

import json
from collections.abc import Callable

from memtree.text import json_lines
from memtree.transfer import foreign_formats
from memtree.transfer.file_items import FileMemory
from memtree.transfer.import_rules import importable
from memtree.transfer.json_entries import document_entries
from memtree.transfer.memory_file import PART_END, read_memory_file
from tests.hostile_texts import hostile
from tests.hostile_texts.linear_time import Subject

JSON = ("{", '{"a":', "[[", "],[", '"', "\\", '{"a":1}\n', '{"a"\n', "{},", "\r\n", "1,", "-")
LIST = ("- ", "1. ", "[2026-03-07] ", "- [2026", "# ", "```\n", "(1) - ")
MOST = 1 << 30


def read(format_: str) -> Callable[[bytes], object]:
    """All of a file, and what would be stored of it."""

    def work(raw: bytes) -> object:
        return [
            importable(item, "mem_1", 0.0, MOST, format_)
            for item in read_memory_file(raw, format_).items
            if isinstance(item, FileMemory)
        ]

    return hostile.refused(work)


def behind(head: str, tail: str = "") -> Callable[[str], bytes]:
    return lambda text: f"{head}{text}{tail}".encode()


def memories(text: str) -> bytes:
    """Lines of an export, each with a piece of the text."""
    return b"".join(
        json.dumps({"text": piece, "tags": [piece[:9]], "versions": [{"text": piece}]}).encode()
        + b"\n"
        for piece in hostile.cut(text, 60)
    )


def document(text: str) -> bytes:
    return json.dumps({"results": [{"memory": piece} for piece in hostile.cut(text, 60)]}).encode()


def graph(text: str) -> bytes:
    return json.dumps(
        {"type": "entity", "name": text[:30], "observations": hostile.cut(text, 60)}
    ).encode()


def conversations(text: str) -> bytes:
    nodes = {
        str(at): {
            "message": {
                "author": {"role": "assistant"},
                "recipient": "bio",
                "content": {"content_type": "text", "parts": [piece]},
            }
        }
        for at, piece in enumerate(hostile.cut(text, 60))
    }
    return json.dumps([{"mapping": nodes}]).encode()


TEXTS = {
    "a file of memories": Subject(read("auto"), str.encode),
    "lines of a file": Subject(read("memtree"), behind('{"text": "a"}\n')),
    "a document of a file": Subject(read("mem0"), behind('{"results": [')),
    "a document of more values than are read": Subject(
        lambda text: list(document_entries(text, 1)), lambda text: f'[[,,"{text}'
    ),
    "parts of an export": Subject(
        read("mem0"), lambda text: PART_END.join([b"[", *(part.encode() for part in text.split())])
    ),
    "a string of a file": Subject(read("mem0"), behind('{"results": [{"memory": "', '"}]}')),
    "a list of memories": Subject(read("text"), str.encode),
    "memories of claude.ai": Subject(
        read("claude-ai"), lambda text: json.dumps({"conversations_memory": text}).encode()
    ),
    "the list that a conversation began with": Subject(
        read("chatgpt"),
        lambda text: json.dumps(
            {"mapping": {"a": {"message": {"author": {}, "content": {"model_set_context": text}}}}}
        ).encode(),
    ),
    "marks of ChatGPT": Subject(foreign_formats.without_marks, lambda text: f"\ue200{text}"),
    "a broken line of a file": Subject(json_lines.records, behind('{"a": 1, "b": 2}\n')),
    "a memory of a file": Subject(
        hostile.refused(lambda text: importable(FileMemory(1, text), "a", 0.0, MOST, "text"))
    ),
}
PIECES = {
    "an export": Subject(read("memtree"), memories),
    "mem0": Subject(read("mem0"), document),
    "server-memory": Subject(read("server-memory"), graph),
    "saved memories of ChatGPT": Subject(read("chatgpt"), conversations),
}
READS = {
    "a file of memories": (*JSON, *LIST),
    "lines of a file": JSON,
    "a document of a file": JSON,
    "a document of more values than are read": (*JSON, '\\"'),
    "a string of a file": JSON,
    "a list of memories": (*LIST, *hostile.SPEECH),
    "memories of claude.ai": (*LIST, "**a", "*a*\n", "# a\n", "- a\n"),
    "the list that a conversation began with": ("\n", "\n1. [", "1. [2026-03-07]. a\n", "\n1"),
    "marks of ChatGPT": (
        "\ue200",
        " \ue200a",
        "\ue200entity\ue202[",
        "\ue201",
        "\ue200\ue202x",
        " 【1†",
        "†】",
    ),
    "a broken line of a file": (*JSON, '{"a": 1, "b": 2}', '{"a":', '{"a": "', "\0"),
    "a memory of a file": (*hostile.SPEECH, *hostile.SECRETS, *hostile.LETTERS),
}
