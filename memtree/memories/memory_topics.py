"""Tell from the text of a memory what it is about, how far it is trusted, and whether it stands.

The category is a preference, an instruction or a fact. An instruction says how to answer or to
work: what `standing_rules` finds in a user's message, and the same told of the user ("User wants
short answers"). A preference says what the user likes; what somebody else likes is a fact.

    >>> [category_of(text) for text in ("Always answer in French.", "User likes tea.", "It rains.")]
    ['instruction', 'preference', 'fact']

User memories have the five categories of the service whose API this is, and a user's own:

>>> checked_category(" Reading list ", "category")
'Reading list'
>>> user_category("User prefers tea."), user_category("The project deadline is March 15, 2026")
('preference', 'schedule')

Standing memories are in every prompt: what a person wants of every answer, and what they are. A
wish speaks to whoever answers (an imperative, or "the user wants"), and of one of a closed list of
things: the language, the address, the tone and so on. With one of the two alone it is an ordinary
memory. A topic with a colon has one memory that counts, the newest.

    >>> standing_topic("Always answer in British English."), standing_topic("User is vegetarian.")
    ('wish:language', 'fact:diet')
    >>> standing_topic("The client wants the report in PDF")
    ''

A tainted memory is shown as a fact only, until a person confirms it. Taint depends on who wrote the
text, never on what the text says of itself or replaces. Whoever writes a web page, a file or a
tool's output can have a model save what they like. A model's word that something is to be done is
not the user's word either. And what a person saved or confirmed lends no trust to the text that a
model puts in its place.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from memtree.errors import BadRequest
from memtree.language.word_file import WordFile, grouped
from memtree.memories.checked_fields import refuse_secrets
from memtree.memories.memory import SNAPSHOT, Memory, MemoryFields, NewMemory
from memtree.statements.attributes import attributes
from memtree.statements.calendar_dates import LONGEST, is_schedule
from memtree.text.rule_sentences import standing_rules

_DATA = WordFile("all", "memory_categories")

_READ = 600  # characters; what a memory is shows early
_INSTRUCTION = _DATA.pattern("instruction", shaped=grouped)
_PREFERENCE = _DATA.pattern("preference", shaped=grouped)


def category_of(text: str) -> str:
    """Return the category of a text: `preference`, `fact` or `instruction`."""
    head = text[:_READ]
    lower = " ".join(head.lower().replace("’", "'").split())
    if _INSTRUCTION.search(lower):
        return "instruction"
    if _PREFERENCE.search(lower):
        return "preference"
    return "instruction" if standing_rules(head) else "fact"


MAX_CATEGORY = 64  # characters
# One line that can be shown in a sentence and typed into a query: words of any script.
_CATEGORY = re.compile(r"[^\W_](?:[\w .:/+-]{0,62}\w)?")


def checked_category(value: str, name: str) -> str:
    """Check a category and return it as it is kept. Raises `BadRequest` naming the field, and
    `SecretRejected`."""
    category = value[: 4 * MAX_CATEGORY].strip()
    if len(value) > 4 * MAX_CATEGORY or not _CATEGORY.fullmatch(category):
        raise BadRequest(
            f"{name} must be 1 to {MAX_CATEGORY} letters, digits, spaces and . : / + - _, "
            "with a letter or a digit first and last",
            param=name,
        )
    refuse_secrets(category)
    return category


def user_category(text: str, said: date | None = None) -> str:
    """Return the category of a user's text where nobody gives one: `preference` (also how someone
    wants to be answered), `schedule` or `fact`. `said`: the day on which it is saved, from which
    "tomorrow" counts."""
    if category_of(text) != "fact":
        return "preference"
    return "schedule" if is_schedule(text[:LONGEST], said) else "fact"


PEOPLE = ("user", "extraction")  # source types of people's own words
_BY_MODEL = "model"  # the capture mode of what a model read in a conversation


def is_own_word(memory: MemoryFields) -> bool:
    """Return True if the text of a memory is a person's: saved by them, or found by rules in what
    they said."""
    by_model = memory.capture_mode == _BY_MODEL or memory.kind == SNAPSHOT
    return memory.source_type in PEOPLE and not by_model


class Trust(NamedTuple):
    """How far a text is trusted. `standing`: the topic, as in `NewMemory`. What is tainted does not
    stand."""

    tainted: bool
    standing: str


def trust_of(
    text: str, given: MemoryFields, category: str | None, standing: bool | None = None
) -> Trust:
    """Return how far a text is trusted that is stored now. `given`: its writer, and `tainted` if
    others than a person may have had a part in it: a tool, a page, a file, a turn that nobody sees.
    `standing`: what a person says of it, None for the rules.

    >>> wish = "Always answer in French."
    >>> trust_of(wish, MemoryFields(source_type="user"), None)
    Trust(tainted=False, standing='wish:language')
    >>> trust_of(wish, MemoryFields(source_type="model"), "fact", True)
    Trust(tainted=True, standing='')
    """
    if is_own_word(given) and not given.tainted:
        return Trust(False, standing_topic(text) if standing is None else pinned(text, standing))
    return Trust(given.tainted or INSTRUCTION in (category, category_of(text)), "")


def outranks(new: NewMemory | Memory, old: Memory) -> bool:
    """Return True if a person says what a model or a stranger said before, and is trusted more.
    Then the person's text is kept, and counts."""
    if not is_own_word(new) or new.tainted:
        return False
    return old.tainted or (bool(new.standing) and not old.standing and not is_own_word(old))


