"""Ranked passages and a budget to a plan."""

from __future__ import annotations

import json
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from memtree.history.message import Message
from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import rank
from memtree.ranking.ranked_history import RankedHistory
from memtree.ranking.segments import segments
from memtree.text import terms, tokens
from memtree.text.own_lines import RULES
from memtree.unfolding import explain, unfold
from memtree.unfolding.excerpt_choice import LASTING, ONE_SHOT, OWN_WHOLE, ExcerptChoice
from memtree.unfolding.excerpt_units import WHOLE
from memtree.unfolding.memory_plan import (
    REASONS,
    FoldWindow,
    Plan,
    SummaryTree,
    TextSpan,
    kept_reasons,
    merge,
)
from memtree.unfolding.memory_text import CLOSING, outline_line, render
from memtree.unfolding.unfold import ROOT
from memtree_proxy.wire.context_bodies import Explain
from tests.made.trees import places
from tests.properties.strategies import batch, code, conversation, history_of, leaves_of, prose

NEEDLE = "The launch code of project Marigold is 7731-ZETA."
SLACK = 100  # tokens of paths that excerpts paid
RULE = "From now on, always answer in formal German."


class Tree:
    """A history with everything that unfolding asks for."""

    def __init__(self, messages):
        self.history = history_of(
            [m if isinstance(m, Message) else Message.of(m) for m in messages]
        )
        grown = batch(self.history)
        self.nodes = {node.id: node for node in grown.nodes}
        leaves = leaves_of(grown.frontier, self.nodes)
        self.roots = grown.frontier.nodes
        if grown.open is not None:
            leaves.append(grown.open)
            self.roots = (*self.roots, grown.open.id)
            self.nodes[grown.open.id] = grown.open
        self.corpus = Corpus(1).extended(leaves, places(leaves))

    def ranked(self, query):
        lexical = self.corpus.lexicon.scores(terms.terms(query))
        ranking = rank(lexical, None)
        return RankedHistory(self.history, self.corpus, ranking)

    def unfold(self, query, budget, cut=None, head=0, split=ONE_SHOT):
        cut = len(self.history) - 1 if cut is None else cut
        tree = SummaryTree(self.roots, self.nodes)
        return unfold.unfold(self.ranked(query), tree, FoldWindow(cut, budget, head), split)

    def explained(self, unfolded, query):
        scored = explain.scored_by(unfolded, self.ranked(query))
        evidence = explain.Evidence(
            self.history,
            unfolded.plan,
            self.nodes,
            unfolded.chosen,
            unfolded.left_out,
            scored,
        )
        return msgspec.to_builtins(Explain.of(explain.explanation(evidence)))

    def pieces(self, unfolded):
        return [self.history.view(s.message).text[s.start : s.end] for s in unfolded.plan.excerpts]


def user(content):
    return {"role": "user", "content": content}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


def tool_round(n, content):
    call = {
        "id": f"c{n}",
        "type": "function",
        "function": {"name": "run", "arguments": f'{{"n":{n}}}'},
    }
    return [
        assistant(None, tool_calls=[call]),
        {"role": "tool", "tool_call_id": f"c{n}", "content": content},
    ]


@pytest.fixture(scope="module")
def chat():
    made = []
    for n in range(40):
        made += [user(prose(n, 30)), assistant(prose(n + 100, 250))]
    made[21] = assistant(f"{prose(1, 150)} {NEEDLE} {prose(2, 150)}")
    made[30] = user(" ".join(f"{prose(3, 10)} {RULE} {prose(4, 10)}".split()))
    return Tree([*made, user("What is the launch code of Marigold?")])


QUERY = "launch code Marigold"


@pytest.mark.slow
@pytest.mark.parametrize("budget", [150, 400, 1_000, 4_000, 12_000, 60_000])
def test_budgets_are_kept_and_used(chat, budget):
    found = chat.unfold(QUERY, budget)
    assert found.tokens == tokens.count(found.text) <= budget
    if 1_000 <= budget <= 12_000:
        share = float(np.interp(budget, *ONE_SHOT.outline)) * budget
        assert 0.3 * share < found.outline_tokens <= share + ROOT + SLACK


def test_an_answer_is_filled_where_much_is_relevant(chat):
    found = chat.unfold(" ".join(prose(n, 30) for n in range(12)), 4_000)
    assert found.tokens > 0.85 * 4_000


