"""Files, folders, zips and databases: what is found in them, and what is said of broken ones."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from memtree.errors import BadRequest
from memtree_proxy.imports import places as edge
from memtree_proxy.imports.conversation import FORMATS, Conversation
from memtree_proxy.imports.recognise import NoConversation, conversations
from tests.foreign import (
    CLAUDE_SIMPLE,
    CLINE_STORED,
    OPENCODE_STORED,
    TAVERN_SIMPLE,
    chatgpt_simple,
    claude_ai_conversation,
    result,
    text,
    use,
    user,
)

TASK = "api_conversation_history.json"
ROOT = os.geteuid() == 0


def read(path: Path, format_: str | None = None) -> tuple[list[Conversation], list[str]]:
    """Return what is found, and what was said of the rest; what is no conversation is passed
    over."""
    troubles: list[str] = []
    found: list[Conversation] = []
    places = edge.places(str(path), troubles.append)
    for place in places:
        try:
            found += conversations(place, format_)
        except NoConversation:
            if len(places) == 1:
                raise
    return found, troubles


def lines(items: list[Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in items)


def filled(folder: Path) -> Path:
    """A folder with a conversation of every kind, and things that are none."""
    (folder / "tasks" / "1700000000000").mkdir(parents=True)
    (folder / "tasks" / "1700000000000" / TASK).write_text(json.dumps([user(text("task"))]))
    (folder / "tasks" / "1700000000000" / "ui_messages.json").write_text("[]")
    (folder / "conversations.json").write_text(json.dumps([chatgpt_simple()]))
    (folder / "chat.jsonl").write_text(lines(TAVERN_SIMPLE))
    (folder / "session.jsonl").write_text(lines(CLAUDE_SIMPLE))
    (folder / "agent-1.jsonl").write_text(lines(CLAUDE_SIMPLE))
    history = folder / ".specstory" / "history"
    history.mkdir(parents=True)
    (history / "2026-03-06_19-16-40Z-a-test.md").write_text("_**User**_\n\nHi\n")
    (history / "2026-03-06_19-16-41Z-notes.md").write_text("# Notes\n")
    (folder / "README.md").write_text("_**User**_\n\nHi\n")
    (folder / "prompts.jsonl").write_text('{"display": "x", "sessionId": "y"}\n')
    (folder / "1_ab.messages.json").write_text(json.dumps(CLINE_STORED))
    (folder / "package.json").write_text("{}")
    database(folder / "opencode.db")
    return folder


def database(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as base, base:
        base.executescript(
            """CREATE TABLE session (id, parent_id, title, revert, time_created, time_updated);
            CREATE TABLE message (id, session_id, time_created, data);
            CREATE TABLE part (id, message_id, session_id, data);"""
        )
        rows = [("ses_1", None, "A title", None, 1, 1795258258012),
                ("ses_2", "ses_1", "An agent", None, 1, 1)]  # fmt: skip
        base.executemany("INSERT INTO session VALUES (?,?,?,?,?,?)", rows)
        for at, one in enumerate(OPENCODE_STORED["messages"]):
            info = json.dumps({k: v for k, v in one["info"].items() if k != "id"})
            id_ = one["info"]["id"]
            base.execute("INSERT INTO message VALUES (?,?,?,?)", (id_, "ses_1", at, info))
            for number, part in enumerate(one["parts"]):
                values = (f"{id_}-{number:02d}", id_, "ses_1", json.dumps(part))
                base.execute("INSERT INTO part VALUES (?,?,?,?)", values)
    return path


def test_a_folder_of_everything(tmp_path: Path) -> None:
    found, troubles = read(filled(tmp_path))
    assert sorted(one.format for one in found) == [
        "chatgpt", "claude-code", "cline", "cline", "opencode", "sillytavern", "specstory",
    ]  # fmt: skip
    assert len(troubles) == 0


@pytest.mark.parametrize(
    ("file", "format_"),
    [
        ("conversations.json", "chatgpt"),
        ("chat.jsonl", "sillytavern"),
        ("session.jsonl", "claude-code"),
        ("1_ab.messages.json", "cline"),
        (f"tasks/1700000000000/{TASK}", "cline"),
        ("opencode.db", "opencode"),
    ],
)
def test_a_format_is_told_from_the_content(tmp_path: Path, file: str, format_: str) -> None:
    path = filled(tmp_path) / file
    renamed = path.rename(tmp_path / f"renamed{path.suffix}")
    if format_ == "cline" and file.endswith(TASK):
        renamed = renamed.rename(tmp_path / TASK)  # a list of messages is known by its name alone
    (found,) = read(renamed)[0]
    assert found.format == format_
    (forced,) = read(renamed, format_)[0]
    assert forced == found


def test_a_list_of_blocks_is_known_without_its_name(tmp_path: Path) -> None:
    path = tmp_path / "copy.json"
    path.write_text(
        json.dumps([user(text("a")), {"role": "assistant", "content": [use("a", "x")]}])
    )
    assert read(path)[0][0].format == "cline"
    assert read(path, "roo")[0][0].format == "roo"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("claude_messages.json", [user(text("a"))]),
        ("roo.messages.json", {"version": 2, "messages": [user(text("a"))]}),
        ("rollout.jsonl", {"type": "message", "role": "user", "content": "a"}),
        ("summary.jsonl", {"type": "summary", "summary": "a", "leafUuid": "x"}),
    ],
)
def test_older_forms_are_no_conversations(tmp_path: Path, name: str, content: Any) -> None:
    (tmp_path / name).write_text(json.dumps(content))
    with pytest.raises(BadRequest):
        read(tmp_path / name)


def test_the_database_is_read_as_the_export_is(tmp_path: Path) -> None:
    exported = tmp_path / "export.json"
    exported.write_text(json.dumps(OPENCODE_STORED))
    (one,), (other,) = read(exported)[0], read(database(tmp_path / "opencode.db"))[0]
    assert one.messages == other.messages
    assert other.title == "A title"
    kilo = database(tmp_path / "kilo.db")
    with closing(sqlite3.connect(kilo)) as base, base:
        base.execute("""UPDATE part SET data = '{"type": "te' WHERE id = 'm2-05'""")
        more = [(f"x{at}", "m2", "ses_1", "{") for at in range(24)]
        base.executemany("INSERT INTO part VALUES (?,?,?,?)", more)
    (damaged,) = read(kilo)[0]
    assert (damaged.format, damaged.notes[0]) == ("kilo", "row m2-05: not valid JSON; skipped")
    assert damaged.notes[20:] == ("and 5 more like these",)
    assert len(damaged.messages) == len(one.messages)


def test_a_zip_of_chatgpt_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("chat.html", "<html>")
        archive.writestr("conversations-000.json", json.dumps([chatgpt_simple("a", "One")]))
        archive.writestr("conversations-001.json", json.dumps([chatgpt_simple("b", "Two")]))
    opened = Mock(wraps=zipfile.ZipFile)
    monkeypatch.setattr(zipfile, "ZipFile", opened)
    assert [one.title for one in read(path)[0]] == ["One", "Two"]
    assert opened.call_count == 1


CLAUDE_PROJECT = {"uuid": "p", "name": "Shop", "prompt_template": "Be brief.", "docs": [
    {"filename": "a.md", "content": "# A"}, {"filename": "b.md", "content": ""}]}  # fmt: skip


@pytest.mark.parametrize("projects", ["projects.json", "projects/0a1b.json"])
def test_an_export_of_claude_ai_in_a_folder_and_in_a_zip(tmp_path: Path, projects: str) -> None:
    files = {
        "conversations.json": [claude_ai_conversation()],
        "memories.json": [{"conversations_memory": "Keeps bees."}],
        projects: [CLAUDE_PROJECT] if projects == "projects.json" else CLAUDE_PROJECT,
        "users.json": [{"uuid": "u"}],
        "._conversations.json": 5,
    }
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name, value in files.items():
            archive.writestr(f"data/{name}", json.dumps(value))
    zipfile.ZipFile(tmp_path / "a.zip").extractall(tmp_path)
    for path in (tmp_path / "a.zip", tmp_path / "data"):
        found, troubles = read(path)
        assert (troubles, [one.title for one in found]) == ([], ["Garden", "Project Shop"])
        said = [message["content"] for message in found[1].messages]
        assert said == ["Be brief.", "[file: a.md]\n# A", "[file: b.md]"]


def test_a_task_in_a_zip_is_read_with_what_lies_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "tasks.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"tasks/123/{TASK}", json.dumps([user(text("a"))]))
        archive.writestr("tasks/123/ui_messages.json", json.dumps([{"text": "The task"}]))
    (found,) = read(path)[0]
    assert (found.title, found.id) == ("The task", "123")


def test_folders_that_link_in_a_ring_have_an_end(tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text(lines(TAVERN_SIMPLE))
    (tmp_path / "ring").symlink_to(tmp_path)
    (tmp_path / "loop.jsonl").symlink_to(tmp_path / "loop.jsonl")
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert len(read(tmp_path)[0]) == 1


# ---------------------------------------------------------------- broken input


def refused(path: Path, format_: str | None = None) -> str:
    with pytest.raises(BadRequest) as caught:
        read(path, format_)
    return caught.value.message


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", b"", "is empty"),
        ("a.json", b" \n", "is empty"),
        ("a.json", b'{"mapping": {', "line 1, column 14: not valid JSON"),
        ("a.json", b'[{"mapping": {}},\n nonsense', "line 2, column 2"),
        ("a.jsonl", b'{"mes": "x', "line 1, column 9: not valid JSON: Unterminated string"),
        ("a.jsonl", b"[1]\n{\n", "line 1: must be an object"),
        ("a.jsonl", b",\n\xef\xbb\xbf\n", "line 1: must be an object; skipped"),
        ("a.jsonl", b'{"a": 1}\n{"mes": ', "line 2, column 8: not valid JSON"),
        ("a.jsonl", b"\0" * 600, "is empty"),
        ("a.json", b"\xff\xfe\x00", "broken text in UTF-16"),
        ("a.json", b"[" * 100_000, "a.json: nested too deeply"),
        ("a.json", b"1" * 5000, "a.json: a number has too many digits"),
        ("a.json", b'"text"', "not a conversation of a program"),
        ("a.json", b"{}", "not a conversation of a program"),
        ("a.json", b'[{"role": "user", "content": "x"}]', "a list of messages already"),
        ("a.json", b'{"sessionId": "x", "messages": [1]}', "messages[0]: must be an object"),
        ("a.json", b'{"info": {}, "messages": [1]}', "messages[0]: must be an object"),
        (TASK, b"[1]", "messages[0]: must be an object"),
        ("a.zip", b"PK\x03\x04 and nothing more", "the zip is broken"),
        ("a.db", b"SQLite format 3\x00" + b"\x00" * 200, "cannot be read"),
    ],
)
def test_broken_files_are_named_with_the_place(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    message = refused(path)
    assert str(path) in message
    assert said in message


@pytest.mark.parametrize(
    ("name", "content", "noted"),
    [
        ("a.jsonl", '{"mes": "a\\u2028b\\u0085c"}\n\n{"mes"\n', "line 3, column 7"),
        ("a.jsonl", '{"mes": "x"}\n[1]\n', "line 2: must be an object"),
        ("a.json", '{"mes": "x"}\n{"mes": ', "line 2, column 8"),
        ("a.json", '{"mes\n{"mes": "x"}\n{"mes": "x"}', "line 1, column 2"),
        ("a.jsonl", '{"mes": "x"}{"mes": "y"}', "line 1: 2 records on one line"),
        ("a.jsonl", json.dumps([chatgpt_simple()], indent=1), ""),
        ("a.jsonl", json.dumps(chatgpt_simple()) + "\n{", "line 2"),
        ("a.json", json.dumps(CLAUDE_SIMPLE), ""),
        ("a.json", json.dumps([None, chatgpt_simple()]), "1 of 2 entries are no objects"),
        ("a.json", json.dumps([5, claude_ai_conversation()]), "1 of 2 entries are no objects"),
        ("a.jsonl", json.dumps(OPENCODE_STORED), ""),
        ("a.json", json.dumps([chatgpt_simple()]) + "\0" * 1_000, "NULs (1,000)"),
        ("a.json", json.dumps(OPENCODE_STORED, indent=1) + "\n\0\r\n", "NULs (1)"),
        ("a.jsonl", '{"mes": "x"}\n\0\0\n{"mes": "y"}', "NULs (2)"),
    ],
    ids=range(14),
)
def test_a_broken_line_is_named_and_costs_itself(
    tmp_path: Path, name: str, content: str, noted: str
) -> None:
    path = tmp_path / name
    for encoding in ("utf-8", "utf-16"):
        path.write_bytes(content.encode(encoding))
        ((found,), troubles) = read(path)
        assert (bool(found.messages), troubles) == (True, [])
        assert len(found.notes) == bool(noted)
        assert "".join(found.notes).startswith(noted)


STRANGE: tuple[Any, ...] = (
    {},
    [],
    [{}],
    {"messages": 1},
    {"mapping": 5},
    [{"mapping": {"a": 1}}],
    5,
    None,
    [[]],
)


@pytest.mark.parametrize("format_", FORMATS)
def test_a_forced_format_that_is_not_there_is_no_traceback(tmp_path: Path, format_: str) -> None:
    for value in STRANGE:
        assert_nothing_is_read(tmp_path, format_, value)


def assert_nothing_is_read(tmp_path: Path, format_: str, value: Any) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value))
    said = ""
    try:
        found, _ = read(path, format_)
    except BadRequest as error:
        found, said = [], error.message
    assert found == [], value
    assert not said or str(path) in said, value


@pytest.mark.parametrize(
    "value",
    [
        [user({"type": "text"}, {"type": "image"}, {"type": "tool_result"}, 5, None)],
        [{"role": "assistant", "content": [{"type": "tool_use"}, {"type": "text", "text": 5}]}],
        [{"role": "assistant"}, {"content": "x"}, {"role": 5}, {}],
        [user(result("a", [5, None, {"type": "text"}, {"type": "image", "source": 7}]))],
    ],
)
@pytest.mark.parametrize("format_", ["cline", "roo", "kilo"])
def test_fields_that_are_missing_are_empty(tmp_path: Path, value: Any, format_: str) -> None:
    path = tmp_path / TASK
    path.write_text(json.dumps(value))
    assert read(path, format_)[0]


def test_what_is_not_there_or_not_to_be_read(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "none.json")
    assert "no conversations in this folder" in refused(tmp_path)
    for number, table in enumerate(("t (a)", "session (id)", "part (id)")):
        path = tmp_path / f"other-{number}.db"
        with closing(sqlite3.connect(path)) as other:
            other.execute(f"CREATE TABLE {table}")
        assert "not a database of opencode" in refused(path)


@pytest.mark.skipif(ROOT, reason="nothing is forbidden to root")
def test_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o000)
    assert "Permission denied" in refused(tmp_path / "closed")
    (tmp_path / "chat.jsonl").write_text(lines(TAVERN_SIMPLE))
    found, troubles = read(tmp_path)
    assert len(found) == 1
    assert "closed" in troubles[0]


def encrypted(path: Path) -> Path:
    """A zip whose member says that it is encrypted."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", "[]")
    data = bytearray(path.read_bytes())
    local, central = data.index(b"PK\x03\x04"), data.index(b"PK\x01\x02")
    for at in (local + 6, central + 8):
        struct.pack_into("<H", data, at, 1)
    path.write_bytes(data)
    return path


