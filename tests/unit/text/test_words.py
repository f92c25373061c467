"""Words and terms: which of them say something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.text import terms
from memtree.text.anchors import anchors
from memtree.text.request_words import is_acknowledgement
from memtree.text.telling_words import sharing, telling, word_forms
from memtree.text.terms import chat_words, common_words, is_common

# ------------------------------------------------------------------------------------------------
# Check which messages merely acknowledge.


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ok",
        "OK!",
        "Ok, thanks.",
        "sounds good, go ahead",
        "Yes please do it",
        "It's great",
        "👍",
        "...",
        "danke, weiter",
        "oui merci",
        "sí, gracias",
        "não, obrigado",
        "да, спасибо",
        "好的，谢谢",
        "继续",
        "はい、ありがとう。",
        "네, 감사합니다",
    ],
)
def test_acknowledgements_ask_for_nothing(text):
    assert is_acknowledgement(text)


@pytest.mark.parametrize(
    "text",
    [
        "ok?",
        "好的？",
        "go on with step 2",
        "yes, Marigold",
        "ok now fix the parser",
        "no, not that",
        "please continue with the launch code",
        "ok ok ok ok ok ok ok ok ok",
        "thanks" + " " * 500 + "Now rename the launch code of Marigold.",
        "ok\n" + "=" * 500 + "\nERROR launch code rejected",
        "好的，请修改解析器",
        "да, но почему",
        "ja, aber welcher",
    ],
)
def test_what_only_looks_like_an_acknowledgement(text):
    assert not is_acknowledgement(text)


# ------------------------------------------------------------------------------------------------
# Names among the anchors of a text.


@pytest.mark.parametrize(
    "word", ["Ill", "Im", "Dont", "Ive", "Haha", "LOL", "OMG", "Naja", "Ouais", "Wait", "Its"]
)
def test_contractions_interjections_and_chat_words_are_no_names(word):
    assert anchors(f"so {word} see you there, and {word} too. {word} what") == ()


def test_a_name_keeps_a_common_word_in_it():
    told = anchors("we flew to New York to see Real Madrid, and Ill ask Ida")
    assert set(told) == {"New York", "Real Madrid", "Ida"}


# ------------------------------------------------------------------------------------------------
# Words that name nothing.


def test_each_word_stands_in_its_list_as_it_is_looked_up():
    assert all(word == word.lower() and "'" not in word for word in common_words())
    assert chat_words() < common_words()


@pytest.mark.parametrize("word", ["Ill", "I'll", "Dont", "LOL", "haha", "guessing", "вот", "ouais"])
def test_common(word):
    assert is_common(word)


@pytest.mark.parametrize("word", ["Ben", "king", "rabbit", "n64", "string", "gym", "Vertrag"])
def test_not_common(word):
    assert not is_common(word)


# ------------------------------------------------------------------------------------------------
# Words that say what a text is about, in several languages.


@pytest.mark.parametrize(
    ("message", "memory"),
    [
        ("My dog barks at night.", "User's dog Otto is a beagle."),
        ("Which ports are open?", "The staging port is 8090."),
        ("Mein Hund bellt.", "Der Hund des Benutzers heißt Otto."),
        ("What should I plan for Zoë?", "User's niece is called Zoe."),
        ("Что подарить моей бабушке?", "Бабушка пользователя живёт в Твери."),
        ("كيف أخبز الخبز؟", "المستخدم لا يأكل خبز القمح."),
        ("강아지가 밤에 짖어요", "사용자의 강아지 이름은 오토입니다."),
        ("我的大提琴坏了", "用户会拉大提琴。"),
        ("因为过敏，我该避开什么？", "用户对花生过敏。"),
        # Long words that begin like a common one: Nacht, nacht, grootste.
        ("Wie schlafe ich nach einer Nachtschicht?", "Der Nutzer arbeitet in der Nachtschicht."),
        ("Hoe slaap ik na een nachtdienst?", "De gebruiker werkt in de nachtdienst."),
        ("トランペットの練習", "ユーザーはトランペットを吹く"),
        ("Ida", "User's daughter is called Ida."),
    ],
)
def test_a_word_that_says_something_is_shared(message, memory):
    assert sharing(message, [memory]) == [True]


@pytest.mark.parametrize(
    ("message", "memory"),
    [
        ("What does the user like best?", "The user likes tea."),
        ("Please explain how this works.", "User wants explanations to be short."),
        ("Wie ist das Wetter?", "Der Benutzer ist Lehrer."),
        ("怎么办？", "用户问怎么办。"),
        ("ありがとうございます", "ユーザーはありがとうと言う"),
        ("Как это работает?", "Пользователь не знает, как это работает."),
        ("", "The user likes tea."),
    ],
)
def test_general_words_are_not(message, memory):
    assert sharing(message, [memory]) == [False]


def test_a_word_that_many_memories_hold_tells_nothing():
    memories = [f"The user's boat has {sail} sails." for sail in range(4)]
    assert sharing("Paint my boat", memories, 100) == [False] * 4
    assert sharing("Paint my boat", memories, 400) == [True] * 4
    assert sharing("Paint my boat", memories[:3], 100) == [True] * 3


def test_forms():
    assert word_forms("Cafés, été") == word_forms("CAFÉ ete")
    assert word_forms("用户吃素") == {"用户", "户吃", "吃素"}
    assert word_forms("チェロです") == {"チェロ"}
    assert telling("Der Nutzer wohnt in Graz.") >= {"graz"}
    assert "nutze" not in telling("Der Nutzer wohnt in Graz.")


def test_between_two_languages_whole_words_alone_are_shared():
    asked = "Fix this for me: for i in range(10) print(i)"
    assert sharing(asked, ["Le père de l'utilisateur est mort au printemps."]) == [False]
    texts = ["L'utilisateur habite à Graz avec sa femme."]
    assert sharing("What is the weather like in Graz today?", texts) == [True]


# ------------------------------------------------------------------------------------------------
# Terms: words that mean the same meet, function words are none, identifiers open up.


def named(*words):
    return {terms.hashed(word) for word in words}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("parse", "parsing"),
        ("index", "indexed"),
        ("query", "queries"),
        ("run", "running"),
        ("Failure", "failures"),
        ("quick", "quickly"),
        ("CONFIG", "config"),
    ],
)
def test_inflections_meet(one, other):
    assert terms.terms(one) == terms.terms(other)


def test_function_words_are_no_terms():
    assert terms.terms("What is it that you would do with the") == {}


@pytest.mark.parametrize(
    "name", ["getUserName", "get_user_name", "GET_USER_NAME", "__get_user_name"]
)
def test_identifiers_give_their_parts(name):
    assert named("get", "user", "name"[:-1]) <= set(terms.terms(name))


def test_an_identifier_is_found_whole():
    whole = named("parse_config")
    assert whole <= set(terms.terms("call parse_config()"))
    assert not whole & set(terms.terms("parse the config"))


def test_numbers_and_foreign_words():
    assert terms.terms("8787") == {terms.hashed("8787"): 1}
    assert terms.terms("Übung übung") == {terms.hashed("übung"): 2}


def test_scripts_without_spaces_give_pairs():
    assert set(terms.terms("数据库")) == named("数据", "据库")
    assert set(terms.terms("数")) == named("数")
    assert set(terms.terms("连接数据库失败")) >= set(terms.terms("数据库"))


def test_counts_and_merge():
    one, other = terms.terms("cache cache miss"), terms.terms("cache hit")
    assert one == {terms.hashed("cach"): 2, terms.hashed(terms.stem("miss")): 1}
    assert terms.merge([one, other])[terms.hashed("cach")] == 3


def test_similarity():
    one = terms.terms("the cache missed the disk")
    assert terms.similarity(one, one) == pytest.approx(1)
    assert terms.similarity(one, terms.terms("romantic poetry")) == 0
    assert terms.similarity({}, one) == terms.similarity({}, {}) == 0
    near, far = terms.terms("disk cache full"), terms.terms("disk of vinyl music")
    assert terms.similarity(one, near) > terms.similarity(one, far) > 0
    assert terms.similarity(one, near) == terms.similarity(near, one)


def test_profiles_keep_the_most_frequent_terms_and_come_back():
    counts = {n: (300 if n == 7 else n % 5 + 1) for n in range(100)}
    packed = terms.profile(counts)
    back = terms.unprofile(packed)
    assert len(back) == terms.PROFILE_TERMS
    assert back[7] == 255
    assert min(back.values()) == 5 or set(back) <= {n for n in counts if counts[n] >= 4}
    assert packed == terms.profile(dict(reversed(counts.items())))
    assert terms.unprofile(terms.profile({})) == {}


def test_packed_statistics():
    packed = terms.pack([{1: 2, 3: 999}, {}, {2**32 - 1: 1}])
    assert packed.ends == (2, 2, 3)
    assert packed.counts == bytes([2, 255, 1])
    assert packed.hashes == b"\1\0\0\0\3\0\0\0\xff\xff\xff\xff"


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_ascii_has_the_words_that_other_text_has(text):
    """They are found in another way, which is the faster one."""
    assert terms.words(text) == terms.words(f"{text} é")[:-1]


def test_the_most_frequent_terms_are_a_profile():
    often = dict.fromkeys(range(100, 100 + terms.PROFILE_TERMS), 2)
    once = dict.fromkeys(range(50), 1)
    assert terms.unprofile(terms.profile({**once, **often})) == often
    often.pop(100)  # one is missing: the smallest of those that stand there once
    assert terms.unprofile(terms.profile({**once, **often})) == {**often, 0: 1}
