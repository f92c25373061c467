"""Transcripts of coding agents, planted below a home: small sessions of two messages and a tool."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.foreign import assistant, claude_line, result, text, use, user

NOW = time.mktime((2026, 11, 20, 12, 0, 0, 0, 0, 0))
DAY = 86_400.0
PROJECT = "/home/ann/work/shop"
_TABLES = """
CREATE TABLE session (id, parent_id, title, directory, revert, time_created, time_updated);
CREATE TABLE message (id, session_id, time_created, data);
CREATE TABLE part (id, message_id, session_id, data);
"""


def rows(asked: str, said: str, printed: str) -> list[dict[str, Any]]:
    """Messages of content blocks: a question, a call with its result, an answer."""
    return [
        user(text(asked)),
        assistant(use("call-1", "run_commands", {"commands": ["make test"]})),
        user(result("call-1", printed)),
        assistant(text(said)),
    ]


def stamp(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at))


def _dated(path: Path, at: float) -> Path:
    os.utime(path, (at, at))
    return path


def _json_lines(path: Path, lines: list[dict[str, Any]], at: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return _dated(path, at)


def claude(home: Path, name: str, asked: str, said: str, printed: str, at: float = NOW) -> Path:
    lines = []
    for number, row in enumerate(rows(asked, said, printed)):
        parent = f"u{number - 1}" if number else None
        line = claude_line(f"u{number}", parent, row["role"], row["content"], cwd=PROJECT)
        lines.append({**line, "sessionId": name, "timestamp": stamp(at)})
    path = home / ".claude" / "projects" / PROJECT.replace("/", "-") / f"{name}.jsonl"
    return _json_lines(path, lines, at)


def codex(home: Path, name: str, asked: str, said: str, printed: str, at: float = NOW) -> Path:
    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": stamp(at), "type": "response_item", "payload": payload}

    lines = [
        {"type": "session_meta", "payload": {"id": name, "cwd": PROJECT}},
        item(type="message", role="user", content=[{"type": "input_text", "text": asked}]),
        item(type="function_call", name="shell", arguments='{"cmd":"make"}', call_id="c"),
        item(type="function_call_output", call_id="c", output=printed),
        item(type="message", role="assistant", content=[{"type": "output_text", "text": said}]),
    ]
    path = home / ".codex" / "sessions" / "2026" / "11" / "20" / f"rollout-{name}.jsonl"
    return _json_lines(path, lines, at)


def cline(home: Path, name: str, asked: str, said: str, printed: str, at: float = NOW) -> Path:
    folder = home / ".cline" / "data" / "sessions" / name
    folder.mkdir(parents=True)
    (folder / f"{name}.json").write_text(json.dumps({"cwd": PROJECT}))
    messages = [{**row, "ts": int(at * 1000)} for row in rows(asked, said, printed)]
    path = folder / f"{name}.messages.json"
    path.write_text(json.dumps({"version": 1, "sessionId": name, "messages": messages}))
    return _dated(path, at)


def task(home: Path, name: str, asked: str, said: str, printed: str, at: float = NOW) -> Path:
    """A task of the extension of Cline in an editor."""
    storage = home / ".config" / "Code" / "User" / "globalStorage" / "saoudrizwan.claude-dev"
    folder = storage / "tasks" / name
    folder.mkdir(parents=True)
    path = folder / "api_conversation_history.json"
    named = f"# Current Working Directory ({PROJECT}) Files"
    where = f"\n<environment_details>\n{named}\n</environment_details>"
    path.write_text(json.dumps(rows(asked + where, said, printed)))
    return _dated(path, at)


def _database(
    home: Path, agent: str, name: str, asked: str, said: str, printed: str, at: float
) -> Path:
    path = home / ".local" / "share" / agent / f"{agent}.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    state = {"status": "completed", "input": {"cmd": "make"}, "output": printed, "time": {}}
    messages = [
        ("user", [text(asked)]),
        ("assistant", [{"type": "tool", "tool": "bash", "callID": "c", "state": state}]),
        ("assistant", [text(said)]),
    ]
    moment = int(at * 1000)
    with closing(sqlite3.connect(path)) as db, db:
        if new:
            db.executescript(_TABLES)
        session = (name, None, f"Work {name}", PROJECT, None, moment, moment)
        db.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?)", session)
        for number, (role, parts) in enumerate(messages):
            id_ = f"{name}-{number}"
            info = json.dumps({"role": role})
            db.execute("INSERT INTO message VALUES (?,?,?,?)", (id_, name, moment + number, info))
            for place, part in enumerate(parts):
                row = (f"{id_}-{place}", id_, name, json.dumps(part))
                db.execute("INSERT INTO part VALUES (?,?,?,?)", row)
    return path


def opencode(home: Path, name: str, asked: str, said: str, printed: str, at: float = NOW) -> Path:
    return _database(home, "opencode", name, asked, said, printed, at)


def kilo(home: Path, name: str, asked: str, said: str, printed: str, at: float = NOW) -> Path:
    return _database(home, "kilo", name, asked, said, printed, at)


AGENTS: dict[str, Callable[..., Path]] = {
    "claude-code": claude,
    "codex": codex,
    "opencode": opencode,
    "cline": cline,
    "kilo": kilo,
}
