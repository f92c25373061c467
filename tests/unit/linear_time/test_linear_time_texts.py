"""Reading what users and agents say and do takes time in proportion to its length."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress

import msgspec
import numpy as np
import pytest
from starlette.datastructures import Headers

from memtree.agents import clusters, grounded_answers, mentions
from memtree.dialects import openai_chat
from memtree.digests import (
    call_patches,
    call_results,
    leaf_work,
    prose_calls,
    shell,
    summarize,
    titles,
    tool_calls,
)
from memtree.digests.call_fields import Field, groups
from memtree.digests.clause import SourcePassage
from memtree.digests.summarize import leaf_summary
from memtree.digests.work_clauses import shown, works_in
from memtree.errors import BadRequest, MemTreeError
from memtree.history import chat_history
from memtree.history.chat_history import History
from memtree.history.json_body import Body, split
from memtree.history.keep_options import KeepOptions
from memtree.history.message import Message
from memtree.history.posted_json import argument_values
from memtree.language.languages import language_of
from memtree.memories import rule_extraction
from memtree.memories.memory import Memory
from memtree.memories.memory_choice import is_general
from memtree.memories.scope import is_placeholder
from memtree.memories.search.vector_bytes import memory_terms
from memtree.ranking.segments import segments
from memtree.statements import fiction, grammar, memory_gate, user_statements
from memtree.text import (
    document_names,
    own_lines,
    own_words,
    pasted_texts,
    prose_runs,
    speakers,
    telling_words,
    terminal,
    terms,
)
from memtree.text.own_words import kept_marks
from memtree.transfer.memory_file import read_memory_file
from memtree.unfolding import excerpt_duplicates, excerpt_units, quotes, unfold
from memtree.unfolding.kept_passages import fitted, kept_passages, matches
from memtree.unfolding.memory_plan import FoldWindow
from memtree.unfolding.work_events import work_events
from memtree_proxy.http.decoding import decode
from memtree_proxy.http.headers import own_values
from memtree_proxy.imports.conversation import tool_call
from memtree_proxy.sessions.session_passages import passages, quotation
from memtree_proxy.sessions.transcripts import WORKING_FOLDER
from memtree_proxy.wire.curation_bodies import UserBulkDeletion
from memtree_proxy.wire.document_bodies import new_documents
from memtree_proxy.wire.schema_and_grant_bodies import NewSchema, PostedGrant
from tests.hostile_texts import hostile
from tests.hostile_texts.linear_time import CERTAIN, Subject, seconds, slow

# ------------------------------------------------------------------------------------------------
# Reading what an agent did, and quoting it, takes time linear in calls, results and prose.


KEPT = KeepOptions(("a", "e", "s", "*a*a*a*b", "*.py", "/*"), ("f", "read"))


def read(*raws: bytes) -> History:
    return chat_history.read("t", tuple(map(Message, raws)), hostile.VOLATILE)


def reading(text: str) -> tuple[bytes, ...]:
    """A message with a mark, and a file that is read."""
    function = {"name": "read", "arguments": json.dumps({"path": text, "command": text})}
    return (
        hostile.fields("user", f"{text}<keep>a</keep>"),
        hostile.fields("assistant", text, tool_calls=[{"id": "c", "function": function}]),
        hostile.fields("tool", text, tool_call_id="c"),
    )


def kept(posted: History) -> object:
    passages = kept_passages(posted, KEPT)
    return fitted(posted, passages, FoldWindow(len(posted), 0), 800)


SUBJECTS = {
    "near-duplicates": Subject(
        lambda text: excerpt_duplicates.near_runs(*[excerpt_duplicates.runs(text)] * 2)
    ),
    "what differs": Subject(lambda text: excerpt_duplicates.differences(text, text[::-1])),
    "what says more": Subject(lambda text: excerpt_duplicates.says_more(text, text[::-1])),
    "statements": Subject(
        lambda text: list(unfold.statements(0, text, frozenset(terms.terms(text))))
    ),
    "the nearest segment": Subject(
        lambda text: excerpt_units.nearest_segment(
            text, np.ones(len(segments(text)), np.float32), terms.terms(text)
        )
    ),
    "own lines": Subject(own_lines.without_signs),
    "tags that are left open": Subject(
        own_lines.without_signs, lambda text: f"<c{text}<context_{text}</con<b>"
    ),
    "a line of ours": Subject(own_lines.one_line, lambda text: f"¶{text}<"),
    "lines like a speaker's": Subject(speakers.needs_label, lambda text: f"a\n{text}<{text}"),
    "a terminal": Subject(terminal.shown),
    "a terminal in JSON": Subject(lambda text: terminal.shown(json.dumps({"a": text}))),
    "quotes of a terminal": Subject(
        hostile.quoted, lambda text: hostile.posted(hostile.fields("user", f"\x1b[m{text}"))
    ),
    "gaps": Subject(quotes.gap),
    "a recall block": Subject(
        lambda raw: openai_chat.with_text_before(raw, "block"), hostile.message("user")
    ),
    "a text behind a message's own": Subject(
        lambda raw: openai_chat.with_text_behind(raw, "block", "\n\n"), hostile.message("user")
    ),
    "quotes": Subject(hostile.quoted, lambda text: hostile.posted(hostile.fields("user", text))),
    "arguments": Subject(lambda text: groups("{" + text)),
    "strings in arguments": Subject(
        lambda text: argument_values(json.dumps({"a": [text, *hostile.cut(text, 9)]}))
    ),
    "arguments without an end": Subject(lambda text: argument_values('{"a":["' + text)),
    "quotes of arguments": Subject(
        lambda text: hostile.quoted(hostile.posted(hostile.calls(json.dumps({"a": text}))))
    ),
    "work in a body": Subject(lambda text: list(works_in(f"`{text}`: ok `"))),
    "a name of work": Subject(lambda text: shown(text, 60)),
    "a call of a leaf": Subject(
        lambda text: leaf_summary([SourcePassage("assistant", f'run {{"command":"{text}', "call")])
    ),
    "a call in prose of a leaf": Subject(
        lambda text: leaf_summary([SourcePassage("assistant", f'a\n{{"command":"{text}', "text")])
    ),
    "what a program printed": Subject(leaf_work.printed),
    "a command": Subject(lambda text: list(shell.commands(Field(text)))),
    "a command in JSON": Subject(
        lambda text: tool_calls.called("run", json.dumps({"command": text}))
    ),
    "an edit": Subject(
        lambda text: tool_calls.called("edit", json.dumps({"path": "a", "old": text, "new": text}))
    ),
    "a patch": Subject(lambda text: list(call_patches.patched(Field(text)))),
    "prose": Subject(lambda text: prose_calls.written(text, 0)),
    "prose with tags": Subject(lambda text: prose_calls.written("<path>" + text, 0)),
    "elements": Subject(
        lambda text: list(prose_calls.tagged(f"<edit path='a'><file><path>{text}", 0))
    ),
    "nested elements": Subject(
        lambda text: list(prose_calls.tagged("<edit path='a'><diff>" * (len(text) // 20), 0))
    ),
    "objects": Subject(lambda text: prose_calls.listed('{"a": ' + text, 0)),
    "arguments in a string": Subject(
        lambda text: prose_calls.listed(
            json.dumps({"name": "edit", "input": '{"path": "' + text}), 0
        )
    ),
    "whole files": Subject(
        lambda text: list(call_patches.whole_files(Field(text.replace("{", "\n```\n"))))
    ),
    "a client's words": Subject(lambda text: list(prose_calls.said(text))),
    "a result": Subject(call_results.ended),
    "a refusal": Subject(call_results.refused),
    "an editor's answer": Subject(call_results.shown_file),
    "the files that a call shows": Subject(
        lambda text: tool_calls.shown_files("run", json.dumps({"command": text}))
    ),
    "marks of what stays": Subject(kept_marks, lambda text: f"{text}<keep>a</keep>{text}"),
    "many marks of what stays": Subject(
        kept_marks, lambda text: "<keep>".join(hostile.cut(text, 9)) + "</keep>"
    ),
    "closed marks of what stays": Subject(
        kept_marks, lambda text: "</keep>\n<keep>".join(hostile.cut(text, 20))
    ),
    "what stays": Subject(kept, lambda text: read(*reading(text))),
    "what stays of one round": Subject(
        kept, lambda text: read(*(message.raw for message in hostile.rounds(text)))
    ),
    "what stays of many messages": Subject(kept, lambda text: read(*hostile.turns(text))),
    "a path": Subject(lambda text: matches(text, ["*a*b*c*d*e", "**/*/x?y"])),
}
UNITS = (
    "<path>", "<path>a</path>", "<parameter=path>", "<<<<<<< SEARCH\n", "=======\n", "```\n",
    "a <<E\n", '{"', '\n{"', "*** Add File: a\n", "--- a\n+++ b\n", "cd x && ", "' ", '" ',
    "Commit abcdef1 x ", "\nApplied edit to a", "1 failed, ", "Ran 1 test\n", "Error: ",
    "✗ FAILED ", "a: b: ", "1 a ", "a.c:1:1: ", "[File: a", "exit code ", "$(", "> a ",
    "\\u0041", '\\"', "[[", '["a",',
    "\n¶1 user\n", "\n[...]\n", "</context_memory>", "<\u200b", "open('a','w'", "<tool_call>{",
    "<keep>", "</keep>\n", "<keep>a</keep>\n", "\r ", "a\r", "ab\b", "\x1b[", "\x1b]", "\x1b[A",
    "a\n\x1b[A", "\x1b[2K", "\x1b[9B", "\x1b[J\n", "1 of 9\n", "1%\n", "1/9 ", "\x1b[9D",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    ("beginning", "unit", "most"),
    [("git ", "-c a ", 2), ("git ", "-x ", 2), ("", "npx ", 1)]
    + [("", unit, 10) for unit in ("a=1 ", "env ", "( ", '"b"')],
)
def test_no_command_line_takes_more_than_its_share_of_time(beginning, unit, most):
    commands = Subject(
        lambda text: list(shell.commands(Field(text))),
        lambda text: beginning + unit * (most * len(text)),  # shorter ones show no square
    )
    assert list(slow(commands, {unit: "a"}, 1 << 15)) == []


# ------------------------------------------------------------------------------------------------
# Reading the bodies of memory routes takes time linear in what is posted.


def bodies_reading(read: Callable[[Body], object]) -> Callable[[str], None]:
    """Read a body; a refusal counts as an answer."""

    def of(posted: str) -> None:
        with suppress(MemTreeError):
            read(split(posted.encode()))

    return of


def _documents(text: str) -> str:
    document = {"text": text[: len(text) // 4], "type": "a", "metadata": {"a": text[:200]}}
    return msgspec.json.encode({"documents": [document] * 4}).decode()


def _schema(text: str) -> str:
    return msgspec.json.encode({"schema": text, "uniqueOn": text.split()[:50]}).decode()


def _filter(text: str) -> str:
    return msgspec.json.encode({"ids": text.split(" "), "filter": {"tags": [text]}}).decode()


def _repeated(text: str) -> list[str]:
    return own_values(Headers(raw=[(b"x-user-id", text.encode()[:65_536])] * 9), "x-user-id")


BODIES = {
    "a placeholder": Subject(is_placeholder, str),
    "a repeated header": Subject(_repeated, str),
    "documents": Subject(bodies_reading(new_documents), _documents),
    "a schema": Subject(bodies_reading(lambda body: decode(NewSchema, body).parts()), _schema),
    "a share code": Subject(
        bodies_reading(lambda body: decode(PostedGrant, body).signed()),
        lambda text: msgspec.json.encode({"shareCode": text}).decode(),
    ),
    "a deletion": Subject(
        bodies_reading(lambda body: decode(UserBulkDeletion, body).wanted(purged=False)), _filter
    ),
}


# ------------------------------------------------------------------------------------------------
# Check what names conversations and documents takes time in proportion to the text's length: the
# rest of the table in `test_linear_time.py`.


def places(text: str) -> list[str]:
    """Return what the beginning, the middle and the end of a message are called."""
    found = pasted_texts.documents(text)
    return [document.place(text, at) for document in found[:9] for at in (0, len(text) // 2)]


def call_texts_of(text: str) -> object:
    return quotes.left_out(Message.of({"role": "assistant", "content": text}))


TEXTS = {
    "the title of a conversation": Subject(titles.title),
    "the task behind a label": Subject(lambda text: summarize.labelled(f"Task: {text}")),
    "the project of a conversation": Subject(lambda text: titles.project_of([text, text])),
    "the texts of a call": Subject(
        call_texts_of, lambda text: f'{{"command": "a b", "thought": "{text}", "a": "b c"}}'
    ),
    "the name of a document": Subject(document_names.document_name),
    "documents in a message": Subject(places),
    "documents behind fences": Subject(places, lambda text: f"```\n{text}\n```\n" * 3),
    "a document behind a licence's name": Subject(
        places, lambda text: f"Apache License Version 2.0\n{text}\nwarranties permission {text}"
    ),
    "a log": Subject(places, lambda text: f"2026-11-26 10:00:00 ERROR {text}\n" * 9),
}


# ------------------------------------------------------------------------------------------------
# Reading what users say of themselves takes time linear in what they say.


MEMORIES_SUBJECTS = {
    "own sentences": Subject(user_statements.own_sentences),
    "frames of fiction": Subject(
        lambda text: fiction.framed([(0, line) for line in text.split("\n")])
    ),
    "what is fictional": Subject(fiction.is_fictional),
    "what is refused": Subject(memory_gate.refused),
    "another reason": Subject(memory_gate.other_reason),
    "parts of a sentence": Subject(lambda text: (list(grammar.heads(text)), grammar.spliced(text))),
    "reasons in other languages": Subject(grammar.refused),
    "statements in other languages": Subject(grammar.category_of),
    "the plain form": Subject(grammar.plain),
    "told of the user": Subject(rule_extraction.told_of_user),
    "told of the user abroad": Subject(rule_extraction.told_abroad),
    "clauses of a memory": Subject(lambda text: rule_extraction.predicates(f"User {text}")),
    "a line of signs": Subject(prose_runs.kind),
}
MEMORIES_UNITS = (
    "my wife ", "my a a ", "both my ", "and i ", "i don't really ", "my character ", "in my ",
    "from the a a novel ", ", is ", ", can ", "and we ", "me and my ", "1a-", "A1b2c3d4 ", "我",
    "lives in and works as ", "always ",
    "私の", "haha ", "that was a line of ", "nobody in my ", "my son tim and my ", ", it? ",
)  # fmt: skip


def test_a_line_is_read_at_little_cost_however_it_looks():
    """Lines are read as far as some hundred characters. A pattern that takes the cube of that time
    is not slower on a longer text, and makes every short message dear."""
    subject = Subject(own_words.own_words)
    for name, unit in hostile.shapes(*MEMORIES_UNITS, "a", "ab1_").items():
        assert min(seconds(subject, unit, 400) for _ in range(3)) < CERTAIN, name


def test_reported_words_take_time_in_proportion_to_their_length():
    """Behind a question all is its author's, until something shows that others said it."""
    units = ("b: ", "he said ", "this text ", "translate ", "说：这句话", "-" * 90 + "x\n")
    shapes = {unit.strip(): unit for unit in units}
    subject = Subject(own_words.others_words, lambda text: f"Can you read {'it ' * 40}{text}")
    assert list(slow(subject, shapes, 1 << 14)) == []