def test_zips_that_cannot_be_opened(tmp_path: Path) -> None:
    assert "is encrypted" in refused(encrypted(tmp_path / "a.zip"))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("readme.txt", "x")
    assert "no conversations in this zip" in refused(tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "c.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([chatgpt_simple()]) * 50)
    whole = (tmp_path / "c.zip").read_bytes()
    (tmp_path / "c.zip").write_bytes(whole[:60] + bytes(20) + whole[80:])
    assert "conversations.json" in refused(tmp_path / "c.zip")


@pytest.mark.slow
def test_bombs_and_files_without_end_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge, "MAX_BYTES", 1 << 20)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + b" " * (2 << 20) + b"]")
    assert "larger than" in refused(tmp_path / "bomb.zip")
    (tmp_path / "big.json").write_bytes(b" " * (2 << 20))
    assert "larger than" in refused(tmp_path / "big.json")
    monkeypatch.setattr(edge, "MAX_ENTRIES", 3)
    (tmp_path / "many").mkdir()
    for number in range(5):
        (tmp_path / "many" / f"{number}.jsonl").touch()
    assert "more than 3 files" in refused(tmp_path / "many")


def test_a_file_that_is_none_of_them_is_told_apart_from_a_broken_one(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}")
    with pytest.raises(NoConversation):
        read(path)
