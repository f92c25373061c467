"""No function that reads a text of others takes the square of its length, by pattern or loop."""

from __future__ import annotations

import re
import zlib
from datetime import date

import pytest

from memtree.agents import memory_schema, schema_limits, structured_memory
from memtree.dialects.openai_chat import PlacedMemories
from memtree.digests import clause, clauses, line_judgements, phrases, summarize, titles
from memtree.digests.clause import SourcePassage, quote, untorn
from memtree.history import (
    attachments,
    chat_history,
    day_marks,
    json_body,
    placeholders,
    posted_json,
    side_requests,
)
from memtree.history.message import Message, Volatile
from memtree.language import borders, languages
from memtree.memories import (
    checked_fields,
    memory_choice,
    memory_topics,
    model_extraction,
    prompt_lines,
)
from memtree.memories import document_passages as passage_lines
from memtree.memories import model_extraction as memory_prompt
from memtree.memories import rule_extraction as extraction_rules
from memtree.memories.document_passages import checked
from memtree.memories.draft import checked_text
from memtree.memories.memory import Memory
from memtree.memories.relation import relation
from memtree.memories.search import query, ranking, vector_bytes
from memtree.memories.search.ranking import MemoryHit
from memtree.ranking import segments
from memtree.statements import calendar_dates
from memtree.text import (
    anchors,
    memory_lines,
    own_words,
    request_words,
    rule_sentences,
    secrets,
    speakers,
    terms,
    tokens,
)
from memtree.text.normal_form import nfkc
from memtree.text.request_words import is_acknowledgement
from memtree.text.spans import Span
from memtree.text.thoughts import thoughts
from memtree.tree import (
    chunking,
    faithfulness,
    growth,
    summary_check,
    summary_prompts,
    summary_replies,
)
from memtree.tree.summary_prompts import SourcePiece
from memtree.tree.summary_replies import Draft
from memtree.unfolding import excerpt_units, labels
from memtree.unfolding.memory_plan import TextSpan
from memtree.unfolding.quotes import quoted
from memtree_proxy.chat import context_overflow, learned_refusals
from memtree_proxy.chat.chat_memory_sources import others_spoke, user_queries
from memtree_proxy.chat.chat_memory_tools import recall_result
from memtree_proxy.chat.context_overflow import Numbers
from memtree_proxy.cli import foreign_text
from memtree_proxy.dialects import sse, tool_offer
from memtree_proxy.http import request_body
from memtree_proxy.http.decoding import converted
from memtree_proxy.imports import js, recognise
from memtree_proxy.mcp.stdio import LineSplitter
from tests.hostile_texts import hostile, hostile_files, hostile_grants, hostile_imports
from tests.hostile_texts.linear_time import Subject, slow
from tests.made.shown_lines import lines_of