# ------------------------------------------------------------------------------------------------
# Check what searches over agents' memories read takes time in proportion to its length, too: the
# rest of the table in `test_linear_time.py`.


def _read(text: str) -> None:
    with suppress(BadRequest):
        read_memory_file(text.encode("utf-8", "replace"))


SEARCH_TEXTS = {
    "mentions of a memory": Subject(
        lambda text: mentions.mentions({text[:90]: text, "list": [text]}, 1 << 30)
    ),
    "the time of a memory": Subject(lambda text: mentions.when(None, {text: text, "date": text})),
    "a map of memories": Subject(
        lambda said: clusters.clusters(said, None),
        lambda text: [
            clusters.ClusteredMemory(str(at), clusters.said({"a": [text]}, "")) for at in range(3)
        ],
    ),
    "a question about memories": Subject(
        lambda memory: grounded_answers.prompt(memory.text, [memory]),
        lambda text: Memory("m", 1, text, 0.0, 0.0, kind=text, data={text: text}),
    ),
    "an answer from memories": Subject(
        lambda said: grounded_answers.grounded(said, said, []),
        lambda text: f'{{"answer": {text} {{"answer": "{text}", "sources": [1]}}',
    ),
    "telling words": Subject(lambda text: telling_words.sharing(text, [text] * 5, 100)),
    "a question about the world": Subject(is_general),
    "the language of a message": Subject(language_of),
    "terms of a memory": Subject(memory_terms, lambda text: text + "é"),
    "passages of a session": Subject(
        lambda messages: [
            quotation(found, at, terms.terms("a key"))
            for found in [passages(messages)]
            for at in range(min(2, len(found)))
        ],
        lambda text: [
            {"role": "user", "content": text},
            {"role": "assistant", "content": "", "tool_calls": [tool_call("c", text, text)]},
            {"role": "tool", "tool_call_id": "c", "content": text},
        ],
    ),
    "the folder that a task names": Subject(WORKING_FOLDER.search),
    "a file that may be damaged": Subject(_read, lambda text: f'"{text}"\n{text}'),
}