@pytest.mark.parametrize("budget", [400, 2_000, 8_000])
def test_what_is_asked_for_is_quoted_in_any_budget(chat, budget):
    assert NEEDLE in chat.unfold(QUERY, budget).text


def test_standing_rules_are_pinned_whatever_is_asked(chat):
    found = chat.unfold("unheard", 2_000)
    assert [chat.history.view(s.message).text[s.start : s.end] for s in found.plan.rules] == [RULE]
    assert found.text.endswith(f"{RULES}\n¶30 user\n{RULE}\n{CLOSING}")


@pytest.mark.slow
def test_of_too_many_rules_the_newest_stay_and_a_repeated_one_stands_once():
    many = [
        user(f"Always mention item number {n} in answers. Do you? {prose(n, 90)}")
        for n in range(60)
    ]
    same = [user(f"{RULE} Do you? {prose(n, 90)}") for n in range(5)]
    tree = Tree([*many, *same, user("now")])
    found = tree.unfold("unheard", 2_000)
    rules = [tree.history.view(s.message).text[s.start : s.end] for s in found.plan.rules]
    assert rules.count(RULE) <= 1
    assert RULE in found.text
    pinned = found.text.partition(RULES)[2]
    numbers = [n for n in range(60) if f"mention item number {n} in answers." in pinned]
    visible = [n for n in range(60) if f"mention item number {n} in answers." in found.text]
    assert numbers == [n for n in visible if n >= numbers[0] and n in numbers]
    assert set(range(numbers[0], 60)) <= set(visible)
    assert 1 < len(numbers) < 40


def test_the_ask_of_a_cut_tool_loop_stays_visible():
    ask = "Please rename the function frobnicate everywhere."
    rounds = [m for n in range(30) for m in tool_round(n, code(n, 60))]
    tree = Tree([user(prose(1, 300)), assistant("ok"), user(ask), *rounds])
    found = tree.unfold("unheard", 2_000, cut=len(tree.history) - 4)
    assert f"¶2 user\n{ask}" in found.text
    assert [one.reason for one in found.chosen if one.span.message == 2] == ["ask"]


@pytest.mark.slow
def test_a_long_ask_keeps_its_beginning():
    ask = prose(9, 4_000)
    rounds = [m for n in range(20) for m in tool_round(n, code(n, 60))]
    tree = Tree([user(ask), *rounds])
    found = tree.unfold("unheard", 4_000, cut=len(tree.history) - 2)
    (span,) = [one.span for one in found.chosen if one.reason == "ask"]
    assert (span.message, span.start) == (0, 0)
    size = tokens.count(ask[: span.end])
    assert 0.6 * ONE_SHOT.ask * 4_000 < size < 1.4 * ONE_SHOT.ask * 4_000
    assert ask[: span.end] in found.text


def test_no_ask_is_pinned_where_the_user_speaks_in_the_recent_part(chat):
    assert not [one for one in chat.unfold(QUERY, 2_000).chosen if one.reason == "ask"]


def test_what_is_sent_whole_is_neither_pinned_nor_quoted(chat):
    last = next(at for at in range(len(chat.history)) if RULE in chat.history.view(at).text)
    found = chat.unfold(f"{RULE} {QUERY}", 4_000, head=last + 1)
    assert found.plan.head == last + 1
    assert found.plan.rules == ()
    assert all(span.message > last for span in found.plan.excerpts)


def test_the_trail_of_a_loop_stays_where_its_ask_is_sent_whole():
    rounds = [m for n in range(30) for m in tool_round(n, code(n, 60))]
    tree = Tree([user("Please rename frobnicate."), *rounds])
    cut = len(tree.history) - 4
    found = tree.unfold("unheard", 4_000, cut, head=1, split=LASTING)
    assert "¶0 user" not in found.text
    assert next(one.span.message for one in found.chosen if one.reason == "trail") == cut - 2


@pytest.mark.parametrize("cut", [1, 7, 40, 80])
def test_a_plan_refers_to_what_lies_before_its_cut(chat, cut):
    found = chat.unfold(prose(5, 30), 3_000, cut)
    assert found.plan.cut == cut
    assert all(span.message < cut for span in (*found.plan.rules, *found.plan.excerpts))
    assert all(shown.place.last < cut for shown in found.plan.outline)