def in_place_of(new: NewMemory, old: Memory) -> NewMemory:
    """Return `new` as it may count in the place of `old`. A model's text neither stands in prompts
    nor loses a taint because of what it replaces, and in the place of a person's words, or of what
    a person made stand, it waits for a person."""
    if is_own_word(new):
        return new
    trusted = is_own_word(old) or bool(old.standing)
    return replace(new, tainted=new.tainted or old.tainted or trusted, standing="")


_STANDING = WordFile("all", "memory_standing")

READ = 400  # characters: what stands in every prompt is a sentence
WISH, FACT, SILENCE = "wish", "fact", "wish.silence"
INSTRUCTION = "instruction"  # a category

# "Never got an answer" tells of something.
_SPOKEN_TO = _STANDING.pattern("spoken_to", shaped=grouped)
_TOPICS = (
    ("wish:language", _STANDING.pattern("topic_wish_language", shaped=grouped)),
    ("wish.address", _STANDING.pattern("topic_wish_address", shaped=grouped)),
    ("wish.tone", _STANDING.pattern("topic_wish_tone", shaped=grouped)),
    ("wish:length", _STANDING.pattern("topic_wish_length", shaped=grouped)),
    ("wish.units", _STANDING.pattern("topic_wish_units", shaped=grouped)),
    ("wish", _STANDING.pattern("topic_wish", shaped=grouped)),
)
# Scripts of which no pattern here knows the wishes.
_UNREAD = re.compile("[\u0400-\u04ff\u3040-\u30ff\u3400-\u9fff]")
# "User always drinks tea" has the form of a rule, and tells of somebody.
_TOLD_ONLY = _STANDING.pattern("told_only")
_SILENT = _STANDING.pattern("silent")
_PRONOUNS = _STANDING.pattern("fact_pronouns", shaped=grouped)
# What people are, by the attribute that says it; of those with a colon the newest counts.
_FACTS = {
    "diet": "fact:diet", "health": "fact", "allergy": "fact", "name": "fact:name",
    "home": "fact:place", "job": "fact:job", "employer": "fact:employer",
    "language": "fact:language",
}  # fmt: skip


def standing_topic(text: str) -> str:
    """Return the topic under which a text stands in every prompt, "" where it is an ordinary
    memory."""
    if len(text) > READ:
        return ""
    lower = " ".join(text.lower().split()).removeprefix("user said: ").strip(" .!¡")
    for attribute in attributes(text):
        topic = _FACTS.get(attribute.what.partition(":")[0], "")
        if topic and not (attribute.denied or attribute.ended):
            return topic
    if _PRONOUNS.search(lower):
        return "fact:pronouns"
    if _SILENT.search(lower):
        return SILENCE
    if _UNREAD.search(lower):
        return WISH if not _TOLD_ONLY.match(lower) and standing_rules(text) else ""
    if not _SPOKEN_TO.search(lower):
        return ""
    return next((topic for topic, pattern in _TOPICS if pattern.search(lower)), "")


def pinned(text: str, standing: bool = True) -> str:
    """Return the topic of a memory that a person pins, or "" where they take it off."""
    return (standing_topic(text) or FACT) if standing else ""
