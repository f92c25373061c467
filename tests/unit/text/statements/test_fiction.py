import pytest

from memtree.text.statements import fiction


@pytest.mark.parametrize(
    "text",
    ["*nods slowly* My king.", "Let's role-play.", "Pretend to be a ghost.", "I play as Kessa"],
)
def test_a_play_goes_on(text):
    assert fiction.is_role_play(text)


@pytest.mark.parametrize(
    "text", ["I play the cello", "Use *only* tabs", "Write a story about rain"]
)
def test_what_is_no_play(text):
    assert not fiction.is_role_play(text)


def test_the_assistant_may_speak_of_plays():
    assert fiction.is_role_play("*bows* Welcome, stranger.", "assistant")
    assert not fiction.is_role_play("In a role-play, your character is Ann.", "assistant")


@pytest.mark.parametrize(
    ("sentences", "made_up"),
    [
        ("i live in graz.|in my story, i'm a pirate.|i have one leg.", {1, 2}),
        ("i'm the ceo of acme.|that was a line of my character.|i live in graz.", {0, 1}),
        ("i own half of norway.|just kidding!|i live in graz.", {0, 1}),
        ("my d&d character is a dwarf.|i have two axes.", {0, 1}),
        ("in meinem roman bin ich ein spion.|ich habe drei pässe.", {0, 1}),
        ("在我的小说里，我是海盗。|我有一条腿。", {0, 1}),
        ("i'm writing a novel about a widow.|i live in graz.", set()),
        ("my favorite character is aragorn.|i live in graz.", set()),
    ],
)
def test_a_frame_before_or_behind_makes_sentences_fiction(sentences, made_up):
    assert fiction.framed([(0, lower) for lower in sentences.split("|")]) == made_up


def test_a_frame_that_looks_back_ends_with_its_paragraph():
    said = [(0, "i live in graz."), (1, "i am a king."), (1, "this is from my novel.")]
    assert fiction.framed(said) == {1, 2}


@pytest.mark.parametrize(
    "lower",
    [
        "i'm married to my job lol",
        "i'm basically 300 years old",
        "tengo 300 años",
        "in my dream i had seven brothers",
        "in the test my name is foo",
        "我已经三百岁了",
    ],
)
def test_jests_dreams_and_examples_are_fictional(lower):
    assert fiction.is_fictional(lower)


@pytest.mark.parametrize(
    "lower", ["i'm 42 years old", "our house is 300 years old", "i hate plots lol, but i read on"]
)
def test_what_may_be_true_is_not_fictional(lower):
    assert not fiction.is_fictional(lower)
