"""Statements in their places, in other languages, and within their bounds."""

from __future__ import annotations

from datetime import date

import pytest

from benchmarks.extraction.appointments import SAID, cases
from memtree.language.word_file import WordFile, languages_with
from memtree.statements import grammar
from memtree.statements.calendar_dates import is_schedule, with_day
from memtree.statements.grammar import (
    CATEGORIES,
    REASONS,
    SkipReason,
    category_of,
    lead,
    plain,
    refused,
)
from memtree.statements.user_statements import MOST, WISH, is_torn, own_sentences, read_statements
from memtree.text.spans import Span

# ------------------------------------------------------------------------------------------------
# Statements of a message: places, category, days, and what of it is left out.


def test_each_statement_says_where_it_stands_and_what_kind_it_is() -> None:
    text = "Hello! I'm Mara, I live in Ghent. What can I cook? Ich habe zwei Katzen."
    read = read_statements(text)
    assert [text[each.start : each.end] for each in read.statements] == [
        "I'm Mara", "I live in Ghent.", "Ich habe zwei Katzen.",
    ]  # fmt: skip
    assert [each.english for each in read.statements] == [True, True, False]
    assert {(each.category, each.who) for each in read.statements} == {("fact", "user")}
    assert SkipReason.QUESTION in {skip.reason for skip in read.skipped}


def test_days_have_places_in_the_message() -> None:
    text = "Thanks. My dentist appointment is on March 15, 2026."
    (stated,) = read_statements(text, date(2026, 3, 2)).statements
    assert stated.category == "schedule"
    assert [(text[day.start : day.end], day.day) for day in stated.days] == [
        ("March 15, 2026", date(2026, 3, 15))
    ]


def test_an_attribute_is_read_with_its_value_and_polarity() -> None:
    read = read_statements("I don't live in Graz any more. Ich wohne in Linz.").statements
    assert [(each.what, each.value, each.denied, each.ended) for each in read] == [
        ("home", "Graz", True, True),
        ("home", "Linz", False, False),
    ]


def test_a_standing_rule_is_a_wish() -> None:
    (stated,) = read_statements("Always use British spelling in your answers.").statements
    assert (stated.what, stated.category) == (WISH, "preference")


def test_most_caps_statements_and_tells_the_rest() -> None:
    read = read_statements("I live in Graz. I have two cats. I'm vegan.", most=2)
    assert len(read.statements) == 2
    assert [skip.reason for skip in read.skipped] == [SkipReason.CAP]


# ------------------------------------------------------------------------------------------------
# Other languages.


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("ich arbeite als altenpflegerin in nürnberg", "fact"),
        ("mein sohn jonas ist 5", "fact"),
        ("ich trinke lieber tee", "preference"),
        ("ich lerne gitarre", "general"),
        ("j'habite à lyon", "fact"),
        ("je travaille comme infirmière", "fact"),
        ("je préfère le thé", "preference"),
        ("trabajo como profesora", "fact"),
        ("me gusta el café", "preference"),
        ("moro em recife", "fact"),
        ("trabalho com turismo", "fact"),
        ("mia figlia è celiaca", "fact"),
        ("lavoro in banca", "fact"),
        ("ik ben leraar", "fact"),
        ("onze backend draait op laravel", "fact"),
        ("ich habe keinen fernseher", "fact"),
        ("no tengo coche", "fact"),
        ("我对花生过敏。", "fact"),
        ("我讨厌香菜。", "preference"),
        ("車は持っていません。", "fact"),
        ("パクチーが嫌いです。", "preference"),
        ("猫は犬よりいいです。", ""),
        ("jag bor i göteborg", "fact"),
        ("min dotter är celiakiker", "fact"),
        ("jag dricker hellre te", "preference"),
        ("jag sparar till en båt", "general"),
        ("у меня две кошки", "fact"),
        ("моего брата зовут олег", "fact"),
        ("я люблю чай", "preference"),
        ("я ищу новую работу", "general"),
    ],
)
def test_statements_in_other_languages(text, category):
    assert category_of(text) == category


