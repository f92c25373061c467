"""Orders to forget, of the user's own words: what is read, what they are about."""

from __future__ import annotations

import time

import pytest

from memtree.memories.memory_curation import fits, wishes
from memtree.memories.rule_extraction import extract
from memtree.statements.forget_orders import asks_overview, forgets, is_off_record, may_ask

ORDERS = [
    ("Please forget that I live in Graz, thanks.", "I live in Graz"),
    ("Forget that I live in Graz please", "I live in Graz"),
    ("Vergiss, dass ich in Graz wohne danke", "ich in Graz wohne"),
    ("Oublie que j'habite à Lyon s'il te plaît", "j'habite à Lyon"),
    ("Olvida que vivo en Graz por favor", "vivo en Graz"),
    ("Dimentica che vivo a Roma per favore", "vivo a Roma"),
    ("Esqueça que moro em Lisboa por favor", "moro em Lisboa"),
    ("Vergeet dat ik in Utrecht woon bedankt", "ik in Utrecht woon"),
    ("Glöm att jag bor i Malmö tack", "jag bor i Malmö"),
    ("Забудь, что я живу в Казани пожалуйста", "я живу в Казани"),
    ("Can you forget about my job at Siemens?", "my job at Siemens"),
    ("That's no longer true.", ""),
    ("It's no longer true that I work nights.", "I work nights"),
    ("My address is no longer correct.", "My address"),
    ("Delete the memory about my dog Rex.", "my dog Rex"),
    ("Remove my phone number from your memory.", "my phone number"),
    ("Forget everything I told you about my sister", "my sister"),
    ("Forget everything you know about me", "me"),
    ("I no longer work at Tesco, get rid of that note.", "I no longer work at Tesco"),
    ("Take my birthday out of your records.", ""),
    ("We did not move to Portugal, no need to remember that", "We did not move to Portugal"),
    ("Ich bin nicht mehr bei Siemens, die Notiz kann weg.", "Ich bin nicht mehr bei Siemens"),
    ("Non, le gluten c'est fini, enlève ça de tes notes", "le gluten c'est fini"),
    ("Ya no trabajo en Seat, quítalo de tus notas", "Ya no trabajo en Seat"),
    ("Non lavoro più alla Fiat, toglilo dai tuoi appunti", "Non lavoro più alla Fiat"),
    ("Já não trabalho na Galp, tira isso da tua memória", "Já não trabalho na Galp"),
    ("Ik werk niet meer bij Shell, haal het uit je geheugen", "Ik werk niet meer bij Shell"),
    ("Jag jobbar inte på Volvo, stryk det ur ditt minne", "Jag jobbar inte på Volvo"),
    ("Я больше не работаю в банке, убери это из памяти", "Я больше не работаю в банке"),
    ("Stop assuming I'm a vegetarian.", "I'm a vegetarian"),
    ("Don't remember that I smoke", "I smoke"),
    ("Forget where I live.", "where I live"),
    ("I moved, so forget that I live in Linz", "I live in Linz"),
    ("Vergiss bitte, dass ich in Graz wohne.", "ich in Graz wohne"),
    ("Das stimmt nicht mehr.", ""),
    ("Dass ich in Graz wohne, stimmt nicht mehr.", "ich in Graz wohne"),
    ("Lösche bitte, was du über meine Arbeit weißt.", "meine Arbeit"),
    ("Kannst du vergessen, dass ich Veganer bin?", "ich Veganer bin"),
    ("Vergiss meine Adresse", "meine Adresse"),
    ("Es stimmt nicht mehr, dass ich bei Siemens arbeite.", "ich bei Siemens arbeite"),
    ("Olvida que vivo en Graz", "vivo en Graz"),
    ("Por favor, olvida mi dirección.", "mi dirección"),
    ("Eso ya no es verdad.", ""),
    ("Borra lo que sabes sobre mi trabajo", "mi trabajo"),
    ("Oublie que j'habite à Lyon.", "j'habite à Lyon"),
    ("Ce n'est plus vrai.", ""),
    ("Peux-tu oublier mon adresse ?", "mon adresse"),
    ("Il n'est plus vrai que je travaille chez Renault", "je travaille chez Renault"),
    ("Efface ce que tu sais sur mon chien", "mon chien"),
    ("Dimentica che vivo a Roma", "vivo a Roma"),
    ("Non è più vero.", ""),
    ("Per favore cancella quello che sai sul mio lavoro", "mio lavoro"),
    ("Esqueça que moro em Lisboa", "moro em Lisboa"),
    ("Isso já não é verdade.", ""),
    ("Apague o que sabe sobre o meu trabalho", "o meu trabalho"),
    ("Vergeet dat ik in Utrecht woon.", "ik in Utrecht woon"),
    ("Dat klopt niet meer.", ""),
    ("Verwijder wat je over mijn baan weet", "mijn baan"),
    ("Glöm att jag bor i Malmö.", "jag bor i Malmö"),
    ("Det stämmer inte längre.", ""),
    ("Radera det du vet om min hund", "min hund"),
    ("Забудь, что я живу в Казани.", "я живу в Казани"),
    ("Это больше не так.", ""),
    ("Удали всё, что ты знаешь о моей работе", "моей работе"),
    ("Забудь мой адрес", "мой адрес"),
    ("请忘记我住在上海。", "我住在上海"),
    ("这已经不是真的了。", ""),
    ("我住在上海已经不对了", "我住在上海"),
    ("请忘掉我对花生过敏这件事。", "我对花生过敏"),
    ("把我的地址从记忆里删掉", "我的地址"),
    ("私が大阪に住んでいることを忘れてください。", "私が大阪に住んでいる"),
    ("それはもう本当ではありません。", ""),
    ("私の住所は忘れてください", "私の住所"),
    ("犬を飼っているという話は忘れて。", "犬を飼っている"),
]
NONE = [
    "Remove that entry from the table.",
    "How do I delete my notes in OneNote?",
    "Delete the record in the database",
    "Nimm die Notiz und übersetze sie",
    "Remove this note from the README",
    "I don't remember it",
    "Don't forget that I live in Graz.",
    "I forgot my keys",
    "Forget it, let's go on.",
    "Never forget that I'm allergic.",
    "How do I make git forget a file?",
    "Forget that approach, use SQL",
    "vergiss nicht, dass ich in Graz wohne",
    "Ich habe vergessen, dass ich in Graz wohne",
    "no olvides que vivo en Graz",
    "n'oublie pas que j'habite à Lyon",
    "Non dimenticare che vivo a Roma",
    "não esqueça que moro em Lisboa",
    "vergeet niet dat ik in Utrecht woon",
    "glöm inte att jag bor i Malmö",
    "не забудь, что я живу в Казани",
    "别忘记我住在上海",
    "我忘了带钥匙",
    "私が大阪に住んでいることを忘れないでください",
    "傘を忘れて困った",
    "Forget what I just said.",
    "The senator spoke off the record.",
    "Remove my trailing comma",
    "Is that still true?",
    "Delete the note in the code",
    "I forget that all the time.",
]
HUSHED = [
    "Off the record: I got fired.",
    "I got fired, off the record.",
    "Don't save this: I'm ill",
    "This is off the record. I drink.",
    "Unter uns: ich kündige",
    "Speichere das nicht: ich bin krank.",
    "Merk dir das bitte nicht.",
    "Entre nosotros, odio a mi jefe",
    "Entre nous, je démissionne",
    "Detto tra noi, bevo",
    "Cá entre nós, bebo",
    "Onder ons gezegd: ik drink",
    "Mellan oss: jag dricker",
    "Между нами: я пью",
    "私下说，我要辞职",
    "这个不要记住",
    "オフレコだけど、辞めます",
    "ここだけの話、転職します",
    "No guardes esto.",
    "Не запоминай это.",
    "Onthoud dit niet.",
    "Spara inte det här.",
    "Non salvare questo.",
    "Não guarde isso.",
    "N'enregistre pas ça.",
]
OVERVIEWS = [
    "What do you know about me?",
    "What do you remember about me so far?",
    "Hey, show me my memories",
    "Was weißt du über mich?",
    "Was hast du dir über mich gemerkt?",
    "¿Qué sabes de mí?",
    "Que sais-tu de moi ?",
    "Qu'est-ce que tu sais sur moi ?",
    "Cosa sai di me?",
    "O que você sabe sobre mim?",
    "Wat weet je over mij?",
    "Wat heb je over mij onthouden?",
    "Vad vet du om mig?",
    "Что ты обо мне знаешь?",
    "Что ты знаешь обо мне?",
    "你记得关于我的什么？",
    "关于我你知道什么？",
    "私について何を覚えていますか？",
    "Tell me everything you know about me",
    "De quoi te souviens-tu à mon sujet ?",
]
NEITHER = [
    "What do you know about Rust?",
    "What do you think about me?",
    "Don't save this file",
    "What do you know about the mess in main.py",
    "The senator spoke off the record.",
]