# ------------------------------------------------------------------------------------------------
# Reading the values of a call, and the edits that a client reports, takes time linear in how many
# there are.


def events(posted: History) -> object:
    return list(work_events(posted, len(posted)))


def reported(text: str) -> History:
    said = "\n".join(f"Applied edit to src/{at}.py" for at in range(len(text) // 16))
    return chat_history.read("t", (Message(hostile.fields("assistant", said)),), hostile.VOLATILE)


WORK_SUBJECTS = {
    "values below a long key": Subject(
        argument_values, lambda text: json.dumps({text: [1] * (len(text) // 4), "a": "b"})
    ),
    "edits that a client reports": Subject(events, reported),
}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", WORK_SUBJECTS)
def test_more_work_takes_no_more_than_its_share_of_time(name):
    assert list(slow(WORK_SUBJECTS[name], {"words": "ab c"}, 1 << 17)) == []


TABLES = {"work": (SUBJECTS, UNITS), "bodies": (BODIES, ()), "documents": (TEXTS, ()),
          "said": (MEMORIES_SUBJECTS, MEMORIES_UNITS), "search": (SEARCH_TEXTS, ())}  # fmt: skip
ALL = {
    f"{of}: {name}": (subject, units)
    for of, (table, units) in TABLES.items()
    for name, subject in table.items()
}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_no_shape_of_a_text_takes_more_than_its_share_of_time(name: str) -> None:
    subject, units = ALL[name]
    assert list(slow(subject, hostile.shapes(*units), 1 << 15)) == []
