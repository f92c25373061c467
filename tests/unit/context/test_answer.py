"""How an answer is put together: lines for strict templates, a first message that goes whole, and
the cache marker of the memory message."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.budget import packing
from memtree.budget.packing import LINE, LINE_TOKENS, Packed, TokenLimits, admit, begin, pack
from memtree.budget.prices import Prices
from memtree.config import MODES
from memtree.context.answer import AnswerLayout, assembled
from memtree.context.answer_state import State
from memtree.context.turn_request import CompressRequest
from memtree.history import cache_control
from memtree.history.message import MESSAGE_OVERHEAD, Message
from memtree.text import tokens
from tests.answered import Answered, answered, compressed
from tests.outgoing import problems
from tests.properties.examined import unmarked
from tests.properties.process import World, after, an_ask, assistant, story, text_of, user
from tests.properties.sizes import dialogue, sized
from tests.properties.strategies import history_of, prose

EPHEMERAL, HOUR = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}
CARD = "You are Marigold, cook on a ship. Always answer in rhyme. " * 3


@pytest.fixture
def world() -> World:
    return World()


def sent(answer):
    return [json.loads(raw) for raw in answer.messages]


def checked(posted, answer, **options):
    """The messages that were sent, sound as the validator has it."""
    found = problems({"messages": posted}, {"messages": sent(answer)}, **options)
    assert found == []
    return sent(answer)


def place(messages):
    """Where the memory message stands."""

    def is_memory(one):
        content = one["content"] if isinstance(one["content"], str) else one["content"][0]["text"]
        return content.startswith("<context_memory>")

    return next(at for at, one in enumerate(messages) if is_memory(one))


# ---------------------------------------------------------------- what markers say of prices


def with_marker(text, marker):
    part = {"type": "text", "text": text}
    return user([part if marker is None else {**part, "cache_control": marker}])


@pytest.mark.parametrize(
    ("system", "older", "newest", "hour"),
    [
        (None, None, None, False),
        (None, None, EPHEMERAL, False),
        (None, None, HOUR, True),
        (HOUR, None, EPHEMERAL, False),
        (HOUR, None, None, True),
        (None, HOUR, None, True),
        (None, EPHEMERAL, HOUR, True),
        (None, HOUR, EPHEMERAL, False),
        (HOUR, EPHEMERAL, None, False),
    ],
)
def test_the_newest_marker_says_what_writing_costs(system, older, newest, hour):
    posted = [with_marker("one", older), assistant("two"), with_marker("three", newest)]
    leading = {"role": "system", "content": with_marker("S", system)["content"]}
    ask = replace(an_ask([leading, *posted]), dialect="messages", prices=Prices(1.25, 0.1, 300.0))
    history = history_of(ask.messages)
    assert ask.priced(history).prices.write == (2.0 if hour else 1.25)
    assert ask.priced(history).prices.lifetime == (3_600.0 if hour else 300.0)
    chat = replace(ask, dialect="")
    assert chat.priced(history) is chat


# ---------------------------------------------------------------- a line between users

MONOLOGUE = [user(f"{prose(n, 60)} note {n}") for n in range(200)]
LINE_MESSAGE = {"role": "assistant", "content": LINE}


def test_the_line_costs_what_it_says():
    assert tokens.count(LINE) + MESSAGE_OVERHEAD == LINE_TOKENS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "hard"),
    [
        ("fresh", False),
        ("stable", True),
        pytest.param("fresh", True, marks=pytest.mark.long),
        pytest.param("stable", False, marks=pytest.mark.long),
    ],
)
async def test_user_does_not_follow_the_memory_message(world, mode, hard):
    plain = await world.ask(MONOLOGUE, mode=mode, hard=hard)
    answer = await world.ask(MONOLOGUE, mode=mode, hard=hard, alternate=True)
    messages = checked(MONOLOGUE, answer, alternate=True)
    assert messages[place(messages) + 1] == LINE_MESSAGE
    assert LINE_MESSAGE not in sent(plain)
    whole = sum(tokens.count(one["content"]) + MESSAGE_OVERHEAD for one in messages)
    assert answer.sent_tokens == whole
    assert not hard or whole <= 4_000


@pytest.mark.slow
async def test_no_line_where_the_assistant_follows(world):
    answer = await world.ask(story(), alternate=True)
    assert answer.epoch
    assert LINE_MESSAGE not in checked(story(), answer, alternate=True)


@pytest.mark.slow
async def test_users_in_a_row_that_the_client_sent_stay_as_they_are(world):
    answer = await world.ask(MONOLOGUE, alternate=True)
    assert sent(answer).count(LINE_MESSAGE) == 1


@pytest.mark.slow
async def test_a_system_message_between_does_not_count(world):
    posted = [*MONOLOGUE]
    for at in range(len(posted), 0, -1):
        posted.insert(at, {"role": "system", "content": f"aside {at}"})
    answer = await world.ask(posted, alternate=True)
    messages = checked(posted, answer, alternate=True)
    assert messages[place(messages) + 1] == LINE_MESSAGE


# ---------------------------------------------------------------- a first message that stays


def roleplay():
    return [{"role": "system", "content": "Stay in character."}, user(CARD), *story()[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fresh", "stable"])
@pytest.mark.parametrize("alternate", [False, True])
async def test_a_short_first_message_goes_whole_and_first(world, mode, alternate):
    posted, form = roleplay(), {"keep_first": True, "alternate": alternate}
    answer = await world.ask(posted, mode=mode, hard=True, **form)
    messages = checked(posted, answer, **form)
    assert messages[1] == user(CARD)
    assert place(messages) == 2 + alternate
    assert "¶1 user" not in text_of(answer)
    plain = await world.ask(posted, mode=mode, hard=True)
    assert place(sent(plain)) == 1
    assert "¶1 user" in text_of(plain)
    assert answer.sent_tokens - answer.system_tokens <= 4_000
    assert answer.sent_tokens == sum(
        tokens.count(one["content"]) + MESSAGE_OVERHEAD for one in messages
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "first", [user(prose(1, 700)), assistant(CARD), {"role": "user", "content": ""}]
)
async def test_what_is_long_or_not_the_users_does_not(world, first):
    posted = [first, *story()[1:]]
    answer = await world.ask(posted, keep_first=True)
    messages = checked(posted, answer, keep_first=True)
    assert place(messages) == (1 if first["content"] == "" else 0)


@pytest.mark.slow
@pytest.mark.parametrize("form", [{"keep_first": True}, {"keep_first": True, "alternate": True}])
async def test_within_an_epoch_nothing_before_the_end_changes(world, form):
    posted, answers = roleplay(), []
    for number in range(8):
        answers.append(await world.ask(posted, **form))
        checked(posted, answers[-1], **form)
        posted = after(posted, number)
    assert len({answer.epoch for answer in answers}) == 1
    for one, two in pairwise(answers):
        assert two.messages[: len(one.messages)] == one.messages


@pytest.mark.slow
async def test_a_recall_block_does_not_repeat_it(world):
    posted = roleplay()
    await world.ask(posted, keep_first=True)
    posted = [
        *posted,
        assistant("So it is."),
        user("What does Marigold cook on the ship in rhyme?"),
    ]
    answer = await world.ask(posted, keep_first=True)
    checked(posted, answer, keep_first=True)
    assert "¶1 user" not in text_of(answer)


@pytest.mark.slow
async def test_another_setting_begins_another_epoch(world):
    posted = roleplay()
    forms = [{}, {"keep_first": True}, {"alternate": True}, {"keep_first": True, "alternate": True}]
    epochs = [(await world.ask(posted, **form)).epoch for form in forms]
    assert len(set(epochs)) == 4
    assert [(await world.ask(posted, **form)).epoch for form in forms] == epochs


@pytest.mark.slow
async def test_an_answer_is_a_plain_value(world):
    """It holds no history and no tree: what can be asked about it is in its details."""
    answer = await world.used.compress(an_ask(roleplay(), mode="stable", target=4_000))
    assert answer.changed
    assert pickle.loads(pickle.dumps(answer)) == answer


# ---------------------------------------------------------------- budgets, as pure decisions


def limits(target=20_000, hard=True, prompt=100_000, keep_first=True, alternate=True):
    return TokenLimits(target, hard, prompt, alternate, keep_first)


def test_the_first_message_counts_in_the_target():
    history = sized(("user", 3_999), *[("assistant", 900), ("user", 100)] * 40)
    for found in (pack(history, limits(), 0), begin(history, limits(), 0)):
        assert isinstance(found, Packed)
        assert (found.head, found.beside) == (1, 3_999 + LINE_TOKENS)
        assert found.memory + found.recent + found.beside <= 20_000
    assert found.recent <= 0.1 * 20_000


@pytest.mark.parametrize(("size", "head"), [(3_999, 1), (4_000, 0)])
def test_a_fifth_of_the_target_is_the_border(size, head):
    history = sized(("user", size), *[("assistant", 900), ("user", 100)] * 40)
    found = pack(history, limits(), 0)
    assert isinstance(found, Packed)
    assert found.head == head


def test_without_room_the_first_message_goes_into_memory():
    history = sized(("user", 3_000), *[("assistant", 900), ("user", 100)] * 10, ("user", 18_000))
    found = pack(history, limits(), 0)
    assert found == Packed(21, 18_000, 2_000 - LINE_TOKENS, 0, LINE_TOKENS, 2_000)


def test_where_only_the_first_message_is_cut_off_memory_is_for_it():
    history = sized(("user", 500), ("assistant", 19_700))
    assert pack(history, limits(), 0) == Packed(1, 19_700, 500 + 2 * packing.WRAPPER, ask=2_000)


def test_a_monologue_needs_a_line():
    found = begin(sized(*[("user", 500)] * 60), limits(keep_first=False), 0)
    assert found.beside == LINE_TOKENS
    assert begin(dialogue(61), limits(keep_first=False), 0).beside == 0


rounds = st.one_of(
    st.tuples(st.sampled_from(["user", "assistant"]), st.integers(10, 3_000)),
    st.tuples(st.just("tools"), st.integers(50, 400), st.integers(10, 5_000)),
)


@pytest.mark.slow
@given(
    st.lists(rounds, min_size=1, max_size=40),
    st.integers(1_000, 40_000),
    st.booleans(),
    st.integers(500, 60_000),
    st.booleans(),
    st.booleans(),
)
def test_all_that_is_sent_keeps_to_the_limits(made, target, hard, prompt, first, alternate):
    history = sized(*made)
    asked = limits(target, hard, prompt, first, alternate)
    newest = history.size(history.rounds[-1])
    for found in (admit(history, asked, 0) or pack(history, asked, 0), begin(history, asked, 0)):
        if not isinstance(found, Packed) or newest > prompt:
            continue
        whole = found.recent + found.memory + found.beside
        bound = packing.most_sent(history, min(target, prompt))
        assert whole <= (min(prompt, bound) if hard else prompt)
        assert found.memory or (found.head, found.beside) == (0, 0)
        assert not found.head or (first and found.cut > 1 and history.facts[0].role == "user")
        lines = sum(packing.lines_at(history, found.cut, found.head)) if found.memory else 0
        assert found.beside == history.size(0, found.head) + alternate * lines * LINE_TOKENS


# ---------------------------------------------------------------- cache markers


def marked(*places, hours=(), turns=12):
    """A dialogue with markers on messages by number."""
    made = [(user if n % 2 == 0 else assistant)(prose(n, 40)) for n in range(turns)]
    for at in places:
        made[at]["cache_control"] = HOUR if at in hours else EPHEMERAL
    return made


def memory_of(posted, elsewhere=0, cut=6, head=0):
    """The memory message of an answer with that cut."""
    history = history_of([Message.of(one) for one in posted])
    ask = CompressRequest("t", tuple(map(Message.of, posted)), markers=elsewhere)
    shape = AnswerLayout(cut, "<context_memory>\nx\n</context_memory>", 9, head=head)
    messages = sent(answered(assembled(history, ask, State.PACKED, shape), ask))
    return messages[place(messages)]


def own(posted, **named):
    content = memory_of(posted, **named)["content"]
    return content[0].get("cache_control") if isinstance(content, list) else "a string"


def system(**more):
    return {"role": "system", "content": "Be brief.", **more}


@pytest.mark.parametrize(
    ("posted", "elsewhere", "found"),
    [
        (marked(), 0, "a string"),
        (marked(11), 0, EPHEMERAL),
        (marked(9, 11), 0, EPHEMERAL),
        (marked(6, 8, 10), 0, EPHEMERAL),
        (marked(6, 8, 9, 10), 0, None),
        (marked(6, 8, 9, 10, 11), 0, None),
        (marked(9, 11), 2, None),
        (marked(9, 11), 1, EPHEMERAL),
        (marked(), 1, EPHEMERAL),
        (marked(), 4, None),
        # Those of messages that are cut off do not count, and tell that the client uses them.
        (marked(0, 1, 2, 3), 0, EPHEMERAL),
        (marked(0, 1, 2, 3, 11), 2, EPHEMERAL),
        ([system(cache_control=EPHEMERAL), *marked(9, 11)], 0, EPHEMERAL),
        ([system(cache_control=EPHEMERAL), *marked(9, 11)], 1, None),
        ([system(cache_control=EPHEMERAL), *marked()], 0, EPHEMERAL),
    ],
)
def test_a_marker_where_there_are_fewer_than_four(posted, elsewhere, found):
    assert own(posted, elsewhere=elsewhere) == found


@pytest.mark.parametrize(
    ("posted", "found"),
    [
        (marked(9, 11, hours=(9, 11)), HOUR),
        (marked(9, 11, hours=(9,)), HOUR),
        ([system(cache_control=HOUR), *marked(9)], EPHEMERAL),
        ([system(cache_control=HOUR), *marked(9, hours=(9,))], HOUR),
        ([system(cache_control=HOUR), *marked()], HOUR),
        ([system(cache_control=HOUR), *marked(3)], HOUR),
        (marked(2, 4, hours=(2,)), EPHEMERAL),
        (marked(2, 4, hours=(2, 4)), HOUR),
        ([{**system(), "cache_control": True}, *marked()], EPHEMERAL),
    ],
)
def test_the_marker_is_that_of_its_neighbour(posted, found):
    assert own(posted) == found


def test_a_first_message_that_goes_whole_counts_and_is_a_neighbour():
    posted = marked(0, hours=(0,))
    assert own(posted, head=1) == HOUR
    assert own(marked(0, 9, 10, 11), head=1) is None
    assert own(marked(0, 9, 10, 11), head=0) == EPHEMERAL


@pytest.mark.slow
async def test_the_form_and_the_text_do_not_change_with_the_number(world):
    """Cline puts its markers on the last two messages of the user."""

    def moved(posted):
        users = [at for at, one in enumerate(posted) if one["role"] == "user"][-2:]
        return [{**one, "cache_control": EPHEMERAL} if at in users else one
                for at, one in enumerate(posted)]  # fmt: skip

    posted, answers = [system(cache_control=EPHEMERAL), *story()], []
    for number in range(6):
        answers.append(await world.ask(moved(posted), markers=number % 3))
        messages = checked_with_tools(moved(posted), answers[-1], number % 3)
        assert isinstance(messages[1]["content"], list)
        posted = after(posted, number)
    assert len({answer.epoch for answer in answers}) == 1
    assert len({unmarked(answer.messages)[1] for answer in answers}) == 1
    assert len({answer.messages[1] for answer in answers}) == 2


def checked_with_tools(posted, answer: Answered, number: int):
    tools = [{"name": "t", "cache_control": EPHEMERAL}] * number
    both = ({"tools": tools, "messages": messages} for messages in (posted, sent(answer)))
    assert problems(*both) == []
    return sent(answer)


@pytest.mark.slow
async def test_a_recall_block_leaves_the_marker_of_its_message(world):
    posted = story()
    await world.ask(posted)
    part = {"type": "text", "text": "What is the launch code of project Marigold?",
            "cache_control": EPHEMERAL}  # fmt: skip
    posted = [*posted, assistant("Well."), user([part])]
    answer = await world.ask(posted)
    newest = checked(posted, answer)[-1]["content"]
    assert answer.recall_tokens
    assert "cache_control" not in newest[0]
    assert newest[1] == part


def test_markers_are_looked_for_in_what_is_sent_alone(monkeypatch):
    """A history without markers costs no decoding."""
    history = history_of([Message.of(one) for one in marked()])
    monkeypatch.setattr(
        cache_control, "markers", lambda message: pytest.fail("a message was decoded")
    )
    assert cache_control.of_memory(history, 0, 6) is None


# ---------------------------------------------------------------- what stands last


TOOLS = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]


ENDINGS = [
    [assistant("Well, the answer is")],
    [{**assistant("Well, "), "prefix": True}],
    [{"role": "assistant", "content": None, "tool_calls": TOOLS},
     {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "yes"}]}],
    [{"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": ""}},
     {"role": "function", "name": "f", "content": "yes"}],
    [{"role": "assistant", "tool_calls": TOOLS}],
    [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,x"}}]}],
    [{"role": "user", "content": None}],
    [{"role": "user"}],
    [{"role": "user", "content": []}],
    [user("And?"), {"role": "system", "content": "Be quick."}],
]  # fmt: skip


def endings():
    """Every ending in every mode, and in both forms; one mode of each ending is not `long`."""
    for number, ending in enumerate(ENDINGS):
        for at, mode in enumerate(MODES):
            form = ({}, {"alternate": True, "keep_first": True})[(number + at) % 2]
            marks = () if at == number % len(MODES) else pytest.mark.long
            yield pytest.param(ending, mode, form, marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize(("ending", "mode", "form"), list(endings()))
async def test_whatever_stands_last_is_sent_whole(world, ending, mode, form):
    posted = [*story(), *ending]
    answer = await world.ask(posted, mode=mode, **form)
    assert answer.changed
    assert checked(posted, answer, **form)[-1] == posted[-1]
    again = await world.ask(posted, mode=mode, **form)
    assert again.messages == answer.messages


@pytest.mark.slow
async def test_an_ask_is_not_changed_by_what_it_does_not_use(world):
    posted = story()
    plain = an_ask(posted)
    assert (await compressed(world.used, plain)).messages == (
        await compressed(world.used, replace(plain, patience=1.0))
    ).messages