@pytest.mark.parametrize(
    "text",
    [
        "ich bin müde", "ich habe ein problem", "je suis fatigué", "j'ai une question",
        "tengo una duda", "estou cansado", "sono stanco", "ik ben moe", "mi piace questo",
        "ich mag das", "der test schlägt fehl",
        "jag är trött", "jag gillar ditt svar", "я устала", "мне нравится твой ответ",
    ],
)  # fmt: skip
def test_what_passes(text):
    assert category_of(text) == ""


def test_a_greeting_is_no_statement():
    text = "hallo, ich wohne in graz"
    assert text[lead(text) :] == "ich wohne in graz"
    assert lead("ich wohne in graz") == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ich bin gerade am bahnhof", "transient"),
        ("estoy cansado", "transient"),
        ("si fuera rico tendría un barco", "hypothetical"),
        ("mijn code werkt niet", "code"),
        ("lui abita a roma", "about_others"),
        ("帮我写一封信。", "request"),
        ("私はどこに住んでいますか。", "question"),
        ("これはだめです。", "too_vague"),
        ("hon bor i lund", "about_others"),
        ("kanske flyttar jag", "hypothetical"),
        ("мой код не работает", "code"),
        ("напиши письмо", "request"),
        ("ich wohne in graz", None),
        ("i live in graz", None),
    ],
)
def test_sentences_that_are_no_statements(text, reason):
    assert refused(text) == reason


@pytest.mark.parametrize("language", sorted({*languages_with("memory_statements")} - {"all"}))
def test_a_grammar_has_all_patterns(language):
    names = WordFile(language, "memory_statements").names()
    assert {*CATEGORIES, *REASONS} <= set(names)


def test_a_grammar_is_found_by_its_file():
    assert {"de", "ja", "zh"} <= set(languages_with("memory_statements"))


# ------------------------------------------------------------------------------------------------
# Own sentences.


def readable(text, **options):
    return [text[start:end] for start, end in own_sentences(text, **options).readable]


def reasons(text, **options):
    return [skip.reason for skip in own_sentences(text, **options).skipped]


def test_each_sentence_is_readable_or_has_a_reason():
    text = "I live in Graz. My PIN is 1234. In my novel I'm a spy."
    assert readable(text) == ["I live in Graz."]
    assert reasons(text) == [SkipReason.SECRET, SkipReason.FICTION]


def test_in_a_play_nothing_is_readable():
    assert readable("I live in Graz.", in_play=True) == []
    assert reasons("I live in Graz.", in_play=True) == [SkipReason.FICTION]


def test_a_line_keeps_its_sentences_beside_a_long_number():
    text = "I live in Graz. My order 550e8400-e29b-41d4-a716-446655440000 never came."
    assert readable(text)[0] == "I live in Graz."
    assert readable("12.51 33.12 88.23 90.04 12.35 44.16.") == []


def test_what_is_over_the_limit_of_sentences_is_told_as_one():
    text = "I live in Graz. " * (MOST + 9) + "Ok?"
    assert len(readable(text)) == MOST
    assert reasons(text) == [SkipReason.CAP]


@pytest.mark.parametrize(
    ("text", "torn"),
    [
        ("I run |`a b` daily", True),
        ("I run.| `a b` daily", False),
        ("I run|\n`a b`", False),
        ("I run|", False),
        ('I said|".', True),
        ("I run|**", False),
    ],
)
def test_what_was_cut_in_its_middle_is_torn(text, torn):
    end = text.index("|")
    text = text.replace("|", "")
    assert is_torn(text, Span(0, end)) is torn


# ------------------------------------------------------------------------------------------------
# Plain form.


@pytest.mark.parametrize(
    ("lower", "form"),
    [
        ("i don't own a tv", "i own a tv"),
        ("i'm not religious", "i'm religious"),
        ("i never had kids", "i have kids"),
        ("i haven't got a dishwasher", "i have got a dishwasher"),
        ("my flat isn't near a park", "my flat is near a park"),
        ("our kids aren't vegan", "our kids are vegan"),
        ("we don't use docker", "i use docker"),
        ("we've been to rome", "i have been to rome"),
        ("my wife ingrid and i live in graz", "i live in graz"),
        ("me and my partner jo don't eat pork", "i eat pork"),
        ("my son tim and my daughter ann are vegan", "i am vegan"),
        ("nobody in my family eats pork", "i eat pork"),
        ("both of my brothers have asthma", "my brothers have asthma"),
        ("i live in graz", "i live in graz"),
    ],
)
def test_the_plain_form(lower, form):
    assert plain(lower) == form