def test_outlines_stand_in_reading_order_below_their_parents(chat):
    found = chat.unfold(QUERY, 12_000)
    starts = [(shown.place.first, shown.place.start) for shown in found.plan.outline]
    assert starts == sorted(starts)
    assert max(shown.depth for shown in found.plan.outline) >= 1
    assert len({(shown.id, shown.place) for shown in found.plan.outline}) == len(starts)
    for node in found.plan.outline:
        assert outline_line(node, chat.nodes[node.id], chat.history) in found.text


def test_short_messages_are_quoted_whole():
    made = [m for n in range(60) for m in (user(prose(n, 20)), assistant(prose(n + 99, 25)))]
    made[41] = assistant(f"{prose(3, 20)}\n\n{NEEDLE}\n\n{prose(4, 20)}")
    tree = Tree([*made, user("what?")])
    found = tree.unfold(QUERY, 1_000)
    whole = len(tree.history.view(41).text)
    assert any(span == TextSpan(41, 0, whole) for span in found.plan.excerpts)


@pytest.mark.slow
def test_text_of_the_user_has_a_line_of_its_own_where_answers_are_long():
    made = []
    for n in range(30):
        made += [
            user(f"The gasket question {n}: {prose(n, 12)}"),
            assistant(f"gasket gasket {prose(n, 300)}"),
        ]
    tree = Tree([*made, user("gasket")])
    found = tree.unfold("gasket", 3_000)
    reasons = [one.reason for one in found.chosen]
    assert reasons.count("user") > 5
    mine = sum(one.tokens for one in found.chosen if one.reason == "user")
    assert mine <= ONE_SHOT.user * 3_000


@pytest.mark.slow
def test_excerpts_are_disjoint(chat):
    for query in (QUERY, prose(5, 30), "the"):
        spans = chat.unfold(query, 6_000).plan.excerpts
        assert sum(s.end - s.start for s in merge(spans)) == sum(s.end - s.start for s in spans)


@pytest.mark.slow
def test_unfolding_is_deterministic(chat):
    one, other = chat.unfold(QUERY, 3_000), Tree(chat.history.messages).unfold(QUERY, 3_000)
    assert one.text == other.text
    assert one.plan == other.plan


@pytest.mark.slow
def test_any_conversation_gives_an_answer_in_its_budget():
    for seed in range(4):
        tree = Tree(conversation(seed, 4_000))
        for budget in (130, 700, 3_000):
            for cut in (1, len(tree.history) // 2, len(tree.history)):
                assert tree.unfold(prose(seed, 9), budget, cut).tokens <= budget


# ---------------------------------------------------------------- explain


def test_explanations_say_what_is_shown_and_why(chat):
    found = chat.unfold(QUERY, 2_000)
    why = chat.explained(found, QUERY)
    assert len(why["nodes"]) == len(found.plan.outline)
    assert {"excerpt", "rule"} <= {one["reason"] for one in why["excerpts"]}
    spans = (*found.plan.rules, *found.plan.excerpts)
    assert {one["message"] for one in why["excerpts"]} == {span.message for span in spans}
    best = next(one for one in why["excerpts"] if one["message"] == 21)
    assert best["scores"]["bm25"] > 0
    assert "cosine" not in best["scores"]
    sentence = chat.history.messages[21].text[best["start"] : best["end"]]
    assert NEEDLE in sentence


@pytest.mark.parametrize("budget", [500, 2_000, 8_000])
def test_a_plan_keeps_why_each_excerpt_is_in_it(chat, budget):
    found = chat.unfold(QUERY, budget)
    plan, first = found.plan, {}
    for choice in found.chosen:
        first.setdefault(choice.span, choice)
    kept = kept_reasons(plan)
    assert len(kept) == len(plan.excerpts) > 0
    for span, why in zip(plan.excerpts, kept, strict=True):
        if span in first:
            assert why == (first[span].reason, first[span].rank or None)
        assert why.reason in REASONS[1:]
    best = next(why for span, why in zip(plan.excerpts, kept, strict=True) if span.message == 21)
    assert best == ("excerpt", 1)


def test_why_changes_nothing_in_what_is_sent(chat):
    found = chat.unfold(QUERY, 2_000)
    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(found.plan), type=Plan)
    assert stored == found.plan
    plain = msgspec.structs.replace(found.plan, reasons=b"", ranks=b"")
    for plan in (found.plan, plain):
        assert render(plan, chat.history, chat.nodes) == found.text
    assert kept_reasons(plain) == [(None, None)] * len(plain.excerpts)
    evidence = explain.Evidence(chat.history, plain, chat.nodes, otherwise="earlier")
    told = msgspec.to_builtins(Explain.of(explain.explanation(evidence)))["excerpts"]
    assert {one["reason"] for one in told} == {"earlier", "rule"}
    assert {one["rank"] for one in told} == {None}