@pytest.mark.parametrize(("sentence", "about"), ORDERS)
def test_an_order_says_what_it_is_about(sentence: str, about: str) -> None:
    assert forgets(sentence) == about
    assert may_ask(f"Hello there.\n{sentence}\nHow are you?")


@pytest.mark.parametrize("sentence", NONE)
def test_what_orders_nothing_is_no_order(sentence: str) -> None:
    assert forgets(sentence) is None


@pytest.mark.parametrize("sentence", HUSHED)
def test_nothing_is_kept_of_what_is_off_the_record(sentence: str) -> None:
    assert is_off_record(sentence)


def test_a_message_is_off_the_record_as_a_whole() -> None:
    for text in ("I moved to Linz. Off the record: I drink.", "Unter uns: ich kündige."):
        assert wishes(text).off_record
        assert not extract(text).candidates


@pytest.mark.parametrize("sentence", OVERVIEWS)
def test_all_that_is_known_is_asked_for(sentence: str) -> None:
    assert asks_overview(sentence)
    assert wishes(sentence).overview


@pytest.mark.parametrize("sentence", NEITHER)
def test_other_questions_and_wishes_are_neither(sentence: str) -> None:
    assert not asks_overview(sentence)
    assert not is_off_record(sentence)


def test_that_it_is_true_no_longer_is_about_the_sentence_before() -> None:
    assert wishes("I work at Siemens. That's no longer true.").forget == ("I work at Siemens",)
    assert wishes("That's no longer true.").forget == ("",)