# ------------------------------------------------------------------------------------------------
# Schedule.


@pytest.mark.parametrize("wanted", [True, False])
def test_a_calendars_entries_and_other_sentences_with_dates(wanted):
    those = [text for text, calendar in cases() if calendar is wanted]
    wrong = [text for text in those if is_schedule(text, SAID) is not wanted]
    assert len(those) >= 60
    assert not wrong


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("User's flight is next Friday", "User's flight is next Friday (said 2026-03-02)"),
        ("User has an interview tomorrow.", "User has an interview tomorrow (said 2026-03-02)."),
        ("The exam is on March 15", "The exam is on March 15 (said 2026-03-02)"),
        ("The exam is at 5 pm", "The exam is at 5 pm (said 2026-03-02)"),
        ("The exam is on March 15, 2027", "The exam is on March 15, 2027"),
        ("The exam is on May 3, 2024, at 7:45 PM", "The exam is on May 3, 2024, at 7:45 PM"),
        ("User has yoga every Tuesday at 5 pm", "User has yoga every Tuesday at 5 pm"),
        ("User likes tea", "User likes tea"),
    ],
)
def test_what_counts_from_the_day_it_was_said_is_kept_with_that_day(text, shown):
    assert with_day(text, SAID) == shown
    assert with_day(text, None) == text


def test_without_the_day_it_was_said_a_relative_date_tells_nothing():
    assert not is_schedule("I have an interview tomorrow.")
    assert is_schedule("I have an interview on 2026-03-15.")
    assert is_schedule("I have an interview on March 15.")
    assert is_schedule("I have yoga every Tuesday.")


def test_a_date_decides():
    assert is_schedule("My flight is on Friday.", date(2026, 3, 2))
    assert not is_schedule("My flight is delayed.", date(2026, 3, 2))


# ------------------------------------------------------------------------------------------------
# Statement bounds.


def test_small_talk_before_a_sentence_is_left():
    text = "ok, by the way my cat is grey"
    assert text[grammar.without_lead(text, 0, len(text)) :] == "my cat is grey"
    assert grammar.without_lead("my cat is grey", 0, 14) == 0


@pytest.mark.parametrize(
    ("lower", "head"),
    [
        ("i'm allergic to nuts, what can i bake?", "i'm allergic to nuts"),
        ("i use vim so please no mouse", "i use vim"),
        ("i have two cats, but i'm not sure about a third", "i have two cats"),
        ("i have two cats", "i have two cats"),
    ],
)
def test_a_statement_ends_before_a_question_or_an_afterthought(lower, head):
    assert next(grammar.heads(lower)) == head


def test_what_is_supposed_is_no_statement():
    for lower in ("я беременна, если полоска видна?", "je suis enceinte, si la barre est pâle ?"):
        assert list(grammar.heads(lower)) == [lower]


def test_any_last_part_of_a_question_may_be_the_question():
    heads = list(grammar.heads("wir wohnen in freiburg, gibt es da etwas?"))
    assert heads == ["wir wohnen in freiburg, gibt es da etwas?", "wir wohnen in freiburg"]


def test_statements_within_a_sentence():
    lower = "make it vegan because my son is vegan"
    assert [lower[at:] for at in grammar.later(lower)] == ["my son is vegan"]
    assert list(grammar.later("tell him that, i'm vegan")) == []


def test_parts_of_a_sentence():
    lower = "i'm mara, i live in ghent and my wife is a cook"
    assert [lower[start:end] for start, end in grammar.spliced(lower)] == [
        "i'm mara",
        "i live in ghent",
        "my wife is a cook",
    ]


def test_what_stands_before_the_subject():
    assert grammar.without_intro("after a long talk we agreed") == "we agreed"
    assert grammar.without_intro("we agreed") == ""