def test_of_merged_excerpts_the_first_choice_says_why():
    pinned = ExcerptChoice(TextSpan(3, 0, 20), 5, "ask", -1)
    ranked = ExcerptChoice(TextSpan(3, 10, 40), 5, "excerpt", 7, rank=300)
    apart = ExcerptChoice(TextSpan(5, 0, 9), 5, "user", 8, rank=12)
    shown = unfold.excerpts_of([pinned, apart, ranked])
    assert shown.spans == (TextSpan(3, 0, 40), TextSpan(5, 0, 9))
    assert [REASONS[code] for code in shown.reasons] == ["ask", "user"]
    assert list(shown.ranks) == [0, 12]
    shown = unfold.excerpts_of([ranked, pinned])
    assert (REASONS[shown.reasons[0]], shown.ranks[0]) == ("excerpt", 255)


def test_candidates_are_what_found_no_room(chat):
    found = chat.unfold(prose(5, 30), 500)
    why = chat.explained(found, prose(5, 30))
    assert why["candidates"]
    assert len(why["candidates"]) <= 20
    for one in why["candidates"]:
        text = chat.history.messages[one["message"]].text
        assert one["part"] == "content"
        assert text[one["start"] : one["end"]].strip()
        assert 0 <= one["start"] < one["end"] <= len(text)
    assert {one.passage for one in found.chosen} & set(found.left_out) == set()


@pytest.mark.slow
def test_no_candidate_stands_in_the_answer():
    """Messages that are short enough to be quoted whole, of several passages each."""
    made = [
        m
        for n in range(30)
        for m in (user(prose(n, 40)), assistant(prose(n, 100) + f"\n\ngasket {prose(n, 30)}"))
    ]
    tree = Tree([*made, user("gasket")])
    query = f"gasket {prose(3, 60)}"
    found = tree.unfold(query, 2_000)
    shown = found.plan.excerpts
    for row in found.left_out:
        message, start, end = (int(c[row]) for c in tree.corpus.columns[:3])
        assert not any(s.message == message and s.start <= start and end <= s.end for s in shown)


def test_a_rule_beside_an_excerpt_is_an_excerpt_of_its_own():
    """Both stand in the answer, in two places; the union of them stands nowhere."""
    before, rule, behind = (
        "数据库连接失败。" * 21,
        "从现在开始请用中文回答。",
        "玛丽戈尔德密码是七七三一。" * 30,
    )
    tree = Tree([user(before + rule + behind), *[user(prose(n, 300)) for n in range(4)], user("?")])
    found = tree.unfold("玛丽戈尔德密码", 900)
    assert rule in found.text
    for one in tree.explained(found, "玛丽戈尔德密码")["excerpts"]:
        piece = tree.history.messages[one["message"]].text[one["start"] : one["end"]]
        assert piece in found.text


# ---------------------------------------------------------------- where answers are long


@pytest.fixture(scope="module")
def advice():
    """Short asks and long answers, each with one entry of a list."""
    made = []
    for n in range(60):
        entry = f"1. Recommended for case {n}: take the {prose(n + 700, 3)} and wait two weeks."
        made += [
            user(f"What about {prose(n + 300, 12)}?"),
            assistant("\n\n".join([prose(n, 250), entry, prose(n + 100, 250)])),
        ]
    made[41] = assistant(f"{prose(41, 60)}\n\n{NEEDLE}\n\n{prose(41, 400)}")
    return Tree([*made, user("And now?")])


def reasons(found):
    return [choice.reason for choice in found.chosen]


@pytest.mark.slow
def test_long_answers_give_a_line_each_beside_what_the_user_said(advice):
    question = " ".join(prose(n + 300, 3) for n in range(60))
    found = advice.unfold(question, 6_000)
    lines = [choice for choice in found.chosen if choice.reason == "line"]
    assert reasons(found).count("user") >= 30
    assert len({choice.span.message for choice in lines}) == len(lines) >= 10
    spent = sum(choice.tokens for choice in lines)
    assert spent <= ONE_SHOT.answers * 6_000
    for choice in lines:
        text = advice.history.view(choice.span.message).text
        assert text[choice.span.start : choice.span.end] in found.text


