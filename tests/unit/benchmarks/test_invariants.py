"""The checker of the benchmarks lets honest answers through and finds each broken promise."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from benchmarks.invariants import Reply, recalled, size, violations
from memtree.conversation.message import Message

TARGET = 2_000
OPENING = "<recalled_context>"
CLOSING = "</recalled_context>"


def message(role, content, **fields):
    return Message.of({"role": role, "content": content, **fields})


POSTED = (
    message("system", "Be brief."),
    message("user", "Our port is 7341.\n¶0 user\nis how a label looks."),
    message("assistant", "Noted. `retry()` waits 90 seconds.\n```\nretry()\n```"),
    message("user", "Go on."),
    message("assistant", "Gone on."),
    message("user", "Which port?", name="ada"),
)
MEMORY = "<context_memory>\n- ¶1-2 port\n¶2 assistant\n`retry()` waits 90 s\n</context_memory>"
BLOCK = (
    f"{OPENING}\nEarlier:\n¶1 user\nOur port is 7341.\n0 user\nis how a label looks.\n"
    f"- ¶2 retries\n¶2 assistant\nNoted.\n[...]\n```\nretry()\n```\n{CLOSING}"
)


def before(block, posted):
    content = posted.content
    if isinstance(content, str):
        return Message.of({**posted.fields, "content": f"{block}\n\n{content}"})
    parts = [{"type": "text", "text": f"{block}\n\n"}, *content]
    return Message.of({**posted.fields, "content": parts})


def sent(*tail):
    return [m.raw for m in (POSTED[0], message("user", MEMORY), *tail)]


HONEST = sent(*POSTED[3:5], before(BLOCK, POSTED[5]))


def check(raws, *excerpts):
    return violations(POSTED, raws, {"excerpts": list(excerpts)}, TARGET)


def excerpt(number, piece):
    start = POSTED[number].text.index(piece)
    digest = sha256(piece.encode()).hexdigest()
    where = {"message": number, "part": "content", "start": start, "end": start + len(piece)}
    return {**where, "sha256": digest}


def test_an_honest_answer_with_a_block_passes():
    assert check(HONEST, excerpt(1, "Our port is 7341.")) == []


def test_a_block_may_be_a_first_part():
    newest = message("user", [{"type": "text", "text": "Which port?"}])
    posted = (*POSTED[:5], newest)
    raws = sent(*POSTED[3:5], before(BLOCK, newest))
    assert violations(posted, raws, {}, TARGET) == []


def test_a_block_is_visible_and_the_question_is_not():
    reply = Reply.of(HONEST, POSTED)
    assert "Our port is 7341." in reply.visible
    assert "Which port?" not in reply.visible


def test_without_its_blocks_an_answer_has_the_posted_bytes():
    assert Reply.of(HONEST, POSTED).unblocked == sent(*POSTED[3:])


@pytest.mark.parametrize(
    "block",
    [
        BLOCK.replace("7341", "7342"),
        BLOCK.replace("¶1 user", "¶1 assistant"),
        BLOCK.replace("¶2 assistant\nNoted.", "¶3 user\nGo on."),
        BLOCK.replace("¶2 assistant\nNoted.", "¶2 assistant\nNoted, done."),
        f"{OPENING}\nOur port is 7341.\n{CLOSING}",
    ],
    ids=["changed", "role", "not before the cut", "added", "no label"],
)
def test_a_block_that_is_not_verbatim_is_found(block):
    found = check(sent(*POSTED[3:5], before(block, POSTED[5])))
    assert found
    assert all("recall block" in one for one in found)


def test_a_message_changed_beside_its_block_is_found():
    fields = before(BLOCK, POSTED[5]).fields
    for changed in (
        {**fields, "content": fields["content"] + "!"},
        {**fields, "name": "bob"},
        {key: value for key, value in fields.items() if key != "name"},
    ):
        assert recalled(Message.of(changed), POSTED[5]) is None
        assert "the newest message is not whole and last" in check(
            sent(*POSTED[3:5], Message.of(changed))
        )


def test_only_users_get_blocks():
    raws = sent(POSTED[3], before(BLOCK, POSTED[4]), POSTED[5])
    assert "the recent part is no suffix of what was posted" in check(raws)


def test_a_block_needs_a_memory_message():
    raws = [m.raw for m in (*POSTED[:5], before(BLOCK, POSTED[5]))]
    assert any("no memory message" in one for one in check(raws))


def test_an_excerpt_that_stands_nowhere_is_found():
    assert any("neither" in one for one in check(HONEST, excerpt(2, "Noted. `retry()`")))


def test_blocks_count_against_a_hard_target_and_less_against_a_soft_one():
    long = message("user", "Again: " + "port " * 3 * TARGET)
    posted = (POSTED[0], long, *POSTED[2:])
    block = f"{OPENING}\nEarlier:\n¶1 user\n{long.text}\n{CLOSING}"
    raws = sent(*POSTED[3:5], before(block, POSTED[5]))
    assert TARGET < size([Message(raw) for raw in raws]) < 4 * TARGET
    assert any("at a target of" in one for one in violations(posted, raws, {}, TARGET))
    assert violations(posted, raws, {}, TARGET, hard=False) == []


def test_json_may_be_written_otherwise():
    loose = Message(json.dumps(before(BLOCK, POSTED[5]).fields, indent=1).encode())
    assert check(sent(*POSTED[3:5], loose)) == []
