"""Reading what an agent did, and quoting it, takes time linear in calls, results and prose."""

from __future__ import annotations

import json

import numpy as np
import pytest

from memtree.conversation import history
from memtree.conversation.call_arguments import argument_values
from memtree.conversation.history import History
from memtree.conversation.keep_options import KeepOptions
from memtree.conversation.message import Message
from memtree.dialects import openai_chat
from memtree.digests import leaf_work
from memtree.digests.clauses.clause import SourcePassage
from memtree.digests.summarize import leaf_summary
from memtree.digests.tool_calls import calls, patches, prose, results, shell
from memtree.digests.tool_calls.fields import Field, groups
from memtree.digests.work_clauses import shown, works_in
from memtree.ranking.segments import segments
from memtree.text import own_lines, speakers, terminal, terms
from memtree.text.pasted.own_words import kept_marks
from memtree.unfolding.excerpts import duplicates, newer_statements, units
from memtree.unfolding.memory_message import quotes
from memtree.unfolding.pinned.kept_passages import fitted, kept_passages, matches
from memtree.unfolding.plan import FoldWindow
from tests.hostile_texts import hostile
from tests.hostile_texts.linear_time import Subject, slow

KEPT = KeepOptions(("a", "e", "s", "*a*a*a*b", "*.py", "/*"), ("f", "read"))


def read(*raws: bytes) -> History:
    return history.read("t", tuple(map(Message, raws)), hostile.VOLATILE)


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
        lambda text: duplicates.near_runs(*[duplicates.runs(text)] * 2), hostile.as_it_is
    ),
    "what differs": Subject(
        lambda text: duplicates.differences(text, text[::-1]), hostile.as_it_is
    ),
    "what says more": Subject(
        lambda text: duplicates.says_more(text, text[::-1]), hostile.as_it_is
    ),
    "statements": Subject(
        lambda text: list(newer_statements.statements(0, text, frozenset(terms.terms(text)))),
        hostile.as_it_is,
    ),
    "the nearest segment": Subject(
        lambda text: units.nearest_segment(
            text, np.ones(len(segments(text)), np.float32), terms.terms(text)
        ),
        hostile.as_it_is,
    ),
    "own lines": Subject(own_lines.without_signs, hostile.as_it_is),
    "tags that are left open": Subject(
        own_lines.without_signs, lambda text: f"<c{text}<context_{text}</con<b>"
    ),
    "a line of ours": Subject(own_lines.one_line, lambda text: f"¶{text}<"),
    "lines like a speaker's": Subject(speakers.needs_label, lambda text: f"a\n{text}<{text}"),
    "a terminal": Subject(terminal.shown, hostile.as_it_is),
    "a terminal in JSON": Subject(
        lambda text: terminal.shown(json.dumps({"a": text})), hostile.as_it_is
    ),
    "quotes of a terminal": Subject(
        hostile.quoted, lambda text: hostile.posted(hostile.fields("user", f"\x1b[m{text}"))
    ),
    "gaps": Subject(quotes.gap, hostile.as_it_is),
    "a recall block": Subject(
        lambda raw: openai_chat.with_text_before(raw, "block"), hostile.message("user")
    ),
    "a text behind a message's own": Subject(
        lambda raw: openai_chat.with_text_behind(raw, "block", "\n\n"), hostile.message("user")
    ),
    "quotes": Subject(hostile.quoted, lambda text: hostile.posted(hostile.fields("user", text))),
    "arguments": Subject(lambda text: groups("{" + text), hostile.as_it_is),
    "strings in arguments": Subject(
        lambda text: argument_values(json.dumps({"a": [text, *hostile.cut(text, 9)]})),
        hostile.as_it_is,
    ),
    "arguments without an end": Subject(
        lambda text: argument_values('{"a":["' + text), hostile.as_it_is
    ),
    "quotes of arguments": Subject(
        lambda text: hostile.quoted(hostile.posted(hostile.calls(json.dumps({"a": text})))),
        hostile.as_it_is,
    ),
    "work in a body": Subject(lambda text: list(works_in(f"`{text}`: ok `")), hostile.as_it_is),
    "a name of work": Subject(lambda text: shown(text, 60), hostile.as_it_is),
    "a call of a leaf": Subject(
        lambda text: leaf_summary([SourcePassage("assistant", f'run {{"command":"{text}', "call")]),
        hostile.as_it_is,
    ),
    "a call in prose of a leaf": Subject(
        lambda text: leaf_summary([SourcePassage("assistant", f'a\n{{"command":"{text}', "text")]),
        hostile.as_it_is,
    ),
    "what a program printed": Subject(leaf_work.printed, hostile.as_it_is),
    "a command": Subject(lambda text: list(shell.commands(Field(text))), hostile.as_it_is),
    "a command in JSON": Subject(
        lambda text: calls.called("run", json.dumps({"command": text})), hostile.as_it_is
    ),
    "an edit": Subject(
        lambda text: calls.called("edit", json.dumps({"path": "a", "old": text, "new": text})),
        hostile.as_it_is,
    ),
    "a patch": Subject(lambda text: list(patches.patched(Field(text))), hostile.as_it_is),
    "prose": Subject(lambda text: prose.written(text, 0), hostile.as_it_is),
    "prose with tags": Subject(lambda text: prose.written("<path>" + text, 0), hostile.as_it_is),
    "elements": Subject(
        lambda text: list(prose.tagged(f"<edit path='a'><file><path>{text}", 0)), hostile.as_it_is
    ),
    "nested elements": Subject(
        lambda text: list(prose.tagged("<edit path='a'><diff>" * (len(text) // 20), 0)),
        hostile.as_it_is,
    ),
    "objects": Subject(lambda text: prose.listed('{"a": ' + text, 0), hostile.as_it_is),
    "arguments in a string": Subject(
        lambda text: prose.listed(json.dumps({"name": "edit", "input": '{"path": "' + text}), 0),
        hostile.as_it_is,
    ),
    "whole files": Subject(
        lambda text: list(patches.whole_files(Field(text.replace("{", "\n```\n")))),
        hostile.as_it_is,
    ),
    "a client's words": Subject(lambda text: list(prose.said(text)), hostile.as_it_is),
    "a result": Subject(results.ended, hostile.as_it_is),
    "a refusal": Subject(results.refused, hostile.as_it_is),
    "an editor's answer": Subject(results.shown_file, hostile.as_it_is),
    "the files that a call shows": Subject(
        lambda text: calls.shown_files("run", json.dumps({"command": text})), hostile.as_it_is
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
    "a path": Subject(lambda text: matches(text, ["*a*b*c*d*e", "**/*/x?y"]), hostile.as_it_is),
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
@pytest.mark.parametrize("name", SUBJECTS)
def test_no_shape_of_a_text_takes_more_than_its_share_of_time(name):
    assert list(slow(SUBJECTS[name], hostile.shapes(*UNITS), 1 << 15)) == []


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