def test_the_best_passage_of_all_comes_before_the_shares(advice):
    """Whoever wrote it: it would not be shown as text of the user, nor as a line."""
    found = advice.unfold(f"{QUESTION_WORDS} " + prose(310, 5), 1_500)
    assert NEEDLE in found.text
    assert found.chosen[0].reason == "excerpt"


def test_of_a_long_answer_its_nearest_segment_is_quoted(advice):
    question = f"{QUESTION_WORDS} " + prose(310, 5)
    ranked = advice.ranked(question)

    def near(row):
        low, high = int(advice.corpus.start[row]), int(advice.corpus.end[row])
        text = advice.history.view(int(advice.corpus.message[row])).text[low:high]
        return np.array([NEEDLE in part for part in segments(text)], np.float32)

    ranking = replace(ranked.ranking, segments=near)
    ranked = RankedHistory(advice.history, advice.corpus, ranking, terms.terms(question).keys())
    tree = SummaryTree(advice.roots, advice.nodes)
    found = unfold.unfold(ranked, tree, FoldWindow(len(advice.history) - 1, 1_500))
    (piece,) = (piece for piece in advice.pieces(found) if NEEDLE in piece)
    whole = advice.unfold(question, 1_500)
    (passage,) = (piece for piece in advice.pieces(whole) if NEEDLE in piece)
    assert len(piece) < len(passage) / 2


def test_a_long_message_of_the_user_is_quoted_whole_where_there_is_room():
    ask = "\n\n".join(f"{prose(n + 50, 60)} gasket" for n in range(8))
    made = [m for n in range(30) for m in (user(prose(n, 15)), assistant(prose(n + 99, 400)))]
    made[20] = user(ask)
    tree = Tree([*made, user("Which gasket?")])
    assert WHOLE < tokens.count(ask) < OWN_WHOLE * ONE_SHOT.user * 7_000
    whole = TextSpan(20, 0, len(ask))
    assert whole in {choice.span for choice in tree.unfold("gasket", 7_000).chosen}
    assert whole not in {choice.span for choice in tree.unfold("gasket", 2_000).chosen}


QUESTION_WORDS = "launch code Marigold 7731-ZETA"


def test_a_passage_with_a_line_shown_is_no_candidate(advice):
    found = advice.unfold(" ".join(prose(n + 300, 3) for n in range(60)), 3_000)
    assert {choice.passage for choice in found.chosen} & set(found.left_out) == set()


def test_code_in_a_message_of_the_user_stands_for_the_message():
    """A piece of it in the lead would be quoted without what is asked of it."""
    code = "\n".join(f"    gasket_{n} = seal(valve_{n}, pressure={n})" for n in range(14))
    ask = f"{prose(3, 60)}\n```python\ndef repair():\n{code}\n```\nWhich gasket leaks?"
    made = [m for n in range(30) for m in (user(prose(n, 15)), assistant(prose(n + 99, 200)))]
    made[20] = user(ask)
    tree = Tree([*made, user("gasket seal valve pressure repair")])
    found = tree.unfold("gasket seal valve pressure repair", 3_000)
    assert ask in found.text


def test_a_part_of_a_call_that_is_shown_already_is_not_quoted_again():
    new = "if(ast_id(pattern) == TK_ISO) pattern = set_cap_and_ephemeral(pattern, TK_TRN);"
    made = [user("Mend the matching of patterns.")]
    for n in range(4):
        edit = {"path": "src/match.c", "old_str": prose(n, 9), "new_str": new,
                "thought": f"The gasket {prose(n + 10, 30)}"}  # fmt: skip
        made += [assistant(f"I edit.\n{json.dumps(edit)}"), user(f"Done {n}. {prose(n + 50, 90)}")]
    tree = Tree([*made, user("And now?")])
    found = tree.unfold("gasket pattern set_cap_and_ephemeral", 2_000)
    quoted = tree.pieces(found)
    assert sum("TK_ISO" in piece for piece in quoted) == 1
    assert sum("The gasket" in piece for piece in quoted) == 4
