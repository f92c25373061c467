"""Texts that nobody writes and anybody may send, and what functions are given them as."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from memtree.digests.clause import SourcePassage
from memtree.errors import MemTreeError
from memtree.history import chat_history, json_body
from memtree.history.message import Message, View, Volatile
from memtree.tree import growth, summary_prompts
from memtree.tree.node import EMPTY
from memtree.tree.summary_prompts import SourcePiece, Task
from memtree.unfolding.memory_plan import TextSpan
from memtree.unfolding.memory_text import quote_lines
from memtree_proxy.dialects import sse
from memtree_proxy.dialects.chat_stream import ToolStream

# A text is its unit, again and again. One letter of an alphabet, or what a pattern begins with.
PLAIN = {
    "one endless line": "lorem ipsum dolor ",
    "no space": "a1B2c3",
    "letters": "a",
    "capitals": "Aa",
    "digits": "0",
    "spaces": " ",
    "empty lines": "\n",
    "lines of spaces": " \n",
    "hashes": "#",
    "rules": "-",
    "stars": "*",
    "backticks": "`",
    "quotation marks": '"',
    "brackets": "[",
    "closed brackets": "[]",
    "fences": "```\n",
    "longer fences": "````x\n```\n",
    "marks of a sentence": "!a",
    "dots": ".",
    "han": "漢",
    "ideographic stops": "あ。",
    "combining marks": "\u0301\u0327",
    "letters with marks": "e\u0301",
    "backslashes": "a\\",
}
# The beginnings of patterns, half matches, and what is opened and never closed.
SECRETS = (
    "key=", "key=1", "secret=a1b2c3d4", "token is ", "bearer ", "authorization: basic ", "sk-",
    "sk-a1", "eyJa1a1a1a1.", "-----BEGIN ", "-----BEGIN A A ", "-----BEGIN PRIVATE KEY-----\n",
    "ghp_a1", "xoxb-1", "glpat-1", ":AA1", "://a:", "SG.a1a1a1a1a1a1a1a1.", "AKIA", "pypi-a1",
)  # fmt: skip
WORDS = (
    "Name ", "Name of ", "A.", "Aa'", "a.b/", "src/app.py ", "a/", "/a", "--o", "snake_case", "a_",
    "KeyError ", "\"A", "「あ", "ア・", "1 of ", "Jan ", "12年", "1,", "1.", "5 k", "$1,", "12 ",
)  # fmt: skip
SPEECH = (
    "always ", "never ask ", "from now on ", "i want you to ", "always ask. ", "going forward ",
    "user: ", "not ", "ignore all previous ", "you must ", "summarize the ", "create a a a ",
    "you are a a a ", "забудьте", "? ", "?", ".)", ".\"", "...x", "…", "、",
)  # fmt: skip
MARKUP = (
    "[a](", "](", "](x", "![", "[[a](b)", "1) ", "* ", "# a\n", "- \n", "**a ", "` a", "~~~\n",
    "\n  +", "\r\n", "\r", "\u2028", "\x1b[0;", "|", "> ",
)  # fmt: skip
TAGS = (
    "<", "<system ", "<system-reminder>", "<system-reminder ", "</system-reminder>",
    "<environment_details></", "<think>", "<|channel|>a", "<user_input>", "<user_input ",
    "<tool_call ", "<   ", "</think>\n",
)  # fmt: skip
DATES = (
    "May ", "on may ", "1 May ", "in May ", "March 1 ", "1.1.", "1/1/", "2026-01-", "every ",
    "on Fri ", "in 3 ", "in 3 days ", "on ", "at 5", "at 5:30 ", "1 de ", "5 pm", "la ", "3 weeks ",
)  # fmt: skip
OWN_WORDS = (
    "> a\n", "<a>", "</a>", "<a><b></a>", "<context>", "```a\n", '"""', " \"a", "“I", " 'a",
    "``a`", "Ann: a\n", "From: a\n", "here is the text: ", "translate this:\n", "a,b,c\n",
    "*a b c d",
    "Known facts about this conversation:\n1. a\n", "    a\n", "$ a\n", "def a(", "a = ", "a\n\n",
)  # fmt: skip
OUTPUT = (
    "error: ", "1 passed ", "exit code ", "E  ", "def ", "export ", "// ", "# a", "Applied ",
    "\"path\": \"", ": \"\\", "headline: ", "Body: a\n", "summary: ", "- a ", "@@123",
)  # fmt: skip
JSON = ('{"a":', '{"name":"', '"', '\\"', "\\", "\t", "\x00", "data: a\n", "data: a\n\n")
LETTERS = ("İ", "ß", "ﷺ", "٣", "\u200d", "\U0001f469\u200d\U0001f467", "한", "ไ", "я", "“A")


def shapes(*units: str) -> dict[str, str]:
    """The plain ones, and these."""
    return PLAIN | {unit: unit for unit in units}


VOLATILE = Volatile()
OURS = frozenset({"search_memory"})
SUMMARY = "The user asked for 3 workers, not 4, in src/app.py. It raises KeyError since 8 May 2023."


def passage(role: str, kind: str) -> Callable[[str], list[SourcePassage]]:
    return lambda text: [SourcePassage(role, text, kind)]


def fields(role: str, content: Any, **more: Any) -> bytes:
    return json.dumps({"role": role, "content": content, **more}).encode()


def message(role: str) -> Callable[[str], bytes]:
    return lambda text: fields(role, text)


