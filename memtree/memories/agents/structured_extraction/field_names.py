"""The names of schema fields as people say them: `favoriteColor`, "favourite colour".

>>> spoken("favouriteColours")
'favorite color'
>>> topics(spoken("userName"))
('name', 'title')
"""

from __future__ import annotations

import re

from memtree.memories.word_file import WordFile

_DATA = WordFile("en", "memory_field_names")

_BORDER = re.compile(
    r"(?<=[a-z0-9ß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ])"
)
_WORD = re.compile(r"[^\W_]+")
READ = 200  # characters of a name
_MEANINGLESS = _DATA.words("meaningless")
_BRITISH = _DATA.table("british")
_KEPT = _DATA.words("kept")

# What a field is about, by how it is called.
_TOPICS = {
    "name": "name|full name|display name|real name|preferred name|person name|customer name",
    "first_name": "first name|given name|forename",
    "last_name": "last name|surname|family name",
    "nickname": "nickname|nick name|nick|call me|preferred name|goes by",
    "age": "age|age year|age in year",
    "city": "city|town|home city|city of residence|residence city|living city|lives in|live in",
    "country": "country|home country|country of residence|residence country",
    "location": "location|residence|place of residence|home|home location|where live|lives in"
    "|live in|based in|place",
    "origin": "hometown|home town|birthplace|birth place|place of birth|origin|comes from"
    "|city of birth|birth city",
    "occupation": "occupation|job|profession|job title|role|work|career|position|title|job role"
    "|employment|line of work",
    "employer": "employer|company|workplace|organization|company name|employer name|works at"
    "|works for|work place|firm|place of work",
    "language": "language|spoken language|speaks|language spoken|known language|speaks language",
    "likes": "like|likes|interest|thing liked|liked thing|enjoys|loves|love",
    "hobby": "hobby|hobbies|pastime|leisure activity|interest|activity",
    "dislikes": "dislike|dislikes|hate|hates|thing disliked|aversion|avoids",
    "allergy": "allergy|allergen|allergic to|food allergy|known allergy|allergy list",
    "diet": "diet|dietary preference|dietary restriction|diet type|eating habit|dietary"
    "|dietary requirement|food preference|nutrition",
    "birthday": "birthday|birth date|birthdate|date of birth|dob|born|born on|birth day",
    "birth_year": "birth year|year of birth|born in",
    "marital": "marital status|relationship status|family status|civil status",
    "weight": "weight|weight kg|weight in kg|body weight|weight kilogram|weight lb|weight pound",
    "height": "height|height cm|height in cm|body height|height m|height meter",
    "target_language": "target language|learning language|language learned|learning",
    "instrument": "instrument|musical instrument|plays",
    "condition": "condition|medical condition|health condition|chronic condition|diagnosis|illness"
    "|disease",
    "coding": "programming language|coding language|tech stack|stack|code in",
    "experience": "year of experience|experience|experience year|year experience|work experience"
    "|professional experience",
    "children": "number of child|child|kid|number of kid|child count|kid count|how many child",
    "car": "car|vehicle|car model|vehicle model",
    "study": "major|field of study|study|course of study|degree|subject of study|studies",
    "school": "university|college|school|alma mater|university name",
    "team_size": "team size|size of team|team member count|number of team member",
    "due": "due|due date|deadline|due at|due by|due on|target date|by|remind at|reminder date"
    "|remind on|when|date|time|day|scheduled for|due day",
    "title": "title|task|name|text|description|content|summary|what|action|item|todo|to do"
    "|subject|reminder|goal|event|appointment|activity|label|note|message|todo item|headline"
    "|task name|task title|event name|event title",
    "date": "date|day|when|start date|event date|start|scheduled for|time|on|starts"
    "|appointment date|scheduled date|begin|start day|deadline|due|due date",
    "place": "location|place|where|venue|city|destination",
    "species": "species|type|kind|animal|pet type|animal type|breed",
    "relation": "relationship|relation|role|type|kind|relation to|connection|related as"
    "|relationship to",
}


def words(name: str) -> list[str]:
    """The words of an identifier or a phrase, in lower case. Linear."""
    return _WORD.findall(_BORDER.sub(" ", name[:READ].replace("'s ", " ")).lower())


def spoken(name: str) -> str:
    """One spelling for a field's name and what people call it; "" where it says nothing."""
    found = [_BRITISH.get(word, word) for word in words(name)]
    kept = [word for word in found if word not in _MEANINGLESS] or found
    return " ".join(singular(word) for word in kept)


def singular(word: str) -> str:
    """A crude singular: both sides of a comparison get the same."""
    if word in _KEPT or len(word) < 4:
        return {"kids": "kid"}.get(word, word)
    if word in ("children", "child"):
        return "child"
    if word == "people":
        return "person"
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


_OF_PHRASE: dict[str, tuple[str, ...]] = {}
for _topic, _names in _TOPICS.items():
    for _name in dict.fromkeys(spoken(name) for name in _names.split("|")):
        _OF_PHRASE[_name] = (*_OF_PHRASE.get(_name, ()), _topic)


def topics(phrase: str) -> tuple[str, ...]:
    """Return what a spoken name is about; () where that is not known."""
    return _OF_PHRASE.get(phrase, ())
