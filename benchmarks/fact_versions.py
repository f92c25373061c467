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


def fact_versions() -> Iterator[FactVersions]:
    for template in _TEMPLATES:
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
)