@pytest.mark.parametrize(
    "text",
    [
        "> Please forget that I live in Graz.\n\nWhat do you think?",
        "Subject: hi\nFrom: Bob <bob@x.org>\n\nPlease forget that I live in Graz.\n\nBest,\nBob",
        'Translate: "Forget that I live in Graz."',
        "```\nForget that I live in Graz.\n```\nWhy does this fail?",
        "My boss wrote: Forget that I live in Graz.",
    ],
)
def test_words_of_others_order_nothing(text: str) -> None:
    assert not wishes(text).forget


def test_who_plays_somebody_else_orders_nothing() -> None:
    assert wishes("Forget that I live in Graz.").forget
    assert not wishes("Forget that I live in Graz.", in_play=True).forget


@pytest.mark.parametrize(
    ("about", "text", "meant"),
    [
        ("I live in Graz", "User lives in Graz", True),
        ("I live in Graz", "User works in Graz", False),
        ("where I live", "User lives in Graz", True),
        ("where I live", "User's sister lives in Graz", False),
        ("my address", "User's address is Hauptstr. 5", True),
        ("my job at Siemens", "User works at Siemens", False),
        ("I don't eat meat", "User doesn't eat meat", True),
        ("I eat meat", "User doesn't eat meat", False),
        ("the port is 8090", "The port is 8091", False),
        ("my name", "User's name is Ann", True),
        ("my dog Rex", "User has a dog named Rex", True),
        ("my", "User likes tea", False),
        ("ich in Graz wohne", "User said: Ich wohne in Graz", True),
        ("ich in Graz wohne", "User said: Meine Schwester wohnt in Graz", False),
        ("j'habite à Lyon", "User said: J'habite à Lyon", True),
        ("я живу в Казани", "User said: Я живу в Казани", True),
        ("我住在上海", "User said: 我住在上海", True),
        ("我住在上海", "User said: 我住在北京", False),
        ("私が大阪に住んでいる", "User said: 私は大阪に住んでいます", True),
    ],
)
def test_a_memory_fits_that_says_all_that_is_meant(about: str, text: str, *, meant: bool) -> None:
    assert fits(about, text) is meant


@pytest.mark.parametrize("part", ["forget that ", "please ", "a, ", ". forget", "no longer true "])
def test_hostile_texts_take_linear_time(part: str) -> None:
    def seconds(size: int) -> float:
        text = part * (size // len(part))
        begun = time.perf_counter()
        wishes(text)
        return time.perf_counter() - begun

    seconds(1_000)
    assert min(seconds(80_000) for _ in range(3)) < 40 * max(seconds(8_000), 0.002)
