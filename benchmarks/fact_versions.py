"""Facts in two versions: a template, what it is about, and values of which each thing has one and
then another. The newer sentence says in its own way that something changed, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class FactVersions(NamedTuple):
    """`question` asks for the value that counts now."""

    older: str
    newer: str
    question: str


class _Template(NamedTuple):
    older: str
    newer: str
    question: str
    things: str
    values: str


def fact_versions(*, held_out: bool = False) -> Iterator[FactVersions]:
    """`held_out`: others, which no bound of the rule was chosen by."""
    for template in _HELD_OUT if held_out else _TEMPLATES:
        values = template.values.split(", ")
        for at, thing in enumerate(template.things.split(", ")):
            older, newer = values[at], values[(at + 2) % len(values)]
            yield FactVersions(
                template.older.format(thing=thing, value=older),
                template.newer.format(thing=thing, value=newer),
                template.question.format(thing=thing),
            )


_TEMPLATES = (
    _Template(
        "The {thing} port is {value}",
        "The {thing} port is {value}",
        "Which port does {thing} use now?",
        "staging, production, metrics, admin, Redis",
        "8090, 8091, 9100, 7443, 6380",
    ),
    _Template(
        "The {thing} meeting is on {value}",
        "The {thing} meeting moved to {value}",
        "When is the {thing} meeting?",
        "budget, design, sales, safety, planning",
        "Monday, Tuesday, Thursday, Friday, Wednesday",
    ),
    _Template(
        "{thing} lives in {value}",
        "{thing} has moved to {value}",
        "Where does {thing} live?",
        "Marta, Oskar, Priya, Jonas, Lena",
        "Lisbon, Oslo, Vienna, Dublin, Turin",
    ),
    _Template(
        "I work as a {value} at {thing}",
        "I am a {value} at {thing} now",
        "What is my job at {thing}?",
        "the hospital, the bakery, the museum, the bank, the school",
        "nurse, cashier, guide, clerk, teacher",
    ),
    _Template(
        "The rent of the {thing} is {value} euros a month",
        "The rent of the {thing} is now {value} euros a month",
        "How much is the rent of the {thing}?",
        "flat, garage, office, workshop, studio",
        "950, 120, 2100, 640, 780",
    ),
    _Template(
        "Use {value} for {thing}",
        "From now on use {value} for {thing}",
        "What should be used for {thing}?",
        "unit tests, formatting, deployments, logging, charts",
        "pytest, black, Ansible, structlog, plotly",
    ),
    _Template(
        "The password of the {thing} is kept in {value}",
        "The password of the {thing} is now kept in {value}",
        "Where is the password of the {thing} kept?",
        "router, printer, camera, safe, server",
        "the red folder, Bitwarden, the vault, the notebook, KeePass",
    ),
    _Template(
        "My favourite {thing} is {value}",
        "My favourite {thing} is {value} these days",
        "What is my favourite {thing}?",
        "tea, colour, dish, band, park",
        "oolong, green, risotto, the Lanterns, Hillside",
    ),
    _Template(
        "The {thing} release is planned for {value}",
        "The {thing} release has slipped to {value}",
        "When will the {thing} release come out?",
        "mobile, desktop, beta, spring, summer",
        "3 March, 14 April, 2 May, 19 June, 7 July",
    ),
    _Template(
        "{thing} takes {value} mg of the medicine",
        "{thing} takes {value} mg of the medicine since the last visit",
        "How much medicine does {thing} take?",
        "Grandma, Dad, Aunt Rosa, Felix, Mr. Hale",
        "20, 40, 10, 5, 80",
    ),
    _Template(
        "Deploy {thing} with {value}",
        "Deploy {thing} with {value}, no longer the old way",
        "How do we deploy {thing}?",
        "the website, the worker, the gateway, the crawler, the API",
        "Docker, Helm, rsync, Nomad, a shell script",
    ),
    _Template(
        "The contact for {thing} is {value}",
        "The new contact for {thing} is {value}",
        "Who is the contact for {thing}?",
        "billing, shipping, press, security, insurance",
        "Ms. Brandt, Mr. Okafor, Ms. Lindqvist, Mr. Ferrari, Ms. Novak",
    ),
    _Template(
        "The {thing} limit is {value} requests a minute",
        "The {thing} limit is {value} requests a minute",
        "What is the {thing} limit per minute?",
        "search, upload, login, export, webhook",
        "60, 100, 250, 30, 500",
    ),
    _Template(
        "We store {thing} in {value}",
        "{thing} are stored in {value} since the migration",
        "Where are {thing} stored?",
        "invoices, images, logs, backups, reports",
        "S3, MinIO, the NAS, Glacier, Postgres",
    ),
    _Template(
        "{thing} is allergic to {value}",
        "{thing} is not allergic to that any more, only to {value}",
        "What is {thing} allergic to?",
        "Marta, Oskar, Priya, Jonas, Lena",
        "nuts, milk, pollen, cats, eggs",
    ),
    _Template(
        "I get up at {value} on {thing}",
        "On {thing} I get up at {value} now",
        "When do I get up on {thing}?",
        "weekdays, Sundays, Mondays, holidays, Saturdays",
        "6:30, 9:00, 5:45, 10:15, 7:20",
    ),
    _Template(
        "The {thing} branch is called {value}",
        "The {thing} branch was renamed to {value}",
        "What is the {thing} branch called?",
        "main, release, hotfix, docs, testing",
        "trunk, stable, urgent, manual, lab",
    ),
    _Template(
        "{thing}'s phone number ends in {value}",
        "{thing}'s phone number ends in {value}",
        "What does {thing}'s phone number end in?",
        "Marta, Oskar, Priya, Jonas, Lena",
        "4417, 9023, 5531, 7788, 1204",
    ),
    _Template(
        "The timeout of {thing} is {value} seconds",
        "The timeout of {thing} is {value} seconds",
        "What timeout does {thing} have?",
        "the proxy, the database, the cache, the mailer, the scheduler",
        "30, 5, 2, 60, 120",
    ),
    _Template(
        "The car is parked {value} {thing}",
        "The car is parked {value} {thing}",
        "Where is the car parked {thing}?",
        "at the airport, at work, near the gym, in town, at the station",
        "on level 2, in row F, by the gate, on level 5, in row K",
    ),
    _Template(
        "Our supplier of {thing} is {value}",
        "Our supplier of {thing} is {value} from this month on",
        "Who supplies our {thing}?",
        "paper, coffee, steel, fruit, glass",
        "Nordby, Keller, Amaro, Vantage, Pelikan",
    ),
    _Template(
        "The {thing} opens at {value}",
        "The {thing} opens at {value} since May",
        "When does the {thing} open?",
        "library, pool, bakery, clinic, gym",
        "7:00, 8:15, 6:30, 9:45, 10:00",
    ),
    _Template(
        "{thing} drives a {value}",
        "{thing} bought a {value}",
        "Which car does {thing} drive?",
        "Nadia, Pavel, Ingrid, Tomas, Wen",
        "Volvo, Fiat, Skoda, Honda, Seat",
    ),
    _Template(
        "We run {thing} on version {value}",
        "We upgraded {thing} to version {value}",
        "Which version of {thing} do we run?",
        "the kernel, Postgres, the compiler, nginx, the firmware",
        "5.2, 6.1, 4.8, 7.3, 9.0",
    ),
    _Template(
        "The {thing} budget is {value}",
        "The {thing} budget was raised to {value}",
        "How large is the {thing} budget?",
        "travel, training, hardware, party, research",
        "4000, 9500, 12000, 700, 3100",
    ),
    _Template(
        "{thing} sits in room {value}",
        "{thing} now sits in room {value}",
        "In which room does {thing} sit?",
        "Support, Finance, Legal, Marketing, Logistics",
        "2.14, 3.07, 1.22, 4.01, 0.15",
    ),
    _Template(
        "I prefer {value} in {thing}",
        "I prefer {value} in {thing} now",
        "What do I prefer in {thing}?",
        "code reviews, e-mails, slides, reports, meetings",
        "short notes, tables, full sentences, bullet points, sketches",
    ),
    _Template(
        "The dog gets {value} for {thing}",
        "The dog gets {value} for {thing}, the vet said",
        "What does the dog get for {thing}?",
        "breakfast, dinner, its ears, its teeth, its coat",
        "rice, drops, chicken, a bone, oil",
    ),
    _Template(
        "The {thing} deadline is {value}",
        "Correction: the {thing} deadline is {value}",
        "What is the {thing} deadline?",
        "tax, grant, thesis, visa, tender",
        "1 March, 15 April, 30 June, 9 July, 20 August",
    ),
)

_HELD_OUT = (
    _Template(
        "The key of the {thing} hangs {value}",
        "The key of the {thing} hangs {value}",
        "Where does the key of the {thing} hang?",
        "cellar, shed, attic, garage, boat",
        "by the door, in the hall, on the hook, behind the clock, in the office",
    ),
    _Template(
        "{thing} plays the {value}",
        "{thing} has switched to the {value}",
        "Which instrument does {thing} play?",
        "Mila, Bruno, Akira, Selma, Viktor",
        "cello, flute, drums, harp, trumpet",
    ),
    _Template(
        "The {thing} job starts at {value}",
        "The {thing} job starts at {value} from now on",
        "At what time does the {thing} job start?",
        "backup, import, cleanup, billing, sync",
        "01:00, 02:30, 03:45, 04:15, 05:50",
    ),
    _Template(
        "Our {thing} insurance is with {value}",
        "Our {thing} insurance is with {value} since January",
        "With whom is our {thing} insurance?",
        "car, health, house, travel, dental",
        "Helios, Baltica, Concorda, Alpine, Meridian",
    ),
    _Template(
        "Write {thing} in {value}",
        "Please write {thing} in {value} from today",
        "In which language should {thing} be written?",
        "commit messages, invoices, tickets, menus, contracts",
        "English, German, French, Spanish, Italian",
    ),
    _Template(
        "The {thing} team has {value} people",
        "The {thing} team has grown to {value} people",
        "How many people are in the {thing} team?",
        "mobile, data, support, design, sales",
        "4, 7, 12, 15, 23",
    ),
    _Template(
        "{thing} wears size {value}",
        "{thing} wears size {value} now",
        "What size does {thing} wear?",
        "Grandpa, Julia, Leo, Aunt Vera, Sam",
        "36, 38, 40, 42, 44",
    ),
    _Template(
        "The {thing} sensor reads {value} degrees at most",
        "The {thing} sensor reads {value} degrees at most after the repair",
        "How many degrees does the {thing} sensor read at most?",
        "boiler, engine, freezer, oven, greenhouse",
        "85, 110, 45, 250, 60",
    ),
)