WHOLE_CALL = {"index": 0, "id": "c"}
# A text, or one message of it.
TEXTS = {
    "text in a terminal": Subject(
        lambda text: (
            foreign_text.one_line(text),
            foreign_text.plain_json(foreign_text.plain(text)),
        )
    ),
    "anchors": Subject(anchors.weigh),
    "telling words": Subject(lambda text: list(line_judgements.telling_words(text))),
    "languages": Subject(lambda text: languages.differs(text, text)),
    "secrets": Subject(secrets.mask),
    "standing rules": Subject(rule_sentences.standing_rules),
    "standing rules and withdrawals": Subject(
        lambda text: rule_sentences.standing_rules(text, withdrawals=True)
    ),
    "persona cards": Subject(speakers.card_score),
    "what a rule is about": Subject(rule_sentences.topic),
    "terms": Subject(terms.terms),
    "tokens": Subject(tokens.count),
    "a prefix of tokens": Subject(lambda text: tokens.prefix(text, len(text) // 9)),
    "normal form": Subject(nfkc),
    "volatile blocks": Subject(hostile.VOLATILE.strip),
    "a message": Subject(
        lambda raw: chat_history.read("t", (Message(raw),), hostile.VOLATILE),
        hostile.message("user"),
    ),
    "reasoning": Subject(
        lambda raw: chat_history.read("t", (Message(raw),), hostile.VOLATILE),
        lambda text: hostile.fields(
            "assistant", "a", reasoning=text, reasoning_details=[{"a": text}]
        ),
    ),
    "a line of a day": Subject(day_marks.first_day),
    "the day of a message": Subject(
        lambda raw: day_marks.day_mark(Message(raw), hostile.VOLATILE), hostile.message("user")
    ),
    "side requests": Subject(
        lambda raw: side_requests.is_side([Message(raw)], tools=False), hostile.message("user")
    ),
    "speech": Subject(lambda text: clauses.spoken(SourcePassage("assistant", text, "text"), False)),
    "a result": Subject(lambda text: list(clauses.results(text))),
    "code": Subject(lambda text: clauses.code("assistant", text, [])),
    "borders of words": Subject(borders.units),
    "borders of clauses": Subject(lambda text: list(borders.clauses(text))),
    "boilerplate": Subject(line_judgements.is_boilerplate),
    "a stamp and a name": Subject(
        lambda text: line_judgements.speaker_of(line_judgements.without_stamp(text))
    ),
    "an outcome": Subject(lambda text: line_judgements.outcome(f"1 {text}", "tool")),
    "an error": Subject(lambda text: line_judgements.outcome(f"{text}Error", "a")),
    "numbered lines": Subject(
        lambda text: (line_judgements.numbered(text), line_judgements.numbered("1\n2\n3\n4", text))
    ),
    "a phrase": Subject(lambda text: phrases.whole(text, 18)),
    "a topic": Subject(lambda text: titles.topic(summarize.Extract(text, text, (text,)))),
    "a leaf of speech": Subject(summarize.leaf_summary, hostile.passage("assistant", "text")),
    "a leaf of a result": Subject(summarize.leaf_summary, hostile.passage("tool", "result")),
    "a leaf of code": Subject(summarize.leaf_summary, hostile.passage("assistant", "code")),
    "a leaf of a call": Subject(summarize.leaf_summary, hostile.passage("assistant", "call")),
    "blocks": Subject(
        lambda raw: chunking.blocks([hostile.view(raw)], 0, 0), hostile.message("user")
    ),
    "blocks of calls": Subject(
        lambda raw: chunking.blocks([hostile.view(raw)], 0, 0), hostile.calls
    ),
    "stage 1": Subject(growth.grow, lambda text: hostile.tail([hostile.fields("user", text)])),
    "stage 1, an answer": Subject(
        growth.grow, lambda text: hostile.tail([hostile.fields("assistant", text)])
    ),
    "a prompt": Subject(
        lambda text: summary_prompts.prompt(
            [summary_prompts.leaf_task("1", [SourcePiece("user", 0, text)])]
        )
    ),
    "a model's reply": Subject(lambda text: summary_replies.read(text, ["1", "2"])),
    "a draft": Subject(lambda text: summary_replies.mended(Draft(text, text))),
    "a check": Subject(
        lambda task: summary_check.check(Draft("Workers", hostile.SUMMARY), task, tokens.count),
        hostile.leaf,
    ),
    "claims": Subject(lambda text: faithfulness.statements([("user", text)])),
    "loops": Subject(faithfulness.loops),
    "injection": Subject(lambda text: faithfulness.injected("a", text, "")),
    "numbers": Subject(lambda text: list(faithfulness.invented_numbers(hostile.SUMMARY, text))),
    "invented": Subject(lambda text: list(faithfulness.invented_anchors(text, hostile.SUMMARY))),
    "main argument of a call": Subject(labels.main_argument),
    "who spoke": Subject(
        lambda raw: others_spoke([Message(raw)], json_body.split(b"{}"), "m", Volatile()),
        lambda text: hostile.fields("user", f"[a for '{text}"),
    ),
    "a memory to be kept": Subject(
        hostile.refused(lambda text: checked_text(text, 1 << 30, "content"))
    ),
    "a memory that is recalled": Subject(
        lambda text: recall_result([MemoryHit(Memory("a", 1, text, 0.0, 0.0), 1.0, 1.0)], 500)
    ),
    "a line of a memory": Subject(lambda text: prompt_lines.shown_line(text, "fact", "2026-03-07")),
    "a memory that may change": Subject(memory_choice.may_change),
    "what a line says": Subject(memory_lines.said),
    "a line of a passage": Subject(lambda text: passage_lines.line(Memory("a", 1, text, 0.0, 0.0))),
    "metadata of a document": Subject(
        lambda text: passage_lines.metadata_line({text: [text, text], "a": text})
    ),
    "a document to be kept": Subject(
        hostile.refused(lambda text: checked("a", text, None, {"a": [text[:9_000]]}).digest)
    ),
    "the text of a structured memory": Subject(
        lambda text: structured_memory.structured_text(text, {text: [text, {text: text}]}, 1 << 30)
    ),
    "values that are to be unique": Subject(
        lambda text: memory_schema.canonical({text: [text, {text: text}]})
    ),
    "the nearest kind": Subject(lambda text: memory_schema.nearest_kind(text, [text, text[::-1]])),
    "a schema": Subject(hostile.refused(schema_limits.checked_schema)),
    "secrets in structured data": Subject(
        hostile.refused(lambda text: structured_memory.refuse_secrets_in({text: [text, {}]}))
    ),
    "passages": Subject(chunking.passages),
    "a question to memories": Subject(
        lambda raw: user_queries([Message(raw)], hostile.VOLATILE), hostile.message("user")
    ),
    "what a line of a memory says": Subject(lambda text: lines_of([text])[0].said),
    "messages with memories among them": Subject(
        lambda raw: PlacedMemories(lines_of(["b"]), 1).within(b"[" + raw + b"]"),
        hostile.message("system"),
    ),
    "an acknowledgement": Subject(is_acknowledgement),
    "segments": Subject(segments.segments),
    "telling lines": Subject(lambda text: excerpt_units.telling_run(text, {1, 2})),
    "a speaker": Subject(speakers.tag),
    "thoughts": Subject(lambda text: thoughts(f"<think>{text}")),
    "thoughts behind words": Subject(lambda text: thoughts(f"a</b>{text}")),
    "terms of a memory": Subject(vector_bytes.packed_terms),
    "a query without a word": Subject(lambda text: query.without(text, {terms.hashed("key")})),
    "two versions": Subject(
        lambda text: ranking.newest_first(
            [ranking.Candidate(text, (1, 1), 1.0), ranking.Candidate(text, (2, 2), 1.0)],
            terms.terms(text[:100]),
            lambda held: [1.0] * len(held),
        )
    ),
    "how memories relate": Subject(lambda text: relation.compare(text, text[::-1], 0.9)),
    "a memory and more": Subject(lambda text: relation.compare(f"{text} x", text, 0.9)),
    "what is extracted": Subject(extraction_rules.extract),
    "own words": Subject(own_words.own_words),
    "a request": Subject(lambda text: (request_words.asks(text), request_words.orders(text))),
    "a quotation": Subject(lambda text: (quote(text), untorn(text))),
    "quotations": Subject(lambda text: [*clause.parts(text, 0, None)]),
    "rules beside words of others": Subject(
        lambda text: rule_sentences.standing_rules(text, others=own_words.others_words(text))
    ),
    "dates": Subject(calendar_dates.dates),
    "something that happened": Subject(calendar_dates.is_event),
    "a schedule": Subject(
        lambda text: (
            calendar_dates.with_day(text, None)
            and calendar_dates.is_schedule(text, date(2026, 3, 2))
        )
    ),
    "what a model is shown of a message": Subject(memory_prompt.shown_spans),
    "what a model found": Subject(lambda text: memory_prompt.read(text, ["1"])),
    "a quotation in a message": Subject(
        lambda text: model_extraction.grounds(text, [Span(0, len(text))], text[:300])
    ),
    "whether it is grounded": Subject(
        lambda text: model_extraction.grounded("User has 2 cats.", text, text, text)
    ),
    "sentences": Subject(lambda text: list(borders.sentences(text))),
    "a category": Subject(memory_topics.category_of),
    "a category of a user's": Subject(memory_topics.user_category),
    "a category that is given": Subject(
        hostile.refused(lambda text: memory_topics.checked_category(text, "category"))
    ),
    "tags": Subject(hostile.refused(lambda text: checked_fields.canonical_tags([text[:40], text]))),
    "a time": Subject(hostile.refused(lambda text: checked_fields.timestamp(text, "expires_at"))),
    "arguments": Subject(posted_json.canonical, hostile.arguments),
    "fields of JSON": Subject(hostile.spans, hostile.json_object),
    "a body": Subject(
        hostile.refused(lambda raw: json_body.split(raw).rewritten({"a": b"1"})),
        hostile.json_object,
    ),
    "no body": Subject(hostile.refused(json_body.split), str.encode),
    "an integer": Subject(hostile.refused(lambda text: converted(int, text, "a", strict=False))),
    "an overflow": Subject(lambda raw: context_overflow.overflow_of(400, raw, 9_000), str.encode),
    "numbers of an error": Subject(lambda text: Numbers().take_text(text)),
    "a refusal": Subject(lambda raw: tool_offer.is_about_tools(400, raw), str.encode),
    "a refusal of thinking": Subject(
        lambda raw: learned_refusals.is_about_thinking(400, raw), str.encode
    ),
    "events": Subject(hostile.fed(4096), str.encode),
    "an event": Subject(sse.data, str.encode),
    "lines of a client": Subject(lambda raw: list(LineSplitter().feed(raw)), str.encode),
    "inflated": Subject(
        lambda raw: request_body.decoded(raw, "deflate", 1 << 30),
        lambda text: zlib.compress(text.encode(), 0),
    ),
    "a text file": Subject(
        lambda part: attachments.part_tokens(part, tokens.count), hostile.file("text/plain", b"")
    ),
    "a PDF": Subject(
        lambda part: attachments.part_tokens(part, tokens.count),
        hostile.file("application/pdf", b"%PDF-1.4 "),
    ),
    "another part": Subject(
        lambda part: attachments.part_tokens(part, tokens.count),
        lambda text: {"type": "x", text: [text]},
    ),
    "names of files": Subject(
        lambda raw: placeholders.placeholders(Message(raw)),
        lambda text: hostile.fields("user", [{"type": "file", "filename": text}] * 2),
    ),
    "a value in JavaScript": Subject(lambda text: js.stringify({text: [text]})),
    "a file of lines": Subject(
        hostile.refused(lambda raw: recognise.parse(raw, "a.jsonl")), str.encode
    ),
    **hostile_files.TEXTS,
    **hostile_grants.TEXTS,
    **hostile_imports.TEXTS,
}
# Many small pieces; what is in them matters less.
PIECES = {
    "parts": Subject(
        lambda raw: chat_history.read("t", (Message(raw),), hostile.VOLATILE), hostile.in_parts
    ),
    "posted spans": Subject(
        hostile.posted_spans, lambda text: hostile.view(hostile.in_parts(text))
    ),
    "quotes of parts": Subject(hostile.quoted, lambda text: hostile.posted(hostile.in_parts(text))),
    "a quote over parts with fences": Subject(
        lambda view: quoted([TextSpan(0, 0, len(view.text))], view),
        lambda text: hostile.view(hostile.in_parts(f"```\n{text}")),
    ),
    "answers to calls": Subject(
        lambda posted: chat_history.read("t", posted, hostile.VOLATILE), hostile.rounds
    ),
    "stage 1, turns": Subject(growth.grow, lambda text: hostile.tail(hostile.turns(text))),
    "leaves": Subject(
        lambda found: list(chunking.cuts(found)),
        lambda text: chunking.blocks([hostile.view(hostile.fields("user", text))], 0, 0),
    ),
    "events byte by byte": Subject(hostile.fed(16), str.encode),
    "streamed reasoning": Subject(
        hostile.streamed, hostile.deltas(lambda piece, at: {"reasoning": piece})
    ),
    "streamed arguments": Subject(
        hostile.streamed,
        hostile.deltas(
            lambda piece, at: hostile.call("" if at else "search_memory", piece, **WHOLE_CALL)
        ),
    ),
    "streamed calls": Subject(
        hostile.streamed,
        hostile.deltas(lambda piece, at: hostile.call("f", "{}", index=at, id=f"{at}")),
    ),
    "streamed calls of ours": Subject(
        hostile.streamed,
        hostile.deltas(lambda piece, at: hostile.call("search_memory", "{}", index=at, id=f"{at}")),
    ),
    **hostile_imports.PIECES,
    **hostile_files.PIECES,
}
READS = {
    **hostile_files.READS,
    **hostile_grants.READS,
    "own words": (
        *hostile.SPEECH,
        *hostile.MARKUP,
        *hostile.TAGS,
        *hostile.OUTPUT,
        *hostile.OWN_WORDS,
    ),
    "sentences": (*hostile.SPEECH, *hostile.WORDS),
    "dates": (*hostile.WORDS, *hostile.DATES),
    "a line of a day": hostile.DATES,
    "the day of a message": (*hostile.DATES, *hostile.TAGS, "current date: ", "</env><env>"),
    "something that happened": (*hostile.DATES, "i went ", "my a a wife ", "i just also "),
    "a schedule": (*hostile.DATES, "my meeting ", "the a a a demo ", "on Friday my a a a a a "),
    "who spoke": ("[a for '", " for '", "] Result:", "[a"),
    "text in a terminal": (*hostile.LETTERS, "\x1b[31m", "\u202e "),
    "anchors": hostile.WORDS,
    "a call": ("cd a&& ", "| head ", '"command":"', '{"a":"b\\"', " 2>&1"),
    "telling words": (*hostile.WORDS, *hostile.LETTERS, "1 lines ", "line 1-1", "我们", "Ann: "),
    "secrets": hostile.SECRETS,
    "what is extracted": (*hostile.SPEECH, *hostile.MARKUP, "I am a ", "my sister ", "translate "),
    "standing rules": (*hostile.SPEECH, *hostile.MARKUP),
    "terms": hostile.LETTERS,
    "terms of a memory": (*hostile.LETTERS, *hostile.SPEECH),
    "a query without a word": hostile.LETTERS,
    "tokens": hostile.LETTERS,
    "normal form": hostile.LETTERS,
    "volatile blocks": hostile.TAGS,
    "a message": hostile.TAGS,
    "side requests": hostile.SPEECH,
    "speech": (*hostile.SPEECH, *hostile.MARKUP),
    "a result": (*hostile.OUTPUT, *hostile.MARKUP, *hostile.WORDS),
    "code": (*hostile.OUTPUT, *hostile.MARKUP),
    "a leaf of a call": hostile.OUTPUT,
    "boilerplate": (*hostile.SPEECH, *hostile.OUTPUT),
    "an outcome": (*hostile.OUTPUT, *hostile.WORDS),
    "an error": (*hostile.OUTPUT, *hostile.WORDS),
    "a phrase": (*hostile.SPEECH, *hostile.MARKUP),
    "blocks": (*hostile.MARKUP, *hostile.LETTERS),
    "passages": (*hostile.MARKUP, *hostile.LETTERS),
    "a document to be kept": hostile.SECRETS,
    "a prompt": (*hostile.SECRETS, *hostile.WORDS, *hostile.OUTPUT),
    "a model's reply": (*hostile.TAGS, *hostile.OUTPUT, *hostile.JSON),
    "a draft": (*hostile.OUTPUT, *hostile.MARKUP),
    "claims": hostile.SPEECH,
    "injection": (*hostile.SPEECH, *hostile.TAGS, *hostile.JSON),
    "numbers": (*hostile.WORDS, *hostile.LETTERS),
    "invented": hostile.WORDS,
    "what was in sight": hostile.WORDS,
    "how memories relate": (
        *hostile.SPEECH,
        *hostile.WORDS,
        *hostile.LETTERS,
        "1,111,",
        "a of ",
        "by ",
    ),
    "values that are to be unique": (*hostile.LETTERS, "a\u0323\u0307"),
    "a schema": (*hostile.JSON, '{"type":"object",', "[[", '"\\u0061"'),
    "a memory and more": (*hostile.SPEECH, *hostile.WORDS, *hostile.LETTERS, "not ", "is led by "),
    "arguments": hostile.JSON,
    "fields of JSON": hostile.JSON,
    "no body": hostile.JSON,
    "an event": hostile.JSON,
    "events": hostile.JSON,
    **hostile_imports.READS,
}
FEW = {name: hostile.PLAIN[name] for name in ("one endless line", "empty lines", "han")}
QUICK = {
    name: unit
    for name, unit in hostile.shapes("key=", "[a](").items()
    if name in ("no space", "spaces", "empty lines", "brackets", "combining marks", "key=", "[a](")
}


@pytest.mark.long
@pytest.mark.slow
def test_a_square_is_noticed():
    square = Subject(re.compile("a*b").findall)
    assert [found.shape for found in slow(square, {"a": "a", "spaces": " "}, 1 << 14)] == ["a"]


@pytest.mark.long
@pytest.mark.slow
def test_copies_of_the_rest_are_noticed():
    copies = Subject(lambda text: sum(len(text[at:]) for at in range(0, len(text), 8)))
    assert list(slow(copies, {"a": "a"}, 1 << 20))


@pytest.mark.parametrize("name", ["secrets", "anchors", "blocks", "code", "volatile blocks"])
def test_a_text_takes_time_in_proportion_to_its_length(name):
    assert list(slow(TEXTS[name], QUICK, 1 << 14)) == []


def test_a_path_of_many_backslashes_ends():
    """Each of them doubled the time."""
    assert anchors.anchors("a\\" * 40 + "a") == ()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
def test_no_shape_of_a_text_takes_more_than_its_share_of_time(name):
    assert list(slow(TEXTS[name], hostile.shapes(*READS.get(name, ())), 1 << 15)) == []


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", PIECES)
def test_many_small_pieces_take_no_more_than_their_share_of_time(name):
    assert list(slow(PIECES[name], FEW, 1 << 17)) == []