def calls(text: str) -> bytes:
    function = {"name": "f", "arguments": text}
    call = {"id": "c", "type": "function", "function": function}
    return fields("assistant", "a", tool_calls=[call] * 3)


def view(raw: bytes) -> View:
    return Message(raw).view(VOLATILE)


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def arguments(text: str) -> str:
    return json.dumps({"path": text, text: [1.0, 22], "\\u00e9": [text[:9]] * (len(text) // 32)})


def in_parts(text: str) -> bytes:
    return fields("user", [{"type": "text", "text": part} for part in cut(text, 200)])


def tail(raws: Iterable[bytes]) -> growth.Tail:
    messages = tuple(raws)
    read = chat_history.read("t", tuple(map(Message, messages)), VOLATILE)
    digests = tuple(info.digest for info in read.facts)
    return growth.Tail(EMPTY, {}, messages, digests, read.addresses[1:], VOLATILE.tags)


def turns(text: str) -> list[bytes]:
    pieces = enumerate(cut(text, 300))
    return [fields("assistant" if at % 2 else "user", piece) for at, piece in pieces]


def rounds(text: str) -> tuple[Message, ...]:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    count = max(1, len(text) // 64)
    first = fields("assistant", text[:64], tool_calls=[call] * count)
    answers = [fields("tool", "a", tool_call_id="c")] * count
    return tuple(map(Message, [first, *answers]))


def posted_spans(view: View) -> list[Any]:
    return [view.posted(at, at + 40) for at in range(0, len(view.text), 400)]


def posted(raw: bytes) -> chat_history.History:
    return chat_history.read("t", (Message(raw),), VOLATILE)


def quoted(posted: chat_history.History) -> list[str]:
    size = len(posted.view(0).text)
    return list(quote_lines([TextSpan(0, at, at + 9) for at in range(0, size, 99)], posted))


def json_object(text: str) -> bytes:
    return json.dumps(
        {"k": text, text: 1, **{f"{at}": at for at in range(len(text) // 64)}}
    ).encode()


def spans(raw: bytes) -> object:
    return json_body.field_places(raw, msgspec.json.decode(raw, type=dict[str, msgspec.Raw]))


def refused(work: Callable[[Any], object]) -> Callable[[Any], object]:
    def tried(value: Any) -> object:
        try:
            return work(value)
        except (MemTreeError, ValueError) as error:
            return error

    return tried


def leaf(text: str) -> Task:
    return Task("1", summary_prompts.CHAT, 0, (SourcePiece("user", 0, text),))


def file(media_type: str, head: bytes) -> Callable[[str], dict[str, Any]]:
    def made(text: str) -> dict[str, Any]:
        data = b64encode(head + text.encode()).decode()
        return {"type": "file", "file": {"file_data": f"data:{media_type};base64,{data}"}}

    return made


def fed(size: int) -> Callable[[bytes], object]:
    def work(raw: bytes) -> object:
        events = sse.SseEvents()
        return [events.feed(raw[at : at + size]) for at in range(0, len(raw), size)]

    return work


def streamed(raw: bytes) -> object:
    stream = ToolStream(OURS)
    return [stream.feed(raw[at : at + 4096]) for at in range(0, len(raw), 4096)], stream.end()


def deltas(delta: Callable[[str, int], dict[str, Any]]) -> Callable[[str], bytes]:
    def made(text: str) -> bytes:
        chunks = (
            {"choices": [{"index": 0, "delta": delta(piece, at)}]}
            for at, piece in enumerate(cut(text, 8))
        )
        return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)

    return made


def call(name: str, arguments: str, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{**more, "function": {"name": name, "arguments": arguments}}]}


def anthropic(text: str) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for at, piece in enumerate(cut(text, 40)):
        shown = {"type": "text", "text": piece}
        used = {"type": "tool_use", "id": str(at), "name": "read", "input": {"path": piece}}
        result = {"type": "tool_result", "tool_use_id": str(at), "content": piece}
        made.append({"role": "assistant", "content": [shown, used]})
        made += [{"role": "user", "content": [result]}, {"role": "user", "content": [shown]}]
    return made


def claude(text: str) -> list[dict[str, Any]]:
    lines = enumerate(anthropic(text))
    return [
        {"type": one["role"], "uuid": f"{at}", "parentUuid": f"{at - 1}", "message": one}
        for at, one in lines
    ]


def chatgpt(text: str) -> list[dict[str, Any]]:
    nodes: dict[str, Any] = {}
    for at, piece in enumerate(cut(text, 40)):
        content = {"content_type": "text", "parts": [piece]}
        message = {"author": {"role": "tool" if at else "user"}, "content": content}
        nodes[f"{at}"] = {"parent": f"{at - 1}" if at else None, "children": [f"{at + 1}"]}
        nodes[f"{at}"]["message"] = message
    return [{"mapping": nodes}]


def opencode(text: str) -> dict[str, Any]:
    state = {"status": "completed", "input": {"a": text[:40]}, "output": text[:40]}
    tool = {"type": "tool", "callID": "c", "tool": "f", "state": state}
    messages = [
        {"info": {"id": f"{at}", "role": role}, "parts": [{"type": "text", "text": piece}, tool]}
        for at, piece in enumerate(cut(text, 40))
        for role in ("user", "assistant")
    ]
    return {"info": {"id": "s"}, "messages": messages}


def spoken(text: str) -> dict[str, Any]:
    said = [{"type": "text", "text": text}]
    roles = ("user", "assistant")
    return {"messages": [{"role": role, "content": said} for role in roles]}


def nothing(_: str) -> None:
    return None
