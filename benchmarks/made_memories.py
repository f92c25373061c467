"""Memories made of templates and lists of words: as many as one asks for, the same each time.

They are about a user's life and a user's project, as memories are; two in a row have little in
common. Never equal to one that was given before.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

_SLOT = re.compile(r"\{(\w+)\}")
_WORDS = {
    "name": """
        Ada Bela Carmen Dario Edda Farid Gesine Henk Ines Jarmila Kofi Leila Mateo Nadia Odin
        Petra Quentin Rosa Sanjay Tilda Umar Viola Wanda Xaver Yusuf Zoe Amara Bruno Celia
        Dragan
        """,
    "kin": """
        aunt uncle cousin niece nephew neighbour roommate colleague godmother stepfather
        grandfather brother-in-law flatmate mentor friend
        """,
    "city": """
        Porto Ghent Tartu Malmö Graz Turin Lyon Zagreb Bergen Cork Leeds Bilbao Split Basel
        Utrecht Aarhus Gdańsk Brno Nantes Kassel Valencia Tampere Bristol Toledo
        """,
    "food": """
        risotto pancakes ramen falafel lentil_soup goulash sushi lasagne curry dumplings paella
        shakshuka gnocchi burritos pierogi couscous pho ratatouille moussaka borscht
        """,
    "drink": """
        green_tea espresso oat_milk cider kombucha apple_juice lemonade hot_chocolate mate
        sparkling_water ginger_tea buttermilk
        """,
    "hobby": """
        pottery archery bouldering fencing birdwatching knitting sailing origami geocaching
        astronomy calligraphy kayaking woodturning juggling mushroom_picking ice_skating surfing
        embroidery stargazing table_tennis badminton crossword_puzzles rowing beekeeping
        """,
    "job": """
        architect florist plumber librarian carpenter translator pharmacist surveyor goldsmith
        geologist paramedic optician electrician curator bus_driver tailor midwife baker
        """,
    "thing": """
        tent sewing_machine drone kayak telescope espresso_machine 3D_printer record_player
        cargo_bike turntable air_fryer e-reader hammock lawn_mower sauna dishwasher camper_van
        mechanical_keyboard film_camera wood_stove greenhouse accordion
        """,
    "animal": """
        hamster parrot tortoise ferret gecko rabbit goldfish canary donkey goat alpaca hen
        """,
    "month": """January February April May July August September November December""",
    "day": "Monday Tuesday Thursday Saturday",
    "number": """
        2 3 4 5 6 8 9 11 12 14 17 18 21 24 25 28 32 36 45 48 60 64 75 90 120 128 250 256 512
        """,
    "tool": """
        Redis Kafka Terraform Grafana Jenkins Elasticsearch RabbitMQ Ansible Sentry Datadog
        MongoDB ClickHouse Nginx Vault Airflow Snowflake Keycloak Prometheus Celery Webpack Helm
        """,
    "part": """
        billing_service search_page importer notification_worker admin_panel login_form
        reporting_job image_pipeline recommender sync_agent audit_trail checkout export_script
        data_warehouse feature_flags onboarding_flow chat_widget permission_model
        """,
    "adjective": """
        quiet spicy cheap wooden handmade minimalist old-fashioned bright compact sturdy organic
        vintage
        """,
    "genre": """
        crime_novels jazz documentaries folk_music fantasy_series opera stand-up_comedy
        silent_films poetry techno board_games westerns comics
        """,
    "ailment": """
        migraines hay_fever back_pain asthma eczema tinnitus a_milk_intolerance
        low_blood_pressure arthritis heartburn
        """,
    "subject": """
        archaeology linguistics statistics sculpture nutrition accounting botany sociology
        mechanical_engineering theology logistics music_theory
        """,
    "format": """
        tables numbered_steps short_paragraphs plain_text diagrams Markdown footnotes
        one_sentence
        """,
    "sport": "handball volleyball cricket judo rugby hockey darts gymnastics water_polo cycling",
    "place": """allotment attic cellar cottage workshop studio caravan houseboat barn loft""",
}  # fmt: skip
_LISTS = {
    name: [word.replace("_", " ") for word in words.split()] for name, words in _WORDS.items()
}
_TEMPLATES = """
User's {kin} {name} works as a {job} in {city}.
User's {kin} {name} keeps a {animal}.
User's {kin} {name} is visiting in {month}.
User met {name} at a {hobby} class.
User likes {food} with {drink}.
User doesn't like {food}.
User cooks {food} on {day}s.
User took up {hobby} in {month}.
User goes {hobby} with {name} on {day}s.
User wants to try {hobby} in {city}.
User bought a {adjective} {thing} from {name}.
User is looking for a {adjective} {thing} for under {number}0 euros.
User sold the old {thing} to a {job}.
User's {thing} broke in {month} and is being repaired.
User spent {month} in {city}.
User is planning a weekend in {city} with {name}.
User grew up near {city} and moved away at {number}.
User used to work as a {job} in {city}.
User has a {animal} called {name}.
User suffers from {ailment} in {month}.
User is seeing a specialist in {city} about {ailment}.
User is taking an evening class in {subject}.
User reads about {subject} before falling asleep.
User enjoys {genre} and owns {number} of them.
User finds {genre} boring.
User went to a {genre} festival in {city}.
User prefers {format} when things get long.
User wants {subject} explained with {format}.
User keeps a {thing} in the {place}.
User is converting the {place} into a {hobby} room.
User rents a {place} in {city} with {name}.
User plays {sport} for a club in {city}.
User coaches {sport} for children on {day}s.
User watched {sport} with {name} in {month}.
User drinks {drink} instead of {drink}.
User gave {name} a {thing} as a present.
User borrowed {number} euros from {name}.
User pays {number}0 euros a month for the {place}.
{name} from accounting asked for a {format} report by {day}.
{name} owns the {part}.
{name} is on leave in {month}, {name} stands in.
The {part} talks to {tool} over port {number}00.
The {part} was moved from {tool} to {tool} in {month}.
The {part} must finish within {number} seconds.
The {part} is rewritten by {name}.
The {part} stores its data in {tool}.
Secrets of the {part} are rotated every {number} days.
{tool} costs the team {number}00 euros a month.
{tool} is updated on the first {day} of {month}.
Alerts of {tool} go to {name}.
Ask {name} before changing the {part}.
Never restart {tool} on a {day}.
The {part} has {number} open tickets.
The customer in {city} uses the {part} on {day}s.
The workshop about {tool} takes place in {city} in {month}.
Documentation of the {part} is kept in {tool}.
The {part} may use at most {number} GB of memory.
User thinks that {tool} is overrated.
User presented the {part} to the {job}s from {city}.
User's {kin} {name} plays {sport} and collects {genre}.
""".strip().splitlines()


def generated(count: int, seed: int = 1) -> list[str]:
    """`count` memories, the first ones the same for every count."""
    found: dict[str, None] = {}
    for text in _endless(random.Random(seed)):
        found[text] = None
        if len(found) == count:
            break
    return list(found)


def _endless(chance: random.Random) -> Iterator[str]:
    while True:
        order = list(_TEMPLATES)
        chance.shuffle(order)
        for template in order:
            yield _SLOT.sub(lambda slot: chance.choice(_LISTS[slot[1]]), template)
