"""Check what must stay, over HTTP: marks of the user, patterns and protected tools, in every
dialect."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from memtree.text import tokens
from tests.http.served import speaking
from tests.http.served.fakes import edge, real_memory
from tests.http.served.upstream import FakeUpstream
from tests.programs import sessions
from tests.properties.strategies import prose
from tests.verbatim import STAYS, in_memory
from tests.wire.conversations import (
    Call,
    Exchange,
    Fields,
    Step,
    as_chat,
    as_messages,
    as_responses,
)

PATH = "/v1/context_memory"
FORMS = {"chat": as_chat, "messages": as_messages, "responses": as_responses}
FIELDS = {"chat": "messages", "messages": "messages", "responses": "input"}
PLANTED = 20
CODE = (
    "Look:\n```py\n# <keep>{}</keep>\nrun()\n```\nWhat is wrong?",
    "I wrote `<keep>{}</keep>` there.",
    "The file is\n\nimport os\n# <keep>{}</keep>\nprint(os.getcwd())\n",
    "> <keep>{}</keep>\n\nThat is what the mail says.",
)


def fact(kind: str, number: int) -> str:
    return f"{kind} rule {number}: gateway g{number} listens on port {8_400 + 7 * number}."


REAL = [fact("real", number) for number in range(PLANTED)]


def exchange(number: int) -> Exchange:
    """One exchange of a session in which each third one has a mark in the user's own words, one in
    code or a quotation, and one in the result of a tool."""
    kind, at = number % 3, number // 3
    said = prose(number, 150)
    calls: tuple[Call, ...] = ()
    if kind == 0:
        said = f"{said}\n\nCan you note this? <keep>{REAL[at]}</keep> Go on."
    elif kind == 1:
        said = f"{said}\n\n{CODE[at % len(CODE)].format(fact('code', at))}"
    else:
        result = f"{prose(number + 99, 40)}\n<keep>{fact('tool', at)}</keep>"
        calls = (Call(f"call_{number}", "read_file", {"path": f"docs/{at}.md"}, result),)
    told = f"{prose(number + 500, 150)} <keep>{fact('told', at)}</keep>"
    steps = (*([Step("", "", calls)] if calls else []), Step("", told))
    return Exchange((said,), False, steps)


TALK = [exchange(number) for number in range(3 * PLANTED)]
ASKED = Exchange(("What did we say about gateways?",), False, ())


def body(dialect: str, talk: Sequence[Exchange]) -> Fields:
    made = FORMS[dialect]([*talk, ASKED])
    return {"messages": made} if dialect == "chat" else made  # type: ignore[dict-item,return-value]


def texts(value: Any) -> str:
    """All strings below a value, joined."""
    if isinstance(value, str):
        return value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "\n".join(texts(each) for each in inner)


def memory_text(sent: Any) -> str:
    text = texts(sent)
    return text[text.index("<context_memory>") : text.index("</context_memory>") + 17]


def kept_part(memory: str) -> str:
    """The lines below the heading of what stays."""
    if STAYS not in memory:
        return ""
    return memory[memory.index(STAYS) :]


def told_as_kept(answer: Fields, posted: Sequence[Fields]) -> list[str]:
    """The texts that `explain` tells with the reason `kept`, from what a chat would have posted."""
    rows = [row for row in answer["explain"]["excerpts"] if row["reason"] == "kept"]
    found = []
    for row in rows:
        content = posted[row["message"]]["content"]
        text = content if isinstance(content, str) else texts(content)
        found.append(text[row["start"] : row["end"]])
    return found


FIRST = {("chat", "stable"), ("messages", "stable"), ("responses", "fresh")}


@pytest.mark.parametrize(
    ("dialect", "mode"),
    [
        pytest.param(dialect, mode, marks=() if (dialect, mode) in FIRST else pytest.mark.long)
        for dialect in FORMS
        for mode in ("stable", "fresh")
    ],
)
async def test_of_sixty_marks_the_twenty_real_ones_stay_after_three_folds(dialect: str, mode: str):
    epochs = []
    async with edge(None, real_memory()) as client:
        for length in (24, 36, 48, 60):
            fields = {"target_tokens": 4_000, "mode": mode, "explain": True, "dialect": dialect}
            posted = body(dialect, TALK[:length]) | fields | {"model_context_limit": 200_000}
            answer = (await client.post(PATH, json=posted)).json()
            epochs.append(answer["memory"]["epoch"])
            assert answer["memory"]["state"] in ("packed", "provisional")
            shown = texts(answer[FIELDS[dialect]])
            assert [one for one in REAL[: length // 3] if one not in shown] == []
            told = set(told_as_kept(answer, body("chat", TALK)["messages"]))
            assert told
            assert told <= set(REAL)
            assert answer["explain"]["spent"]["kept"] <= 0.2 * 4_000
    assert len(set(epochs)) == (4 if mode == "stable" else 1)
    kept = kept_part(memory_text(answer[FIELDS[dialect]]))
    assert "<keep>" not in kept
    assert [one for one in REAL[: PLANTED - 1] if one not in kept] == []
    assert not any(word in kept for word in ("code rule", "tool rule", "told rule"))


def talk_with(*passages: str, turns: int = 260) -> list[Fields]:
    """A chat of some 11,000 tokens; the passages stand at the ends of its first messages."""
    said: list[Fields] = [*sessions.chat(turns)]
    for at, passage in enumerate(passages):
        said[2 * at]["content"] += f" {passage}"
    return said


async def compressed(messages: list[Fields], **fields: Any) -> Fields:
    async with edge(None, real_memory()) as client:
        return await posted_to(client, messages, **fields)


async def posted_to(client: Any, messages: list[Fields], **fields: Any) -> Fields:
    asked = {"target_tokens": 4_000, "model_context_limit": 64_000, "explain": True}
    answer = await client.post(PATH, json={"messages": messages, **asked, **fields})
    assert answer.status_code == 200, answer.text
    shown: Fields = answer.json()
    return shown


@pytest.mark.parametrize("mode", ["stable", "fresh"])
async def test_what_finds_no_room_is_named_the_newest_first(mode: str):
    long = [f"<keep>secret {at}: {prose(at, 120)}</keep>" for at in range(8)]
    answer = await compressed(talk_with(*long), mode=mode)
    memory = memory_text(answer["messages"])
    kept = kept_part(memory)
    assert "secret 7: " in kept
    assert "secret 0: " not in kept
    assert "¶ Marked to stay, but without room here, in messages 0, 2, 4" in kept
    assert in_memory(memory, talk_with(*long), range(260)) == []
    assert tokens.count(kept.removesuffix("</context_memory>")) <= 0.2 * 4_000
    assert "[...]" in kept


@pytest.mark.parametrize("mode", ["stable", "fresh"])
async def test_without_marks_and_options_nothing_is_kept(mode: str):
    answer = await compressed(talk_with("<keep>never closed", "closed</keep> only"), mode=mode)
    assert STAYS not in memory_text(answer["messages"])
    assert answer["explain"]["spent"]["kept"] == 0


async def test_an_epoch_keeps_its_bytes_and_the_next_one_takes_new_marks():
    messages = talk_with("<keep>the first port is 1111</keep>")
    sent, epochs = [], []
    async with edge(None, real_memory()) as client:
        for turn in range(30):
            answer = await posted_to(client, messages, mode="stable")
            sent.append(memory_text(answer["messages"]))
            epochs.append(answer["memory"]["epoch"])
            mark = " Right? <keep>the later port is 2222</keep>" if turn == 1 else ""
            messages = [
                *messages,
                {"role": "assistant", "content": prose(turn, 90)},
                {"role": "user", "content": prose(turn + 40, 90) + mark},
            ]
    same = [one == other for one, other in pairwise(sent)]
    assert same == [one == other for one, other in pairwise(epochs)]
    assert all("1111" in kept_part(text) for text in sent)
    assert "2222" not in kept_part(sent[0])
    assert "2222" in kept_part(sent[-1])


def reading(number: int, name: str, path: str, result: str) -> list[Fields]:
    given = json.dumps({"path": path} if name != "shell" else {"command": f"cat {path}"})
    call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": given}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": result},
    ]


def work() -> list[Fields]:
    said: list[Fields] = [{"role": "user", "content": "Please look around."}]
    for number in range(60):
        said += reading(number, "read_file", f"src/m{number}.py", prose(number, 150))
    said[1:1] = [
        *reading(90, "read_file", "/home/me/app/docs/plan.md", "# Plan\nfirst draft"),
        *reading(91, "shell", "docs/plan.md", "# Plan\nsecond draft\nquota = 17\nend"),
        *reading(92, "get_tasks", "all", "- ship the billing gateway"),
        *reading(93, "read_file", "docs/lost.md", "Error: File does not exist."),
    ]
    return said


@pytest.mark.parametrize("mode", ["stable", "fresh"])
async def test_patterns_and_tools_keep_results_and_lines(mode: str):
    options = {"keep_patterns": ["docs/*.md", "quota ="], "protected_tools": ["get_tasks"]}
    answer = await compressed(work(), mode=mode, **options)
    kept = kept_part(memory_text(answer["messages"]))
    assert kept.split("\n")[1:7] == [
        "¶4 tool, shell cat docs/plan.md",
        "# Plan",
        "second draft",
        "quota = 17",
        "end",
        "¶6 tool, get_tasks all",
    ]
    assert kept.split("\n")[7] == "- ship the billing gateway"
    assert "first draft" not in kept
    assert "does not exist" not in kept
    assert {row["message"] for row in answer["explain"]["excerpts"] if row["reason"] == "kept"} == {
        4,
        6,
    }


async def test_a_line_is_kept_without_the_rest_of_its_message():
    answer = await compressed(work(), mode="fresh", keep_patterns=["quota ="])
    assert kept_part(memory_text(answer["messages"])).split("\n")[1:3] == [
        "¶4 tool, shell cat docs/plan.md",
        "quota = 17",
    ]


async def test_the_header_goes_before_the_body_and_the_body_before_the_setting():
    async def kept(client: Any, fields: Fields, **headers: str) -> str:
        asked = {"messages": work(), "target_tokens": 4_000, "mode": "fresh", **fields}
        answer = await client.post(PATH, json=asked, headers=headers)
        return kept_part(memory_text(answer.json()["messages"]))

    header = {"x-memtree-keep": json.dumps({"keep_patterns": ["first draft"]})}
    async with edge(None, real_memory(), keep_patterns=("second draft",)) as client:
        by_setting = await kept(client, {})
        by_body = await kept(client, {"keep_patterns": ["ship the"]})
        by_header = await kept(client, {"keep_patterns": ["ship the"]}, **header)
        by_none = await kept(client, {"keep_patterns": []})
    assert "second draft" in by_setting
    assert "ship the billing" in by_body
    assert "first draft" in by_header
    assert "ship the" not in by_header
    assert by_none == ""


BAD: list[tuple[Fields, dict[str, str], str]] = [
    ({"keep_patterns": "src/*"}, {}, "keep_patterns"),
    ({"keep_patterns": ["a"] * 21}, {}, "keep_patterns"),
    ({"keep_patterns": ["a", 3]}, {}, "keep_patterns[1]"),
    ({"protected_tools": [" "]}, {}, "protected_tools[0]"),
    ({"protected_tools": ["x" * 201]}, {}, "protected_tools[0]"),
    ({"keep_patterns": ["a\nb"]}, {}, "keep_patterns[0]"),
    ({}, {"x-memtree-keep": "src/*"}, "x-memtree-keep"),
    ({}, {"x-memtree-keep": "[]"}, "x-memtree-keep"),
    ({}, {"x-memtree-keep": '{"paths": []}'}, "x-memtree-keep"),
    ({}, {"x-memtree-keep": '{"keep_patterns": [[]]}'}, "x-memtree-keep"),
]


@pytest.mark.parametrize(("fields", "headers", "named"), BAD)
async def test_a_wrong_option_is_a_400_that_names_it(
    fields: Fields, headers: dict[str, str], named: str
):
    async with edge(None, real_memory()) as client:
        asked = {"messages": work(), **fields}
        answer = await client.post(PATH, json=asked, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == named


async def test_in_a_chat_the_options_stay_here_and_marked_messages_go_as_they_came(
    base: str, upstream: FakeUpstream
):
    last = {"role": "user", "content": "And now? <keep>Nothing is cut here.</keep>"}
    messages = [*talk_with("<keep>port 8443 is taken</keep>", turns=261)[:-1], last]
    asked = {"model": "m", "messages": messages, "keep_patterns": ["x*"], "protected_tools": ["t"]}
    headers = {"x-polychat-memory": "on", "x-memtree-mode": "stable", "x-memtree-keep": "{}"}
    async with edge(base, real_memory(), target_tokens=4_000) as client:
        answer = await client.post("/v1/chat/completions", json=asked, headers=headers)
    assert answer.headers["x-memtree-state"] == "packed"
    sent = json.loads(upstream.last.body)
    assert not {"keep_patterns", "protected_tools"} & sent.keys()
    assert b"x-memtree-keep" not in {name.lower() for name, _ in upstream.last.headers}
    assert sent["messages"][-1] == last
    assert "¶0 user\nport 8443 is taken\n" in kept_part(memory_text(sent["messages"]))


@pytest.mark.parametrize("speaker", [speaking.messages, speaking.responses])
async def test_marks_stay_in_messages_and_responses(speaker: Any):
    async with speaker() as talk:
        await talk.say("Hello. <keep>port 8443 is taken</keep>")
        await talk.until_folded()
        assert "port 8443 is taken" in kept_part(memory_text(talk.sent))


# -- pins -----------------------------------------------------------------------------------------

CONVERSATIONS = f"{PATH}/conversations"


async def pinned(client: Any, address: str, pins: Any) -> Any:
    return await client.put(f"{CONVERSATIONS}/{address}/pins", json={"pins": pins})


async def test_a_pinned_excerpt_stays_from_the_next_fold_on_without_its_text():
    memory = real_memory()
    messages = talk_with()
    async with edge(None, memory) as client:
        before = await posted_to(client, messages, mode="stable", query="river garden")
        row = before["explain"]["excerpts"][0]
        pin = {name: row[name] for name in ("message", "part", "start", "end", "sha256")}
        told = await pinned(client, before["memory"]["address"], [pin])
        assert (told.status_code, told.json()["pins"]) == (200, [pin])
        same = await posted_to(client, messages, mode="stable", query="river garden")
        assert memory_text(same["messages"]) == memory_text(before["messages"])
        more = [*messages, *sessions.chat(40, seed=9, words=90)]
        after = await posted_to(client, more, mode="stable", query="river garden")
        assert after["memory"]["epoch"] != before["memory"]["epoch"]
        listed = await client.get(f"{CONVERSATIONS}/{after['memory']['address']}/pins")
        unpinned = await pinned(client, after["memory"]["address"], [])
        fresh = await posted_to(client, more, mode="fresh")
    text = messages[pin["message"]]["content"][pin["start"] : pin["end"]]
    assert told_as_kept(after, more) == [text]
    assert text in kept_part(memory_text(after["messages"]))
    assert listed.json()["pins"] == [pin]
    assert unpinned.json()["pins"] == []
    assert told_as_kept(fresh, more) == []


PIN = {"message": 0, "start": 0, "end": 5, "sha256": "0" * 64}


@pytest.mark.parametrize(
    ("pins", "named"),
    [
        ("all", "pins"),
        ([PIN] * 21, "pins"),
        ([PIN, {**PIN, "start": -1}], "pins[1].start"),
        ([{**PIN, "end": 0}], "pins[0].end"),
        ([{**PIN, "sha256": "abc"}], "pins[0].sha256"),
        ([{**PIN, "text": "the text itself"}], "pins[0].text"),
        ([7], "pins[0]"),
    ],
)
async def test_a_wrong_pin_is_a_400_that_names_it(pins: Any, named: str):
    async with edge(None, real_memory()) as client:
        shown = await posted_to(client, talk_with(), mode="stable")
        answer = await pinned(client, shown["memory"]["address"], pins)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, named)


async def test_only_known_conversations_can_be_pinned_and_another_text_is_no_pin():
    async with edge(None, real_memory()) as client:
        unknown = await pinned(client, "0" * 64, [PIN])
        shown = await posted_to(client, talk_with(), mode="fresh")
        await pinned(client, shown["memory"]["address"], [PIN])
        again = await posted_to(client, talk_with(), mode="fresh")
    assert unknown.status_code == 404
    assert told_as_kept(again, talk_with()) == []
